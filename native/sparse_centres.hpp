// Sparse centres as compressed rows. The queries of a block are laid out lane by lane over the
// features they use (a few thousand of perhaps a million), and every centre's non-zeros pass over
// that small table: no dense copy of wide data is ever made.
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

// Rows as scipy.sparse.csr_array holds them, with 32-bit indices.
template <class T>
struct Rows {
  const std::int32_t* indptr;
  const std::int32_t* indices;
  const T* values;
  std::size_t n;
};

template <class T>
class SparseCentres {
 public:
  SparseCentres(KernelSpec spec, std::size_t n_features, std::size_t n_outputs)
      : spec_(spec), n_features_(n_features), n_outputs_(n_outputs), indptr_(1, 0) {}

  std::size_t size() const { return stat_.size(); }
  std::size_t n_features() const { return n_features_; }
  std::size_t n_outputs() const { return n_outputs_; }

  void append(const Rows<T>& rows) {
    // Everything that may run out of memory comes first, so that the parts always agree.
    const std::size_t n_values = indices_.size() + std::size_t(rows.indptr[rows.n]);
    reserve(indices_, n_values);
    reserve(values_, n_values);
    reserve(indptr_, indptr_.size() + rows.n);
    reserve(stat_, size() + rows.n);
    coef_.resize((size() + rows.n) * n_outputs_, T(0));
    for (std::size_t i = 0; i < rows.n; ++i) {
      const RowForm form = spec_.row_form(Side::centre, squares(rows, i));
      for (std::int32_t e = rows.indptr[i]; e < rows.indptr[i + 1]; ++e) {
        indices_.push_back(rows.indices[e]);
        values_.push_back(T(form.scale * double(rows.values[e])));
      }
      indptr_.push_back(std::int64_t(indices_.size()));
      stat_.push_back(T(form.stat));
      largest_stat_ = std::max(largest_stat_, std::fabs(double(stat_.back())));
    }
  }

