// Rows in cells. A search reads a few cells for every query, and many queries read a cell at once:
// so its distances are a product of small matrices.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "flush_denormals.hpp"
#include "isa.hpp"

namespace graphkm {

template <class T>
class RowCells {
 public:
  // cell[i] is the cell of row i. Rows are kept as differences from the centre of their cell: these
  // are small, so that little is lost where their squares are subtracted.
  RowCells(const T* rows, const std::int32_t* cell, std::size_t n, const T* centres,
           std::size_t n_cells, std::size_t d)
      : d_(d), n_rows_(n), centres_(centres, centres + n_cells * d), first_(n_cells + 1, 0) {
    const std::size_t lanes = isa_.lanes;
    for (std::size_t i = 0; i < n; ++i) ++first_[cell[i] + 1];
    for (std::size_t c = 0; c < n_cells; ++c)
      first_[c + 1] = first_[c] + (first_[c + 1] + lanes - 1) / lanes * lanes;
    const std::size_t places = first_[n_cells];
    row_.assign(places, -1);
    stat_.assign(places, -std::numeric_limits<T>::infinity());
    data_.assign(places * d, T(0));
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t j = next[cell[i]]++;
      row_[j] = std::int64_t(i);
      stat_[j] = place(rows + i * d, cell[i], data_.data() + j / lanes * lanes * d + j % lanes,
                       lanes);
    }
  }

  std::size_t n_features() const { return d_; }
  std::size_t n_cells() const { return first_.size() - 1; }
  std::size_t n_rows() const { return n_rows_; }

  // out[query][0..k): rows of the cells probes[query][..] that are near, nearest first; -1 where
  // the cells hold fewer. A probe of -1 stands for none. What a query finds does not depend on the
  // other queries.
  void nearest(const T* queries, std::size_t n, const std::int32_t* probes, std::size_t n_probes,
               std::size_t k, std::int64_t* out) const {
    const FlushDenormals flush;
    std::vector<Ranked<T>> best(n * k, {-std::numeric_limits<T>::infinity(), -1});
    std::vector<std::int32_t> order(n), start(n_cells() + 1);
    for (std::size_t rank = 0; rank < n_probes; ++rank) {
      sort_by_cell(probes + rank, n_probes, n, start, order);
      for (std::size_t c = 0; c < n_cells(); ++c)
        for (std::int32_t q = start[c]; q < start[c + 1]; q += chunk)
          read_cell(c, queries, order.data() + q, std::min(chunk, start[c + 1] - q), k,
                    best.data());
    }
    for (std::size_t i = 0; i < n * k; ++i) out[i] = best[i].row < 0 ? -1 : row_[best[i].row];
  }

 private:
  static constexpr std::int32_t chunk = 96;  // queries at a time; a multiple of every tile

  // order[start[c]..start[c + 1]) are the queries whose probe is cell c.
  void sort_by_cell(const std::int32_t* probe, std::size_t stride, std::size_t n,
                    std::vector<std::int32_t>& start, std::vector<std::int32_t>& order) const {
    std::fill(start.begin(), start.end(), 0);
    for (std::size_t q = 0; q < n; ++q)
      if (probe[q * stride] >= 0) ++start[probe[q * stride] + 1];
    for (std::size_t c = 0; c < n_cells(); ++c) start[c + 1] += start[c];
    std::vector<std::int32_t> next(start.begin(), start.end() - 1);
    for (std::size_t q = 0; q < n; ++q)
      if (probe[q * stride] >= 0) order[next[probe[q * stride]]++] = std::int32_t(q);
  }

  void read_cell(std::size_t c, const T* queries, const std::int32_t* which, std::int32_t n,
                 std::size_t k, Ranked<T>* best) const {
    const std::size_t tile = isa_.tile, lanes = isa_.lanes, first = first_[c];
    std::vector<T> packed(chunk * d_, T(0)), stat(chunk, T(0)), scratch(chunk * lanes);
    for (std::int32_t i = 0; i < n; ++i)
      stat[i] = place(queries + std::size_t(which[i]) * d_, c,
                      packed.data() + i / tile * tile * d_ + i % tile, tile);
    const PanelView<T> view{data_.data() + first * d_, stat_.data() + first, nullptr,
                            first_[c + 1] - first, (first_[c + 1] - first) / lanes, d_, 0};
    isa_.dense_largest(view, packed.data(), stat.data(), which, n, std::int32_t(first), k, best,
                       scratch.data());
  }

  // Writes x less the centre, with `stride` between features; returns minus half its square.
  T place(const T* x, std::size_t c, T* to, std::size_t stride) const {
    const T* centre = centres_.data() + c * d_;
    double squares = 0.0;
    for (std::size_t k = 0; k < d_; ++k) {
      const T difference = x[k] - centre[k];
      to[k * stride] = difference;
      squares += double(difference) * double(difference);
    }
    return T(-0.5 * squares);
  }

  const Isa<T>& isa_ = isa<T>();
  std::size_t d_, n_rows_;
  std::vector<T> centres_;
  std::vector<std::size_t> first_;  // where each cell begins: at a whole panel
  std::vector<std::int64_t> row_;   // by place; -1 where there is none
  std::vector<T> stat_, data_;
};

}  // namespace graphkm
