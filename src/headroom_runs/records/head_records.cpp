// Heads and their maps as records.
#include "headroom_runs/records/head_records.hpp"

#include <cmath>

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The weights of live head number `position` in maps [B, live, Tq, Tk].
std::vector<std::vector<double>> map_rows(const Array& maps, Index position) {
  const Index queries = maps.dim(2), keys = maps.dim(3);
  std::vector<std::vector<double>> rows;
  for (Index i = 0; i < queries; ++i) {
    std::vector<double>& row = rows.emplace_back();
    for (Index j = 0; j < keys; ++j) {
      const auto weight = double(maps[(position * queries + i) * keys + j]);
      row.push_back(std::round(weight * 1e4) / 1e4);
    }
  }
  return rows;
}

}  // namespace

void add_history(RunRecord& run, const PruningHistory& history, const std::string& model,
                 Index steps) {
  if (history.heads.empty()) return;
  run.importance_name = history.importance_name;
  run.cost_name = history.cost_name;
  run.timeline = history.timeline;
  run.heads.clear();
  for (const HeadHistory& entry : history.heads) {
    HeadRecord& head = run.heads.emplace_back(
        HeadRecord{.id = entry.id, .removed_at = entry.removed_at, .cost = entry.cost});
    if (entry.importance) {
      head.importance = std::vector{std::pair(model, *entry.importance - history.lowest)};
    }
  }
  auto alive = std::ssize(run.heads);
  run.schedule = {{0, alive}};
  for (const PruningEvent& event : history.timeline) {
    if (event.removed.empty() && event.regrown.empty()) continue;
    alive += std::ssize(event.regrown) - std::ssize(event.removed);
    run.schedule.push_back({event.step, alive});
  }
  run.schedule.push_back({steps, alive});
}

std::vector<MapRecord> map_records(Module& model, const HeadProbe& probe) {
  std::vector<MapRecord> maps;
  for (const NamedAttention& found : attentions(model)) {
    const auto seen = probe.seen.find(found.location());
    if (seen == probe.seen.end() || !seen->second.maps.defined()) continue;  // all heads are gone
    Index position = 0;
    for (const Index head : found.attention->alive()) {
      maps.push_back(
          {.id = found.id(head), .rows = map_rows(seen->second.maps.value(), position++)});
    }
  }
  return maps;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
