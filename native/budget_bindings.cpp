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
  m.def(
      "merge_centres",
      [](In<std::int32_t, 2> near, In<T, 2> leaving_rows, In<double, 2> leaving, Out<T, 2> rows,
         Out<double, 2> kept, Out<bool, 1> moved, double gamma, double amplitude, double offset) {
        const std::size_t n = near.shape(0), d = rows.shape(1), size = rows.shape(0);
        require(near.shape(1) >= 1, "every centre needs a candidate to be merged with");
        require(amplitude + offset > 0.0, "a centre's kernel with itself must be positive");
        require_shape(leaving_rows, "leaving_rows", {n, d});
        require_shape(leaving, "leaving", {n, leaving.shape(1)});
        require_shape(kept, "kept", {size, leaving.shape(1)});
        require_shape(moved, "moved", {size});
        require_places(near, size);
        const Merging<T> merging{n,           near.shape(1), d,         leaving.shape(1),
                                 near.data(), gamma,         amplitude, offset};
        unlocked([&](const Interrupted&) {
          merge(merging, leaving_rows.data(), leaving.data(), rows.data(), kept.data(),
                moved.data());
        });
      },
      nb::arg("near").noconvert(), nb::arg("leaving_rows").noconvert(),
      nb::arg("leaving").noconvert(), nb::arg("rows").noconvert(), nb::arg("kept").noconvert(),
      nb::arg("moved").noconvert(), nb::arg("gamma"), nb::arg("amplitude"), nb::arg("offset"));
}

}  // namespace

void graphkm::bind_budget(nb::module_& m) {
  bind<float>(m);
  bind<double>(m);
}
