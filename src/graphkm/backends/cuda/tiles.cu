// Tiles of inner products of rows on tensor cores, and what becomes of them: sums of kernels over
// centres, kernel values, nearest rows.
//
// A block of 256 threads takes 128 queries and goes through tiles of 128 centres. Rows hold W words
// of 4 bytes, W a multiple of 8, and zeros fill them up. Row numbers beyond the last are clamped when
// rows are loaded, and masked when tiles are used.
//
// A word is a float, or two numbers of 16 bits. Every float is split into two numbers of 11 bits,
// x = hi + lo, and hi hi + hi lo + lo hi keeps 21 bits of each product ("3xTF32"). Numbers of 16 bits
// are multiplied as they are, and several times as fast.
//
// Macros given at compilation: KERNEL (0 rbf, 1 linear, 2 polynomial, 4 cosine; 9 squared distance),
// HALF (1 where a word is two numbers of 16 bits).

#define TILE 128
#if HALF
#define SLAB 32   // words that are loaded together: 128 bytes of a row are one request
#define STAGES 2  // slabs in shared memory: the others are on their way while one is used
#else
#define SLAB 16  // rows of few columns would be filled up with more zeros
#define STAGES 3
#endif
#define STRIDE (SLAB + 8)  // of a row in shared memory: fragments are loaded without bank conflicts

extern __shared__ __align__(16) unsigned char memory[];

struct Stage {
  unsigned rows[TILE * STRIDE];
  unsigned others[TILE * STRIDE];
};

// Queries, or centres.
struct Rows {
  const unsigned* data;
  const float* half;  // what a kernel needs of a row alone
  long n;
};

__device__ __forceinline__ void copy16(unsigned* to, const unsigned* from, bool real) {
  unsigned address = (unsigned)__cvta_generic_to_shared(to);
  int bytes = real ? 16 : 0;  // the rest is filled with zeros
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(bytes));
}

#if HALF
__device__ __forceinline__ void multiply(float* c, const unsigned* a, const unsigned* b) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
#else
// x = hi + lo. Tensor cores read the upper 19 bits of a float. hi is x rounded to them.
__device__ __forceinline__ void split(unsigned x, unsigned& hi, unsigned& lo) {
  hi = (x + 0x1000u) & 0xffffe000u;
  lo = __float_as_uint(__uint_as_float(x) - __uint_as_float(hi));
}

__device__ __forceinline__ void multiply(float* c, const unsigned* a, const unsigned* b) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
#endif

__device__ __forceinline__ void load_slab(unsigned* to, const Rows& rows, long first, int W,
                                          int word) {
  // A row is 16 bytes for each of some threads, and every thread has several rows.
  constexpr int chunks = SLAB / 4, apart = 256 / chunks;
  int row = threadIdx.x / chunks, offset = threadIdx.x % chunks * 4;
  bool real = word + offset < W;
  const unsigned* from = rows.data + (real ? word + offset : 0);
  to += row * STRIDE + offset;
  int number = (int)first + row, last = (int)rows.n - 1;
#pragma unroll
  for (int part = 0; part < TILE / apart; part++)
    copy16(to + part * apart * STRIDE, from + (long)min(number + part * apart, last) * W, real);
}

// Two words of a row that lie together.
__device__ __forceinline__ uint2 pair_at(const unsigned* place) {
  return *reinterpret_cast<const uint2*>(place);
}

