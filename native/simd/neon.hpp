// 128-bit registers of AArch64. Every simd/*.hpp gives the same handful of operations, Vec<float>
// and Vec<double>, so that tiles.inl is written once. A Group holds neighbouring query entries, and
// lane<i> spreads the i-th of them over a register. A Group has four entries here, and one on x86,
// whose instructions broadcast from memory at no cost.
#pragma once
#include <arm_neon.h>

#include <cstdint>

namespace graphkm::GRAPHKM_ISA {

template <class T>
struct Vec;

// A load the compiler must repeat. The multiply-add overwrites its addend, so an addend kept in a
// register costs a copy in the arithmetic pipes each time; a load costs nothing there.
template <class V, class T>
inline V fresh_load(const T* p) {
#if defined(__GNUC__)
  V a;
  __asm__ volatile("ldr %q0, %1" : "=w"(a) : "m"(*reinterpret_cast<const V*>(p)));
  return a;
#else
  return *reinterpret_cast<const V*>(p);
#endif
}

template <>
struct Vec<float> {
  using V = float32x4_t;
  static constexpr int width = 4, panel_vectors = 3, tile_queries = 8;
  static V zero() { return vdupq_n_f32(0.0f); }
  static V set1(float x) { return vdupq_n_f32(x); }
  static V load(const float* p) { return vld1q_f32(p); }
  static void store(float* p, V a) { vst1q_f32(p, a); }
  static V addend(const float* p) { return fresh_load<V>(p); }
  static V add(V a, V b) { return vaddq_f32(a, b); }
  static V sub(V a, V b) { return vsubq_f32(a, b); }
  static V mul(V a, V b) { return vmulq_f32(a, b); }
  static V fma(V a, V b, V c) { return vfmaq_f32(c, a, b); }
  static V fma_scalar(const float* a, V b, V c) { return vfmaq_n_f32(c, b, *a); }
  using Group = V;
  static constexpr int group = 4;
  static Group load_group(const float* p) { return load(p); }
  template <int i>
  static V lane(Group q) {
    return vdupq_laneq_f32(q, i);
  }
  template <int i>
  static V fma_lane(Group q, V b, V c) {
    return vfmaq_laneq_f32(c, b, q, i);
  }
  static V max(V a, V b) { return vmaxq_f32(a, b); }
  static V abs(V a) { return vabsq_f32(a); }
  static unsigned above(V a, V b) {
    const std::uint32_t bits[] = {1, 2, 4, 8};
    return vaddvq_u32(vandq_u32(vcgtq_f32(a, b), vld1q_u32(bits)));
  }
  static V shift_left_bits(V a) {  // the integer in the low bits becomes the exponent field
    return vreinterpretq_f32_u32(vshlq_n_u32(vreinterpretq_u32_f32(a), 23));
  }
  static float sum(V a) { return vaddvq_f32(a); }
};

template <>
struct Vec<double> {
  using V = float64x2_t;
  static constexpr int width = 2, panel_vectors = 3, tile_queries = 8;
  static V zero() { return vdupq_n_f64(0.0); }
  static V set1(double x) { return vdupq_n_f64(x); }
  static V load(const double* p) { return vld1q_f64(p); }
  static V widen(const double* p) { return load(p); }
  static V widen(const float* p) { return vcvt_f64_f32(vld1_f32(p)); }
  static void store(double* p, V a) { vst1q_f64(p, a); }
  static V addend(const double* p) { return fresh_load<V>(p); }
  static V add(V a, V b) { return vaddq_f64(a, b); }
  static V sub(V a, V b) { return vsubq_f64(a, b); }
  static V mul(V a, V b) { return vmulq_f64(a, b); }
  static V fma(V a, V b, V c) { return vfmaq_f64(c, a, b); }
  static V fma_scalar(const double* a, V b, V c) { return vfmaq_n_f64(c, b, *a); }
  using Group = V;
  static constexpr int group = 2;
  static Group load_group(const double* p) { return load(p); }
  template <int i>
  static V lane(Group q) {
    return vdupq_laneq_f64(q, i);
  }
  template <int i>
  static V fma_lane(Group q, V b, V c) {
    return vfmaq_laneq_f64(c, b, q, i);
  }
  static V max(V a, V b) { return vmaxq_f64(a, b); }
  static V abs(V a) { return vabsq_f64(a); }
  static unsigned above(V a, V b) {
    const std::uint64_t bits[] = {1, 2};
    return unsigned(vaddvq_u64(vandq_u64(vcgtq_f64(a, b), vld1q_u64(bits))));
  }
  static V shift_left_bits(V a) {
    return vreinterpretq_f64_u64(vshlq_n_u64(vreinterpretq_u64_f64(a), 52));
  }
  static double sum(V a) { return vaddvq_f64(a); }
};

}  // namespace graphkm::GRAPHKM_ISA
