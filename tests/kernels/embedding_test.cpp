// The embedding kernel against its reference.
#include "kernels/embedding.hpp"

#include "headroom/base/parallel.hpp"
#include "kernels/against_reference.hpp"
#include "kernels/embedding_reference.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

TEST_CASE("embedding agrees with its reference, and equal ids add up in their gradient") {
  Rng rng(1);
  const Index columns = 40;
  const Array table = random_array(rng, {5, columns}), dy = random_array(rng, {7, columns});
  const xt::xtensor<std::int32_t, 1> ids{4, 0, 4, 2, 4, 0, 1};
  Array y(dy.shape());
  kernels::embedding(table.data(), ids.data(), 7, columns, y.data());
  require_close(y, reference::embedding(matrix_of<double>(table), ids), 0);
  Array dtable(table.shape(), Real(0));
  kernels::embedding_backward(dy.data(), ids.data(), 7, columns, dtable.data());
  require_close(dtable,
                complex_step_gradient(
                    table, dy, [&](const auto& at) { return reference::embedding(at, ids); }),
                gradient_tolerance);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
