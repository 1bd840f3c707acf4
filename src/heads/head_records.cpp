// Heads and their maps as records.
#include "headroom/heads/head_records.hpp"

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

std::vector<MapRecord> map_records(Module& model, const HeadProbe& probe) {
  std::vector<MapRecord> maps;
  for (const NamedAttention& found : attentions(model)) {
    const auto seen = probe.seen.find(found.location());
    if (seen == probe.seen.end() || !seen->second.maps.defined()) continue;  // all heads are gone
    Index position = 0;
    for (const Index head : found.attention->alive()) {
      const HeadId id = found.id(head);
      maps.push_back({.kind = id.kind,
                      .layer = id.layer,
                      .head = id.head,
                      .rows = map_rows(seen->second.maps.value(), position++)});
    }
  }
  return maps;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