// Add the inner products of a slab. The eight warps stand 2 x 4. A warp has 64 x 32 products, and a
// thread those of 8 rows and 8 others: product[m][n][i] belongs to the row
// 64 (warp / 4) + 16 m + lane / 4 + 8 (i / 2) and to 32 (warp % 4) + 8 n + 2 (lane % 4) + i % 2.
// The order of columns within a product does not matter: a thread takes two words that lie together.
__device__ __forceinline__ void add_products(const Stage& stage, int steps,
                                             float (&product)[4][4][4]) {
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  int g = lane >> 2, t = lane & 3;
  const unsigned* rows = stage.rows + (64 * (warp >> 2) + g) * STRIDE + 2 * t;
  const unsigned* others = stage.others + (32 * (warp & 3) + g) * STRIDE + 2 * t;
  for (int step = 0; step < steps; step++) {
    uint2 other[4];
#pragma unroll
    for (int n = 0; n < 4; n++) other[n] = pair_at(others + 8 * n * STRIDE + 8 * step);
#if HALF
#pragma unroll
    for (int m = 0; m < 4; m++) {
      const unsigned* own = rows + 16 * m * STRIDE + 8 * step;
      uint2 upper = pair_at(own), lower = pair_at(own + 8 * STRIDE);
      unsigned a[4] = {upper.x, lower.x, upper.y, lower.y};
#pragma unroll
      for (int n = 0; n < 4; n++) {
        unsigned b[2] = {other[n].x, other[n].y};
        multiply(product[m][n], a, b);
      }
    }
#else
    unsigned b_hi[4][2], b_lo[4][2];
#pragma unroll
    for (int n = 0; n < 4; n++) {
      split(other[n].x, b_hi[n][0], b_lo[n][0]);
      split(other[n].y, b_hi[n][1], b_lo[n][1]);
    }
#pragma unroll
    for (int m = 0; m < 4; m++) {
      unsigned a_hi[4], a_lo[4];
      const unsigned* own = rows + 16 * m * STRIDE + 8 * step;
      uint2 upper = pair_at(own), lower = pair_at(own + 8 * STRIDE);
      split(upper.x, a_hi[0], a_lo[0]);
      split(lower.x, a_hi[1], a_lo[1]);
      split(upper.y, a_hi[2], a_lo[2]);
      split(lower.y, a_hi[3], a_lo[3]);
#pragma unroll
      for (int n = 0; n < 4; n++) {
        multiply(product[m][n], a_lo, b_hi[n]);
        multiply(product[m][n], a_hi, b_lo[n]);
        multiply(product[m][n], a_hi, b_hi[n]);
      }
    }
#endif
  }
}

// Visit the tiles tile_at(turn) of the turns part, part + parts, part + 2 parts, ... with the inner
// products of their centres. prepare(slot, s0) is called before the first slab of a tile is awaited,
// and what it writes to shared memory can be read in visit(slot, s0, product): slots take turns, so
// that no tile overwrites another that is in use.
template <class TileAt, class Prepare, class Visit>
__device__ __forceinline__ void each_tile(Stage* stages, const Rows& queries, long q0,
                                          const Rows& centres, int W, int part, int parts,
                                          long turns, TileAt tile_at, Prepare prepare,
                                          Visit visit) {
  int slabs = (W + SLAB - 1) / SLAB;
  long next_turn = part, turn = part, next_s0 = 0;
  int next_slab = 0, next_stage = 0, next_slot = 0;
  auto load = [&]() {
    if (next_turn < turns) {
      if (next_slab == 0) {
        next_s0 = tile_at(next_turn) * TILE;
        prepare(next_slot, next_s0);
      }
      load_slab(stages[next_stage].rows, queries, q0, W, next_slab * SLAB);
      load_slab(stages[next_stage].others, centres, next_s0, W, next_slab * SLAB);
      next_stage = next_stage + 1 == STAGES ? 0 : next_stage + 1;
      if (++next_slab == slabs) {
        next_slab = 0;
        next_turn += parts;
        next_slot = next_slot + 1 == STAGES ? 0 : next_slot + 1;
      }
    }
    asm volatile("cp.async.commit_group;");
  };
#pragma unroll
  for (int ahead = 1; ahead < STAGES; ahead++) load();
  int stage = 0, slot = 0;
  for (; turn < turns; turn += parts) {
    float product[4][4][4];
#pragma unroll
    for (int m = 0; m < 4; m++)
#pragma unroll
      for (int n = 0; n < 4; n++)
#pragma unroll
        for (int i = 0; i < 4; i++) product[m][n][i] = 0.0f;
    for (int slab = 0; slab < slabs; slab++) {
      asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2));
      __syncthreads();
      load();
      add_products(stages[stage], W - slab * SLAB >= SLAB ? SLAB / 8 : W % SLAB / 8, product);
      stage = stage + 1 == STAGES ? 0 : stage + 1;
    }
    visit(slot, tile_at(turn) * TILE, product);
    slot = slot + 1 == STAGES ? 0 : slot + 1;
  }
}

