// Multiplies output projections by gates.
#include "headroom/surgery/fold_gates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "headroom/base/error.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

void fold_gates(Module& model, const std::map<HeadId, double>& gates) {
  const std::vector<HeadId> alive = live_heads(model);
  for (const auto& [head, gate] : gates) {
    if (std::find(alive.begin(), alive.end(), head) == alive.end()) {
      throw UsageError(fmt::format("fold_gates: {} is not alive", head.text()));
    }
    if (!std::isfinite(gate)) {
      throw UsageError(fmt::format("fold_gates: the gate of {} is {}", head.text(), gate));
    }
  }
  for (const auto& [head, gate] : gates) {
    const NamedAttention found = attention_at(model, {head.kind, head.layer}, "fold_gates");
    const std::vector<HeadSlice> slices = found.attention->head_slices();
    if (std::ranges::none_of(slices, [&, &own = head](const HeadSlice& part) {
          return part.role == HeadRole::output && part.head == own.head;
        })) {
      throw UsageError(fmt::format("fold_gates: {} has no W_O of its own", head.text()));
    }
  }
  for (const NamedAttention& found : attentions(model)) {
    std::map<std::string, Tensor> tensors;
    for (const auto& [name, tensor] : parameters(*found.attention)) tensors[name] = tensor;
    for (const HeadSlice& part : found.attention->head_slices()) {
      if (part.role != HeadRole::output || part.head < 0) continue;
      const auto gate = gates.find(found.id(part.head));
      if (gate == gates.end()) continue;
      Array& weight = tensors.at(part.name).edit_value();
      if (weight.shared()) weight = weight.clone();
      const auto factor = Real(gate->second);
      for_each_run(weight.shape(), part, [&](Index first, Index count) {
        for (Index i = first; i < first + count; ++i) weight[i] *= factor;
      });
    }
  }
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
