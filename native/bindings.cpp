// What Python sees: two stores of centres in two precisions, and the block stepper; smo_bindings.cpp,
// budget_bindings.cpp, cells_bindings.cpp, columns_bindings.cpp and text_bindings.cpp have the rest.
// Every argument is checked here, and no other file checks sizes again.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "arguments.hpp"
#include "block.hpp"
#include "dense_centres.hpp"
#include "sparse_centres.hpp"

using namespace graphkm;

namespace {

void require_indices(In<std::int64_t, 1> rows, std::size_t size) {
  for (std::size_t k = 0; k < rows.shape(0); ++k)
    require(rows(k) >= 0 && std::size_t(rows(k)) < size, "a centre number is out of range");
}

template <class Store>
void set_coefficients(Store& self, In<std::int64_t, 1> rows, In<double, 2> values) {
  require_shape(values, "values", {rows.shape(0), self.n_outputs()});
  require_indices(rows, self.size());
  self.set(rows.data(), values.data(), rows.shape(0));
}

template <class T>
void bind_dense(nb::module_& m, const char* name) {
  using Store = DenseCentres<T>;
  nb::class_<Store>(m, name)
      .def(
          "__init__",
          [](Store* self, int code, double gamma, double coef0, int degree,
             std::size_t n_features, std::size_t n_outputs) {
            new (self) Store(kernel_spec(code, gamma, coef0, degree), n_features, n_outputs);
          },
          nb::arg("code"), nb::arg("gamma"), nb::arg("coef0"), nb::arg("degree"),
          nb::arg("n_features"), nb::arg("n_outputs"))
      .def("__len__", &Store::size)
      .def(
          "append",
          [](Store& self, In<T, 2> rows) {
            require_shape(rows, "rows", {rows.shape(0), self.n_features()});
            self.append(rows.data(), rows.shape(0));
          },
          nb::arg("rows").noconvert())
      .def("set", &set_coefficients<Store>, nb::arg("rows").noconvert(),
           nb::arg("values").noconvert())
      .def(
          "product",
          [](const Store& self, In<T, 2> queries, Out<double, 2> out, std::size_t n_threads) {
            require_shape(queries, "queries", {queries.shape(0), self.n_features()});
            require_shape(out, "out", {queries.shape(0), self.n_outputs()});
            unlocked([&](const Interrupted& interrupted) {
              self.product(queries.data(), queries.shape(0), out.data(), n_threads, interrupted);
            });
          },
          nb::arg("queries").noconvert(), nb::arg("out").noconvert(), nb::arg("n_threads"))
      .def(
          "values",
          [](const Store& self, In<T, 2> queries, Out<T, 2> out, std::size_t n_threads) {
            require_shape(queries, "queries", {queries.shape(0), self.n_features()});
            require_shape(out, "out", {queries.shape(0), self.size()});
            unlocked([&](const Interrupted& interrupted) {
              self.values(queries.data(), queries.shape(0), out.data(), n_threads, interrupted);
            });
          },
          nb::arg("queries").noconvert(), nb::arg("out").noconvert(), nb::arg("n_threads"));
}

template <class T>
void bind_sparse(nb::module_& m, const char* name) {
  using Store = SparseCentres<T>;
  using Ints = In<std::int32_t, 1>;
  nb::class_<Store>(m, name)
      .def(
          "__init__",
          [](Store* self, int code, double gamma, double coef0, int degree, std::size_t n_features,
             std::size_t n_outputs) {
            new (self) Store(kernel_spec(code, gamma, coef0, degree), n_features, n_outputs);
          },
          nb::arg("code"), nb::arg("gamma"), nb::arg("coef0"), nb::arg("degree"),
          nb::arg("n_features"), nb::arg("n_outputs"))
      .def("__len__", &Store::size)
      .def(
          "append",
          [](Store& self, Ints indptr, Ints indices, In<T, 1> values) {
            self.append(checked_rows(indptr, indices, values, self.n_features()));
          },
          nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(),
          nb::arg("values").noconvert())
      .def("set", &set_coefficients<Store>, nb::arg("rows").noconvert(),
           nb::arg("values").noconvert())
      .def(
          "product",
          [](const Store& self, Ints indptr, Ints indices, In<T, 1> values, Out<double, 2> out,
             std::size_t n_threads) {
            const auto rows = checked_rows(indptr, indices, values, self.n_features());
            require_shape(out, "out", {rows.n, self.n_outputs()});
            unlocked([&](const Interrupted& interrupted) {
              self.product(rows, out.data(), n_threads, interrupted);
            });
          },
          nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(),
          nb::arg("values").noconvert(), nb::arg("out").noconvert(), nb::arg("n_threads"))
      .def(
          "values",
          [](const Store& self, Ints indptr, Ints indices, In<T, 1> values, Out<T, 2> out,
             std::size_t n_threads) {
            const auto rows = checked_rows(indptr, indices, values, self.n_features());
            require_shape(out, "out", {rows.n, self.size()});
            unlocked([&](const Interrupted& interrupted) {
              self.values(rows, out.data(), n_threads, interrupted);
            });
          },
          nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(),
          nb::arg("values").noconvert(), nb::arg("out").noconvert(), nb::arg("n_threads"))
      .def(
          "largest",
          [](const Store& self, Ints indptr, Ints indices, In<T, 1> values,
             Out<std::int32_t, 2> out, std::size_t n_threads) {
            const auto rows = checked_rows(indptr, indices, values, self.n_features());
            const std::size_t k = out.shape(1);
            require_shape(out, "out", {rows.n, k});
            require(k >= 1 && k <= self.size(), "more centres are asked for than there are, or none");
            unlocked([&](const Interrupted& interrupted) {
              self.largest(rows, k, out.data(), n_threads, interrupted);
            });
          },
          nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(),
          nb::arg("values").noconvert(), nb::arg("out").noconvert(), nb::arg("n_threads"));
}

template <bool implicit, class T>
bool run_with_loss(const Block<T>& block, std::size_t r, int code, double parameter,
                   const Smoothness& smooth, const OutputState& state) {
  switch (code) {
    case 0:
      return run_block<implicit>(block, r, Hinge{}, smooth, state);
    case 1:
      return run_block<implicit>(block, r, SmoothHinge{parameter}, smooth, state);
    case 2:
      return run_block<implicit>(block, r, Logistic{}, smooth, state);
    case 3:
      return run_block<implicit>(block, r, AbsoluteError{}, smooth, state);
    default:
      return run_block<implicit>(block, r, EpsilonInsensitive{parameter}, smooth, state);
  }
}

template <class T>
bool run(In<T, 2> gram, Out<double, 2> scores, Out<double, 2> change, Out<double, 2> weighted,
         Out<double, 1> norm, Out<double, 2> objective, std::int64_t first_step, double harmonic,
         In<std::int32_t, 1> label, In<double, 2> target, In<double, 1> label_weight,
         In<std::int32_t, 1> u, In<std::int32_t, 1> v, In<double, 1> edge_weight, In<double, 1> C,
         In<double, 1> C_graph, int loss, double parameter, double p, bool implicit,
         std::size_t n_threads) {
  const std::size_t n = gram.shape(0), R = scores.shape(0), B = label.shape(0);
  require_shape(gram, "gram", {n, n});
  require_shape(scores, "scores", {R, n});
  require_shape(change, "change", {R, n});
  require_shape(weighted, "weighted", {R, n});
  require_shape(norm, "norm", {R});
  require_shape(objective, "objective", {R, B});
  require_shape(target, "target", {B, R});
  require_shape(label_weight, "label_weight", {B});
  require_shape(u, "u", {B});
  require_shape(v, "v", {B});
  require_shape(edge_weight, "edge_weight", {B});
  require_shape(C, "C", {R});
  require_shape(C_graph, "C_graph", {R});
  require(loss >= 0 && loss <= 4, "unknown loss code " + std::to_string(loss));
  require(first_step >= 1, "steps are counted from 1");
  require(p >= 1.0, "p must be at least 1");
  for (std::size_t s = 0; s < B; ++s) {
    require(label(s) >= 0 && std::size_t(label(s)) < n, "a label's point is out of range");
    require(u(s) == -1 || (u(s) >= 0 && std::size_t(u(s)) < n && v(s) >= 0 &&
                           std::size_t(v(s)) < n),
            "an edge's point is out of range");
  }
  const Block<T> block{B,           n,        R,        first_step,       harmonic,
                       gram.data(), label.data(), target.data(), label_weight.data(), u.data(),
                       v.data(),    edge_weight.data(), C.data(), C_graph.data()};
  const Smoothness smooth{p};
  std::vector<char> finite(R, 0);
  unlocked([&](const Interrupted& interrupted) {
    parallel_for(R, B * R > 2048 ? n_threads : 1, interrupted, [&](std::size_t r) {
      const OutputState state{scores.data() + r * n, change.data() + r * n,
                              weighted.data() + r * n, norm.data() + r, objective.data() + r * B};
      finite[r] = implicit ? run_with_loss<true>(block, r, loss, parameter, smooth, state)
                           : run_with_loss<false>(block, r, loss, parameter, smooth, state);
    });
  });
  for (const char ok : finite)
    if (!ok) return false;
  return true;
}

template <class T>
void bind_block(nb::module_& m) {
  m.def("run_block", &run<T>, nb::arg("gram").noconvert(), nb::arg("scores").noconvert(),
        nb::arg("change").noconvert(), nb::arg("weighted").noconvert(),
        nb::arg("norm").noconvert(), nb::arg("objective").noconvert(), nb::arg("first_step"),
        nb::arg("harmonic"), nb::arg("label").noconvert(), nb::arg("target").noconvert(),
        nb::arg("label_weight").noconvert(), nb::arg("u").noconvert(), nb::arg("v").noconvert(),
        nb::arg("edge_weight").noconvert(), nb::arg("C").noconvert(),
        nb::arg("C_graph").noconvert(), nb::arg("loss"), nb::arg("parameter"), nb::arg("p"),
        nb::arg("implicit"), nb::arg("n_threads"));
}

}  // namespace

NB_MODULE(_native, m) {
#ifdef NDEBUG
  // A thread or a cache may hold a model until a program ends, which is no leak. Builds for
  // debugging and for the sanitizers still report what is left.
  nb::set_leak_warnings(false);
#endif
  m.doc() = "The compiled loops of graphkm: kernel products, stochastic steps, dual problems, "
            "budgets, sparse systems, numbers in text.";
  m.def("instruction_set", [] { return std::string(isa<float>().name); },
        "The instruction set the loops run on: avx512, avx2, neon or portable.");
  m.def("instruction_sets", &instruction_sets,
        "The instruction sets this machine has, the best first.");
  bind_dense<float>(m, "DenseCentres32");
  bind_dense<double>(m, "DenseCentres64");
  bind_sparse<float>(m, "SparseCentres32");
  bind_sparse<double>(m, "SparseCentres64");
  bind_block<float>(m);
  bind_block<double>(m);
  bind_smo(m);
  bind_text(m);
  bind_budget(m);
  bind_columns(m);
  bind_cells(m);
}
