// The queries that are not padding.
#pragma once

#include "headroom_measure/importance/head_metric.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// How many of the queries of example b, of `queries` in the batch, are not padding.
inline Index real_queries(const Evidence& batch, AttentionKind kind, Index b, Index queries) {
  const auto lengths = batch.probe.query_lengths.find(kind);
  return lengths == batch.probe.query_lengths.end() ? queries : Index{lengths->second[b]};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
