// The hot loops, written over Vec<T> and included once per instruction set.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "isa.hpp"

#if defined(__GNUC__) && !defined(__clang__)
#define GRAPHKM_UNROLL _Pragma("GCC unroll 16")
#elif defined(__clang__)
#define GRAPHKM_UNROLL _Pragma("unroll")
#else
#define GRAPHKM_UNROLL
#endif
#if defined(_MSC_VER)
#define GRAPHKM_NOINLINE __declspec(noinline)
#else
#define GRAPHKM_NOINLINE __attribute__((noinline))
#endif

namespace graphkm::GRAPHKM_ISA {
namespace {

// 2^t for t <= 0 up to rounding, zero below the smallest normal number. Adding `magic` rounds t to
// an integer and leaves that integer, plus the exponent's bias, in the low bits of the sum.
template <class T>
struct Exp2;

template <>
struct Exp2<float> {
  static constexpr float lowest = -127.0f, magic = 12582912.0f + 127.0f;
  static constexpr float c[] = {1.0f,
                                0.6931470036506653f,
                                0.24022242426872253f,
                                0.05550733581185341f,
                                0.009671512991189957f,
                                0.0013264729641377926f};
};

template <>
struct Exp2<double> {
  static constexpr double lowest = -1023.0, magic = 6755399441055744.0 + 1023.0;
  static constexpr double c[] = {1.0,
                                 0.69314718055994533,
                                 0.240226506959101562,
                                 0.0555041086648199215,
                                 0.00961812910758833508,
                                 0.00133335581467899503,
                                 0.00015403530462514613,
                                 0.0000152527334899608046,
                                 1.3215433089594629e-6,
                                 1.01781980333285277e-7,
                                 7.07410562624565937e-9,
                                 4.43528094461033616e-10};
};

// The polynomial's coefficients, each over a whole register.
template <class T>
struct Exp2Table {
  static constexpr int degree = sizeof(Exp2<T>::c) / sizeof(T) - 1;
  alignas(64) T wide[degree + 1][Vec<T>::width];
  constexpr Exp2Table() : wide() {
    for (int k = 0; k <= degree; ++k)
      for (int i = 0; i < Vec<T>::width; ++i) wide[k][i] = Exp2<T>::c[k];
  }
};

template <class T>
inline constexpr Exp2Table<T> exp2_table{};

// Stage by stage over n registers, because one register's chain is long and issue queues short.
template <class T, int n>
inline void exp2_all(typename Vec<T>::V (&t)[n]) {
  using O = Vec<T>;
  using E = Exp2<T>;
  constexpr int degree = sizeof(E::c) / sizeof(T) - 1;
  typename O::V shifted[n], y[n];
  GRAPHKM_UNROLL
  for (int i = 0; i < n; ++i) t[i] = O::max(t[i], O::set1(E::lowest));
  GRAPHKM_UNROLL
  for (int i = 0; i < n; ++i) shifted[i] = O::add(t[i], O::set1(E::magic));
  GRAPHKM_UNROLL
  for (int i = 0; i < n; ++i) y[i] = O::sub(shifted[i], O::set1(E::magic));
  GRAPHKM_UNROLL
  for (int i = 0; i < n; ++i) t[i] = O::sub(t[i], y[i]);
  const auto leading = O::set1(E::c[degree]);
  GRAPHKM_UNROLL
  for (int i = 0; i < n; ++i) y[i] = O::fma(leading, t[i], O::addend(exp2_table<T>.wide[degree - 1]));
  GRAPHKM_UNROLL
  for (int k = degree - 2; k >= 0; --k)
    GRAPHKM_UNROLL
    for (int i = 0; i < n; ++i) y[i] = O::fma(y[i], t[i], O::addend(exp2_table<T>.wide[k]));
  GRAPHKM_UNROLL
  for (int i = 0; i < n; ++i) t[i] = O::mul(y[i], O::shift_left_bits(shifted[i]));
}

// How one feature enters the sum. `on_row` is the sparse form: only the row's non-zeros are
// visited, and the lanes' own share of the other features is in their stat.
template <class T>
struct Dot {
  using O = Vec<T>;
  using V = typename O::V;
  template <int lane>
  static V step(typename O::Group q, V s, V acc) {
    return O::template fma_lane<lane>(q, s, acc);
  }
  static V on_row(const T* r, V x, V acc) { return O::fma_scalar(r, x, acc); }
};

template <class T>
struct Manhattan {
  using O = Vec<T>;
  using V = typename O::V;
  template <int lane>
  static V step(typename O::Group q, V s, V acc) {
    return O::sub(acc, O::abs(O::sub(O::template lane<lane>(q), s)));
  }
  static V on_row(const T* r, V x, V acc) {
    return O::add(acc, O::sub(O::abs(x), O::abs(O::sub(x, O::set1(*r)))));
  }
};

template <class T>
struct Exponential {
  explicit Exponential(const KernelSpec&) {}
  template <int n>
  void operator()(typename Vec<T>::V (&t)[n]) const {
    exp2_all<T, n>(t);
  }
};

// The same with distances of at least zero.
template <class T>
struct ClampedExponential {
  explicit ClampedExponential(const KernelSpec&) {}
  template <int n>
  void operator()(typename Vec<T>::V (&t)[n]) const {
    using O = Vec<T>;
    GRAPHKM_UNROLL
    for (int i = 0; i < n; ++i) t[i] = O::sub(O::zero(), O::max(O::sub(O::zero(), t[i]), O::zero()));
    exp2_all<T, n>(t);
  }
};

template <class T>
struct Identity {
  explicit Identity(const KernelSpec&) {}
  template <int n>
  void operator()(typename Vec<T>::V (&)[n]) const {}
};

template <class T>
struct Power {
  int degree;
  explicit Power(const KernelSpec& spec) : degree(spec.degree) {}
  template <int n>
  void operator()(typename Vec<T>::V (&t)[n]) const {
    GRAPHKM_UNROLL
    for (int i = 0; i < n; ++i) {
      auto y = t[i];
      for (int k = 1; k < degree; ++k) y = Vec<T>::mul(y, t[i]);
      t[i] = y;
    }
  }
};

template <class T, class Step, class Finish>
struct Loops {
  using O = Vec<T>;
  using V = typename O::V;
  static constexpr std::size_t W = O::width, NV = O::panel_vectors, MQ = O::tile_queries;
  static constexpr std::size_t lanes = W * NV;
  static constexpr std::size_t SV = 12, sparse_lanes = W * SV;
  // Features whose share of a panel takes half of a first-level cache of 48 KB.
  static constexpr std::size_t slice = (24u << 10) / (lanes * sizeof(T));
  static constexpr std::size_t run = 32;  // panels, or rows times 8, summed in T before doubles

