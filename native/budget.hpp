// Fewer centres: what leaves is projected onto what stays (Wang, Crammer and Vucetic, 2012).
// Coefficients are rows of several columns, and all columns are projected alike.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace graphkm {

// out[i][0..k): the columns of row i with the largest values, largest first, earliest among equals;
// NaN comes last.
template <class T>
void largest_columns(const T* values, std::size_t n, std::size_t m, std::size_t k,
                     std::int32_t* out) {
  std::vector<std::int32_t> order(m);
  for (std::size_t i = 0; i < n; ++i) {
    const T* row = values + i * m;
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + std::ptrdiff_t(k), order.end(),
                      [row](std::int32_t a, std::int32_t b) {
                        if (row[a] > row[b]) return true;
                        if (row[a] < row[b]) return false;
                        const bool none_a = std::isnan(row[a]), none_b = std::isnan(row[b]);
                        return none_a == none_b ? a < b : none_b;
                      });
    std::copy_n(order.begin(), k, out + i * k);
  }
}

// Solves the k x k system of the lower triangle of K in place, x being the right-hand side. A
// column that is a sum of the columns before it, up to `tolerance` of itself, takes no part.
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

}  // namespace graphkm
