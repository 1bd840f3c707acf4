// Outlines of matrices whose rows or columns are divided among the heads.
#include "lab/head_outlines.hpp"

#include <utility>

namespace headroom {
inline namespace HEADROOM_PRECISION {

LabHeads::Matrix rows_by_head(std::string name, Index heads, Index d, Index columns, Index parts) {
  LabHeads::Matrix matrix{std::move(name), parts * heads * d, columns, {}};
  for (Index i = 0; i < parts * heads; ++i) {
    matrix.blocks.push_back({i % heads, i * d, (i + 1) * d - 1, 0, columns - 1});
  }
  return matrix;
}

LabHeads::Matrix columns_by_head(std::string name, Index heads, Index d, Index rows, Index parts) {
  LabHeads::Matrix matrix{std::move(name), rows, parts * heads * d, {}};
  for (Index i = 0; i < parts * heads; ++i) {
    matrix.blocks.push_back({i % heads, 0, rows - 1, i * d, (i + 1) * d - 1});
  }
  return matrix;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