  // One feature of a group of queries against one panel's lanes.
  template <int... lane>
  static inline void step_group(typename O::Group q, const V (&b)[NV], V (*acc)[NV],
                                std::integer_sequence<int, lane...>) {
    GRAPHKM_UNROLL
    for (std::size_t v = 0; v < NV; ++v)
      ((acc[lane][v] = Step::template step<lane>(q, b[v], acc[lane][v])), ...);
  }

  // Adds `depth` features to the sums of one tile of queries and one panel of centres, which
  // start from the stats. The sums live in the first cache, so that this loop and the
  // exponentials each have all registers.
  template <bool starts>
  GRAPHKM_NOINLINE static void tile(const T* q, const T* q_stat, const T* s, const T* s_stat,
                                    std::size_t depth, T* sums) {
    V acc[MQ][NV];
    GRAPHKM_UNROLL
    for (std::size_t m = 0; m < MQ; ++m)
      GRAPHKM_UNROLL
      for (std::size_t v = 0; v < NV; ++v)
        acc[m][v] = starts ? O::add(O::set1(q_stat[m]), O::load(s_stat + v * W))
                           : O::load(sums + m * lanes + v * W);
    for (std::size_t k = 0; k < depth; ++k, q += MQ, s += lanes) {
      V b[NV];
      GRAPHKM_UNROLL
      for (std::size_t v = 0; v < NV; ++v) b[v] = O::load(s + v * W);
      GRAPHKM_UNROLL
      for (std::size_t m = 0; m < MQ; m += O::group)
        step_group(O::load_group(q + m), b, acc + m, std::make_integer_sequence<int, O::group>{});
    }
    GRAPHKM_UNROLL
    for (std::size_t m = 0; m < MQ; ++m)
      GRAPHKM_UNROLL
      for (std::size_t v = 0; v < NV; ++v) O::store(sums + m * lanes + v * W, acc[m][v]);
  }

