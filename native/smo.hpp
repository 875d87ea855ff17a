// Sequential minimal optimisation of
//
//     1/2 a'Ka + sum_i (slope_i a_i + bend_i |a_i - kink_i|),   lower <= a <= upper,  sum a fixed,
//
// the dual of every kernel machine with a piecewise linear loss of one or two corners. The two
// copies of an unlabelled point, +1 and -1, are one variable with a kink: they share their row.
//
// Pairs are chosen by second-order information (Fan, Chen and Lin 2005). Variables that cannot be
// chosen soon are set aside: arrays, cached rows and columns of the kernel then shrink for good,
// and a fused product brings the scores of the others up to date in the end. An extra variable,
// the last, may stand for the mean of some feature vectors; its row is given.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "isa.hpp"
#include "parallel.hpp"
#include "row_cache.hpp"
#include "row_sources.hpp"

namespace graphkm {

struct DualTerms {
  const double *slope, *bend, *kink, *lower, *upper;
};

struct SmoLimits {
  double tol;
  std::int64_t max_iter;
  bool shrinking;
};

struct SmoOutcome {
  std::int64_t n_iter;
  double gap;
};

template <class Source>
class Smo {
  using T = typename Source::Value;
  static constexpr double inf = std::numeric_limits<double>::infinity();
  static constexpr std::int64_t period = 1000;  // steps between two looks at what can be set aside
  static constexpr int most_returns = 5;        // of variables set aside too early

 public:
  // `mean`, if not empty, is the row of the extra variable: one entry per row of the source.
  Smo(Source source, std::vector<double> diagonal, std::vector<double> mean, std::size_t bytes)
      : source_(std::move(source)), diagonal_(std::move(diagonal)), mean_(std::move(mean)),
        cache_(diagonal_.size(), bytes), a_(size(), 0.0), settled_(size(), 0.0), f_(size(), 0.0) {}

  std::size_t size() const { return diagonal_.size(); }
  const std::vector<double>& coefficients() const { return a_; }
  const std::vector<double>& scores() const { return f_; }

  // Forgets the solution, but not the rows computed for it.
  void reset() {
    std::fill(a_.begin(), a_.end(), 0.0);
    settled_ = f_ = a_;
  }

  // Solves from a feasible start. Scores and cached rows of the last solution are used again.
  SmoOutcome solve(const DualTerms& terms, const double* start, const SmoLimits& limits,
                   std::size_t n_threads, const Interrupted& interrupted) {
    try {
      return run(terms, start, limits, n_threads, interrupted);
    } catch (...) {
      reset();
      active_.clear();
      cache_.reset(1);
      throw;
    }
  }

 private:
  SmoOutcome run(const DualTerms& terms, const double* start, const SmoLimits& limits,
                 std::size_t n_threads, const Interrupted& interrupted) {
    terms_ = terms;
    limits_ = limits;
    interrupted_ = &interrupted;
    n_iter_ = 0;
    std::copy_n(start, size(), a_.begin());
    settle(all([](std::size_t) { return true; }), n_threads);
    activate(all([&](std::size_t id) { return terms_.lower[id] < terms_.upper[id]; }));
    for (int returns = 0;; ++returns) {
      limits_.shrinking = limits.shrinking && returns < most_returns;
      const bool solved = descend();
      keep_scores();
      const bool whole = active_.size() == size();
      settle(all([&](std::size_t id) { return !is_active_[id]; }), n_threads);
      const auto [highest, lowest] = extremes();
      if (whole || !solved || highest - lowest <= limits_.tol)
        return {n_iter_, highest - lowest};
      activate(all([&, high = highest, low = lowest](std::size_t id) {
        return is_active_[id] || !idle(id, f_[id], high, low);
      }));
    }
  }

  // ------------------------------------------------------------ one variable

  double up_slope(std::size_t i) const {
    if (a_[i] >= terms_.upper[i]) return inf;
    return terms_.slope[i] + (a_[i] >= terms_.kink[i] ? terms_.bend[i] : -terms_.bend[i]);
  }

  double down_slope(std::size_t i) const {
    if (a_[i] <= terms_.lower[i]) return -inf;
    return terms_.slope[i] + (a_[i] > terms_.kink[i] ? terms_.bend[i] : -terms_.bend[i]);
  }

  // How far it can move before its slope changes.
  double next_up(std::size_t i) const {
    const bool bends = terms_.bend[i] > 0.0 && a_[i] < terms_.kink[i];
    return bends ? terms_.kink[i] : terms_.upper[i];
  }

  double next_down(std::size_t i) const {
    const bool bends = terms_.bend[i] > 0.0 && a_[i] > terms_.kink[i];
    return bends ? terms_.kink[i] : terms_.lower[i];
  }

  // Whether no pair with it violates the optimality conditions, or nearly violates them.
  bool idle(std::size_t i, double score, double highest, double lowest) const {
    return -score - up_slope(i) < lowest && -score - down_slope(i) > highest;
  }

