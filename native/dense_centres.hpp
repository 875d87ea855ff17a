// Dense centres in panels, with their coefficients: they grow, change and are multiplied with.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "flush_denormals.hpp"
#include "isa.hpp"
#include "parallel.hpp"

namespace graphkm {

template <class T>
class DenseCentres {
 public:
  DenseCentres(KernelSpec spec, std::size_t n_features, std::size_t n_outputs)
      : spec_(spec), n_features_(n_features), n_outputs_(n_outputs) {}

  std::size_t size() const { return n_rows_; }
  std::size_t n_features() const { return n_features_; }
  std::size_t n_outputs() const { return n_outputs_; }

  void append(const T* rows, std::size_t n) {
    const std::size_t d = n_features(), lanes = isa_.lanes;
    const std::size_t panels = (n_rows_ + n + lanes - 1) / lanes;
    data_.resize(panels * lanes * d, T(0));
    stat_.resize(panels * lanes, T(0));
    coef_.resize(panels * lanes * n_outputs_, T(0));
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t j = n_rows_ + i, panel = j / lanes, lane = j % lanes;
      stat_[j] =
          place(rows + i * d, Side::centre, data_.data() + panel * d * lanes + lane, lanes);
      largest_stat_ = std::max(largest_stat_, std::fabs(double(stat_[j])));
    }
    n_rows_ += n;
  }

  // values[k][output] replace the coefficients of centre rows[k].
  void set(const std::int64_t* rows, const double* values, std::size_t n) {
    const std::size_t lanes = isa_.lanes, R = n_outputs_;
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t panel = std::size_t(rows[k]) / lanes, lane = std::size_t(rows[k]) % lanes;
      for (std::size_t r = 0; r < R; ++r)
        coef_[(panel * R + r) * lanes + lane] = T(values[k * R + r]);
    }
  }

  // out[query][output] = sum_j coef[j][output] k(query, centre j)
  void product(const T* queries, std::size_t n, double* out, std::size_t n_threads,
               const Interrupted& interrupted) const {
    std::fill_n(out, n * n_outputs_, 0.0);
    each_chunk(queries, n, n_threads, interrupted,
               [&](const KernelSpec& spec, std::size_t first, std::size_t count, const T* packed,
                   const T* stat) {
                 std::vector<T> scratch(chunk() * isa_.lanes * (1 + n_outputs_));
                 isa_.dense_product(spec, view(), packed, stat, count, out + first * n_outputs_,
                                    scratch.data());
               });
  }

  // out[query][j] = k(query, centre j)
  void values(const T* queries, std::size_t n, T* out, std::size_t n_threads,
              const Interrupted& interrupted) const {
    each_chunk(queries, n, n_threads, interrupted,
               [&](const KernelSpec& spec, std::size_t first, std::size_t count, const T* packed,
                   const T* stat) {
                 std::vector<T> scratch(chunk() * isa_.lanes);
                 isa_.dense_values(spec, view(), packed, stat, count, out + first * n_rows_,
                                   n_rows_, scratch.data());
               });
  }

 private:
  // Queries packed and worked on together: whole tiles, about 64.
  std::size_t chunk() const { return (64 + isa_.tile - 1) / isa_.tile * isa_.tile; }

  PanelView<T> view() const {
    const std::size_t lanes = isa_.lanes;
    return {data_.data(), stat_.data(), coef_.data(), n_rows_,
            (n_rows_ + lanes - 1) / lanes, n_features(), n_outputs_};
  }

  // Writes one row, scaled, with `stride` between features; returns its stat.
  T place(const T* row, Side side, T* to, std::size_t stride) const {
    const std::size_t d = n_features();
    double squares = 0.0;
    for (std::size_t k = 0; k < d; ++k) squares += double(row[k]) * double(row[k]);
    const RowForm form = spec_.row_form(side, squares);
    for (std::size_t k = 0; k < d; ++k) to[k * stride] = T(form.scale * double(row[k]));
    return T(form.stat);
  }

  template <class Work>
  void each_chunk(const T* queries, std::size_t n, std::size_t n_threads,
                  const Interrupted& interrupted, Work&& work) const {
    if (n_rows_ == 0 || n == 0) return;
    const std::size_t d = n_features(), tile = isa_.tile, chunk = this->chunk();
    // A few hundred microseconds of work are not worth a second thread.
    if (double(n) * double(n_rows_) * double(d + 24) < 4e6) n_threads = 1;
    parallel_for((n + chunk - 1) / chunk, n_threads, interrupted, [&](std::size_t c) {
      const FlushDenormals flush;
      const std::size_t first = c * chunk, count = std::min(chunk, n - first);
      std::vector<T> packed(chunk * d, T(0)), stat(chunk, T(0));
      for (std::size_t i = 0; i < count; ++i)
        stat[i] = place(queries + (first + i) * d, Side::query,
                        packed.data() + i / tile * tile * d + i % tile, tile);
      double largest = 0.0;
      for (const T x : stat) largest = std::max(largest, std::fabs(double(x)));
      work(spec_.for_stats(largest, largest_stat_, std::numeric_limits<T>::epsilon()), first, count,
           packed.data(), stat.data());
    });
  }

  const Isa<T>& isa_ = isa<T>();
  KernelSpec spec_;
  std::size_t n_features_, n_outputs_, n_rows_ = 0;
  double largest_stat_ = 0.0;
  std::vector<T> data_, stat_, coef_;
};

}  // namespace graphkm
