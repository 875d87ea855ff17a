// Kernel rows kept within a budget of memory; the least recently used leave first.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace graphkm {

template <class T>
class RowCache {
 public:
  RowCache(std::size_t n_rows, std::size_t bytes) : bytes_(bytes), rows_(n_rows), used_(n_rows) {}

  // Two rows are in use at a time, whatever the budget.
  std::size_t capacity() const { return std::max<std::size_t>(2, bytes_ / (length_ * sizeof(T))); }
  std::size_t room() const { return capacity() - std::min(capacity(), kept_.size()); }
  bool holds(std::int32_t id) const { return !rows_[std::size_t(id)].empty(); }

  // The row's values; it becomes the most recently used.
  const T* use(std::int32_t id) {
    used_[std::size_t(id)] = ++clock_;
    return rows_[std::size_t(id)].data();
  }

  // Forgets all rows; those to come have `length` values.
  void reset(std::size_t length) {
    for (const std::int32_t id : kept_) release(id);
    kept_.clear();
    length_ = length;
  }

  // Evicts until `count` more rows fit.
  void make_room(std::size_t count) {
    if (kept_.size() + count <= capacity()) return;
    const std::size_t surplus = std::min(kept_.size(), kept_.size() + count - capacity());
    const auto older = [&](std::int32_t a, std::int32_t b) {
      return used_[std::size_t(a)] < used_[std::size_t(b)];
    };
    const auto middle = kept_.begin() + std::ptrdiff_t(surplus);
    std::nth_element(kept_.begin(), middle, kept_.end(), older);
    std::for_each(kept_.begin(), middle, [&](std::int32_t id) { release(id); });
    kept_.erase(kept_.begin(), middle);
  }

  // Takes in a row that is not held; zeros follow its `count` values. It can be written to.
  T* insert(std::int32_t id, const T* values, std::size_t count) {
    kept_.push_back(id);
    std::vector<T>& row = rows_[std::size_t(id)];
    row.reserve(length_);
    row.assign(values, values + count);
    row.resize(length_, T(0));
    used_[std::size_t(id)] = clock_;
    return row.data();
  }

  // Keeps only some positions of every row, in ascending order.
  void compact(const std::vector<std::int32_t>& positions, std::size_t length) {
    length_ = length;
    for (const std::int32_t id : kept_) {
      std::vector<T> shorter(length, T(0));
      const std::vector<T>& row = rows_[std::size_t(id)];
      for (std::size_t k = 0; k < positions.size(); ++k) shorter[k] = row[std::size_t(positions[k])];
      rows_[std::size_t(id)] = std::move(shorter);
    }
  }

 private:
  void release(std::int32_t id) { std::vector<T>().swap(rows_[std::size_t(id)]); }

  std::size_t bytes_, length_ = 1;
  std::uint64_t clock_ = 0;
  std::vector<std::vector<T>> rows_;  // empty where not held
  std::vector<std::uint64_t> used_;
  std::vector<std::int32_t> kept_;
};

}  // namespace graphkm
