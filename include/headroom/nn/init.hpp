// Initialisation of weights.
#pragma once

#include "headroom/array/array.hpp"
#include "headroom/base/rng.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Uniform in +-sqrt(6 / (fan_in + fan_out)): variance 2 / (fan_in + fan_out).
/// Glorot and Bengio 2010, equation 16. Drawn row by row.
Array xavier_uniform(const Shape& shape, Index fan_in, Index fan_out, Rng& rng);
/// Normal with mean 0 and the given standard deviation.
Array normal(const Shape& shape, Real deviation, Rng& rng);

/// Shape that Xavier initialisation assumes for an attention's query, key and value projections:
/// the packed [3 C, C] matrix (as PyTorch), one [C, C] matrix for each of query, key and value, or
/// one [D, C] matrix for each head. The variances of packed and per_head differ by a factor of
/// 4 / (1 + 1/H) for H heads. With the default all layouts start equal.
enum class FanPolicy { packed, per_matrix, per_head };

/// While it lives, the functions above draw nothing in this thread and give arrays without values,
/// whose memory is not touched: for models whose numbers are all replaced, such as those that are
/// read from a file.
class NoInit {
 public:
  NoInit();
  ~NoInit();
  NoInit(const NoInit&) = delete;
  NoInit& operator=(const NoInit&) = delete;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
