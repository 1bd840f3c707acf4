// Heads and their maps as records.
#include "headroom/heads/head_records.hpp"

#include <cmath>

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The weights of live head number `position` in maps [B, live, Tq, Tk].
Record map_rows(const Array& maps, Index position) {
  const Index queries = maps.dim(2), keys = maps.dim(3);
  Record rows = Record::array();
  for (Index i = 0; i < queries; ++i) {
    Record row = Record::array();
    for (Index j = 0; j < keys; ++j) {
      const auto weight = static_cast<double>(maps[(position * queries + i) * keys + j]);
      row.push_back(std::round(weight * 1e4) / 1e4);
    }
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

Record head_record(const HeadId& head) {
  return {{"kind", name_of(head.kind)}, {"layer", head.layer}, {"head", head.head}};
}

Record map_records(Module& model, const HeadProbe& probe) {
  Record maps = Record::array();
  for (const NamedAttention& found : attentions(model)) {
    const auto seen = probe.seen.find(found.location());
    if (seen == probe.seen.end() || !seen->second.maps.defined()) continue;  // all heads are gone
    Index position = 0;
    for (const Index head : found.attention->alive()) {
      maps.push_back(head_record(found.id(head)));
      maps.back()["rows"] = map_rows(seen->second.maps.value(), position++);
    }
  }
  return maps;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