__device__ __forceinline__ long tiles_of(const Rows& rows) { return (rows.n + TILE - 1) / TILE; }

// The kernel from an inner product. `own` and `other` are half-finished: squared norms times
// -gamma log2(e) for rbf, inverse norms for cosine, squared norms for the distance.
__device__ __forceinline__ float kernel_value(float product, float own, float other, float gamma,
                                              float coef0, int degree) {
#if KERNEL == 0
  float exponent = fminf(fmaf(2.0f * gamma, product, own + other), 0.0f);
  float value;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(value) : "f"(exponent));
  return value;
#elif KERNEL == 1
  return product;
#elif KERNEL == 2
  float base = fmaf(gamma, product, coef0), value = 1.0f;
  for (int power = degree; power; power >>= 1) {
    if (power & 1) value *= base;
    base *= base;
  }
  return value;
#elif KERNEL == 4
  return product * own * other;
#else
  return fmaxf(own + other - 2.0f * product, 0.0f);
#endif
}

__device__ __forceinline__ void kernel_values(float (&value)[4][4][4], const float* of_rows,
                                              const float* of_others, float gamma, float coef0,
                                              int degree) {
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  int row = 64 * (warp >> 2) + (lane >> 2), column = 32 * (warp & 3) + 2 * (lane & 3);
  float other[4][2];
#pragma unroll
  for (int n = 0; n < 4; n++) {
    other[n][0] = of_others[column + 8 * n];
    other[n][1] = of_others[column + 8 * n + 1];
  }
#pragma unroll
  for (int m = 0; m < 4; m++) {
    float first = of_rows[row + 16 * m], second = of_rows[row + 16 * m + 8];
#pragma unroll
    for (int n = 0; n < 4; n++)
#pragma unroll
      for (int i = 0; i < 4; i++)
        value[m][n][i] = kernel_value(value[m][n][i], i < 2 ? first : second, other[n][i & 1],
                                      gamma, coef0, degree);
  }
}

__device__ __forceinline__ void load_halves(float* to, const Rows& rows, long first) {
  if (threadIdx.x < TILE)
    to[threadIdx.x] = first + threadIdx.x < rows.n ? rows.half[first + threadIdx.x] : 0.0f;
}

#if KERNEL != 9

