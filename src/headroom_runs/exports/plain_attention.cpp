// The projections of an attention as matrices of its live heads.
#include "exports/plain_attention.hpp"

#include <fmt/format.h>

#include "headroom/base/at.hpp"
#include "headroom/base/error.hpp"
#include "headroom/nn/shared_head.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Row i D + d has the weights of channel d in the columns of the i-th live head's own slice.
NamedArrays blocks_of(const SharedHead& shared) {
  const Index d = shared.head_dim(), width = shared.config().width;
  const Index rows = std::ssize(shared.alive()) * d;
  NamedArrays arrays;
  Array& weight = arrays["in_proj_weight"] = zeros({3 * rows, width});
  Index part = 0;
  for (const Linear* small : {&shared.queries, &shared.keys, &shared.values}) {
    Index row = part++ * rows;
    for (const Index head : shared.alive()) {
      for (Index i = 0; i < d; ++i, ++row) {
        for (Index j = 0; j < d; ++j) {
          weight[row * width + head * d + j] = small->weight.value()[i * d + j];
        }
      }
    }
  }
  arrays["out_proj.weight"] = shared.fc_out.weight.value();
  if (shared.config().bias) {
    arrays["in_proj_bias"] = zeros({3 * rows});
    arrays["out_proj.bias"] = shared.fc_out.bias.value();
  }
  return arrays;
}

}  // namespace

void require_plain_model(const SavedModel& saved) {
  const ModelConfig& config = saved.config;
  const bool has_outputs =
      config.kind != ModelKind::encoder && config.kind != ModelKind::masked_language_model;
  const bool plain = config.variant == ModelVariant() && !config.block.attention_dropout &&
                     !config.block.hidden_dropout &&
                     config.positions != PositionKind::sinusoidal_halves;
  if (has_outputs && plain) return;
  throw UsageError(fmt::format("{}: a {} that another program made cannot be exported like this",
                               saved.origin, name_of(config.kind)),
                   {"model"});
}

NamedArrays plain_attention(Attention& attention) {
  switch (attention.layout()) {
    case Layout::separate:
    case Layout::fused: return export_attention(attention, ForeignLayout::pytorch);
    case Layout::shared: return blocks_of(dynamic_cast<const SharedHead&>(attention));
  }
  throw UsageError(fmt::format(
      "{}: the layout \"{}\" is another program's; only separate, fused and shared are exported",
      attention.path(), name_of(attention.layout())));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
