// Which BLAS computes the matrix products.
#include "headroom/ops/blas.hpp"

#include "kernels/gemm.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

std::string blas_description() { return describe_blas(); }

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
