//! title: parameter_blocks
//! replaces: headroom::parameter_blocks
//! minutes: 25
//! difficulty: 3
//! path: short
//! needs: 08/1
//! hint: Which slices belong in one block? Find a key, made of a slice's role and head, that is
//!   equal for exactly those.
//! hint: A std::map from (role, head) to the block, new for each attention. With projection, all
//!   heads have the same key. Remember the names of the parameters that you have cut up: the
//!   others follow, each whole.
//! hint: own[{slice.role, granularity == Granularity::head ? slice.head : 0}].push_back({slice,
//!   name}), and found.insert(name), for slices with head >= 0.
//! after: The library's own, in src/headroom/optim/parameter_blocks.cpp, joins parts that continue
//!   each other. Each of LAMB, Muon and clip_block_norms() asks for the blocks at every step,
//!   because a prune changes them.
// Exercise 08/2, parameter_blocks: what a rule about whole tensors calls a tensor.
#include "2_blocks.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

std::vector<ParameterBlock> parameter_blocks(Module& model, Granularity granularity) {
  std::vector<ParameterBlock> blocks;
  std::set<std::string> found;  // the parameters that are cut up
  //! solution
  if (granularity != Granularity::tensor) {
    for (const NamedAttention& attention : attentions(model)) {
      const bool per_head = granularity == Granularity::head;
      std::map<std::pair<HeadPart, Index>, ParameterBlock> own;
      for (const HeadSlice& slice : attention.attention->head_slices()) {
        const std::span<const Index> owners = slice.owners();
        const std::string name =
            attention.name.empty() ? slice.name : attention.name + "." + slice.name;
        // Layouts of others may have parts of no head in the same parameter as parts of heads.
        const HeadPart part = owners.empty() ? HeadPart(slice.role, name) : slice.part();
        const Index head = owners.empty() ? slice.head : per_head ? owners.front() : 0;
        ParameterBlock& block = own[{part, head}];
        if (!block.empty() && block.back().name == name && block.back().end == slice.begin) {
          block.back().end = slice.end;  // joins neighbours, which is shorter, not more right
        } else {
          block.push_back({slice, name});
        }
        found.insert(name);
      }
      for (const auto& [key, block] : own) blocks.push_back(block);
    }
  }
  //! skeleton
  // if (granularity != Granularity::tensor) {
  //   for (const NamedAttention& attention : attentions(model)) {
  //     for (const HeadSlice& slice : attention.attention->head_slices()) {
  //       // Which block is it part of? `found` needs the parameter's full name.
  //       return chapter::todo("the blocks of heads", slice);
  //     }
  //   }
  // }
  //! wrong tensor_is_head: It looks as if the granularity was ignored
  // static_cast<void>(granularity);
  //! wrong forgets_bias: of in_proj_bias is in no block
  // if (granularity != Granularity::tensor) {
  //   for (const NamedAttention& attention : attentions(model)) {
  //     std::map<std::pair<HeadRole, Index>, ParameterBlock> own;
  //     for (const HeadSlice& slice : attention.attention->head_slices()) {
  //       if (slice.head < 0) continue;
  //       const std::string name =
  //           attention.name.empty() ? slice.name : attention.name + "." + slice.name;
  //       found.insert(name);
  //       if (name.ends_with("bias")) continue;
  //       const Index head = granularity == Granularity::head ? slice.head : 0;
  //       own[{slice.role, head}].push_back({slice, name});
  //     }
  //     for (const auto& [key, block] : own) blocks.push_back(block);
  //   }
  // }
  //! wrong overlaps: row 0 of in_proj_weight is in 2 blocks
  // if (granularity != Granularity::tensor) {
  //   for (const NamedAttention& attention : attentions(model)) {
  //     std::map<std::pair<HeadRole, Index>, ParameterBlock> own;
  //     for (const HeadSlice& slice : attention.attention->head_slices()) {
  //       if (slice.head < 0) continue;
  //       const std::string name =
  //           attention.name.empty() ? slice.name : attention.name + "." + slice.name;
  //       const Index head = granularity == Granularity::head ? slice.head : 0;
  //       own[{slice.role, head}].push_back({slice, name});
  //     }
  //     for (const auto& [key, block] : own) blocks.push_back(block);
  //   }
  // }
  //! wrong roles_together: W_Q and b_Q of head 0 are in one block
  // if (granularity != Granularity::tensor) {
  //   for (const NamedAttention& attention : attentions(model)) {
  //     std::map<Index, ParameterBlock> own;
  //     for (const HeadSlice& slice : attention.attention->head_slices()) {
  //       if (slice.head < 0) continue;
  //       const std::string name =
  //           attention.name.empty() ? slice.name : attention.name + "." + slice.name;
  //       own[granularity == Granularity::head ? slice.head : 0].push_back({slice, name});
  //       found.insert(name);
  //     }
  //     for (const auto& [key, block] : own) blocks.push_back(block);
  //   }
  // }
  //! wrong slices_are_blocks: heads 0 and 1 are in different blocks
  // if (granularity != Granularity::tensor) {
  //   for (const NamedAttention& attention : attentions(model)) {
  //     for (const HeadSlice& slice : attention.attention->head_slices()) {
  //       if (slice.head < 0) continue;
  //       const std::string name =
  //           attention.name.empty() ? slice.name : attention.name + "." + slice.name;
  //       blocks.push_back({{slice, name}});
  //       found.insert(name);
  //     }
  //   }
  // }
  //! wrong attentions_together: two attentions are in one block
  // std::map<std::pair<HeadRole, Index>, ParameterBlock> own;
  // if (granularity != Granularity::tensor) {
  //   for (const NamedAttention& attention : attentions(model)) {
  //     for (const HeadSlice& slice : attention.attention->head_slices()) {
  //       if (slice.head < 0) continue;
  //       const std::string name =
  //           attention.name.empty() ? slice.name : attention.name + "." + slice.name;
  //       const Index head = granularity == Granularity::head ? slice.head : 0;
  //       own[{slice.role, head}].push_back({slice, name});
  //       found.insert(name);
  //     }
  //   }
  // }
  // for (const auto& [key, block] : own) blocks.push_back(block);
  //! wrong short_names: the model has no parameter in_proj_weight
  // if (granularity != Granularity::tensor) {
  //   for (const NamedAttention& attention : attentions(model)) {
  //     std::map<std::pair<HeadRole, Index>, ParameterBlock> own;
  //     for (const HeadSlice& slice : attention.attention->head_slices()) {
  //       if (slice.head < 0) continue;
  //       const Index head = granularity == Granularity::head ? slice.head : 0;
  //       own[{slice.role, head}].push_back({slice, slice.name});
  //       found.insert(slice.name);
  //     }
  //     for (const auto& [key, block] : own) blocks.push_back(block);
  //   }
  // }
  //! end
  //! solution
  for (const auto& [name, tensor] : parameters(model)) {
    if (!found.contains(name)) blocks.push_back({{{0, 0, tensor.dim(0)}, name}});
  }
  //! skeleton
  // // The parameters that were not cut up, each as one block.
  // return chapter::todo("the other parameters");
  //! wrong overlaps: row 0 of in_proj_weight is in 2 blocks
  // for (const auto& [name, tensor] : parameters(model)) {
  //   blocks.push_back({{{0, 0, tensor.dim(0)}, name}});
  // }
  //! wrong heads_only: of last.bias is in no block
  // if (granularity == Granularity::tensor) {
  //   for (const auto& [name, tensor] : parameters(model)) {
  //     blocks.push_back({{{0, 0, tensor.dim(0)}, name}});
  //   }
  // }
  //! end
  return blocks;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
