// Within its scope, results too small for a normal number become zero: kernel values far from every
// centre would otherwise be denormal, which many processors compute with a tenfold delay.
#pragma once
#include <cstdint>

#if defined(__SSE2__) || defined(_M_X64)
#include <xmmintrin.h>
#define GRAPHKM_MXCSR 1
#endif

namespace graphkm {

class FlushDenormals {
 public:
#if defined(GRAPHKM_MXCSR)
  FlushDenormals() : saved_(_mm_getcsr()) { _mm_setcsr(unsigned(saved_) | 0x8040u); }
  ~FlushDenormals() { _mm_setcsr(unsigned(saved_)); }
#elif defined(__aarch64__) && defined(__GNUC__)
  FlushDenormals() {
    __asm__ volatile("mrs %0, fpcr" : "=r"(saved_));
    __asm__ volatile("msr fpcr, %0" : : "r"(saved_ | (std::uint64_t(1) << 24)));
  }
  ~FlushDenormals() { __asm__ volatile("msr fpcr, %0" : : "r"(saved_)); }
#else
  FlushDenormals() {}
#endif
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
  std::uint64_t saved_ = 0;
};

}  // namespace graphkm
