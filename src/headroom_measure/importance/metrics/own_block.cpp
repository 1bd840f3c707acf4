// Blocks of parameters that belong to one head.
#include "importance/metrics/own_block.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace headroom {
inline namespace HEADROOM_PRECISION {

std::string missing_block(const MetricSubject& subject, HeadRole role) {
  for (const NamedAttention& found : attentions(subject.model)) {
    const std::vector<HeadSlice> slices = found.attention->head_slices();
    for (const Index head : found.attention->alive()) {
      const bool own = std::any_of(slices.begin(), slices.end(), [&](const HeadSlice& slice) {
        return slice.head == head && slice.role == role;
      });
      if (own) continue;
      return fmt::format("{} has no {} parameters of its own in the layout {}",
                         found.id(head).text(), name_of(role), name_of(found.attention->layout()));
    }
  }
  return {};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
