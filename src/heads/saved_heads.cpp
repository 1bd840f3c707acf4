// Compares the heads that a checkpoint names with those of the model.
#include "heads/saved_heads.hpp"

#include <fmt/format.h>

#include <set>

#include "headroom/base/error.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

void check_saved_heads(Module& model, std::span<const HeadId> heads, const std::string& where) {
  std::set<HeadId> left;
  for (const NamedAttention& found : attentions(model)) {
    for (Index head = 0; head < found.attention->config().heads; ++head) {
      left.insert(found.id(head));
    }
  }
  for (const HeadId& head : heads) {
    if (left.erase(head) == 1) continue;
    throw FileError(
        fmt::format("{}: the model has no head {}, or it is named twice", where, head.text()));
  }
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