  // The sums of all queries of a chunk and one panel, sums[query][lane], each tile handed to
  // use(first query) when it is complete. A slice of the panel's features stays in the first
  // cache while the tiles pass over it.
  template <class Use>
  static inline void panel_sums(const PanelView<T>& c, std::size_t p, const T* queries,
                                const T* stat, std::size_t n_queries, T* sums, Use&& use) {
    const std::size_t d = c.n_features;
    const T* s = c.data + p * d * lanes;
    for (std::size_t k = 0, next; k == 0 || k < d; k = next) {
      next = k + slice;
      for (std::size_t q = 0; q < n_queries; q += MQ) {
        const auto add = k == 0 ? &tile<true> : &tile<false>;
        add(queries + q * d + k * MQ, stat + q, s + k * lanes, c.stat + p * lanes,
            std::min(slice, d - k), sums + q * lanes);
        if (next >= d) use(q);
      }
    }
  }

  static void dense_product(const KernelSpec& spec, const PanelView<T>& c, const T* queries,
                            const T* stat, std::size_t n_queries, double* out, T* scratch) {
    const Finish finish(spec);
    const std::size_t R = c.n_outputs, padded = (n_queries + MQ - 1) / MQ * MQ;
    T* sums = scratch;
    T* totals = scratch + padded * lanes;
    for (std::size_t first = 0; first < c.n_panels; first += run) {
      std::fill_n(totals, padded * R * W, T(0));
      for (std::size_t p = first; p < std::min(first + run, c.n_panels); ++p)
        panel_sums(c, p, queries, stat, n_queries, sums, [&](std::size_t q) {
          add_products(finish, sums + q * lanes, c.coef + p * R * lanes, R, totals + q * R * W);
        });
      for (std::size_t i = 0; i < n_queries * R; ++i)
        out[i] += double(O::sum(O::load(totals + i * W)));
    }
  }

  // totals[query][output] += coef[output] * finish(sums[query]), lane by lane, for one tile. Two
  // queries at a time, so that the long chains of the exponential overlap.
  static inline void add_products(const Finish& finish, const T* sums, const T* coef, std::size_t R,
                                  T* totals) {
    static_assert(MQ % 2 == 0, "queries go in pairs");
    for (std::size_t m = 0; m < MQ; m += 2, sums += 2 * lanes, totals += 2 * R * W) {
      V k[2 * NV];
      GRAPHKM_UNROLL
      for (std::size_t v = 0; v < 2 * NV; ++v) k[v] = O::load(sums + v * W);
      finish(k);
      for (std::size_t r = 0; r < R; ++r) {
        V first = O::load(totals + r * W), second = O::load(totals + (R + r) * W);
        GRAPHKM_UNROLL
        for (std::size_t v = 0; v < NV; ++v) {
          const V a = O::load(coef + r * lanes + v * W);
          first = O::fma(k[v], a, first);
          second = O::fma(k[NV + v], a, second);
        }
        O::store(totals + r * W, first);
        O::store(totals + (R + r) * W, second);
      }
    }
  }

  static void dense_values(const KernelSpec& spec, const PanelView<T>& c, const T* queries,
                           const T* stat, std::size_t n_queries, T* out, std::size_t stride,
                           T* scratch) {
    const Finish finish(spec);
    for (std::size_t p = 0; p < c.n_panels; ++p) {
      const std::size_t columns = std::min(lanes, c.n_rows - p * lanes);
      panel_sums(c, p, queries, stat, n_queries, scratch, [&](std::size_t q) {
        for (std::size_t m = q; m < std::min(q + MQ, n_queries); ++m) {
          T* row = scratch + m * lanes;
          V k[NV];
          GRAPHKM_UNROLL
          for (std::size_t v = 0; v < NV; ++v) k[v] = O::load(row + v * W);
          finish(k);
          GRAPHKM_UNROLL
          for (std::size_t v = 0; v < NV; ++v) O::store(row + v * W, k[v]);
          std::copy_n(row, columns, out + m * stride + p * lanes);
        }
      });
    }
  }