// out[part, q, r] = sum over the part's centres of a[r, s] k(q, s). Sums over 16 tiles are in float,
// and those of more in double. The number of outputs is at most 32.
template <bool ONE>
__device__ __forceinline__ void sums(const Rows& queries, const Rows& centres, int W,
                                     const float* a, long a_stride, int outputs, float gamma,
                                     float coef0, int degree, double* out) {
  Stage* stages = reinterpret_cast<Stage*>(memory);
  double* total = reinterpret_cast<double*>(stages + STAGES);  // of row and output
  float* of_rows = reinterpret_cast<float*>(total + TILE * outputs);
  float *of_others = of_rows + TILE, *of_warps = of_others + STAGES * TILE;
  float* coefficients = of_warps + 4 * TILE;
  long q0 = (long)blockIdx.x * TILE;
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  int row = 64 * (warp >> 2) + (lane >> 2), column = 32 * (warp & 3) + 2 * (lane & 3);
  for (int i = threadIdx.x; i < TILE * outputs; i += 256) total[i] = 0.0;
  load_halves(of_rows, queries, q0);
  float sum[4][2] = {{0.0f}};
  int summed = 0;
  auto flush = [&](int r) {  // the sums of all threads to the totals of an output
#pragma unroll
    for (int m = 0; m < 4; m++)
#pragma unroll
      for (int half = 0; half < 2; half++) {
        float own = sum[m][half];
        own += __shfl_xor_sync(0xffffffff, own, 1);
        own += __shfl_xor_sync(0xffffffff, own, 2);
        if ((lane & 3) == 0) of_warps[(warp & 3) * TILE + row + 16 * m + 8 * half] = own;
        sum[m][half] = 0.0f;
      }
    __syncthreads();
    if (threadIdx.x < TILE) {
      double whole = 0.0;
      for (int w = 0; w < 4; w++) whole += of_warps[w * TILE + threadIdx.x];
      total[threadIdx.x * outputs + r] += whole;
    }
    __syncthreads();
  };
  auto prepare = [&](int slot, long s0) {
    load_halves(of_others + slot * TILE, centres, s0);
    for (int i = threadIdx.x; i < TILE * outputs; i += 256) {
      int r = i / TILE, s = i % TILE;
      coefficients[slot * TILE * outputs + i] = s0 + s < centres.n ? a[r * a_stride + s0 + s] : 0.0f;
    }
  };
  auto visit = [&](int slot, long s0, float(&value)[4][4][4]) {
    kernel_values(value, of_rows, of_others + slot * TILE, gamma, coef0, degree);
    for (int r = 0; r < (ONE ? 1 : outputs); r++) {
      const float* own = coefficients + (slot * outputs + r) * TILE + column;
#pragma unroll
      for (int n = 0; n < 4; n++) {
        float2 pair = *reinterpret_cast<const float2*>(own + 8 * n);
#pragma unroll
        for (int m = 0; m < 4; m++)
#pragma unroll
          for (int half = 0; half < 2; half++) {
            sum[m][half] = fmaf(pair.x, value[m][n][2 * half], sum[m][half]);
            sum[m][half] = fmaf(pair.y, value[m][n][2 * half + 1], sum[m][half]);
          }
      }
      if (!ONE) flush(r);
    }
    if (ONE && ++summed == 16) {
      flush(0);
      summed = 0;
    }
  };
  each_tile(stages, queries, q0, centres, W, blockIdx.y, gridDim.y, tiles_of(centres),
            [](long turn) { return turn; }, prepare, visit);
  if (ONE) flush(0);
  __syncthreads();
  for (int i = threadIdx.x; i < TILE * outputs; i += 256)
    if (q0 + i / outputs < queries.n)
      out[((long)blockIdx.y * queries.n + q0) * outputs + i] = total[i];
}

extern "C" __global__ void __launch_bounds__(256, 2)
    kernel_sum(const unsigned* Q, const float* q_half, long nq, const unsigned* S,
               const float* s_half, long ns, int W, const float* a, long a_stride, int outputs, float gamma,
               float coef0, int degree, double* out) {
  sums<true>({Q, q_half, nq}, {S, s_half, ns}, W, a, a_stride, 1, gamma, coef0, degree, out);
}

extern "C" __global__ void __launch_bounds__(256, 2)
    kernel_sums(const unsigned* Q, const float* q_half, long nq, const unsigned* S,
                const float* s_half, long ns, int W, const float* a, long a_stride, int outputs, float gamma,
                float coef0, int degree, double* out) {
  sums<false>({Q, q_half, nq}, {S, s_half, ns}, W, a, a_stride, outputs, gamma, coef0, degree, out);
}

// out[q, s] = k(q, s)
extern "C" __global__ void __launch_bounds__(256, 2)
    kernel_matrix(const unsigned* Q, const float* q_half, long nq, const unsigned* S,
                  const float* s_half, long ns, int W, float gamma, float coef0, int degree,
                  float* out) {
  Rows queries = {Q, q_half, nq}, centres = {S, s_half, ns};
  Stage* stages = reinterpret_cast<Stage*>(memory);
  float* of_rows = reinterpret_cast<float*>(stages + STAGES);
  float* of_others = of_rows + TILE;
  long q0 = (long)blockIdx.x * TILE;
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  load_halves(of_rows, queries, q0);
  auto prepare = [&](int slot, long s0) { load_halves(of_others + slot * TILE, centres, s0); };
  auto visit = [&](int slot, long s0, float(&value)[4][4][4]) {
    kernel_values(value, of_rows, of_others + slot * TILE, gamma, coef0, degree);
    long row = q0 + 64 * (warp >> 2) + (lane >> 2), column = s0 + 32 * (warp & 3) + 2 * (lane & 3);
#pragma unroll
    for (int m = 0; m < 4; m++)
#pragma unroll
      for (int n = 0; n < 4; n++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
          long q = row + 16 * m + 8 * (i >> 1), s = column + 8 * n + (i & 1);
          if (q < queries.n && s < centres.n) out[q * centres.n + s] = value[m][n][i];
        }
  };
  each_tile(stages, queries, q0, centres, W, blockIdx.y, gridDim.y, tiles_of(centres),
            [](long turn) { return turn; }, prepare, visit);
}

