// Nearest rows: by panels of rows for many queries, and distances of single pairs.

template <class T>
struct Nearest {
  using Sums = Loops<T, Dot<T>, Identity<T>>;
  using O = Vec<T>;

  // Values of at most -0.5 |q - s|^2: the stats of rows and queries are minus half their squares.
  static void dense_largest(const PanelView<T>& c, const T* queries, const T* stat,
                            const std::int32_t* place, std::size_t n_queries, std::int32_t first,
                            std::size_t k, Ranked<T>* best, T* scratch) {
    for (std::size_t p = 0; p < c.n_panels; ++p)
      Sums::panel_sums(c, p, queries, stat, n_queries, scratch, [&](std::size_t q) {
        for (std::size_t m = q; m < std::min(q + Sums::MQ, n_queries); ++m)
          offer(scratch + m * Sums::lanes, first + std::int32_t(p * Sums::lanes), k,
                best + std::size_t(place[m]) * k);
      });
  }

  // Puts the values of a panel that are among the k largest so far into their places.
  static inline void offer(const T* values, std::int32_t first, std::size_t k, Ranked<T>* best) {
    const auto worst = O::set1(best[k - 1].value);
    unsigned above[Sums::NV], some = 0;
    GRAPHKM_UNROLL
    for (std::size_t v = 0; v < Sums::NV; ++v)
      some |= above[v] = O::above(O::load(values + v * Sums::W), worst);
    if (!some) return;
    for (std::size_t v = 0; v < Sums::NV; ++v)
      for (std::size_t i = v * Sums::W; above[v]; ++i, above[v] >>= 1)
        if (above[v] & 1u) insert({values[i], first + std::int32_t(i)}, k, best);
  }

  // Of equal values the one that came first stays first.
  static inline void insert(Ranked<T> one, std::size_t k, Ranked<T>* best) {
    if (!(one.value > best[k - 1].value)) return;
    std::size_t i = k - 1;
    for (; i > 0 && best[i - 1].value < one.value; --i) best[i] = best[i - 1];
    best[i] = one;
  }

  // out[j] = |x_u - y_v|^2 for the j-th pair (u, v), in double precision.
  static void pair_distances(const T* X, const T* Y, std::size_t d, const std::int64_t* u,
                             const std::int64_t* v, std::size_t n, double* out) {
    using D = Vec<double>;
    constexpr std::size_t W = D::width;
    for (std::size_t j = 0; j < n; ++j) {
      const T *x = X + std::size_t(u[j]) * d, *y = Y + std::size_t(v[j]) * d;
      auto one = D::zero(), other = D::zero();
      std::size_t k = 0;
      for (; k + 2 * W <= d; k += 2 * W) {
        const auto a = D::sub(D::widen(x + k), D::widen(y + k));
        const auto b = D::sub(D::widen(x + k + W), D::widen(y + k + W));
        one = D::fma(a, a, one);
        other = D::fma(b, b, other);
      }
      double rest = 0.0;
      for (; k < d; ++k) {
        const double a = double(x[k]) - double(y[k]);
        rest += a * a;
      }
      out[j] = D::sum(D::add(one, other)) + rest;
    }
  }
};
