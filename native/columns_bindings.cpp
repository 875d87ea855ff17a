// What Python sees of columns.hpp. The matrix is checked once, when its object is made; the other
// arguments at every call.
#include <algorithm>
#include <cmath>

#include "arguments.hpp"
#include "columns.hpp"

namespace graphkm {
namespace {

using Vector = In<float, 1>;
using Table = In<float, 2>;
using Ints = In<std::int32_t, 1>;

struct SparseColumns {
  Rows<float> matrix;
};

void require_apart(const void* one, const void* other, std::size_t bytes, const char* what) {
  const char *a = static_cast<const char*>(one), *b = static_cast<const char*>(other);
  require(bytes == 0 || a + bytes <= b || b + bytes <= a, what);
}

template <class Pass>
void run(const Pass& pass, double* sums, std::size_t n_threads) {
  unlocked([&](const Interrupted& interrupted) { run_pass(pass, sums, n_threads, interrupted); });
}

void product(const SparseColumns& self, Vector diagonal, float scale, Table X, Out<float, 2> out,
             Out<double, 1> sums, std::size_t n_threads) {
  const std::size_t n = self.matrix.n, K = X.shape(1);
  require_shape(diagonal, "diagonal", {n});
  require_shape(X, "X", {n, K});
  require_shape(out, "out", {n, K});
  require_shape(sums, "sums", {K});
  require_apart(X.data(), out.data(), X.nbytes(), "X and out share memory");
  run(ColumnsProduct{n, K, self.matrix, diagonal.data(), scale, X.data(), out.data()}, sums.data(),
      n_threads);
}

void step(Out<float, 2> solution, Out<float, 2> residual, Table direction, Table image,
          Vector length, Vector inverse_diagonal, Out<double, 2> sums, std::size_t n_threads) {
  const std::size_t n = solution.shape(0), K = solution.shape(1);
  require_shape(residual, "residual", {n, K});
  require_shape(direction, "direction", {n, K});
  require_shape(image, "image", {n, K});
  require_shape(length, "length", {K});
  require_shape(inverse_diagonal, "inverse_diagonal", {n});
  require_shape(sums, "sums", {2, K});
  run(ColumnsStep{n, K, solution.data(), residual.data(), direction.data(), image.data(),
                  length.data(), inverse_diagonal.data()},
      sums.data(), n_threads);
}

void turn(Out<float, 2> direction, Table residual, Vector inverse_diagonal, Vector ratio,
          std::size_t n_threads) {
  const std::size_t n = direction.shape(0), K = direction.shape(1);
  require_shape(residual, "residual", {n, K});
  require_shape(inverse_diagonal, "inverse_diagonal", {n});
  require_shape(ratio, "ratio", {K});
  run(ColumnsTurn{n, K, direction.data(), residual.data(), inverse_diagonal.data(), ratio.data()},
      nullptr, n_threads);
}

}  // namespace

// The matrix is not copied: keep_alive holds its arrays as long as the object lives.
void bind_columns(nb::module_& m) {
  nb::class_<SparseColumns>(m, "SparseColumns")
      .def(
          "__init__",
          [](SparseColumns* self, Ints indptr, Ints indices, Vector values) {
            require(indptr.shape(0) >= 1, "indptr must start with 0");
            const auto matrix = checked_rows(indptr, indices, values, indptr.shape(0) - 1);
            require(std::all_of(values.data(), values.data() + values.shape(0),
                                [](float value) { return std::isfinite(value); }),
                    "the matrix's values must be finite");
            new (self) SparseColumns{matrix};
          },
          nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(),
          nb::arg("values").noconvert(), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(),
          nb::keep_alive<1, 4>())
      .def("product", &product, nb::arg("diagonal").noconvert(), nb::arg("scale"),
           nb::arg("X").noconvert(), nb::arg("out").noconvert(), nb::arg("sums").noconvert(),
           nb::arg("n_threads"));
  m.def("columns_step", &step, nb::arg("solution").noconvert(), nb::arg("residual").noconvert(),
        nb::arg("direction").noconvert(), nb::arg("image").noconvert(),
        nb::arg("length").noconvert(), nb::arg("inverse_diagonal").noconvert(),
        nb::arg("sums").noconvert(), nb::arg("n_threads"));
  m.def("columns_turn", &turn, nb::arg("direction").noconvert(), nb::arg("residual").noconvert(),
        nb::arg("inverse_diagonal").noconvert(), nb::arg("ratio").noconvert(),
        nb::arg("n_threads"));
}

}  // namespace graphkm
