#define GRAPHKM_ISA portable
#include "simd/portable.hpp"
#include "tiles.inl"
