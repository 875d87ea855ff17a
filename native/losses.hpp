// The losses and |t|^p as the block stepper needs them: value, the paper's sub-gradient, and the
// proximal step, which is one scalar equation.
//
// proximal(y, f, k, c): the change a of the coefficient for which  a = -c * gradient(y, f + a k):
// the exact minimiser of  c * loss(y, f(w)) + 1/2 ||w - w_0||^2  moved along one feature vector with
// squared norm k.
#pragma once
#include <algorithm>
#include <cmath>
#include <utility>

namespace graphkm {

inline double sign(double x) { return double(x > 0.0) - double(x < 0.0); }

// The step, at most `limit`, that closes a gap at rate k; at rate 0 it is `limit`.
inline double closing(double gap, double k, double limit) {
  if (gap <= 0.0) return 0.0;
  return gap < limit * k ? gap / k : limit;
}

// The root in [0, high] of an increasing function: Newton, kept inside a shrinking bracket.
template <class F>
double increasing_root(double high, double start, F&& value_and_slope) {
  double low = 0.0, x = start;
  for (int i = 0; i < 200; ++i) {
    const auto [value, slope] = value_and_slope(x);
    if (value == 0.0) return x;
    (value > 0.0 ? high : low) = x;
    double next = x - value / slope;
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    if (std::fabs(next - x) <= 4e-16 * std::fabs(x) || next == x) return next;
    x = next;
  }
  return x;
}

struct Hinge {
  double value(double y, double f) const { return std::max(0.0, 1.0 - y * f); }
  double gradient(double y, double f) const { return y * f <= 1.0 ? -y : 0.0; }
  double proximal(double y, double f, double k, double c) const {
    return y * closing(1.0 - y * f, k, c);
  }
};

struct SmoothHinge {
  double tau;
  double value(double y, double f) const {
    const double m = y * f;
    if (m > 1.0) return 0.0;
    return m < 1.0 - tau ? 1.0 - m - 0.5 * tau : 0.5 * (1.0 - m) * (1.0 - m) / tau;
  }
  double gradient(double y, double f) const {
    const double m = y * f;
    if (m > 1.0) return 0.0;
    return m < 1.0 - tau ? -y : y * (m - 1.0) / tau;
  }
  double proximal(double y, double f, double k, double c) const {
    return y * closing(1.0 - y * f, k + tau / c, c);
  }
};

struct Logistic {
  double value(double y, double f) const {
    const double m = y * f;
    return m > 0.0 ? std::log1p(std::exp(-m)) : std::log1p(std::exp(m)) - m;
  }
  double gradient(double y, double f) const {
    const double m = y * f;
    return m > 0.0 ? -y * std::exp(-m) / (1.0 + std::exp(-m)) : -y / (1.0 + std::exp(m));
  }
  double proximal(double y, double f, double k, double c) const {
    const double m = y * f, full = c * -gradient(1.0, m);
    if (k <= 0.0) return y * full;
    // Beyond (log(1 + c) + |m|) / k the right-hand side is below 1.
    const double high = std::min(c, std::max(1.0, (std::log1p(c) + std::fabs(m)) / k));
    return y * increasing_root(high, std::min(0.5 * high, full), [&](double a) {
             const double s = -gradient(1.0, m + a * k);
             return std::pair{a - c * s, 1.0 + c * k * s * (1.0 - s)};
           });
  }
};

struct AbsoluteError {
  double value(double y, double f) const { return std::fabs(y - f); }
  double gradient(double y, double f) const { return sign(f - y); }
  double proximal(double y, double f, double k, double c) const {
    return sign(y - f) * closing(std::fabs(y - f), k, c);
  }
};

struct EpsilonInsensitive {
  double epsilon;
  double value(double y, double f) const { return std::max(0.0, std::fabs(y - f) - epsilon); }
  double gradient(double y, double f) const {
    return std::fabs(y - f) > epsilon ? sign(f - y) : 0.0;
  }
  double proximal(double y, double f, double k, double c) const {
    return sign(y - f) * closing(std::fabs(y - f) - epsilon, k, c);
  }
};

// |t|^p
struct Smoothness {
  double p;
  double value(double t) const { return p == 2.0 ? t * t : std::pow(std::fabs(t), p); }
  double gradient(double t) const {
    if (p == 2.0) return 2.0 * t;
    if (p == 1.0 || t == 0.0) return sign(t);  // pow(0, 0) would be 1
    return p * sign(t) * std::pow(std::fabs(t), p - 1.0);
  }
  // The b for which  b = c * gradient(t - b k).
  double proximal(double t, double k, double c) const {
    if (p == 1.0) return sign(t) * closing(std::fabs(t), k, c);
    if (p == 2.0) return 2.0 * c * t / (1.0 + 2.0 * c * k);
    if (k <= 0.0 || t == 0.0) return c * gradient(t);
    const double size = std::fabs(t), left = increasing_root(size, 0.5 * size, [&](double r) {
      const double slope = p * std::pow(r, p - 1.0);
      return std::pair{r - size + c * k * slope, 1.0 + c * k * slope * (p - 1.0) / r};
    });
    return sign(t) * (size - left) / k;
  }
};

}  // namespace graphkm
