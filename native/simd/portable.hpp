// 128 bits on any machine: the compiler's own vector type where it has one (GCC, Clang), which
// becomes SSE2, NEON or plain code; small arrays elsewhere.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace graphkm::GRAPHKM_ISA {

template <class T>
struct Vec {
  static constexpr int width = 16 / sizeof(T), panel_vectors = 2, tile_queries = 4;
  using U = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  static constexpr int mantissa_bits = sizeof(T) == 4 ? 23 : 52;

#if defined(__GNUC__)
  typedef T V __attribute__((vector_size(16)));
  typedef U Bits __attribute__((vector_size(16)));
  static V zero() { return V{}; }
  static V set1(T a) { return V{} + a; }
  static V load(const T* p) {
    V a;
    std::memcpy(&a, p, sizeof a);
    return a;
  }
  static void store(T* p, V a) { std::memcpy(p, &a, sizeof a); }
  static V add(V a, V b) { return a + b; }
  static V sub(V a, V b) { return a - b; }
  static V mul(V a, V b) { return a * b; }
  static V fma(V a, V b, V c) { return a * b + c; }
  static V max(V a, V b) { return a > b ? a : b; }
  static V abs(V a) { return max(a, -a); }
  static V shift_left_bits(V a) {  // the integer in the low bits becomes the exponent field
    return V(Bits(a) << mantissa_bits);
  }
  static T sum(V a) {
    T s = T(0);
    for (int i = 0; i < width; ++i) s += a[i];
    return s;
  }
#else
  struct V {
    T x[width];
  };
  template <class F>
  static V each(F f) {
    V r;
    for (int i = 0; i < width; ++i) r.x[i] = f(i);
    return r;
  }
  static V zero() { return set1(T(0)); }
  static V set1(T a) {
    return each([&](int) { return a; });
  }
  static V load(const T* p) {
    return each([&](int i) { return p[i]; });
  }
  static void store(T* p, V a) {
    for (int i = 0; i < width; ++i) p[i] = a.x[i];
  }
  static V add(V a, V b) {
    return each([&](int i) { return a.x[i] + b.x[i]; });
  }
  static V sub(V a, V b) {
    return each([&](int i) { return a.x[i] - b.x[i]; });
  }
  static V mul(V a, V b) {
    return each([&](int i) { return a.x[i] * b.x[i]; });
  }
  static V fma(V a, V b, V c) {
    return each([&](int i) { return a.x[i] * b.x[i] + c.x[i]; });
  }
  static V max(V a, V b) {
    return each([&](int i) { return a.x[i] > b.x[i] ? a.x[i] : b.x[i]; });
  }
  static V abs(V a) {
    return each([&](int i) { return std::fabs(a.x[i]); });
  }
  static V shift_left_bits(V a) {  // the integer in the low bits becomes the exponent field
    return each([&](int i) {
      U bits;
      std::memcpy(&bits, &a.x[i], sizeof bits);
      bits <<= mantissa_bits;
      T y;
      std::memcpy(&y, &bits, sizeof y);
      return y;
    });
  }
  static T sum(V a) {
    T s = T(0);
    for (int i = 0; i < width; ++i) s += a.x[i];
    return s;
  }
#endif

  static unsigned above(V a, V b) {  // a bit for every entry of a that is larger
    T x[width], y[width];
    store(x, a);
    store(y, b);
    unsigned bits = 0;
    for (int i = 0; i < width; ++i) bits |= unsigned(x[i] > y[i]) << i;
    return bits;
  }
  static V addend(const T* p) { return load(p); }
  template <class S>
  static V widen(const S* p) {
    T wide[width];
    for (int i = 0; i < width; ++i) wide[i] = T(p[i]);
    return load(wide);
  }
  static V fma_scalar(const T* a, V b, V c) { return fma(set1(*a), b, c); }
  using Group = V;
  static constexpr int group = 1;
  static Group load_group(const T* p) { return set1(*p); }
  template <int>
  static V lane(Group q) {
    return q;
  }
  template <int>
  static V fma_lane(Group q, V b, V c) {
    return fma(q, b, c);
  }
};

}  // namespace graphkm::GRAPHKM_ISA