  // k(row j, lane) for one sparse row and a block of queries laid out lane by lane.
  static inline void row_block(const Finish& finish, const SparseView<T>& c, std::size_t j,
                               const T* queries, const T* stat, const std::int32_t* local,
                               V (&acc)[SV]) {
    const V own = O::set1(c.stat[j]);
    GRAPHKM_UNROLL
    for (std::size_t v = 0; v < SV; ++v) acc[v] = O::add(own, O::load(stat + v * W));
    for (std::int64_t e = c.indptr[j]; e < c.indptr[j + 1]; ++e) {
      const T* x = queries + std::size_t(local[c.indices[e]]) * sparse_lanes;
      GRAPHKM_UNROLL
      for (std::size_t v = 0; v < SV; ++v)
        acc[v] = Step::on_row(c.values + e, O::load(x + v * W), acc[v]);
    }
    finish(acc);
  }

  static void sparse_product(const KernelSpec& spec, const SparseView<T>& c, const T* queries,
                             const T* stat, const std::int32_t* local, std::size_t n_queries,
                             double* out, T* scratch) {
    const Finish finish(spec);
    const std::size_t R = c.n_outputs;
    for (std::size_t first = 0; first < c.n_rows; first += 8 * run) {
      const std::size_t last = std::min(first + 8 * run, c.n_rows);
      std::fill_n(scratch, R * sparse_lanes, T(0));
      for (std::size_t j = first; j < last; ++j) {
        V acc[SV];
        row_block(finish, c, j, queries, stat, local, acc);
        for (std::size_t r = 0; r < R; ++r) {
          const T* a = c.coef + j * R + r;
          T* sums = scratch + r * sparse_lanes;
          GRAPHKM_UNROLL
          for (std::size_t v = 0; v < SV; ++v)
            O::store(sums + v * W, O::fma_scalar(a, acc[v], O::load(sums + v * W)));
        }
      }
      for (std::size_t q = 0; q < n_queries; ++q)
        for (std::size_t r = 0; r < R; ++r) out[q * R + r] += double(scratch[r * sparse_lanes + q]);
    }
  }

  static void sparse_values(const KernelSpec& spec, const SparseView<T>& c, const T* queries,
                            const T* stat, const std::int32_t* local, std::size_t n_queries, T* out,
                            std::size_t stride) {
    const Finish finish(spec);
    for (std::size_t j = 0; j < c.n_rows; ++j) {
      V acc[SV];
      row_block(finish, c, j, queries, stat, local, acc);
      T column[sparse_lanes];
      GRAPHKM_UNROLL
      for (std::size_t v = 0; v < SV; ++v) O::store(column + v * W, acc[v]);
      for (std::size_t q = 0; q < n_queries; ++q) out[q * stride + j] = column[q];
    }
  }

  // A heap for each query holds the best rows so far, the worst of them on top. Rows come in order
  // of their numbers, so an equal value never replaces one. Most rows beat no query's worst.
  static void sparse_largest(const KernelSpec& spec, const SparseView<T>& c, const T* queries,
                             const T* stat, const std::int32_t* local, std::size_t n_queries,
                             std::size_t k, Ranked<T>* best) {
    const Finish finish(spec);
    constexpr T least = -std::numeric_limits<T>::infinity();
    T worst[sparse_lanes];
    for (std::size_t q = 0; q < sparse_lanes; ++q) worst[q] = q < n_queries ? least : -least;
    for (std::size_t i = 0; i < n_queries * k; ++i) best[i] = {least, -1};
    for (std::size_t j = 0; j < c.n_rows; ++j) {
      V acc[SV];
      row_block(finish, c, j, queries, stat, local, acc);
      T column[sparse_lanes];
      GRAPHKM_UNROLL
      for (std::size_t v = 0; v < SV; ++v) O::store(column + v * W, acc[v]);
      int better = 0;
      for (std::size_t q = 0; q < sparse_lanes; ++q) better |= column[q] > worst[q];
      if (!better) continue;
      for (std::size_t q = 0; q < n_queries; ++q) {
        if (!(column[q] > worst[q])) continue;
        Ranked<T>* heap = best + q * k;
        std::pop_heap(heap, heap + k, Before{});
        heap[k - 1] = {column[q], std::int32_t(j)};
        std::push_heap(heap, heap + k, Before{});
        worst[q] = heap[0].value;
      }
    }
    for (std::size_t q = 0; q < n_queries; ++q)
      std::sort_heap(best + q * k, best + (q + 1) * k, Before{});
  }