  void set(const std::int64_t* rows, const double* values, std::size_t n) {
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t r = 0; r < n_outputs_; ++r)
        coef_[std::size_t(rows[k]) * n_outputs_ + r] = T(values[k * n_outputs_ + r]);
  }

  void product(const Rows<T>& queries, double* out, std::size_t n_threads,
               const Interrupted& interrupted) const {
    std::fill_n(out, queries.n * n_outputs_, 0.0);
    each_block(queries, n_threads, interrupted,
               [&](const KernelSpec& spec, std::size_t first, std::size_t count, const T* lanes,
                   const T* stat, const std::int32_t* local) {
                 std::vector<T> scratch(n_outputs_ * isa_.sparse_lanes);
                 isa_.sparse_product(spec, view(), lanes, stat, local, count,
                                     out + first * n_outputs_, scratch.data());
               });
  }

  void values(const Rows<T>& queries, T* out, std::size_t n_threads,
              const Interrupted& interrupted) const {
    each_block(queries, n_threads, interrupted,
               [&](const KernelSpec& spec, std::size_t first, std::size_t count, const T* lanes,
                   const T* stat, const std::int32_t* local) {
                 isa_.sparse_values(spec, view(), lanes, stat, local, count, out + first * size(),
                                    size());
               });
  }

  // out[query][0..k): the centres with the largest values, largest first, earliest among equals.
  void largest(const Rows<T>& queries, std::size_t k, std::int32_t* out, std::size_t n_threads,
               const Interrupted& interrupted) const {
    each_block(queries, n_threads, interrupted,
               [&](const KernelSpec& spec, std::size_t first, std::size_t count, const T* lanes,
                   const T* stat, const std::int32_t* local) {
                 std::vector<Ranked<T>> best(count * k);
                 isa_.sparse_largest(spec, view(), lanes, stat, local, count, k, best.data());
                 for (std::size_t i = 0; i < best.size(); ++i) out[first * k + i] = best[i].row;
               });
  }

 private:
  template <class E>
  static void reserve(std::vector<E>& values, std::size_t size) {
    if (size > values.capacity()) values.reserve(std::max(size, 2 * values.capacity()));
  }

  SparseView<T> view() const {
    return {indptr_.data(), indices_.data(), values_.data(), stat_.data(),
            coef_.data(),   size(),          n_outputs_};
  }

  static double squares(const Rows<T>& rows, std::size_t i) {
    double sum = 0.0;
    for (std::int32_t e = rows.indptr[i]; e < rows.indptr[i + 1]; ++e)
      sum += double(rows.values[e]) * double(rows.values[e]);
    return sum;
  }

  template <class Work>
  void each_block(const Rows<T>& queries, std::size_t n_threads, const Interrupted& interrupted,
                  Work&& work) const {
    if (size() == 0 || queries.n == 0) return;
    const std::size_t width = isa_.sparse_lanes, n_blocks = (queries.n + width - 1) / width;
    const double row_length = double(indices_.size()) / double(size());
    if (double(queries.n) * double(size()) * (row_length + 24) < 4e6) n_threads = 1;
    // Several blocks to a chunk, so that the table of features is cleared once a chunk.
    const std::size_t per_chunk = 4, n_chunks = (n_blocks + per_chunk - 1) / per_chunk;
    parallel_for(n_chunks, n_threads, interrupted, [&](std::size_t chunk) {
      const FlushDenormals flush;
      std::vector<std::int32_t> local(n_features_, 0);
      std::vector<T> lanes, stat(width);
      for (std::size_t b = chunk * per_chunk; b < std::min(n_blocks, (chunk + 1) * per_chunk); ++b) {
        const std::size_t first = b * width, count = std::min(width, queries.n - first);
        lay_out(queries, first, count, local, lanes, stat);
        double largest = 0.0;
        for (const T x : stat) largest = std::max(largest, std::fabs(double(x)));
        work(spec_.for_stats(largest, largest_stat_, std::numeric_limits<T>::epsilon()), first,
             count, lanes.data(), stat.data(), local.data());
        for (std::int32_t e = queries.indptr[first]; e < queries.indptr[first + count]; ++e)
          local[std::size_t(queries.indices[e])] = 0;
      }
    });
  }

  // Lane q of `lanes` becomes query first + q; features the block does not use stay at table row 0.
  void lay_out(const Rows<T>& queries, std::size_t first, std::size_t count,
               std::vector<std::int32_t>& local, std::vector<T>& lanes,
               std::vector<T>& stat) const {
    const std::size_t width = isa_.sparse_lanes;
    std::int32_t used = 0;
    for (std::int32_t e = queries.indptr[first]; e < queries.indptr[first + count]; ++e) {
      std::int32_t& slot = local[std::size_t(queries.indices[e])];
      if (slot == 0) slot = ++used;
    }
    lanes.assign((std::size_t(used) + 1) * width, T(0));
    std::fill(stat.begin(), stat.end(), T(0));
    for (std::size_t q = 0; q < count; ++q) {
      const RowForm form = spec_.row_form(Side::query, squares(queries, first + q));
      double absolute = 0.0;
      for (std::int32_t e = queries.indptr[first + q]; e < queries.indptr[first + q + 1]; ++e) {
        const T x = T(form.scale * double(queries.values[e]));
        lanes[std::size_t(local[std::size_t(queries.indices[e])]) * width + q] += x;
        absolute += std::fabs(double(x));
      }
      // The Manhattan step counts |x| - |x - r| on a row's non-zeros; the rest of |x| is here.
      stat[q] = T(spec_.code == KernelCode::laplacian ? -absolute : form.stat);
    }
  }

  const Isa<T>& isa_ = isa<T>();
  KernelSpec spec_;
  std::size_t n_features_, n_outputs_;
  double largest_stat_ = 0.0;
  std::vector<std::int64_t> indptr_;
  std::vector<std::int32_t> indices_;
  std::vector<T> values_, stat_, coef_;
};

}  // namespace graphkm
