// Random arrays and shapes for tests.
#pragma once

#include <initializer_list>

#include "headroom/array/array.hpp"
#include "headroom/base/rng.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace test {

/// Standard normal numbers.
Array normal(const Shape& shape, Rng& rng);
/// The same from a separate random stream; equal arguments give equal numbers.
Array noise(const Shape& shape, const char* stream, std::uint64_t substream = 0);
/// Uniform numbers in [low, high).
Array uniform(const Shape& shape, Rng& rng, Real low, Real high);
/// Numbers in [-3, 3) at least `gap` away from each of `kinks`.
Array away_from(const Shape& shape, Rng& rng, std::initializer_list<Real> kinks,
                Real gap = Real(0.05));
/// All numbers at least 0.05 apart from each other, in random order: no ties, and no maximum that
/// changes within a finite-difference stencil.
Array distinct(const Shape& shape, Rng& rng);
/// Ids in [0, n).
Ids random_ids(const Shape& shape, Rng& rng, Index n);
/// Bytes that are 1 with the given probability.
Bytes random_bytes(const Shape& shape, Rng& rng, Real probability);

}  // namespace test
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
