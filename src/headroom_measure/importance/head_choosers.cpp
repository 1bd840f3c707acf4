// The registry of choosers.
#include <fmt/format.h>

#include "headroom/base/error.hpp"
#include "headroom/base/registry.hpp"
#include "headroom_measure/importance/head_metric.hpp"
#include "importance/choosers/all.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

Registry<ChooserEntry>& chooser_registry() {
  static Registry<ChooserEntry> all(
      "chooser", {chooser_greedy(), chooser_pairwise(), chooser_quadratic(),
                  chooser_random_search(), chooser_sparse_pairs(), chooser_worst_first()});
  return all;
}

}  // namespace

void ChooserOptions::check() const {
  if (samples >= 0) return;
  throw UsageError(fmt::format("chooser: {} samples; at least 1, or 0 for the default", samples));
}

const std::deque<ChooserEntry>& head_choosers() { return chooser_registry().all(); }
void add_head_chooser(ChooserEntry entry) { chooser_registry().add(std::move(entry)); }

ChooserEntry head_chooser(const std::string& name) {
  if (const ChooserEntry* entry = chooser_registry().find(name)) return *entry;
  std::vector<std::string> names = chooser_registry().names();
  for (const auto& [info, make] : head_metrics()) {
    if (info.name == name) {
      return {{name, info.formula, info.source, info.cost},
              [name](const ChooserOptions& options) { return by_metric(name, options); }};
    }
    names.push_back(info.name);
  }
  throw UsageError(fmt::format("chooser \"{}\" is unknown{}", name, did_you_mean(name, names)));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
