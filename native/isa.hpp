// The hot loops, compiled once per instruction set and chosen at run time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernel_spec.hpp"

namespace graphkm {

// Centres in panels of `lanes` columns: data[panel][feature][lane], stat[panel][lane],
// coef[panel][output][lane]; the lanes past the last centre are zero.
template <class T>
struct PanelView {
  const T* data;
  const T* stat;
  const T* coef;
  std::size_t n_rows, n_panels, n_features, n_outputs;
};

// Rows in compressed form, values already scaled; coef[row][output].
template <class T>
struct SparseView {
  const std::int64_t* indptr;
  const std::int32_t* indices;
  const T* values;
  const T* stat;
  const T* coef;
  std::size_t n_rows, n_outputs;
};

// A row and its kernel value with some query.
template <class T>
struct Ranked {
  T value;
  std::int32_t row;
};

// What the passes of sequential minimal optimisation find (smo_scans.inl).
struct Steepest {
  double value;  // the largest -(f + up), -inf if no variable can rise
  std::size_t index;
};
struct Partner {
  double gap;  // by how much the optimality conditions are violated, at most
  std::size_t index;
};
constexpr std::size_t scan_block = 128;   // their arrays are padded to multiples of it
constexpr double flat_curvature = 1e-12;  // stands for the 0 of pairs of equal rows

template <class T>
struct Isa {
  const char* name;
  std::size_t lanes;         // columns of a panel
  std::size_t tile;          // queries of a dense tile
  std::size_t sparse_lanes;  // columns of a block of queries in the sparse loops

  // queries[tile][feature][tile lane]; out[query][output] += sum_j coef[j] k(query, s_j).
  // scratch holds lanes * (1 + n_outputs) values per query, queries rounded up to whole tiles.
  void (*dense_product)(const KernelSpec&, const PanelView<T>&, const T* queries, const T* stat,
                        std::size_t n_queries, double* out, T* scratch);
  // out[query * stride + j] = k(query, s_j); scratch holds lanes values per query.
  void (*dense_values)(const KernelSpec&, const PanelView<T>&, const T* queries, const T* stat,
                       std::size_t n_queries, T* out, std::size_t stride, T* scratch);
  // queries[local feature][sparse lane], local 0 a row of zeros; local[feature] maps to it.
  // out[lane][output] += sum over rows; scratch holds n_outputs * sparse_lanes values.
  void (*sparse_product)(const KernelSpec&, const SparseView<T>&, const T* queries, const T* stat,
                         const std::int32_t* local, std::size_t n_queries, double* out, T* scratch);
  void (*sparse_values)(const KernelSpec&, const SparseView<T>&, const T* queries, const T* stat,
                        const std::int32_t* local, std::size_t n_queries, T* out,
                        std::size_t stride);
  // best[query][0..k): the rows with the largest values, largest first, earliest among equals; row
  // -1 where fewer than k values are numbers.
  void (*sparse_largest)(const KernelSpec&, const SparseView<T>&, const T* queries, const T* stat,
                         const std::int32_t* local, std::size_t n_queries, std::size_t k,
                         Ranked<T>* best);

  // best[place[query]][0..k): the rows with the largest <query, row> + stat(query) + stat(row),
  // largest first; rows are numbered from `first`. What is there before takes part.
  // scratch holds lanes values per query, queries rounded up to whole tiles.
  void (*dense_largest)(const PanelView<T>&, const T* queries, const T* stat,
                        const std::int32_t* place, std::size_t n_queries, std::int32_t first,
                        std::size_t k, Ranked<T>* best, T* scratch);
  // out[j] = |x_u - y_v|^2 for the j-th pair (u, v), in double precision.
  void (*pair_distances)(const T* X, const T* Y, std::size_t n_features, const std::int64_t* u,
                         const std::int64_t* v, std::size_t n, double* out);

  Steepest (*smo_first)(const double* f, const double* up, std::size_t n);
  Steepest (*smo_update)(double* f, const double* up, const T* row_i, const T* row_j, double delta,
                         std::size_t n);
  Partner (*smo_partner)(const double* f, const double* down, const T* row, const double* diagonal,
                         double g, double k_ii, std::size_t n);
};

// The best instruction set of this machine, or the one GRAPHKM_ISA names.
template <class T>
const Isa<T>& isa();

// The names of all instruction sets that this machine has, the best first.
std::vector<std::string> instruction_sets();

#define GRAPHKM_DECLARE_ISA(NAME)        \
  namespace NAME {                       \
  const Isa<float>& single_precision();  \
  const Isa<double>& double_precision(); \
  }
GRAPHKM_DECLARE_ISA(portable)
GRAPHKM_DECLARE_ISA(neon)
GRAPHKM_DECLARE_ISA(avx2)
GRAPHKM_DECLARE_ISA(avx512)
#undef GRAPHKM_DECLARE_ISA

}  // namespace graphkm
