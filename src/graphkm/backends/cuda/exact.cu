// Kernels in plain arithmetic, for any type of numbers, and the distances of rows that were found.
//
// Macros given at compilation: NUMBER (float or double), KERNEL (0 rbf, 1 linear, 2 polynomial,
// 3 laplacian, 4 cosine).

#define SIDE 64
#define DEPTH 16

__device__ __forceinline__ NUMBER power_of(NUMBER base, int degree) {
  NUMBER value = 1;
  for (; degree; degree >>= 1) {
    if (degree & 1) value *= base;
    base *= base;
  }
  return value;
}

__device__ __forceinline__ NUMBER kernel_value(NUMBER sum, NUMBER own, NUMBER other, NUMBER gamma,
                                               NUMBER coef0, int degree) {
#if KERNEL == 0
  return exp(-gamma * sum);  // the sum of squared differences
#elif KERNEL == 1
  return sum;
#elif KERNEL == 2
  return power_of(gamma * sum + coef0, degree);
#elif KERNEL == 3
  return exp(-gamma * sum);  // the sum of absolute differences
#else
  return sum * own * other;
#endif
}

__device__ __forceinline__ NUMBER term(NUMBER x, NUMBER y) {
#if KERNEL == 0
  return (x - y) * (x - y);
#elif KERNEL == 3
  return fabs(x - y);
#else
  return x * y;
#endif
}

// What a kernel needs of a row alone: factor ||x||^2 for rbf, 1 / ||x|| for cosine. One warp a row.
extern "C" __global__ void row_halves(const NUMBER* X, long n, int D, NUMBER factor, NUMBER* out) {
  long row = ((long)blockIdx.x * blockDim.x + threadIdx.x) >> 5;
  int lane = threadIdx.x & 31;
  if (row >= n) return;
  NUMBER sum = 0;
#if KERNEL == 0 || KERNEL == 4
  for (int c = lane; c < D; c += 32) sum += X[row * D + c] * X[row * D + c];
  for (int step = 16; step; step >>= 1) sum += __shfl_xor_sync(0xffffffff, sum, step);
#endif
#if KERNEL == 4
  sum = sum > 0 ? 1 / sqrt(sum) : (NUMBER)0;
#else
  sum *= factor;
#endif
  if (lane == 0) out[row] = sum;
}

// The kernel between 64 rows and 64 others; a thread of 256 has 4 x 4 of them.
__device__ __forceinline__ void tile_values(const NUMBER* Q, const NUMBER* q_half, long q0, long nq,
                                            const NUMBER* S, const NUMBER* s_half, long s0, long ns,
                                            int D, NUMBER gamma, NUMBER coef0, int degree,
                                            NUMBER (*rows)[SIDE + 1], NUMBER (*others)[SIDE + 1],
                                            NUMBER (&value)[4][4]) {
  int x = threadIdx.x & 15, y = threadIdx.x >> 4;
#pragma unroll
  for (int i = 0; i < 4; i++)
#pragma unroll
    for (int j = 0; j < 4; j++) value[i][j] = 0;
  for (int start = 0; start < D; start += DEPTH) {
    for (int i = threadIdx.x; i < SIDE * DEPTH; i += 256) {
      int row = i / DEPTH, column = start + i % DEPTH;
      bool inside = column < D;
      rows[i % DEPTH][row] = inside && q0 + row < nq ? Q[(q0 + row) * D + column] : (NUMBER)0;
      others[i % DEPTH][row] = inside && s0 + row < ns ? S[(s0 + row) * D + column] : (NUMBER)0;
    }
    __syncthreads();
#pragma unroll
    for (int c = 0; c < DEPTH; c++)
#pragma unroll
      for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) value[i][j] += term(rows[c][y + 16 * i], others[c][x + 16 * j]);
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; i++)
#pragma unroll
    for (int j = 0; j < 4; j++) {
      long q = q0 + y + 16 * i, s = s0 + x + 16 * j;
      NUMBER own = q < nq ? q_half[q] : (NUMBER)0, other = s < ns ? s_half[s] : (NUMBER)0;
      value[i][j] = kernel_value(value[i][j], own, other, gamma, coef0, degree);
    }
}

// out[part, q, r] = sum over the part's centres of a[r, s] k(q, s), summed in double.
extern "C" __global__ void __launch_bounds__(256)
    kernel_sums(const NUMBER* Q, const NUMBER* q_half, long nq, const NUMBER* S,
                const NUMBER* s_half, long ns, int D, const NUMBER* a, long a_stride, int outputs,
                NUMBER gamma, NUMBER coef0, int degree, double* out) {
  __shared__ NUMBER rows[DEPTH][SIDE + 1], others[DEPTH][SIDE + 1];
  extern __shared__ double total[];  // of row and output
  int x = threadIdx.x & 15, y = threadIdx.x >> 4;
  long q0 = (long)blockIdx.x * SIDE, tiles = (ns + SIDE - 1) / SIDE;
  for (int i = threadIdx.x; i < SIDE * outputs; i += 256) total[i] = 0.0;
  __syncthreads();
  for (long number = blockIdx.y; number < tiles; number += gridDim.y) {
    NUMBER value[4][4];
    tile_values(Q, q_half, q0, nq, S, s_half, number * SIDE, ns, D, gamma, coef0, degree, rows,
                others, value);
    for (int r = 0; r < outputs; r++) {
      double sum[4] = {0.0, 0.0, 0.0, 0.0};
#pragma unroll
      for (int j = 0; j < 4; j++) {
        long s = number * SIDE + x + 16 * j;
        double weight = s < ns ? (double)a[r * a_stride + s] : 0.0;
#pragma unroll
        for (int i = 0; i < 4; i++) sum[i] += weight * (double)value[i][j];
      }
#pragma unroll
      for (int i = 0; i < 4; i++) {
        for (int step = 1; step < 16; step <<= 1) sum[i] += __shfl_xor_sync(0xffffffff, sum[i], step);
        if (x == 0) total[(y + 16 * i) * outputs + r] += sum[i];
      }
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < SIDE * outputs; i += 256)
    if (q0 + i / outputs < nq) out[((long)blockIdx.y * nq + q0) * outputs + i] = total[i];
}

// out[q, s] = k(q, s)
extern "C" __global__ void __launch_bounds__(256)
    kernel_matrix(const NUMBER* Q, const NUMBER* q_half, long nq, const NUMBER* S,
                  const NUMBER* s_half, long ns, int D, NUMBER gamma, NUMBER coef0, int degree,
                  NUMBER* out) {
  __shared__ NUMBER rows[DEPTH][SIDE + 1], others[DEPTH][SIDE + 1];
  int x = threadIdx.x & 15, y = threadIdx.x >> 4;
  long q0 = (long)blockIdx.x * SIDE;
  for (long s0 = (long)blockIdx.y * SIDE; s0 < ns; s0 += (long)gridDim.y * SIDE) {
    NUMBER value[4][4];
    tile_values(Q, q_half, q0, nq, S, s_half, s0, ns, D, gamma, coef0, degree, rows, others, value);
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
      for (int j = 0; j < 4; j++) {
        long q = q0 + y + 16 * i, s = s0 + x + 16 * j;
        if (q < nq && s < ns) out[q * ns + s] = value[i][j];
      }
  }
}
