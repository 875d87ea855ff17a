// 256-bit registers of x86-64 with AVX2 and FMA. Sixteen registers: twelve accumulators at most.
#pragma once
#include <immintrin.h>

#include <cstdint>

namespace graphkm::GRAPHKM_ISA {

template <class T>
struct Vec;

template <>
struct Vec<float> {
  using V = __m256;
  static constexpr int width = 8, panel_vectors = 2, tile_queries = 6;
  static V zero() { return _mm256_setzero_ps(); }
  static V set1(float x) { return _mm256_set1_ps(x); }
  static V load(const float* p) { return _mm256_loadu_ps(p); }
  static V addend(const float* p) { return load(p); }
  static void store(float* p, V a) { _mm256_storeu_ps(p, a); }
  static V add(V a, V b) { return _mm256_add_ps(a, b); }
  static V sub(V a, V b) { return _mm256_sub_ps(a, b); }
  static V mul(V a, V b) { return _mm256_mul_ps(a, b); }
  static V fma(V a, V b, V c) { return _mm256_fmadd_ps(a, b, c); }
  static V fma_scalar(const float* a, V b, V c) {
    return _mm256_fmadd_ps(_mm256_broadcast_ss(a), b, c);
  }
  using Group = V;
  static constexpr int group = 1;
  static Group load_group(const float* p) { return set1(*p); }
  template <int>
  static V lane(Group q) {
    return q;
  }
  template <int>
  static V fma_lane(Group q, V b, V c) {
    return fma(q, b, c);
  }
  static V max(V a, V b) { return _mm256_max_ps(a, b); }
  static V abs(V a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a); }
  static unsigned above(V a, V b) { return _mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_GT_OQ)); }
  static V shift_left_bits(V a) {  // the integer in the low bits becomes the exponent field
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(a), 23));
  }
  static float sum(V a) {
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
  }
};

template <>
struct Vec<double> {
  using V = __m256d;
  static constexpr int width = 4, panel_vectors = 2, tile_queries = 6;
  static V zero() { return _mm256_setzero_pd(); }
  static V set1(double x) { return _mm256_set1_pd(x); }
  static V load(const double* p) { return _mm256_loadu_pd(p); }
  static V widen(const double* p) { return load(p); }
  static V widen(const float* p) { return _mm256_cvtps_pd(_mm_loadu_ps(p)); }
  static V addend(const double* p) { return load(p); }
  static void store(double* p, V a) { _mm256_storeu_pd(p, a); }
  static V add(V a, V b) { return _mm256_add_pd(a, b); }
  static V sub(V a, V b) { return _mm256_sub_pd(a, b); }
  static V mul(V a, V b) { return _mm256_mul_pd(a, b); }
  static V fma(V a, V b, V c) { return _mm256_fmadd_pd(a, b, c); }
  static V fma_scalar(const double* a, V b, V c) {
    return _mm256_fmadd_pd(_mm256_broadcast_sd(a), b, c);
  }
  using Group = V;
  static constexpr int group = 1;
  static Group load_group(const double* p) { return set1(*p); }
  template <int>
  static V lane(Group q) {
    return q;
  }
  template <int>
  static V fma_lane(Group q, V b, V c) {
    return fma(q, b, c);
  }
  static V max(V a, V b) { return _mm256_max_pd(a, b); }
  static V abs(V a) { return _mm256_andnot_pd(_mm256_set1_pd(-0.0), a); }
  static unsigned above(V a, V b) { return _mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_GT_OQ)); }
  static V shift_left_bits(V a) {
    return _mm256_castsi256_pd(_mm256_slli_epi64(_mm256_castpd_si256(a), 52));
  }
  static double sum(V a) {
    __m128d s = _mm_add_pd(_mm256_castpd256_pd128(a), _mm256_extractf128_pd(a, 1));
    return _mm_cvtsd_f64(_mm_add_sd(s, _mm_unpackhi_pd(s, s)));
  }
};

}  // namespace graphkm::GRAPHKM_ISA
