// Compares the heads that a checkpoint names with those of the model, and with its events.
#include "pruning/saved_heads.hpp"

#include <fmt/format.h>

#include <map>
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

void check_saved_timeline(const std::vector<PruningEvent>& timeline,
                          const std::vector<HeadHistory>& heads, const StateReader& from) {
  check_timeline(timeline, from.where("timeline"));
  std::map<HeadId, Index> removed, listed;
  for (const PruningEvent& event : timeline) {
    for (const HeadId& head : event.regrown) removed.erase(head);
    for (const HeadId& head : event.removed) removed[head] = event.step;
  }
  for (const HeadHistory& head : heads) {
    if (head.removed_at) listed[head.id] = *head.removed_at;
  }
  if (removed == listed) return;
  throw FileError(fmt::format("{}: the removed heads are not those of the events in {}",
                              from.where("heads"), from.where("timeline")));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