  // The largest -(gradient) of all that can rise, and the smallest of all that can fall.
  std::pair<double, double> extremes() const {
    double highest = -inf, lowest = inf;
    for (std::size_t i = 0; i < size(); ++i) {
      highest = std::max(highest, -f_[i] - up_slope(i));
      lowest = std::min(lowest, -f_[i] - down_slope(i));
    }
    return {highest, lowest};
  }

  // ------------------------------------------------------------ the active ones

  template <class Condition>
  Ids all(Condition&& condition) const {
    Ids ids;
    for (std::size_t i = 0; i < size(); ++i)
      if (condition(i)) ids.push_back(std::int32_t(i));
    return ids;
  }

  bool extra(std::int32_t id) const { return std::size_t(id) >= source_.size(); }

  // Returns those of the ascending ids that are rows of the source, and not extra variables.
  Ids rows_of(Ids ids) const {
    while (!ids.empty() && extra(ids.back())) ids.pop_back();
    return ids;
  }

  static std::size_t padded(std::size_t n) {
    return std::max<std::size_t>(1, (n + scan_block - 1) / scan_block) * scan_block;
  }

  void activate(Ids ids) {
    const bool same = ids == active_;
    lay_out(std::move(ids));
    if (same) return;
    cache_.reset(padded(active_.size()));
    source_.set_columns(rows_of(active_));
  }

  void lay_out(Ids ids) {
    active_ = std::move(ids);
    is_active_.assign(size(), 0);
    const std::size_t n = padded(active_.size());
    score_.assign(n, 0.0);
    up_.assign(n, inf);
    down_.assign(n, -inf);
    own_.assign(n, 0.0);
    for (std::size_t k = 0; k < active_.size(); ++k) {
      const std::size_t id = std::size_t(active_[k]);
      is_active_[id] = 1;
      score_[k] = f_[id];
      own_[k] = diagonal_[id];
      refresh(k);
    }
  }

  void refresh(std::size_t k) {
    up_[k] = up_slope(std::size_t(active_[k]));
    down_[k] = down_slope(std::size_t(active_[k]));
  }

  void keep_scores() {
    for (std::size_t k = 0; k < active_.size(); ++k) f_[std::size_t(active_[k])] = score_[k];
  }

  // Sets idle variables aside if there are enough of them to be worth the copying. Their scores
  // stay as they were when all scores were last right.
  bool shrink(double highest, double lowest) {
    Ids kept, positions;
    std::vector<double> scores;
    for (std::size_t k = 0; k < active_.size(); ++k) {
      if (!extra(active_[k]) && idle(std::size_t(active_[k]), score_[k], highest, lowest)) continue;
      kept.push_back(active_[k]);
      positions.push_back(std::int32_t(k));
      scores.push_back(score_[k]);
    }
    if (10 * kept.size() > 9 * active_.size()) return false;
    lay_out(std::move(kept));
    std::copy(scores.begin(), scores.end(), score_.begin());
    cache_.compact(positions, padded(active_.size()));
    source_.set_columns(rows_of(active_));
    return true;
  }

  // Adds to the scores of these what the coefficients have changed since all scores were right.
  void settle(const Ids& ids, std::size_t n_threads) {
    const Ids changed = all([&](std::size_t id) { return a_[id] != settled_[id]; });
    if (!changed.empty() && !ids.empty()) {
      const Ids centres = rows_of(changed), queries = rows_of(ids);
      std::vector<double> change(centres.size()), sum(queries.size());
      for (std::size_t k = 0; k < centres.size(); ++k)
        change[k] = a_[std::size_t(centres[k])] - settled_[std::size_t(centres[k])];
      source_.product(centres, change, queries, sum.data(), n_threads, *interrupted_);
      require_finite(sum.data(), sum.size());
      for (std::size_t k = 0; k < queries.size(); ++k) f_[std::size_t(queries[k])] += sum[k];
      if (!mean_.empty()) settle_extra(ids, centres, change);
    }
    settled_ = a_;
  }

  void settle_extra(const Ids& ids, const Ids& centres, const std::vector<double>& change) {
    const std::size_t last = size() - 1;
    const double step = a_[last] - settled_[last];
    for (const std::int32_t id : ids)
      f_[std::size_t(id)] += step * (extra(id) ? diagonal_[last] : mean_[std::size_t(id)]);
    if (!extra(ids.back())) return;
    for (std::size_t k = 0; k < centres.size(); ++k)
      f_[last] += change[k] * mean_[std::size_t(centres[k])];
  }

  // ------------------------------------------------------------ kernel rows

  // The scans compare without branches, so a NaN would make their result meaningless.
  template <class Value>
  static void require_finite(const Value* values, std::size_t n) {
    if (!std::all_of(values, values + n, [](Value x) { return std::isfinite(x); }))
      throw std::invalid_argument("kernel values are not finite in the working precision; scale "
                                  "the rows or the kernel, or pass precision='double'");
  }

  const T* row(std::size_t k) {
    const std::int32_t id = active_[k];
    if (!cache_.holds(id)) extra(id) ? fetch_mean(id) : fetch(k);
    return cache_.use(id);
  }

