// Conjugate gradients on many right-hand sides: three passes over tables of float32, one row per
// node and one column per right-hand side. Each pass reads and writes everything once.
#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

#include "flush_denormals.hpp"
#include "parallel.hpp"
#include "sparse_centres.hpp"

namespace graphkm {

// Every pass cuts the rows into these pieces, and adds the pieces' sums in order. So the sums are
// the same at any thread count.
constexpr std::size_t rows_of_a_piece = 2048;

// The columns that a loop holds in registers: N windows of W columns. Two windows may overlap. The
// loops read both before they write, so the columns in common get the same values twice.
template <int W, int N>
struct Windows {
  std::size_t start[N];
};

// Calls body(windows) until every column was in one call: sixteen columns at most in each.
template <class Body>
void over_columns(std::size_t n_columns, Body&& body) {
  for (std::size_t first = 0; first < n_columns; first += 16) {
    const std::size_t span = std::min<std::size_t>(n_columns - first, 16), end = first + span;
    if (span > 8)
      body(Windows<8, 2>{{first, end - 8}});
    else if (span == 8)
      body(Windows<8, 1>{{first}});
    else if (span > 4)
      body(Windows<4, 2>{{first, end - 4}});
    else if (span == 4)
      body(Windows<4, 1>{{first}});
    else if (span == 3)
      body(Windows<2, 2>{{first, end - 2}});
    else if (span == 2)
      body(Windows<2, 1>{{first}});
    else
      body(Windows<1, 1>{{first}});
  }
}

// Runs work(begin, end, sums of the piece) for every piece of the rows, and adds up the sums.
template <class Work>
void over_pieces(std::size_t n, std::size_t n_sums, double* sums, std::size_t n_threads,
                 const Interrupted& interrupted, Work&& work) {
  const std::size_t n_pieces = (n + rows_of_a_piece - 1) / rows_of_a_piece;
  std::vector<double> of_pieces(n_pieces * n_sums);
  parallel_for(n_pieces, n_threads, interrupted, [&](std::size_t piece) {
    const FlushDenormals flush;
    const std::size_t begin = piece * rows_of_a_piece;
    work(begin, std::min(begin + rows_of_a_piece, n), of_pieces.data() + piece * n_sums);
  });
  std::fill_n(sums, n_sums, 0.0);
  for (std::size_t piece = 0; piece < n_pieces; ++piece)
    for (std::size_t k = 0; k < n_sums; ++k) sums[k] += of_pieces[piece * n_sums + k];
}

// out = diagonal X + scale A X, and the column sums of X out.
struct ColumnsProduct {
  Rows<float> matrix;
  const float* diagonal;
  float scale;
  std::size_t n_columns;
  const float* X;
  float* out;

  template <int W, int N>
  void piece(std::size_t begin, std::size_t end, const Windows<W, N>& at, double* sums) const {
    float* __restrict image = out;
    double dots[N][W] = {};
    for (std::size_t i = begin; i < end; ++i) {
      float total[N][W] = {};
      for (std::int32_t e = matrix.indptr[i]; e < matrix.indptr[i + 1]; ++e) {
        const float value = matrix.values[e];
        const float* x = X + std::size_t(matrix.indices[e]) * n_columns;
        for (int w = 0; w < N; ++w)
          for (int k = 0; k < W; ++k) total[w][k] += value * x[at.start[w] + k];
      }
      for (int w = 0; w < N; ++w) {
        const std::size_t first = i * n_columns + at.start[w];
        for (int k = 0; k < W; ++k) {
          const float x = X[first + k], y = diagonal[i] * x + scale * total[w][k];
          image[first + k] = y;
          dots[w][k] += double(x) * double(y);
        }
      }
    }
    for (int w = 0; w < N; ++w) std::copy_n(dots[w], W, sums + at.start[w]);
  }

  void run(double* sums, std::size_t n_threads, const Interrupted& interrupted) const {
    over_pieces(matrix.n, n_columns, sums, n_threads, interrupted,
                [&](std::size_t begin, std::size_t end, double* of_piece) {
                  over_columns(n_columns,
                               [&](const auto& at) { piece(begin, end, at, of_piece); });
                });
  }
};

// solution += length direction, residual -= length image; the column sums of
// inverse_diagonal residual^2, then those of residual^2.
struct ColumnsStep {
  std::size_t n, n_columns;
  float *solution, *residual;
  const float *direction, *image, *length, *inverse_diagonal;

  template <int W, int N>
  void piece(std::size_t begin, std::size_t end, const Windows<W, N>& at, double* sums) const {
    float *__restrict s = solution, *__restrict r = residual;
    double scaled[N][W] = {}, plain[N][W] = {};
    for (std::size_t i = begin; i < end; ++i) {
      float moved[N][W], left[N][W];
      for (int w = 0; w < N; ++w)
        for (int k = 0; k < W; ++k) {
          const std::size_t column = at.start[w] + k, entry = i * n_columns + column;
          moved[w][k] = s[entry] + length[column] * direction[entry];
          left[w][k] = r[entry] - length[column] * image[entry];
        }
      for (int w = 0; w < N; ++w)
        for (int k = 0; k < W; ++k) {
          const std::size_t entry = i * n_columns + at.start[w] + k;
          s[entry] = moved[w][k];
          r[entry] = left[w][k];
          const double square = double(left[w][k]) * double(left[w][k]);
          plain[w][k] += square;
          scaled[w][k] += double(inverse_diagonal[i]) * square;
        }
    }
    for (int w = 0; w < N; ++w) {
      std::copy_n(scaled[w], W, sums + at.start[w]);
      std::copy_n(plain[w], W, sums + n_columns + at.start[w]);
    }
  }

  void run(double* sums, std::size_t n_threads, const Interrupted& interrupted) const {
    over_pieces(n, 2 * n_columns, sums, n_threads, interrupted,
                [&](std::size_t begin, std::size_t end, double* of_piece) {
                  over_columns(n_columns,
                               [&](const auto& at) { piece(begin, end, at, of_piece); });
                });
  }
};

// direction = inverse_diagonal residual + ratio direction.
struct ColumnsTurn {
  std::size_t n, n_columns;
  float* direction;
  const float *residual, *inverse_diagonal, *ratio;

  template <int W, int N>
  void piece(std::size_t begin, std::size_t end, const Windows<W, N>& at) const {
    float* __restrict d = direction;
    for (std::size_t i = begin; i < end; ++i) {
      float turned[N][W];
      for (int w = 0; w < N; ++w)
        for (int k = 0; k < W; ++k) {
          const std::size_t column = at.start[w] + k, entry = i * n_columns + column;
          turned[w][k] = inverse_diagonal[i] * residual[entry] + ratio[column] * d[entry];
        }
      for (int w = 0; w < N; ++w)
        for (int k = 0; k < W; ++k) d[i * n_columns + at.start[w] + k] = turned[w][k];
    }
  }

  void run(std::size_t n_threads, const Interrupted& interrupted) const {
    over_pieces(n, 0, nullptr, n_threads, interrupted,
                [&](std::size_t begin, std::size_t end, double*) {
                  over_columns(n_columns, [&](const auto& at) { piece(begin, end, at); });
                });
  }
};

}  // namespace graphkm
