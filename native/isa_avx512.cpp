#define GRAPHKM_ISA avx512
#include "simd/avx512.hpp"
#include "tiles.inl"
