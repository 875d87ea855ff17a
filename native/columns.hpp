// Conjugate gradients on many right-hand sides: three passes over tables of float32, one row per
// node and one column per right-hand side. Each pass reads and writes everything once.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "flush_denormals.hpp"
#include "parallel.hpp"
#include "sparse_centres.hpp"

namespace graphkm {

// W floats that are computed with together.
template <int W>
struct Lanes {
  struct Type {
    float lane[W];
    float operator[](int k) const { return lane[k]; }
    friend Type operator+(Type a, Type b) {
      for (int k = 0; k < W; ++k) a.lane[k] += b.lane[k];
      return a;
    }
    friend Type operator-(Type a, Type b) {
      for (int k = 0; k < W; ++k) a.lane[k] -= b.lane[k];
      return a;
    }
    friend Type operator*(Type a, Type b) {
      for (int k = 0; k < W; ++k) a.lane[k] *= b.lane[k];
      return a;
    }
    friend Type operator*(float a, Type b) {
      for (int k = 0; k < W; ++k) b.lane[k] *= a;
      return b;
    }
  };
};

#if defined(__GNUC__)
// GCC keeps several of them in one register only if their type says so.
template <>
struct Lanes<2> {
  typedef float Type __attribute__((vector_size(2 * sizeof(float))));
};
template <>
struct Lanes<4> {
  typedef float Type __attribute__((vector_size(4 * sizeof(float))));
};
inline void fetch_early(const float* x) { __builtin_prefetch(x); }
#else
inline void fetch_early(const float*) {}
#endif

template <int W>
typename Lanes<W>::Type load(const float* from) {
  typename Lanes<W>::Type lanes;
  std::memcpy(&lanes, from, sizeof lanes);
  return lanes;
}

template <class L>
void store(float* to, const L& lanes) {
  std::memcpy(to, &lanes, sizeof lanes);
}

// The columns that a loop holds in registers: N windows of W columns. The last two may overlap. The
// loops read all windows before they write, so the columns in common get the same values twice.
template <int W, int N>
struct Windows {
  std::size_t start[N];
};

// Calls body(windows) until every column was in one call: sixteen columns at most in each.
template <class Body>
void over_columns(std::size_t n_columns, Body&& body) {
  for (std::size_t first = 0; first < n_columns; first += 16) {
    const std::size_t span = std::min<std::size_t>(n_columns - first, 16), last = first + span - 4;
    if (span > 12)
      body(Windows<4, 4>{{first, first + 4, first + 8, last}});
    else if (span > 8)
      body(Windows<4, 3>{{first, first + 4, last}});
    else if (span > 4)
      body(Windows<4, 2>{{first, last}});
    else if (span == 4)
      body(Windows<4, 1>{{first}});
    else if (span == 3)
      body(Windows<2, 2>{{first, first + 1}});
    else if (span == 2)
      body(Windows<2, 1>{{first}});
    else
      body(Windows<1, 1>{{first}});
  }
}

// Runs a pass over pieces of the rows, and adds the pieces' sums in order. The pieces do not depend
// on the thread count, so neither do the sums.
template <class Pass>
void run_pass(const Pass& pass, double* sums, std::size_t n_threads,
              const Interrupted& interrupted) {
  constexpr std::size_t rows = 2048;
  const std::size_t n_pieces = (pass.n + rows - 1) / rows;
  const std::size_t n_sums = Pass::sums_per_column * pass.n_columns;
  std::vector<double> of_pieces(n_pieces * n_sums);
  parallel_for(n_pieces, n_threads, interrupted, [&](std::size_t piece) {
    const FlushDenormals flush;
    const std::size_t begin = piece * rows, end = std::min(begin + rows, pass.n);
    double* of_piece = of_pieces.data() + piece * n_sums;
    over_columns(pass.n_columns, [&](const auto& at) { pass.piece(begin, end, at, of_piece); });
  });
  std::fill_n(sums, n_sums, 0.0);
  for (std::size_t piece = 0; piece < n_pieces; ++piece)
    for (std::size_t k = 0; k < n_sums; ++k) sums[k] += of_pieces[piece * n_sums + k];
}

// out = diagonal X + scale A X, and the column sums of X out.
struct ColumnsProduct {
  static constexpr std::size_t sums_per_column = 1;
  std::size_t n, n_columns;
  Rows<float> matrix;
  const float* diagonal;
  float scale;
  const float* X;
  float* out;

