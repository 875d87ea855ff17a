#define GRAPHKM_ISA avx2
#include "simd/avx2.hpp"
#include "tiles.inl"
