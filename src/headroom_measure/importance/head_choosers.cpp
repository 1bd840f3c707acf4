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
  static Registry<ChooserEntry> all("chooser", {chooser_greedy(), chooser_pairwise(),
                                                chooser_quadratic(), chooser_worst_first()});
  return all;
}

/// The metric of this name. Throws UsageError that offers choosers, too.
const MetricEntry& metric_as_chooser(const std::string& name) {
  std::vector<std::string> names = chooser_registry().names();
  for (const MetricEntry& entry : head_metrics()) {
    if (entry.info.name == name) return entry;
    names.push_back(entry.info.name);
  }
  throw UsageError(fmt::format("chooser \"{}\" is unknown{}", name, did_you_mean(name, names)));
}

}  // namespace

void ChooserOptions::check() const {
  if (samples >= 0) return;
  throw UsageError(fmt::format("chooser: {} samples; at least 1, or 0 for 20 per head", samples));
}

const std::deque<ChooserEntry>& head_choosers() { return chooser_registry().all(); }
void add_head_chooser(ChooserEntry entry) { chooser_registry().add(std::move(entry)); }

Chooser make_chooser(const std::string& name, const ChooserOptions& options) {
  options.check();
  if (const ChooserEntry* entry = chooser_registry().find(name)) return entry->make(options);
  metric_as_chooser(name);
  return by_metric(name, options);
}

ChooserInfo chooser_info(const std::string& name) {
  if (const ChooserEntry* entry = chooser_registry().find(name)) return entry->info;
  const MetricInfo& info = metric_as_chooser(name).info;
  return {info.name, info.formula, info.source, info.cost};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
