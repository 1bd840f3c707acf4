// How weights start.
#pragma once

#include "headroom/array/array.hpp"
#include "headroom/base/rng.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Uniform in +-sqrt(6 / (fan_in + fan_out)): variance 2 / (fan_in + fan_out).
/// Glorot and Bengio 2010, equation 16. Drawn row by row.
Array xavier_uniform(const Shape& shape, Index fan_in, Index fan_out, Rng& rng);
/// Normal with a standard deviation.
Array normal(const Shape& shape, Real deviation, Rng& rng);

/// Which matrix an attention's query, key and value projections count as for Xavier's rule: the
/// packed [3 C, C] one as PyTorch does, one [C, C] for each of query, key and value, or one
/// [D, C] for each head. The weights' variance differs by up to 3.5 times between them; the default
/// lets all layouts start equal.
enum class FanPolicy { packed, per_matrix, per_head };

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
