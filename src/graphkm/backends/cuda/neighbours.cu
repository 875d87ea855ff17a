// What a search needs besides its products: tables of rows in 32 or 16 bits, distances in double
// precision of all rows or of candidates for neighbours, the order of the candidates, sums of cells.
//
// Macro given at compilation: NUMBER (float or double), the type of the rows.

// *largest = the bits of the largest |X - middle|, as a float. It starts with 0.
extern "C" __global__ void largest_difference(const NUMBER* X, long numbers, int d,
                                              const double* middle, int* largest) {
  float most = 0.0f;
  for (long i = (long)blockIdx.x * blockDim.x + threadIdx.x; i < numbers;
       i += (long)gridDim.x * blockDim.x)
    most = fmaxf(most, (float)fabs((double)X[i] - middle[i % d]));
  for (int step = 16; step; step >>= 1) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, step));
  // Numbers that are not negative have the order of their bits.
  if ((threadIdx.x & 31) == 0) atomicMax(largest, __float_as_int(most));
}

__device__ __forceinline__ unsigned short to_half(float x) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}

__device__ __forceinline__ float from_half(unsigned short bits) {
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
  return x;
}

// The rows (X - middle) / unit, rounded to 16 bits, or to floats where `floats` is given, and filled
// up with zeros to `width` columns; their squared norms, as rounded; and how far rounding moved them.
// *fraction becomes 1 if a number is not whole. One warp a row.
extern "C" __global__ void rounded_rows(const NUMBER* X, long n, int d, const double* middle,
                                        double unit, int width, float* floats,
                                        unsigned short* halves, float* squares, float* moved,
                                        int* fraction) {
  long row = ((long)blockIdx.x * blockDim.x + threadIdx.x) >> 5;
  int lane = threadIdx.x & 31;
  if (row >= n) return;
  double square = 0.0, error = 0.0;
  bool whole = true;
  for (int c = lane; c < width; c += 32) {
    double x = c < d ? ((double)X[row * d + c] - middle[c]) / unit : 0.0;
    float kept = (float)x;
    if (floats) {
      floats[row * width + c] = kept;
    } else {
      unsigned short bits = to_half(kept);
      halves[row * width + c] = bits;
      kept = from_half(bits);
    }
    square += (double)kept * kept;
    error += (x - kept) * (x - kept);
    whole = whole && kept == rintf(kept) && x == kept;
  }
  for (int step = 16; step; step >>= 1) {
    square += __shfl_xor_sync(0xffffffff, square, step);
    error += __shfl_xor_sync(0xffffffff, error, step);
  }
  if (!__all_sync(0xffffffff, whole) && lane == 0) *fraction = 1;
  if (lane == 0) {
    squares[row] = (float)square;
    moved[row] = __double2float_ru(sqrt(error) * (1.0 + 1e-6));
  }
}

// means[cell] = the mean of the 16-bit rows order[first[cell]], ..., order[first[cell + 1] - 1]; a cell
// of no rows keeps its own. One block a cell, one thread a column.
extern "C" __global__ void cell_means(const unsigned short* rows, int width, const long* order,
                                      const long* first, unsigned short* means) {
  long cell = blockIdx.x, start = first[cell], stop = first[cell + 1];
  if (start == stop) return;
  for (int c = threadIdx.x; c < width; c += blockDim.x) {
    float sum = 0.0f;
    for (long i = start; i < stop; i++) sum += from_half(rows[order[i] * width + c]);
    means[cell * width + c] = to_half(sum / (float)(stop - start));
  }
}

// squares[q, j] = ||Q[q] - S[found[q, j]]||^2, infinite where found is -1. One warp per pair.
extern "C" __global__ void found_distances(const NUMBER* Q, const NUMBER* S, const int* found,
                                           long pairs, int each, int d, double* squares) {
  long pair = ((long)blockIdx.x * blockDim.x + threadIdx.x) >> 5;
  int lane = threadIdx.x & 31;
  if (pair >= pairs) return;
  int number = found[pair];
  double sum = 0.0;
  if (number >= 0) {
    const NUMBER *x = Q + pair / each * d, *y = S + (long)number * d;
    for (int c = lane; c < d; c += 32) {
      double difference = (double)x[c] - (double)y[c];
      sum += difference * difference;
    }
  }
  for (int step = 16; step; step >>= 1) sum += __shfl_xor_sync(0xffffffff, sum, step);
  if (lane == 0) squares[pair] = number >= 0 ? sum : __longlong_as_double(0x7ff0000000000000LL);
}

