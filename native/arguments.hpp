// What the bindings share: array types, checks with messages, work without the interpreter's lock.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>

#include "kernel_spec.hpp"
#include "parallel.hpp"
#include "sparse_centres.hpp"

namespace graphkm {

namespace nb = nanobind;

template <class T, int n_dims>
using In = nb::ndarray<const T, nb::ndim<n_dims>, nb::c_contig, nb::device::cpu>;
template <class T, int n_dims>
using Out = nb::ndarray<T, nb::ndim<n_dims>, nb::c_contig, nb::device::cpu>;

inline void require(bool ok, const std::string& what) {
  if (!ok) throw std::invalid_argument(what);
}

// The message is made only if a check fails, so that even a check of every index is cheap.
inline void require(bool ok, const char* what) {
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
inline Interrupted watch_signals() {
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

inline KernelSpec kernel_spec(int code, double gamma, double coef0, int degree) {
  require(code >= 0 && code <= 4, "unknown kernel code " + std::to_string(code));
  require(degree >= 1, "degree must be at least 1");
  return {static_cast<KernelCode>(code), gamma, coef0, degree, false};
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

void bind_smo(nb::module_& m);
void bind_text(nb::module_& m);
void bind_budget(nb::module_& m);
void bind_columns(nb::module_& m);
void bind_cells(nb::module_& m);

}  // namespace graphkm