  void fetch_mean(std::int32_t id) {
    cache_.make_room(1);
    T* to = cache_.insert(id, nullptr, 0);
    for (std::size_t k = 0; k < active_.size(); ++k)
      to[k] = T(extra(active_[k]) ? diagonal_.back() : mean_[std::size_t(active_[k])]);
  }

  // Computes the row of k, and with it those of the variables most likely to come next.
  void fetch(std::size_t k) {
    const Ids ids = batch_of(k);
    const std::size_t columns = active_.size() - std::size_t(extra(active_.back()));
    scratch_.resize(ids.size() * columns);
    source_.values(ids, scratch_.data(), *interrupted_);
    require_finite(scratch_.data(), scratch_.size());
    cache_.make_room(ids.size());
    for (std::size_t r = 0; r < ids.size(); ++r) {
      T* to = cache_.insert(ids[r], scratch_.data() + r * columns, columns);
      if (extra(active_.back())) to[columns] = T(mean_[std::size_t(ids[r])]);
    }
  }

  // The batch starts with k. Rows that were used lately must not be evicted for guesses, so a full
  // cache takes in only a few of them.
  Ids batch_of(std::size_t k) {
    const std::size_t fits = std::max(cache_.room(), cache_.capacity() / 8);
    const std::size_t wanted = std::min({source_.batch(), std::max<std::size_t>(fits, 1),
                                         cache_.capacity() - 1});
    std::vector<std::pair<double, std::int32_t>> others;
    others.reserve(wanted > 1 ? active_.size() : 0);
    if (wanted > 1)
      for (std::size_t c = 0; c < active_.size(); ++c)
        if (c != k && !extra(active_[c]) && !cache_.holds(active_[c]))
          others.push_back({-std::max(-score_[c] - up_[c] - middle_,
                                      score_[c] + down_[c] + middle_),
                            active_[c]});
    const std::size_t more = std::min(wanted - 1, others.size());
    std::nth_element(others.begin(), others.begin() + std::ptrdiff_t(more), others.end());
    Ids ids{active_[k]};
    for (std::size_t c = 0; c < more; ++c) ids.push_back(others[c].second);
    return ids;
  }

  // ------------------------------------------------------------ steps

  // Steps until the active variables are optimal; false if the steps run out before.
  bool descend() {
    Steepest best = isa_.smo_first(score_.data(), up_.data(), score_.size());
    middle_ = best.value;
    std::int64_t until_look = std::min<std::int64_t>(period, std::int64_t(active_.size()));
    while (true) {
      if (best.value == -inf) return true;
      const std::size_t i = best.index;
      const T* row_i = row(i);
      const Partner partner = isa_.smo_partner(score_.data(), down_.data(), row_i, own_.data(),
                                               -best.value, own_[i], score_.size());
      if (partner.gap <= limits_.tol) return true;
      if (partner.index >= active_.size())
        throw std::invalid_argument("the scores overflowed; lower C, or scale the kernel");
      if (n_iter_ >= limits_.max_iter) return false;
      middle_ = best.value - 0.5 * partner.gap;
      if (limits_.shrinking && --until_look <= 0) {
        until_look = period;
        if (shrink(best.value, best.value - partner.gap)) {
          best = isa_.smo_first(score_.data(), up_.data(), score_.size());
          continue;
        }
      }
      best = step(i, partner.index, row_i);
      if ((++n_iter_ & 31) == 0 && (*interrupted_)()) throw Stopped{};
    }
  }

  // Raises a_i and lowers a_j until the objective stops falling or one of their slopes changes.
  Steepest step(std::size_t i, std::size_t j, const T* row_i) {
    const std::size_t at = std::size_t(active_[i]), to = std::size_t(active_[j]);
    const T* row_j = row(j);
    const double b = score_[j] + down_[j] - score_[i] - up_[i];
    const double curvature = std::max(own_[i] + own_[j] - 2.0 * double(row_i[j]), flat_curvature);
    const double room_i = next_up(at) - a_[at], room_j = a_[to] - next_down(to);
    const double delta = std::min({b / curvature, room_i, room_j});
    a_[at] = delta == room_i ? next_up(at) : a_[at] + delta;
    a_[to] = delta == room_j ? next_down(to) : a_[to] - delta;
    refresh(i);
    refresh(j);
    return isa_.smo_update(score_.data(), up_.data(), row_i, row_j, delta, score_.size());
  }

  const Isa<T>& isa_ = isa<T>();
  Source source_;
  std::vector<double> diagonal_, mean_;
  RowCache<T> cache_;
  std::vector<double> a_, settled_, f_;  // by id; scores were last right for `settled_`

  DualTerms terms_{};
  SmoLimits limits_{};
  const Interrupted* interrupted_ = nullptr;
  std::int64_t n_iter_ = 0;
  double middle_ = 0.0;  // of the optimality conditions: an estimate of the intercept

  Ids active_;  // ascending; the arrays below follow it, padded
  std::vector<char> is_active_;
  std::vector<double> score_, up_, down_, own_;
  std::vector<T> scratch_;
};

}  // namespace graphkm
