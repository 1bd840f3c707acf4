// Parameter blocks, from head_slices().
#include "headroom/optim/parameter_blocks.hpp"

#include <map>
#include <set>
#include <utility>

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Appends a part; extends the last one where it continues that.
void append_part(ParameterBlock& block, BlockPart part) {
  if (!block.empty() && block.back().name == part.name && block.back().end == part.begin) {
    block.back().end = part.end;
  } else {
    block.push_back(std::move(part));
  }
}

/// The blocks of one attention's heads; adds the names of their parameters to `found`.
void add_blocks_of_heads(const NamedAttention& attention, Granularity granularity,
                         std::vector<ParameterBlock>& blocks, std::set<std::string>& found) {
  const bool per_head = granularity == Granularity::head;
  std::map<std::pair<HeadPart, Index>, ParameterBlock> own;
  for (const HeadSlice& slice : attention.attention->head_slices()) {
    const std::span<const Index> owners = slice.owners();
    const std::string name = attention.full_name(slice.name);
    // A slice without owners, such as an output bias, is a block of its own.
    const HeadPart part = owners.empty() ? HeadPart(slice.role, name) : slice.part();
    const Index head = owners.empty() ? slice.head : per_head ? owners.front() : 0;
    append_part(own[{part, head}], {slice, name});
    found.insert(name);
  }
  for (auto& [key, block] : own) blocks.push_back(std::move(block));
}

}  // namespace

std::vector<ParameterBlock> parameter_blocks(Module& model, Granularity granularity) {
  std::vector<ParameterBlock> blocks;
  std::set<std::string> found;
  if (granularity != Granularity::tensor) {
    for (const NamedAttention& attention : attentions(model)) {
      add_blocks_of_heads(attention, granularity, blocks, found);
    }
  }
  for (const auto& [name, tensor] : parameters(model)) {
    if (found.contains(name) || tensor.size() == 0) continue;
    blocks.push_back({{{0, 0, AxisView(tensor.shape(), 0).length}, name}});
  }
  return blocks;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