  struct Before {
    bool operator()(const Ranked<T>& a, const Ranked<T>& b) const {
      return a.value > b.value || (a.value == b.value && a.row < b.row);
    }
  };
};

#include "smo_scans.inl"
#include "nearest.inl"

// Calls loop<Loops<...>>() with the loops of this kernel.
template <class T, class F>
void with_loops(const KernelSpec& spec, F&& call) {
  switch (spec.code) {
    case KernelCode::rbf:
      if (spec.clamps) return call(Loops<T, Dot<T>, ClampedExponential<T>>{});
      return call(Loops<T, Dot<T>, Exponential<T>>{});
    case KernelCode::laplacian:
      return call(Loops<T, Manhattan<T>, Exponential<T>>{});
    case KernelCode::polynomial:
      return call(Loops<T, Dot<T>, Power<T>>{});
    case KernelCode::linear:
    case KernelCode::cosine:
      return call(Loops<T, Dot<T>, Identity<T>>{});
  }
}

template <class T>
const Isa<T>& table(const char* name) {
  using Any = Loops<T, Dot<T>, Identity<T>>;
  static const Isa<T> functions = {
      name,
      Any::lanes,
      Any::MQ,
      Any::sparse_lanes,
      [](const KernelSpec& spec, const PanelView<T>& c, const T* queries, const T* stat,
         std::size_t n, double* out, T* scratch) {
        with_loops<T>(spec, [&](auto loops) {
          loops.dense_product(spec, c, queries, stat, n, out, scratch);
        });
      },
      [](const KernelSpec& spec, const PanelView<T>& c, const T* queries, const T* stat,
         std::size_t n, T* out, std::size_t stride, T* scratch) {
        with_loops<T>(spec, [&](auto loops) {
          loops.dense_values(spec, c, queries, stat, n, out, stride, scratch);
        });
      },
      [](const KernelSpec& spec, const SparseView<T>& c, const T* queries, const T* stat,
         const std::int32_t* local, std::size_t n, double* out, T* scratch) {
        with_loops<T>(spec, [&](auto loops) {
          loops.sparse_product(spec, c, queries, stat, local, n, out, scratch);
        });
      },
      [](const KernelSpec& spec, const SparseView<T>& c, const T* queries, const T* stat,
         const std::int32_t* local, std::size_t n, T* out, std::size_t stride) {
        with_loops<T>(spec, [&](auto loops) {
          loops.sparse_values(spec, c, queries, stat, local, n, out, stride);
        });
      },
      [](const KernelSpec& spec, const SparseView<T>& c, const T* queries, const T* stat,
         const std::int32_t* local, std::size_t n, std::size_t k, Ranked<T>* best) {
        with_loops<T>(spec, [&](auto loops) {
          loops.sparse_largest(spec, c, queries, stat, local, n, k, best);
        });
      },
      &Nearest<T>::dense_largest,
      &Nearest<T>::pair_distances,
      &Scans<T>::first,
      &Scans<T>::update,
      &Scans<T>::partner,
  };
  return functions;
}

}  // namespace

#define GRAPHKM_TEXT(x) #x
#define GRAPHKM_NAME(x) GRAPHKM_TEXT(x)
const Isa<float>& single_precision() { return table<float>(GRAPHKM_NAME(GRAPHKM_ISA)); }
const Isa<double>& double_precision() { return table<double>(GRAPHKM_NAME(GRAPHKM_ISA)); }
#undef GRAPHKM_TEXT
#undef GRAPHKM_NAME

}  // namespace graphkm::GRAPHKM_ISA