#else  // ------------------------------------------------------------ nearest rows

#define QUEUE 1024
#define NOBODY 0x7fffffff

struct Found {
  float distance;
  int row;  // of the tile of queries
  int number;
};

// Return places in the queue for the lanes that want one: a warp asks once. Others get 0.
__device__ __forceinline__ int queue_up(int* queued, bool wanted) {
  unsigned lanes = __ballot_sync(0xffffffff, wanted);
  int first = 0, lane = threadIdx.x & 31;
  if (lanes && lane == __ffs(lanes) - 1) first = atomicAdd(queued, __popc(lanes));
  if (lanes) first = __shfl_sync(0xffffffff, first, __ffs(lanes) - 1);
  return wanted ? first + __popc(lanes & ((1u << lane) - 1)) : 0;
}

// Put a candidate into a row's list, in rising order of distance, then of number. One warp does it.
__device__ __forceinline__ void insert(float* distances, int* numbers, int k, float distance,
                                       int number) {
  int lane = threadIdx.x & 31;
  float own[2];
  int own_number[2];
  int place = 0;
#pragma unroll
  for (int part = 0; part < 2; part++) {
    int i = lane + 32 * part;
    own[part] = i < k ? distances[i] : __int_as_float(0x7f800000);
    own_number[part] = i < k ? numbers[i] : NOBODY;
    bool before = own[part] < distance || (own[part] == distance && own_number[part] < number);
    place += __popc(__ballot_sync(0xffffffff, i < k && before));
  }
  __syncwarp();
  if (place >= k) return;
#pragma unroll
  for (int part = 0; part < 2; part++) {
    int i = lane + 32 * part;
    if (i >= place && i + 1 < k) {
      distances[i + 1] = own[part];
      numbers[i + 1] = own_number[part];
    }
    if (i == place) {
      distances[i] = distance;
      numbers[i] = number;
    }
  }
  __syncwarp();
}

