// A block of steps of the stochastic solver, one after another on the block's own small kernel
// matrix. In W_t = t(t-1) w_t a step is a pure addition:  W_{t+1} = W_t + delta_t.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "losses.hpp"

namespace graphkm {

// All steps of the block. Points are numbered 0..n_points-1 within it; a skipped edge has u = -1.
template <class T>
struct Block {
  std::size_t n_steps, n_points, n_outputs;
  std::int64_t first_step;  // t of the first step, counted from 1
  double harmonic;          // H_{t-1} there
  const T* gram;            // [point][point]
  const std::int32_t* label;
  const double* target;  // [step][output]
  const double* label_weight;
  const std::int32_t* u;
  const std::int32_t* v;
  const double* edge_weight;
  const double* C;        // [output], the paper's
  const double* C_graph;  // [output], the paper's
};

// One output's share of the learning state.
struct OutputState {
  double* score;       // [point] <W_t, Phi(point)>, kept current as W changes
  double* change;      // [point] sum of delta
  double* weighted;    // [point] sum of delta_s H_{s-1}
  double* norm;        // ||W_t||^2
  double* objective;   // [step] J_t(w_t)
};

// Runs output r through the block; false if a score stops being finite.
template <bool implicit, class T, class Loss>
bool run_block(const Block<T>& b, std::size_t r, const Loss& loss, const Smoothness& smooth,
               OutputState s) {
  const std::size_t n = b.n_points;
  const auto move = [&](std::int32_t point, double delta, double harmonic) {
    const T* row = b.gram + std::size_t(point) * n;
    *s.norm += delta * (2.0 * s.score[point] + delta * double(row[point]));
    s.change[point] += delta;
    s.weighted[point] += delta * harmonic;
    for (std::size_t k = 0; k < n; ++k) s.score[k] += delta * double(row[k]);
  };
  double harmonic = b.harmonic;
  for (std::size_t step = 0; step < b.n_steps; ++step) {
    const double t = double(b.first_step) + double(step);
    const double now = t > 1.0 ? 1.0 / (t * (t - 1.0)) : 0.0, after = 1.0 / (t * (t + 1.0));
    const std::int32_t i = b.label[step], u = b.u[step], v = b.v[step];
    const double y = b.target[step * b.n_outputs + r];
    const double c = b.C[r] * b.label_weight[step];
    const double e = u < 0 ? 0.0 : b.C_graph[r] * b.edge_weight[step];
    const double f = s.score[i] * now;
    const double gap = u < 0 ? 0.0 : (s.score[u] - s.score[v]) * now;
    if (!std::isfinite(f) || !std::isfinite(gap)) return false;
    s.objective[step] = 0.5 * *s.norm * now * now + c * loss.value(y, f) +
                        (e > 0.0 ? e * smooth.value(gap) : 0.0);
    if constexpr (implicit) {
      const double rate = 2.0 / (t + 1.0);
      if (c > 0.0) {
        const double k = double(b.gram[std::size_t(i) * n + i]);
        const double a = loss.proximal(y, s.score[i] * after, k, rate * c);
        if (a != 0.0) move(i, a / after, harmonic);
      }
      if (e > 0.0) {
        const T* row = b.gram + std::size_t(u) * n;
        const double k = std::max(
            0.0, double(row[u]) - 2.0 * double(row[v]) + double(b.gram[std::size_t(v) * n + v]));
        const double a = smooth.proximal((s.score[u] - s.score[v]) * after, k, rate * e);
        if (a != 0.0) {
          move(u, -a / after, harmonic);
          move(v, a / after, harmonic);
        }
      }
    } else {
      const double at_label = -2.0 * t * c * loss.gradient(y, f);
      const double at_edge = e > 0.0 ? -2.0 * t * e * smooth.gradient(gap) : 0.0;
      if (at_label != 0.0) move(i, at_label, harmonic);
      if (at_edge != 0.0) {
        move(u, at_edge, harmonic);
        move(v, -at_edge, harmonic);
      }
    }
    harmonic += 1.0 / t;
  }
  return std::isfinite(*s.norm);
}

}  // namespace graphkm
