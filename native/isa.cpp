#include "isa.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>

#if defined(_MSC_VER) && defined(_M_X64)
#include <immintrin.h>
#include <intrin.h>
#endif

namespace graphkm {
namespace {

#if defined(GRAPHKM_X86)
struct Features {
  bool avx2, avx512;
};

Features features() {
#if defined(_MSC_VER) && !defined(__clang__)
  int r[4];
  __cpuid(r, 1);
  const bool os_saves = (r[2] >> 27) & 1, fma = (r[2] >> 12) & 1;
  if (!os_saves) return {false, false};
  const unsigned long long state = _xgetbv(0);
  __cpuidex(r, 7, 0);
  return {fma && (r[1] >> 5 & 1) && (state & 0x6) == 0x6,
          (r[1] >> 16 & 1) && (state & 0xe6) == 0xe6};
#else
  __builtin_cpu_init();
  return {__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"),
          bool(__builtin_cpu_supports("avx512f"))};
#endif
}
#endif

struct Choice {
  const Isa<float>& single_precision;
  const Isa<double>& double_precision;
};

Choice choose() {
  const char* wish = std::getenv("GRAPHKM_ISA");
  const std::string name = wish ? wish : "";
  const auto wanted = [&](const char* candidate) { return name.empty() || name == candidate; };
#if defined(GRAPHKM_X86)
  const Features cpu = features();
  if (cpu.avx512 && wanted("avx512"))
    return {avx512::single_precision(), avx512::double_precision()};
  if (cpu.avx2 && wanted("avx2")) return {avx2::single_precision(), avx2::double_precision()};
#elif defined(GRAPHKM_ARM)
  if (wanted("neon")) return {neon::single_precision(), neon::double_precision()};
#endif
  if (wanted("portable")) return {portable::single_precision(), portable::double_precision()};
  throw std::runtime_error("GRAPHKM_ISA=" + name +
                           " is not available on this machine; unset it, or use 'portable'");
}

const Choice& chosen() {
  static const Choice choice = choose();
  return choice;
}

}  // namespace

template <>
const Isa<float>& isa<float>() {
  return chosen().single_precision;
}

template <>
const Isa<double>& isa<double>() {
  return chosen().double_precision;
}

}  // namespace graphkm
