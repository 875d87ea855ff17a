#include "isa.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

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

// Whether the processor has all that CMakeLists.txt lets the compiler use for each file.
Features features() {
#if defined(_MSC_VER) && !defined(__clang__)
  int one[4], seven[4], extended[4];
  __cpuid(one, 1);
  const auto has = [](int word, int bit) { return bool(unsigned(word) >> bit & 1u); };
  if (!has(one[2], 27)) return {false, false};  // the system does not save wide registers
  const unsigned long long state = _xgetbv(0);
  __cpuidex(seven, 7, 0);
  __cpuid(extended, int(0x80000001));
  // FMA, F16C, AVX2, BMI1, BMI2, LZCNT
  const bool avx2 = has(one[2], 12) && has(one[2], 29) && has(seven[1], 5) && has(seven[1], 3) &&
                    has(seven[1], 8) && has(extended[2], 5) && (state & 0x6) == 0x6;
  // AVX-512 F, DQ, CD, BW, VL
  const bool avx512 = has(seven[1], 16) && has(seven[1], 17) && has(seven[1], 28) &&
                      has(seven[1], 30) && has(seven[1], 31) && (state & 0xe6) == 0xe6;
  return {avx2, avx2 && avx512};
#else
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512vl");
  return {avx2, avx2 && avx512};
#endif
}
#endif

struct Choice {
  const Isa<float>& single_precision;
  const Isa<double>& double_precision;
};

// What this machine has, the best first.
std::vector<Choice> available() {
  std::vector<Choice> found;
#if defined(GRAPHKM_X86)
  const Features cpu = features();
  if (cpu.avx512) found.push_back({avx512::single_precision(), avx512::double_precision()});
  if (cpu.avx2) found.push_back({avx2::single_precision(), avx2::double_precision()});
#elif defined(GRAPHKM_ARM)
  found.push_back({neon::single_precision(), neon::double_precision()});
#endif
  found.push_back({portable::single_precision(), portable::double_precision()});
  return found;
}

Choice choose() {
  const char* wish = std::getenv("GRAPHKM_ISA");
  const std::string name = wish ? wish : "";
  for (const Choice& one : available())
    if (name.empty() || name == one.single_precision.name) return one;
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

std::vector<std::string> instruction_sets() {
  std::vector<std::string> names;
  for (const Choice& one : available()) names.push_back(one.single_precision.name);
  return names;
}

}  // namespace graphkm
