// The passes of conjugate gradients: one sparse matrix, K columns. K threads take one row, and a
// block has a whole number of rows. Every block writes its sums over rows, and `block_sums` adds
// them in a fixed order: the bits of a result do not depend on how blocks run.

__device__ __forceinline__ void write_sums(double own, double* scratch, double* out, int K) {
  int rows = blockDim.x / K;
  scratch[threadIdx.x] = own;
  __syncthreads();
  if (threadIdx.x < K) {
    double sum = 0.0;
    for (int row = 0; row < rows; row++) sum += scratch[row * K + threadIdx.x];
    out[(long)blockIdx.x * K + threadIdx.x] = sum;
  }
  __syncthreads();
}

// out = diagonal * X + scale * (matrix @ X); sums[block] = column sums of X * out
extern "C" __global__ void columns_product(const int* indptr, const int* indices, const float* data,
                                           const float* diagonal, float scale, const float* X,
                                           float* out, long n, int K, double* sums) {
  extern __shared__ double scratch[];
  int column = threadIdx.x % K;
  long rows = blockDim.x / K;
  double total = 0.0;
  for (long row = blockIdx.x * rows + threadIdx.x / K; row < n; row += gridDim.x * rows) {
    float sum = 0.0f;
    for (int j = indptr[row]; j < indptr[row + 1]; j++)
      sum = fmaf(data[j], X[(long)indices[j] * K + column], sum);
    float x = X[row * K + column], value = fmaf(diagonal[row], x, scale * sum);
    out[row * K + column] = value;
    total += (double)x * value;
  }
  write_sums(total, scratch, sums, K);
}

extern "C" __global__ void columns_step(float* solution, float* residual, const float* direction,
                                        const float* image, const float* length,
                                        const float* inverse, long n, int K, double* scaled,
                                        double* plain) {
  extern __shared__ double scratch[];
  int column = threadIdx.x % K;
  long rows = blockDim.x / K;
  float step = length[column];
  double first = 0.0, second = 0.0;
  for (long row = blockIdx.x * rows + threadIdx.x / K; row < n; row += gridDim.x * rows) {
    long i = row * K + column;
    solution[i] = fmaf(step, direction[i], solution[i]);
    float left = fmaf(-step, image[i], residual[i]);
    residual[i] = left;
    double square = (double)left * left;
    first += inverse[row] * square;
    second += square;
  }
  write_sums(first, scratch, scaled, K);
  write_sums(second, scratch, plain, K);
}

extern "C" __global__ void columns_turn(float* direction, const float* residual,
                                        const float* inverse, const float* ratio, long n, int K) {
  long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n * K) direction[i] = fmaf(ratio[i % K], direction[i], inverse[i / K] * residual[i]);
}

// out[c] = sum over blocks of sums[block, c]
extern "C" __global__ void block_sums(const double* sums, int blocks, int K, double* out) {
  __shared__ double scratch[256];
  double sum = 0.0;
  for (int i = threadIdx.x; i < blocks; i += 256) sum += sums[(long)i * K + blockIdx.x];
  scratch[threadIdx.x] = sum;
  __syncthreads();
  for (int step = 128; step; step >>= 1) {
    if (threadIdx.x < step) scratch[threadIdx.x] += scratch[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = scratch[0];
}
