// What Python sees: two stores of centres in two precisions, and the block stepper. Every argument
// is checked here; behind this file sizes are trusted.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include "block.hpp"
#include "dense_centres.hpp"
#include "sparse_centres.hpp"

namespace nb = nanobind;
using namespace graphkm;

namespace {

template <class T, int n_dims>
using In = nb::ndarray<const T, nb::ndim<n_dims>, nb::c_contig, nb::device::cpu>;
template <class T, int n_dims>
using Out = nb::ndarray<T, nb::ndim<n_dims>, nb::c_contig, nb::device::cpu>;

void require(bool ok, const std::string& what) {
  if (!ok) throw std::invalid_argument(what);
}

template <class A>
void require_shape(const A& array, const char* name, std::initializer_list<std::size_t> shape) {
  std::size_t axis = 0;
  for (const std::size_t size : shape) {
    require(array.shape(axis) == size, std::string(name) + " has " +
                                           std::to_string(array.shape(axis)) + " entries on axis " +
                                           std::to_string(axis) + " where " +
                                           std::to_string(size) + " are needed");
    ++axis;
  }
}

// Looks for Ctrl-C a few times a second, from whichever thread holds the call.
Interrupted watch_signals() {
  using clock = std::chrono::steady_clock;
  return [last = clock::now()]() mutable {
    if (clock::now() - last < std::chrono::milliseconds(50)) return false;
    const nb::gil_scoped_acquire hold;
    last = clock::now();
    return PyErr_CheckSignals() != 0;
  };
}

// Runs work without the interpreter's lock; a signal's exception becomes Python's.
template <class Work>
void unlocked(Work&& work) {
  try {
    const nb::gil_scoped_release release;
    work(watch_signals());
  } catch (const Stopped&) {
    throw nb::python_error();
  }
}

KernelSpec kernel_spec(int code, double gamma, double coef0, int degree) {
  require(code >= 0 && code <= 4, "unknown kernel code " + std::to_string(code));
  require(degree >= 1, "degree must be at least 1");
  return {static_cast<KernelCode>(code), gamma, coef0, degree, false};
}

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
Rows<T> checked_rows(In<std::int32_t, 1> indptr, In<std::int32_t, 1> indices, In<T, 1> values,
                     std::size_t n_features) {
  require(indptr.shape(0) >= 1 && indptr(0) == 0, "indptr must start with 0");
  const std::size_t n = indptr.shape(0) - 1, nnz = values.shape(0);
  require_shape(indices, "indices", {nnz});
  for (std::size_t i = 0; i < n; ++i)
    require(indptr(i) <= indptr(i + 1), "indptr must not decrease");
  require(std::size_t(indptr(n)) == nnz, "indptr must end with the number of values");
  for (std::size_t e = 0; e < nnz; ++e)
    require(indices(e) >= 0 && std::size_t(indices(e)) < n_features,
            "a column index is out of range");
  return {indptr.data(), indices.data(), values.data(), n};
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
  m.doc() = "The compiled loops of graphkm: kernel products and blocks of stochastic steps.";
  m.def("instruction_set", [] { return std::string(isa<float>().name); },
        "The instruction set the loops run on: avx512, avx2, neon or portable.");
  bind_dense<float>(m, "DenseCentres32");
  bind_dense<double>(m, "DenseCentres64");
  bind_sparse<float>(m, "SparseCentres32");
  bind_sparse<double>(m, "SparseCentres64");
  bind_block<float>(m);
  bind_block<double>(m);
}
