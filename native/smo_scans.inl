// The passes of sequential minimal optimisation over all active variables, included by tiles.inl.
// Arrays are padded to whole blocks: up = +inf and down = -inf, so that padding is never chosen,
// and rows with zeros. Only the block that holds the winner is searched for it.

template <class T>
struct Scans {
  using O = Vec<double>;
  using V = typename O::V;
  static constexpr std::size_t W = O::width;

  static double largest(V a) {
    double lanes[W];
    O::store(lanes, a);
    return *std::max_element(lanes, lanes + W);
  }

  // f += delta (row_i - row_j) if it adds; then the variable with the largest -(f + up).
  template <bool adds>
  static Steepest steepest(double* f, const double* up, const T* row_i, const T* row_j,
                           double delta, std::size_t n) {
    const V lowest = O::set1(-std::numeric_limits<double>::infinity()), d = O::set1(delta);
    double value = -std::numeric_limits<double>::infinity();
    std::size_t block = 0;
    for (std::size_t start = 0; start < n; start += scan_block) {
      V best = lowest;
      for (std::size_t k = start; k < start + scan_block; k += W) {
        V at = O::load(f + k);
        if constexpr (adds) {
          at = O::fma(d, O::sub(O::widen(row_i + k), O::widen(row_j + k)), at);
          O::store(f + k, at);
        }
        best = O::max(best, O::sub(O::sub(O::zero(), at), O::load(up + k)));
      }
      const double here = largest(best);
      if (here > value) {
        value = here;
        block = start;
      }
    }
    std::size_t index = block;
    for (std::size_t k = block; k < std::min(block + scan_block, n); ++k)
      if (-f[k] - up[k] > -f[index] - up[index]) index = k;
    return {value, index};
  }

  static Steepest first(const double* f, const double* up, std::size_t n) {
    return steepest<false>(const_cast<double*>(f), up, nullptr, nullptr, 0.0, n);
  }

  static Steepest update(double* f, const double* up, const T* row_i, const T* row_j, double delta,
                         std::size_t n) {
    return steepest<true>(f, up, row_i, row_j, delta, n);
  }

  // Against variable i of gradient g and diagonal k_ii: the partner j with the largest decrease
  // b^2 / (k_ii + k_jj - 2 k_ij), where b = f_j + down_j - g, and the largest b of all.
  static Partner partner(const double* f, const double* down, const T* row, const double* diagonal,
                         double g, double k_ii, std::size_t n) {
    V widest = O::set1(-std::numeric_limits<double>::infinity());
    const V at = O::set1(g), own = O::set1(k_ii), minus_two = O::set1(-2.0);
    const V flat = O::set1(flat_curvature);
    double square = 0.0, curvature = 1.0;
    std::size_t index = n;
    for (std::size_t start = 0; start < n; start += scan_block) {
      // Gains are compared by cross-multiplication: a division takes as long as all the rest.
      const V best = O::set1(-square / curvature);
      V better = O::set1(-1.0);
      for (std::size_t k = start; k < start + scan_block; k += W) {
        const V b = O::sub(O::add(O::load(f + k), O::load(down + k)), at);
        widest = O::max(widest, b);
        const V bent = O::fma(minus_two, O::widen(row + k), O::add(own, O::load(diagonal + k)));
        const V c = O::max(bent, flat), rise = O::max(b, O::zero());
        better = O::max(better, O::fma(best, c, O::mul(rise, rise)));
      }
      if (largest(better) <= 0.0) continue;
      for (std::size_t k = start; k < start + scan_block; ++k) {
        const double b = f[k] + down[k] - g;
        const double c = std::max(k_ii + diagonal[k] - 2.0 * double(row[k]), flat_curvature);
        if (b > 0.0 && b * b * curvature > square * c) {
          square = b * b;
          curvature = c;
          index = k;
        }
      }
    }
    return {largest(widest), index};
  }
};
