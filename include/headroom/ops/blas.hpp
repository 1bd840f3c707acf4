// Which BLAS computes the matrix products.
#pragma once

#include <string>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The linked BLAS's description of itself: "OpenBLAS 0.3.21 ... SkylakeX MAX_THREADS=64".
std::string blas_description();

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
