// What Python sees of budget.hpp. Every argument is checked here.
#include "arguments.hpp"
#include "budget.hpp"

using namespace graphkm;

namespace {

void require_places(In<std::int32_t, 2> places, std::size_t size) {
  for (std::size_t i = 0; i < places.shape(0); ++i)
    for (std::size_t j = 0; j < places.shape(1); ++j)
      require(places(i, j) >= 0 && std::size_t(places(i, j)) < size,
              "a centre's place is out of range");
}

template <class T>
void bind(nb::module_& m) {
  m.def(
      "largest_columns",
      [](In<T, 2> values, Out<std::int32_t, 2> out) {
        require_shape(out, "out", {values.shape(0), out.shape(1)});
        require(out.shape(1) <= values.shape(1), "more columns are asked for than there are");
        unlocked([&](const Interrupted&) {
          largest_columns(values.data(), values.shape(0), values.shape(1), out.shape(1),
                          out.data());
        });
      },
      nb::arg("values").noconvert(), nb::arg("out").noconvert());
  m.def(
      "project_centres",
      [](In<T, 2> values, In<std::int32_t, 2> place, In<T, 2> gram, double tolerance,
         In<double, 2> leaving, Out<double, 2> kept) {
        const std::size_t n = values.shape(0), near = gram.shape(0);
        require_shape(place, "place", {n, values.shape(1)});
        require_shape(gram, "gram", {near, near});
        require_shape(leaving, "leaving", {n, leaving.shape(1)});
        require_shape(kept, "kept", {near, leaving.shape(1)});
        require_places(place, near);
        const Projection<T> projection{n,           values.shape(1), leaving.shape(1), near,
                                       values.data(), place.data(),  gram.data(),      tolerance};
        unlocked([&](const Interrupted&) { project(projection, leaving.data(), kept.data()); });
      },
      nb::arg("values").noconvert(), nb::arg("place").noconvert(), nb::arg("gram").noconvert(),
      nb::arg("tolerance"), nb::arg("leaving").noconvert(), nb::arg("kept").noconvert());
}

}  // namespace

void graphkm::bind_budget(nb::module_& m) {
  bind<float>(m);
  bind<double>(m);
}
