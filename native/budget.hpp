// Fewer centres: what leaves is projected onto what stays, or merged with it (Wang, Crammer and
// Vucetic, 2012). Coefficients are rows of several columns, which all move alike.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace graphkm {

// out[i][0..k): the columns of row i with the largest values, largest first, earliest among equals.
template <class T>
void largest_columns(const T* values, std::size_t n, std::size_t m, std::size_t k,
                     std::int32_t* out) {
  std::vector<std::int32_t> order(m);
  for (std::size_t i = 0; i < n; ++i) {
    const T* row = values + i * m;
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + std::ptrdiff_t(k), order.end(),
                      [row](std::int32_t a, std::int32_t b) {
                        return row[a] > row[b] || (row[a] == row[b] && a < b);
                      });
    std::copy_n(order.begin(), k, out + i * k);
  }
}

// Solves the k x k system of the lower triangle of K in place, x being the right-hand side. A
// column that the ones before it explain up to `tolerance` of itself takes no part.
inline void solve_positive(double* K, double* x, std::size_t k, double tolerance) {
  std::vector<char> free(k, 1);
  for (std::size_t j = 0; j < k; ++j) {
    const double whole = K[j * k + j];
    for (std::size_t s = 0; s < j; ++s)
      if (free[s]) K[j * k + j] -= K[j * k + s] * K[j * k + s];
    free[j] = K[j * k + j] > tolerance * whole;
    if (!free[j]) continue;
    const double root = K[j * k + j] = std::sqrt(K[j * k + j]);
    for (std::size_t i = j + 1; i < k; ++i) {
      for (std::size_t s = 0; s < j; ++s)
        if (free[s]) K[i * k + j] -= K[i * k + s] * K[j * k + s];
      K[i * k + j] /= root;
    }
    for (std::size_t s = 0; s < j; ++s)
      if (free[s]) x[j] -= K[j * k + s] * x[s];
    x[j] /= root;
  }
  for (std::size_t j = k; j-- > 0;) {
    if (!free[j]) {
      x[j] = 0.0;
      continue;
    }
    for (std::size_t i = j + 1; i < k; ++i)
      if (free[i]) x[j] -= K[i * k + j] * x[i];
    x[j] /= K[j * k + j];
  }
}

template <class T>
struct Projection {
  std::size_t n, k, n_columns, n_near;
  const T* values;            // [leaving][k] kernel with the nearest that stay
  const std::int32_t* place;  // [leaving][k] their places in `gram`
  const T* gram;              // [near][near]
  double tolerance;
};

// Adds to kept[near][column] the projection of every leaving[i][column] onto its nearest.
template <class T>
void project(const Projection<T>& p, const double* leaving, double* kept) {
  std::vector<double> K(p.k * p.k), share(p.k);
  for (std::size_t i = 0; i < p.n; ++i) {
    const std::int32_t* at = p.place + i * p.k;
    for (std::size_t a = 0; a < p.k; ++a) {
      share[a] = double(p.values[i * p.k + a]);
      for (std::size_t b = 0; b < p.k; ++b)
        K[a * p.k + b] = double(p.gram[std::size_t(at[a]) * p.n_near + std::size_t(at[b])]);
    }
    solve_positive(K.data(), share.data(), p.k, p.tolerance);
    for (std::size_t a = 0; a < p.k; ++a)
      for (std::size_t c = 0; c < p.n_columns; ++c)
        kept[std::size_t(at[a]) * p.n_columns + c] += share[a] * leaving[i * p.n_columns + c];
  }
}

// Two centres with coefficients a and b at kernel value `near` from each other, merged at
// z = h x_a + (1 - h) x_b: what is kept of their squared norm, for the kernel
// amplitude exp(-gamma d^2) + offset.
struct Merger {
  double aa, ab, bb;  // inner products of the coefficients
  double log_near;    // -gamma d^2
  double amplitude, offset;

  double with_a(double h) const {
    return amplitude * std::exp(log_near * (1.0 - h) * (1.0 - h)) + offset;
  }
  double with_b(double h) const { return amplitude * std::exp(log_near * h * h) + offset; }
  double kept(double h) const {
    const double ka = with_a(h), kb = with_b(h);
    return (aa * ka * ka + 2.0 * ab * ka * kb + bb * kb * kb) / (amplitude + offset);
  }
  double lost(double h) const {
    const double own = amplitude + offset, k = amplitude * std::exp(log_near) + offset;
    return aa * own + 2.0 * ab * k + bb * own - kept(h);
  }

  // Golden sections about the better of the two ends' halves; far centres have a peak at each.
  double best() const {
    const double ratio = 0.6180339887498949;
    double low = kept(0.25) > kept(0.75) ? 0.0 : 0.5, high = low + 0.5;
    if (kept(0.5) >= std::max(kept(0.25), kept(0.75))) low = 0.25, high = 0.75;
    double left = high - ratio * (high - low), right = low + ratio * (high - low);
    double at_left = kept(left), at_right = kept(right);
    for (int i = 0; i < 16; ++i) {
      if (at_left > at_right) {
        high = right, right = left, at_right = at_left;
        left = high - ratio * (high - low), at_left = kept(left);
      } else {
        low = left, left = right, at_left = at_right;
        right = low + ratio * (high - low), at_right = kept(right);
      }
    }
    return 0.5 * (low + high);
  }
};

template <class T>
struct Merging {
  std::size_t n, k, n_features, n_columns;
  const std::int32_t* near;  // [leaving][k] candidates among those that stay
  double gamma, amplitude, offset;
};

// Merges every leaving centre with the candidate that loses least; moved[j] marks new centres.
template <class T>
void merge(const Merging<T>& m, const T* leaving_rows, const double* leaving, T* rows,
           double* kept, bool* moved) {
  const std::size_t d = m.n_features, C = m.n_columns;
  for (std::size_t i = 0; i < m.n; ++i) {
    const T* x = leaving_rows + i * d;
    const double* a = leaving + i * C;
    double least = 0.0, h = 0.0;
    Merger chosen{};
    std::size_t with = 0;
    for (std::size_t s = 0; s < m.k; ++s) {
      const std::size_t j = std::size_t(m.near[i * m.k + s]);
      double squares = 0.0, aa = 0.0, ab = 0.0, bb = 0.0;
      for (std::size_t f = 0; f < d; ++f) {
        const double gap = double(x[f]) - double(rows[j * d + f]);
        squares += gap * gap;
      }
      for (std::size_t c = 0; c < C; ++c) {
        aa += a[c] * a[c];
        ab += a[c] * kept[j * C + c];
        bb += kept[j * C + c] * kept[j * C + c];
      }
      const Merger merger{aa, ab, bb, -m.gamma * squares, m.amplitude, m.offset};
      const double here = merger.best(), lost = merger.lost(here);
      if (s == 0 || lost < least) least = lost, h = here, chosen = merger, with = j;
    }
    const double own = m.amplitude + m.offset;
    const double ka = chosen.with_a(h) / own, kb = chosen.with_b(h) / own;
    for (std::size_t f = 0; f < d; ++f)
      rows[with * d + f] = T(h * double(x[f]) + (1.0 - h) * double(rows[with * d + f]));
    for (std::size_t c = 0; c < C; ++c)
      kept[with * C + c] = ka * a[c] + kb * kept[with * C + c];
    moved[with] = true;
  }
}

}  // namespace graphkm