// The k least of `each` candidates of every query, in order of distance, then of number.
extern "C" __global__ void sorted_neighbours(const int* found, const double* squares, long n,
                                             int each, int k, long* near, double* d2) {
  long q = (long)blockIdx.x * blockDim.x + threadIdx.x;
  if (q >= n) return;
  const int* number = found + q * each;
  const double* square = squares + q * each;
  long* best = near + q * k;
  double* least = d2 + q * k;
  int kept = 0;
  for (int j = 0; j < each; j++) {
    int place = kept;
    while (place > 0 && (square[j] < least[place - 1] ||
                         (square[j] == least[place - 1] && number[j] < best[place - 1])))
      place--;
    if (place >= k) continue;
    if (kept < k) kept++;
    for (int i = kept - 1; i > place; i--) {
      least[i] = least[i - 1];
      best[i] = best[i - 1];
    }
    least[place] = square[j];
    best[place] = number[j];
  }
}

#define QUERIES 128
#define ROWS 16     // rows of a tile
#define COLUMNS 16  // their columns that are loaded together

// The k nearest rows of every query among the rows of this block's part, in any order; -1 where
// there are fewer. Q holds queries by columns, (d, m). Query q is row own[q] itself, which is not
// its neighbour, or no row if that is -1. k is at most 64. One thread per query.
extern "C" __global__ void __launch_bounds__(QUERIES)
    nearest_of_all(const NUMBER* Q, long m, const NUMBER* S, long n, int d, const int* own, int k,
                   int* found) {
  __shared__ double2 tile[COLUMNS][ROWS / 2];
  double* numbers = reinterpret_cast<double*>(tile);
  double least[64];
  int number[64];
  long q = (long)blockIdx.x * QUERIES + threadIdx.x;
  bool real = q < m;
  int itself = real ? own[q] : -1, kept = 0;
  long share = (n + gridDim.y - 1) / gridDim.y;
  long first = share * blockIdx.y, last = first + share < n ? first + share : n;
  for (long s0 = first; s0 < last; s0 += ROWS) {
    double sum[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) sum[r] = 0.0;
    for (int c0 = 0; c0 < d; c0 += COLUMNS) {
      __syncthreads();
      for (int i = threadIdx.x; i < ROWS * COLUMNS; i += QUERIES) {
        int r = i / COLUMNS, c = i % COLUMNS;
        bool there = s0 + r < last && c0 + c < d;
        numbers[c * ROWS + r] = there ? (double)S[(s0 + r) * d + c0 + c] : 0.0;
      }
      __syncthreads();
      int width = d - c0 < COLUMNS ? d - c0 : COLUMNS;
      for (int c = 0; c < width; c++) {
        double x = real ? (double)Q[(c0 + c) * m + q] : 0.0;
#pragma unroll
        for (int r = 0; r < ROWS; r += 2) {
          double2 pair = tile[c][r / 2];
          double one = x - pair.x, other = x - pair.y;
          sum[r] += one * one;
          sum[r + 1] += other * other;
        }
      }
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      if (s0 + r >= last || s0 + r == itself || (kept == k && !(sum[r] < least[k - 1]))) continue;
      int place = kept < k ? kept++ : k - 1;
      for (; place > 0 && sum[r] < least[place - 1]; place--) {
        least[place] = least[place - 1];
        number[place] = number[place - 1];
      }
      least[place] = sum[r];
      number[place] = (int)(s0 + r);
    }
  }
  if (real)
    for (int j = 0; j < k; j++)
      found[(q * gridDim.y + blockIdx.y) * k + j] = j < kept ? number[j] : -1;
}
