#define GRAPHKM_ISA neon
#include "simd/neon.hpp"
#include "tiles.inl"
