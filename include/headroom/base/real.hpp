// The one floating-point type of a build, and the namespace that keeps the two builds apart.
#pragma once

#include <cstdint>

// The targets headroom::headroom and headroom::headroom_f64 export HEADROOM_PRECISION as f32 or
// f64; it names an inline namespace, so that objects of the two precisions never link together.
#if !defined(HEADROOM_PRECISION)
#error "link the CMake target headroom::headroom (float) or headroom::headroom_f64 (double)"
#endif

/// Everything of the library. Inside it, an inline namespace f32 or f64 marks the precision.
namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The number type of every Array of this build: float in f32, double in f64.
#if defined(HEADROOM_DOUBLE)
using Real = double;
#else
using Real = float;
#endif

/// Sizes, positions and counts.
using Index = std::int64_t;

/// True where Real is double.
inline constexpr bool is_double = sizeof(Real) == 8;

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