// The k nearest rows of every query, of the tiles of rows that are this block's, by their rounded
// distances; of equals the first. The `lists` blocks of the same queries follow one another: they
// run at about the same time, and the cache has their queries. Block x of queries visits the tiles
// listed from first_tile[x] to last_tile[x]. If none are listed, all tiles are visited in a scattered order: in the order of the
// rows each tile might be nearer than the last, and would fill the lists anew. Query q is row own[q]
// itself, which is not its neighbour, or no row if that is -1. Where own[q] is -2, there is no query.
// A row whose s_half is infinite is no row. No row of the part outside the list is nearer than
// reach[q, part]. k is at most 64. KERNEL is 9.
extern "C" __global__ void __launch_bounds__(256, 2)
    nearest_rows(const unsigned* Q, const float* q_half, long nq, const unsigned* S,
                 const float* s_half, long ns, int W, const int* own, int k, const int* listed,
                 const long* first_tile, const long* last_tile, long order, int lists,
                 int* near, float* reach) {
  Rows queries = {Q, q_half, nq}, rows = {S, s_half, ns};
  Stage* stages = reinterpret_cast<Stage*>(memory);
  Found* queue = reinterpret_cast<Found*>(stages + STAGES);
  float* of_rows = reinterpret_cast<float*>(queue + QUEUE);
  float *of_others = of_rows + TILE, *limit = of_others + STAGES * TILE;
  float* distances = limit + TILE;
  int *numbers = reinterpret_cast<int*>(distances + TILE * k), *last = numbers + TILE * k;
  __shared__ int queued;
  const float infinity = __int_as_float(0x7f800000);
  int block = blockIdx.x / lists, part = blockIdx.x % lists;
  long q0 = (long)block * TILE;
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  int row = 64 * (warp >> 2) + (lane >> 2), column = 32 * (warp & 3) + 2 * (lane & 3);
  load_halves(of_rows, queries, q0);
  for (int i = threadIdx.x; i < TILE * k; i += 256) {
    distances[i] = infinity;
    numbers[i] = NOBODY;
  }
  if (threadIdx.x < TILE) {
    bool asks = q0 + threadIdx.x < queries.n && own[q0 + threadIdx.x] != -2;
    limit[threadIdx.x] = asks ? infinity : -1.0f;
    last[threadIdx.x] = NOBODY;
  }
  if (threadIdx.x == 0) queued = 0;
  auto prepare = [&](int slot, long s0) { load_halves(of_others + slot * TILE, rows, s0); };
  auto visit = [&](int slot, long s0, float(&value)[4][4][4]) {
    kernel_values(value, of_rows, of_others + slot * TILE, 0.0f, 0.0f, 0);
    unsigned pending[2] = {0, 0};
#pragma unroll
    for (int m = 0; m < 4; m++)
#pragma unroll
      for (int half = 0; half < 2; half++) {
        int q = row + 16 * m + 8 * half;
        // A row as far as the last one of the list comes in if its number is smaller. Tables of
        // whole numbers have many such rows, and most tiles of them come too late.
        float most = limit[q];
        bool equals = s0 < last[q] && most >= 0.0f && most < infinity;
        float beyond = equals ? __int_as_float(__float_as_int(most) + 1) : most;
#pragma unroll
        for (int n = 0; n < 4; n++)
#pragma unroll
          for (int i = 2 * half; i < 2 * half + 2; i++)
            if (value[m][n][i] < beyond) pending[m >> 1] |= 1u << (16 * (m & 1) + 4 * n + i);
      }
    while (__syncthreads_or(pending[0] | pending[1])) {
#pragma unroll
      for (int m = 0; m < 4; m++)
#pragma unroll
        for (int n = 0; n < 4; n++)
#pragma unroll
          for (int i = 0; i < 4; i++) {
            unsigned bit = 1u << (16 * (m & 1) + 4 * n + i);
            bool taken = pending[m >> 1] & bit;
            if (!__any_sync(0xffffffff, taken)) continue;
            int q = row + 16 * m + 8 * (i >> 1);
            long s = s0 + column + 8 * n + (i & 1);
            float distance = value[m][n][i];
            taken = taken && (distance < limit[q] || (distance == limit[q] && s < last[q])) &&
                    s < rows.n && s != own[q0 + q];
            int place = queue_up(&queued, taken);
            if (place < QUEUE) pending[m >> 1] &= ~bit;
            if (taken && place < QUEUE) queue[place] = {distance, q, (int)s};
          }
      __syncthreads();
      int count = min(queued, QUEUE);
      for (int start = 0; start < count; start += 32) {
        Found found = {infinity, -1, -1};
        if (start + lane < count) found = queue[start + lane];
        // A warp serves 16 rows.
        unsigned mine = __ballot_sync(0xffffffff, found.row >= 0 && found.row / 16 == warp);
        while (mine) {
          int from = __ffs(mine) - 1;
          mine &= mine - 1;
          int q = __shfl_sync(0xffffffff, found.row, from);
          float distance = __shfl_sync(0xffffffff, found.distance, from);
          int number = __shfl_sync(0xffffffff, found.number, from);
          insert(distances + q * k, numbers + q * k, k, distance, number);
          if (lane == 0) {
            limit[q] = distances[q * k + k - 1];
            last[q] = numbers[q * k + k - 1];
          }
        }
      }
      __syncthreads();
      if (threadIdx.x == 0) queued = 0;
    }
  };
  const int* mine = listed ? listed + first_tile[block] : nullptr;
  long turns = listed ? last_tile[block] - first_tile[block] : tiles_of(rows);
  each_tile(stages, queries, q0, rows, W, part, lists, turns,
            [&](long turn) { return mine ? (long)mine[turn] : turn * order % turns; }, prepare,
            visit);
  __syncthreads();
  for (int i = threadIdx.x; i < TILE * k; i += 256)
    if (q0 + i / k < queries.n)
      near[((q0 + i / k) * lists + part) * k + i % k] = numbers[i] < NOBODY ? numbers[i] : -1;
  if (threadIdx.x < TILE && q0 + threadIdx.x < queries.n)
    reach[(q0 + threadIdx.x) * lists + part] = limit[threadIdx.x];
}

#endif