  template <int W, int N>
  void piece(std::size_t begin, std::size_t end, const Windows<W, N>& at, double* sums) const {
    const std::int32_t last = matrix.indptr[end] - 1;
    double dots[N][W] = {};
    for (std::size_t i = begin; i < end; ++i) {
      typename Lanes<W>::Type total[N] = {};
      for (std::int32_t e = matrix.indptr[i]; e < matrix.indptr[i + 1]; ++e) {
        if (N > 1) fetch_row(matrix.indices[e + std::min(last - e, 24)]);
        const float value = matrix.values[e];
        const float* x = row(matrix.indices[e]);
        for (int w = 0; w < N; ++w) total[w] = total[w] + value * load<W>(x + at.start[w]);
      }
      for (int w = 0; w < N; ++w) {
        const auto x = load<W>(row(i) + at.start[w]);
        const auto y = diagonal[i] * x + scale * total[w];
        store(out + i * n_columns + at.start[w], y);
        for (int k = 0; k < W; ++k) dots[w][k] += double(x[k]) * double(y[k]);
      }
    }
    for (int w = 0; w < N; ++w) std::copy_n(dots[w], W, sums + at.start[w]);
  }

 private:
  const float* row(std::size_t i) const { return X + i * n_columns; }

  // Neighbours lie anywhere in memory. A row may begin in one cache line and end in another.
  void fetch_row(std::size_t i) const {
    fetch_early(row(i));
    fetch_early(row(i) + n_columns - 1);
  }
};

// solution += length direction, residual -= length image; the column sums of
// inverse_diagonal residual^2, then those of residual^2.
struct ColumnsStep {
  static constexpr std::size_t sums_per_column = 2;
  std::size_t n, n_columns;
  float *solution, *residual;
  const float *direction, *image, *length, *inverse_diagonal;

  template <int W, int N>
  void piece(std::size_t begin, std::size_t end, const Windows<W, N>& at, double* sums) const {
    double scaled[N][W] = {}, plain[N][W] = {};
    for (std::size_t i = begin; i < end; ++i) {
      typename Lanes<W>::Type moved[N], left[N];
      for (int w = 0; w < N; ++w) {
        const std::size_t first = i * n_columns + at.start[w];
        const auto step = load<W>(length + at.start[w]);
        moved[w] = load<W>(solution + first) + step * load<W>(direction + first);
        left[w] = load<W>(residual + first) - step * load<W>(image + first);
      }
      const double weight = inverse_diagonal[i];
      for (int w = 0; w < N; ++w) {
        const std::size_t first = i * n_columns + at.start[w];
        store(solution + first, moved[w]);
        store(residual + first, left[w]);
        for (int k = 0; k < W; ++k) {
          const double square = double(left[w][k]) * double(left[w][k]);
          scaled[w][k] += weight * square;
          plain[w][k] += square;
        }
      }
    }
    for (int w = 0; w < N; ++w) {
      std::copy_n(scaled[w], W, sums + at.start[w]);
      std::copy_n(plain[w], W, sums + n_columns + at.start[w]);
    }
  }
};

// direction = inverse_diagonal residual + ratio direction.
struct ColumnsTurn {
  static constexpr std::size_t sums_per_column = 0;
  std::size_t n, n_columns;
  float* direction;
  const float *residual, *inverse_diagonal, *ratio;

  template <int W, int N>
  void piece(std::size_t begin, std::size_t end, const Windows<W, N>& at, double*) const {
    for (std::size_t i = begin; i < end; ++i) {
      typename Lanes<W>::Type turned[N];
      for (int w = 0; w < N; ++w) {
        const std::size_t first = i * n_columns + at.start[w];
        turned[w] = inverse_diagonal[i] * load<W>(residual + first) +
                    load<W>(ratio + at.start[w]) * load<W>(direction + first);
      }
      for (int w = 0; w < N; ++w) store(direction + i * n_columns + at.start[w], turned[w]);
    }
  }
};

}  // namespace graphkm
