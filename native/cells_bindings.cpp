// What Python sees of row_cells.hpp, and squared distances of pairs of rows.
#include "arguments.hpp"
#include "row_cells.hpp"

namespace graphkm {
namespace {

constexpr std::size_t most_rows = std::size_t(1) << 30;  // places in cells are numbered in 32 bits

void require_below(In<std::int64_t, 1> numbers, std::size_t size) {
  for (std::size_t j = 0; j < numbers.shape(0); ++j)
    require(numbers(j) >= 0 && std::size_t(numbers(j)) < size, "a row number is out of range");
}

template <class T>
void bind_row_cells(nb::module_& m, const char* name) {
  using Cells = RowCells<T>;
  nb::class_<Cells>(m, name)
      .def(
          "__init__",
          [](Cells* self, In<T, 2> rows, In<std::int32_t, 1> cell, In<T, 2> centres) {
            const std::size_t n = rows.shape(0), d = rows.shape(1), n_cells = centres.shape(0);
            require_shape(cell, "cell", {n});
            require_shape(centres, "centres", {n_cells, d});
            require(n + 64 * n_cells <= most_rows, "there are too many rows for cells");
            for (std::size_t i = 0; i < n; ++i)
              require(cell(i) >= 0 && std::size_t(cell(i)) < n_cells, "a cell is out of range");
            nb::gil_scoped_release release;
            new (self) Cells(rows.data(), cell.data(), n, centres.data(), n_cells, d);
          },
          nb::arg("rows").noconvert(), nb::arg("cell").noconvert(), nb::arg("centres").noconvert())
      .def(
          "nearest",
          [](const Cells& self, In<T, 2> queries, In<std::int32_t, 2> probes,
             Out<std::int64_t, 2> out) {
            const std::size_t n = queries.shape(0), n_probes = probes.shape(1);
            require_shape(queries, "queries", {n, self.n_features()});
            require_shape(probes, "probes", {n, n_probes});
            require_shape(out, "out", {n, out.shape(1)});
            require(n <= most_rows, "there are too many queries at once");
            require(out.shape(1) >= 1, "no row is asked for");
            for (std::size_t i = 0; i < n * n_probes; ++i)
              require(probes.data()[i] >= -1 &&
                          probes.data()[i] < std::int64_t(self.n_cells()),
                      "a probe is out of range");
            nb::gil_scoped_release release;
            self.nearest(queries.data(), n, probes.data(), n_probes, out.shape(1), out.data());
          },
          nb::arg("queries").noconvert(), nb::arg("probes").noconvert(),
          nb::arg("out").noconvert());
}

template <class T>
void pair_distances(In<T, 2> X, In<T, 2> Y, In<std::int64_t, 1> u, In<std::int64_t, 1> v,
                    Out<double, 1> out) {
  const std::size_t d = X.shape(1), n = u.shape(0);
  require_shape(Y, "Y", {Y.shape(0), d});
  require_shape(v, "v", {n});
  require_shape(out, "out", {n});
  require_below(u, X.shape(0));
  require_below(v, Y.shape(0));
  const std::size_t step = (std::size_t(1) << 22) / (d + 1) + 1;
  unlocked([&](const Interrupted& interrupted) {
    parallel_for((n + step - 1) / step, 1, interrupted, [&](std::size_t part) {
      const std::size_t first = part * step;
      isa<T>().pair_distances(X.data(), Y.data(), d, u.data() + first, v.data() + first,
                              std::min(step, n - first), out.data() + first);
    });
  });
}

template <class T>
void bind_pair_distances(nb::module_& m) {
  m.def("pair_distances", &pair_distances<T>, nb::arg("X").noconvert(), nb::arg("Y").noconvert(),
        nb::arg("u").noconvert(), nb::arg("v").noconvert(), nb::arg("out").noconvert());
}

}  // namespace

void bind_cells(nb::module_& m) {
  bind_row_cells<float>(m, "RowCells32");
  bind_row_cells<double>(m, "RowCells64");
  bind_pair_distances<float>(m);
  bind_pair_distances<double>(m);
}

}  // namespace graphkm
