// What Python sees of sequential minimal optimisation: one class per source of kernel rows.
#include <nanobind/stl/pair.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "smo.hpp"

namespace graphkm {
namespace {

using Numbers = In<double, 1>;

template <class Source>
void construct(Smo<Source>* self, Source source, Numbers diagonal, Numbers mean,
               std::size_t bytes) {
  const std::size_t n = source.size(), extra = mean.shape(0) > 0;
  require(n >= 1, "there are no rows");
  require(n < std::size_t(1) << 31, "there are more rows than 32-bit integers count");
  if (extra) require_shape(mean, "mean", {n});
  require_shape(diagonal, "diagonal", {n + extra});
  const auto finite = [](double x) { return std::isfinite(x); };
  require(std::all_of(diagonal.data(), diagonal.data() + n + extra, finite) &&
              std::all_of(mean.data(), mean.data() + mean.shape(0), finite),
          "kernel values are not finite; scale the rows or the kernel");
  new (self) Smo<Source>(std::move(source), {diagonal.data(), diagonal.data() + n + extra},
                         {mean.data(), mean.data() + mean.shape(0)}, bytes);
}

template <class Source>
std::pair<std::int64_t, double> solve(Smo<Source>& self, Numbers slope, Numbers bend, Numbers kink,
                                      Numbers lower, Numbers upper, Out<double, 1> coefficients,
                                      Out<double, 1> scores, double tol, std::int64_t max_iter,
                                      bool shrinking, std::size_t n_threads) {
  const std::size_t n = self.size();
  require_shape(slope, "slope", {n});
  require_shape(bend, "bend", {n});
  require_shape(kink, "kink", {n});
  require_shape(lower, "lower", {n});
  require_shape(upper, "upper", {n});
  require_shape(coefficients, "coefficients", {n});
  require_shape(scores, "scores", {n});
  require(tol > 0.0, "tol must be positive");
  for (std::size_t i = 0; i < n; ++i) {
    require(std::isfinite(slope(i)) && std::isfinite(bend(i)) && std::isfinite(kink(i)),
            "slope, bend and kink must be finite");
    require(bend(i) >= 0.0, "bend must not be negative");
    require(lower(i) <= coefficients(i) && coefficients(i) <= upper(i),
            "coefficient " + std::to_string(i) + " starts outside its bounds");
  }
  const DualTerms terms{slope.data(), bend.data(), kink.data(), lower.data(), upper.data()};
  SmoOutcome outcome{};
  unlocked([&](const Interrupted& interrupted) {
    outcome = self.solve(terms, coefficients.data(), {tol, max_iter, shrinking}, n_threads,
                         interrupted);
  });
  std::copy_n(self.coefficients().data(), n, coefficients.data());
  std::copy_n(self.scores().data(), n, scores.data());
  return {outcome.n_iter, outcome.gap};
}

template <class Source>
nb::class_<Smo<Source>> bind(nb::module_& m, const char* name) {
  return nb::class_<Smo<Source>>(m, name)
      .def("__len__", &Smo<Source>::size)
      .def("reset", &Smo<Source>::reset)
      .def("solve", &solve<Source>, nb::arg("slope").noconvert(), nb::arg("bend").noconvert(),
           nb::arg("kink").noconvert(), nb::arg("lower").noconvert(),
           nb::arg("upper").noconvert(), nb::arg("coefficients").noconvert(),
           nb::arg("scores").noconvert(), nb::arg("tol"), nb::arg("max_iter"),
           nb::arg("shrinking"), nb::arg("n_threads"));
}

// The arrays of rows are not copied: keep_alive holds them as long as the solver lives.
template <class T>
void bind_precision(nb::module_& m, const std::string& bits) {
  using Ints = In<std::int32_t, 1>;
  bind<DenseRows<T>>(m, ("DenseSmo" + bits).c_str())
      .def(
          "__init__",
          [](Smo<DenseRows<T>>* self, int code, double gamma, double coef0, int degree,
             In<T, 2> rows, Numbers diagonal, Numbers mean, std::size_t cache_bytes) {
            construct(self,
                      DenseRows<T>(kernel_spec(code, gamma, coef0, degree), rows.data(),
                                   rows.shape(0), rows.shape(1)),
                      diagonal, mean, cache_bytes);
          },
          nb::arg("code"), nb::arg("gamma"), nb::arg("coef0"), nb::arg("degree"),
          nb::arg("rows").noconvert(), nb::arg("diagonal").noconvert(),
          nb::arg("mean").noconvert(), nb::arg("cache_bytes"), nb::keep_alive<1, 6>());
  bind<SparseRows<T>>(m, ("SparseSmo" + bits).c_str())
      .def(
          "__init__",
          [](Smo<SparseRows<T>>* self, int code, double gamma, double coef0, int degree,
             std::size_t n_features, Ints indptr, Ints indices, In<T, 1> values, Numbers diagonal,
             Numbers mean, std::size_t cache_bytes) {
            construct(self,
                      SparseRows<T>(kernel_spec(code, gamma, coef0, degree),
                                    checked_rows(indptr, indices, values, n_features), n_features),
                      diagonal, mean, cache_bytes);
          },
          nb::arg("code"), nb::arg("gamma"), nb::arg("coef0"), nb::arg("degree"),
          nb::arg("n_features"), nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(),
          nb::arg("values").noconvert(), nb::arg("diagonal").noconvert(),
          nb::arg("mean").noconvert(), nb::arg("cache_bytes"), nb::keep_alive<1, 7>(),
          nb::keep_alive<1, 8>(), nb::keep_alive<1, 9>());
  bind<GramRows<T>>(m, ("GramSmo" + bits).c_str())
      .def(
          "__init__",
          [](Smo<GramRows<T>>* self, In<T, 2> gram, Numbers diagonal, Numbers mean,
             std::size_t cache_bytes) {
            require_shape(gram, "gram", {gram.shape(0), gram.shape(0)});
            construct(self, GramRows<T>(gram.data(), gram.shape(0)), diagonal, mean, cache_bytes);
          },
          nb::arg("gram").noconvert(), nb::arg("diagonal").noconvert(),
          nb::arg("mean").noconvert(), nb::arg("cache_bytes"), nb::keep_alive<1, 2>());
}

}  // namespace

void bind_smo(nb::module_& m) {
  bind_precision<float>(m, "32");
  bind_precision<double>(m, "64");
}

}  // namespace graphkm
