// Where rows of the kernel matrix come from: dense rows, compressed rows, or the matrix itself.
// Each source knows some columns at a time, and computes `batch` rows for little more than one.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "dense_centres.hpp"
#include "sparse_centres.hpp"

namespace graphkm {

using Ids = std::vector<std::int32_t>;

template <class T>
class DenseRows {
 public:
  using Value = T;
  DenseRows(KernelSpec spec, const T* rows, std::size_t n, std::size_t d)
      : spec_(spec), rows_(rows), n_(n), d_(d) {}

  std::size_t size() const { return n_; }
  // A tile of rows costs as much as one row for features, but more for exponentials. So with few
  // features there is little to gain.
  std::size_t batch() const { return d_ < 16 ? 1 : isa<T>().tile; }

  void set_columns(const Ids& ids) { columns_ = centres(ids); }

  // out[id][column]
  void values(const Ids& ids, T* out, const Interrupted& interrupted) const {
    columns_->values(gather(ids).data(), ids.size(), out, 1, interrupted);
  }

  // out[query] = sum over ids of coef k(query, id)
  void product(const Ids& ids, const std::vector<double>& coef, const Ids& queries, double* out,
               std::size_t n_threads, const Interrupted& interrupted) const {
    const auto store = centres(ids);
    std::vector<std::int64_t> all(ids.size());
    for (std::size_t k = 0; k < all.size(); ++k) all[k] = std::int64_t(k);
    store->set(all.data(), coef.data(), all.size());
    store->product(gather(queries).data(), queries.size(), out, n_threads, interrupted);
  }

 private:
  std::vector<T> gather(const Ids& ids) const {
    std::vector<T> taken(ids.size() * d_);
    for (std::size_t k = 0; k < ids.size(); ++k)
      std::copy_n(rows_ + std::size_t(ids[k]) * d_, d_, taken.data() + k * d_);
    return taken;
  }

  std::unique_ptr<DenseCentres<T>> centres(const Ids& ids) const {
    auto store = std::make_unique<DenseCentres<T>>(spec_, d_, 1);
    store->append(gather(ids).data(), ids.size());
    return store;
  }

  KernelSpec spec_;
  const T* rows_;
  std::size_t n_, d_;
  std::unique_ptr<DenseCentres<T>> columns_;
};

template <class T>
class SparseRows {
 public:
  using Value = T;
  SparseRows(KernelSpec spec, const Rows<T>& rows, std::size_t d)
      : spec_(spec), rows_(rows), d_(d) {}

  std::size_t size() const { return rows_.n; }
  std::size_t batch() const { return isa<T>().sparse_lanes; }

  void set_columns(const Ids& ids) { columns_ = centres(ids); }

  void values(const Ids& ids, T* out, const Interrupted& interrupted) const {
    columns_->values(Taken(rows_, ids).view(), out, 1, interrupted);
  }

  void product(const Ids& ids, const std::vector<double>& coef, const Ids& queries, double* out,
               std::size_t n_threads, const Interrupted& interrupted) const {
    const auto store = centres(ids);
    std::vector<std::int64_t> all(ids.size());
    for (std::size_t k = 0; k < all.size(); ++k) all[k] = std::int64_t(k);
    store->set(all.data(), coef.data(), all.size());
    store->product(Taken(rows_, queries).view(), out, n_threads, interrupted);
  }

 private:
  struct Taken {
    std::vector<std::int32_t> indptr{0}, indices;
    std::vector<T> values;
    Taken(const Rows<T>& rows, const Ids& ids) {
      for (const std::int32_t id : ids) {
        const std::int32_t from = rows.indptr[id], to = rows.indptr[id + 1];
        indices.insert(indices.end(), rows.indices + from, rows.indices + to);
        values.insert(values.end(), rows.values + from, rows.values + to);
        indptr.push_back(std::int32_t(indices.size()));
      }
    }
    Rows<T> view() const {
      return {indptr.data(), indices.data(), values.data(), indptr.size() - 1};
    }
  };

  std::unique_ptr<SparseCentres<T>> centres(const Ids& ids) const {
    auto store = std::make_unique<SparseCentres<T>>(spec_, d_, 1);
    store->append(Taken(rows_, ids).view());
    return store;
  }

  KernelSpec spec_;
  Rows<T> rows_;
  std::size_t d_;
  std::unique_ptr<SparseCentres<T>> columns_;
};

template <class T>
class GramRows {
 public:
  using Value = T;
  GramRows(const T* gram, std::size_t n) : gram_(gram), n_(n) {}

  std::size_t size() const { return n_; }
  std::size_t batch() const { return 1; }

  void set_columns(const Ids& ids) { columns_ = ids; }

  void values(const Ids& ids, T* out, const Interrupted&) const {
    for (const std::int32_t id : ids)
      for (const std::int32_t column : columns_)
        *out++ = gram_[std::size_t(id) * n_ + std::size_t(column)];
  }

  void product(const Ids& ids, const std::vector<double>& coef, const Ids& queries, double* out,
               std::size_t n_threads, const Interrupted& interrupted) const {
    const std::size_t chunk = 256;
    parallel_for((queries.size() + chunk - 1) / chunk, n_threads, interrupted, [&](std::size_t c) {
      for (std::size_t q = c * chunk; q < std::min(queries.size(), (c + 1) * chunk); ++q) {
        const T* row = gram_ + std::size_t(queries[q]) * n_;
        double sum = 0.0;
        for (std::size_t k = 0; k < ids.size(); ++k) sum += coef[k] * double(row[ids[k]]);
        out[q] = sum;
      }
    });
  }

 private:
  const T* gram_;
  std::size_t n_;
  Ids columns_;
};

}  // namespace graphkm
