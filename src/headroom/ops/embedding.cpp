// Table look-up on the tape.
#include "headroom/ops/embedding.hpp"

#include <fmt/format.h>

#include "headroom/autograd/tape.hpp"
#include "headroom/base/error.hpp"
#include "kernels/embedding.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Tensor embedding(const Tensor& table, const Ids& ids) {
  OpScope op("embedding");
  if (table.rank() != 2) {
    throw ShapeError(
        fmt::format("embedding: table {} must be [rows, width]", table.shape().text()));
  }
  for (Index n = 0; n < ids.size(); ++n) {
    if (ids[n] < 0 || ids[n] >= table.dim(0)) {
      throw UsageError(fmt::format("embedding: id {} at position {} is outside the table's {} rows",
                                   ids[n], n, table.dim(0)));
    }
  }
  Shape shape = ids.shape();
  shape.push_back(table.dim(1));
  Array y(shape);
  kernels::embedding(table.value().data(), ids.data(), ids.size(), table.dim(1), y.data());
  return record(op, y, {table}, [ids](const Array& dy, Gradients& into) {
    Array& dtable = into[0].sum();
    kernels::embedding_backward(dy.data(), ids.data(), ids.size(), dtable.dim(1), dtable.data());
  });
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
