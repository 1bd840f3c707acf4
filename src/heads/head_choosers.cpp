// The registry of choosers.
#include <fmt/format.h>

#include <algorithm>

#include "headroom/base/error.hpp"
#include "headroom/base/nearest.hpp"
#include "headroom/heads/head_metric.hpp"
#include "heads/choosers/all.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

std::vector<ChooserEntry>& chooser_registry() {
  static std::vector<ChooserEntry> entries{
      chooser_greedy(),     //
      chooser_pairwise(),   //
      chooser_quadratic(),  //
      chooser_worst_first(),
  };
  return entries;
}

const ChooserEntry* found_chooser(const std::string& name) {
  for (const ChooserEntry& entry : chooser_registry()) {
    if (entry.info.name == name) return &entry;
  }
  return nullptr;
}

const MetricEntry* found_metric(const std::string& name) {
  for (const MetricEntry& entry : head_metrics()) {
    if (entry.info.name == name) return &entry;
  }
  return nullptr;
}

[[noreturn]] void refuse_unknown(const std::string& name) {
  std::vector<std::string> names;
  for (const ChooserEntry& entry : chooser_registry()) names.push_back(entry.info.name);
  for (const MetricEntry& entry : head_metrics()) names.push_back(entry.info.name);
  throw UsageError(fmt::format("chooser \"{}\" is unknown{}", name, did_you_mean(name, names)));
}

}  // namespace

void ChooserOptions::check() const {
  if (samples >= 0) return;
  throw UsageError(fmt::format("chooser: {} samples; at least 1, or 0 for 20 per head", samples));
}

const std::vector<ChooserEntry>& head_choosers() { return chooser_registry(); }

void add_head_chooser(ChooserEntry entry) {
  const std::string& name = entry.info.name;
  const bool taken = found_chooser(name) != nullptr;
  if (name.empty() || taken || !entry.make) {
    throw UsageError(fmt::format("add_head_chooser: \"{}\" is {}", name,
                                 name.empty() ? "no name"
                                 : taken      ? "the name of another chooser"
                                              : "registered without a function"));
  }
  chooser_registry().push_back(std::move(entry));
}

Chooser make_chooser(const std::string& name, const ChooserOptions& options) {
  options.check();
  if (const ChooserEntry* entry = found_chooser(name)) return entry->make(options);
  if (found_metric(name) != nullptr) return by_metric(name, options);
  refuse_unknown(name);
}

ChooserInfo chooser_info(const std::string& name) {
  if (const ChooserEntry* entry = found_chooser(name)) return entry->info;
  const MetricEntry* metric = found_metric(name);
  if (metric == nullptr) refuse_unknown(name);
  const MetricInfo& info = metric->info;
  return {info.name, info.formula, info.source, info.cost};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
