// The order of rows that were proposed as neighbours: by their distances in double precision.
//
// Macro given at compilation: NUMBER (float or double), the type of the rows.

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
