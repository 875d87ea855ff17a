// A kernel as numbers. Every kernel here is  finish(stat(q) + stat(s) + sum_k step(q_k, s_k))  once
// its two sides are rescaled, which is what lets one tile loop serve them all.
#pragma once
#include <cmath>

namespace graphkm {

enum class KernelCode : int { rbf = 0, linear = 1, polynomial = 2, laplacian = 3, cosine = 4 };

enum class Side { query, centre };

// What packing does to one row: entries become scale * x, and stat enters the sum.
struct RowForm {
  double scale, stat;
};

struct KernelSpec {
  KernelCode code;
  double gamma;
  double coef0;
  int degree;
  // Set for rows so far out that rounding could make a squared distance negative.
  bool clamps = false;

  // Exponentials are evaluated as powers of two: log2(e) is folded into the rows.
  double exponent_scale() const { return gamma * 1.4426950408889634074; }

  // For rows with stats of these sizes, in a precision that rounds by `epsilon`.
  KernelSpec for_stats(double query, double centre, double epsilon) const {
    KernelSpec spec = *this;
    spec.clamps = code == KernelCode::rbf && (query + centre) * epsilon > 1e-3;
    return spec;
  }

  RowForm row_form(Side side, double sum_of_squares) const {
    switch (code) {
      case KernelCode::rbf:
        return {side == Side::query ? 2.0 * exponent_scale() : 1.0,
                -exponent_scale() * sum_of_squares};
      case KernelCode::polynomial:
        return side == Side::query ? RowForm{gamma, coef0} : RowForm{1.0, 0.0};
      case KernelCode::laplacian:
        return {exponent_scale(), 0.0};
      case KernelCode::cosine:
        return {sum_of_squares > 0.0 ? 1.0 / std::sqrt(sum_of_squares) : 0.0, 0.0};
      case KernelCode::linear:
        break;
    }
    return {1.0, 0.0};
  }
};

}  // namespace graphkm
