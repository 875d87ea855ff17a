// 512-bit registers of x86-64 with AVX-512F.
#pragma once
#include <immintrin.h>

#include <cstdint>

namespace graphkm::GRAPHKM_ISA {

template <class T>
struct Vec;

template <>
struct Vec<float> {
  using V = __m512;
  static constexpr int width = 16, panel_vectors = 3, tile_queries = 8;
  static V zero() { return _mm512_setzero_ps(); }
  static V set1(float x) { return _mm512_set1_ps(x); }
  static V load(const float* p) { return _mm512_loadu_ps(p); }
  static V addend(const float* p) { return load(p); }
  static void store(float* p, V a) { _mm512_storeu_ps(p, a); }
  static V add(V a, V b) { return _mm512_add_ps(a, b); }
  static V sub(V a, V b) { return _mm512_sub_ps(a, b); }
  static V mul(V a, V b) { return _mm512_mul_ps(a, b); }
  static V fma(V a, V b, V c) { return _mm512_fmadd_ps(a, b, c); }
  static V fma_scalar(const float* a, V b, V c) {
    return _mm512_fmadd_ps(_mm512_set1_ps(*a), b, c);
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
  static V max(V a, V b) { return _mm512_max_ps(a, b); }
  static V abs(V a) { return _mm512_abs_ps(a); }
  static unsigned above(V a, V b) { return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ); }
  static V shift_left_bits(V a) {  // the integer in the low bits becomes the exponent field
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_castps_si512(a), 23));
  }
  static float sum(V a) { return _mm512_reduce_add_ps(a); }
};

template <>
struct Vec<double> {
  using V = __m512d;
  static constexpr int width = 8, panel_vectors = 3, tile_queries = 8;
  static V zero() { return _mm512_setzero_pd(); }
  static V set1(double x) { return _mm512_set1_pd(x); }
  static V load(const double* p) { return _mm512_loadu_pd(p); }
  static V widen(const double* p) { return load(p); }
  static V widen(const float* p) { return _mm512_cvtps_pd(_mm256_loadu_ps(p)); }
  static V addend(const double* p) { return load(p); }
  static void store(double* p, V a) { _mm512_storeu_pd(p, a); }
  static V add(V a, V b) { return _mm512_add_pd(a, b); }
  static V sub(V a, V b) { return _mm512_sub_pd(a, b); }
  static V mul(V a, V b) { return _mm512_mul_pd(a, b); }
  static V fma(V a, V b, V c) { return _mm512_fmadd_pd(a, b, c); }
  static V fma_scalar(const double* a, V b, V c) {
    return _mm512_fmadd_pd(_mm512_set1_pd(*a), b, c);
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
  static V max(V a, V b) { return _mm512_max_pd(a, b); }
  static V abs(V a) { return _mm512_abs_pd(a); }
  static unsigned above(V a, V b) { return _mm512_cmp_pd_mask(a, b, _CMP_GT_OQ); }
  static V shift_left_bits(V a) {
    return _mm512_castsi512_pd(_mm512_slli_epi64(_mm512_castpd_si512(a), 52));
  }
  static double sum(V a) { return _mm512_reduce_add_pd(a); }
};

}  // namespace graphkm::GRAPHKM_ISA
