// The location of an attention head: the same in masks, tables, checkpoints, random streams,
// reports.
#pragma once

#include <compare>
#include <string>

#include "headroom/base/listed.hpp"
#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Which of a transformer's three attentions a head belongs to.
enum class AttentionKind { encoder_self, decoder_self, cross };

/// "encoder", "decoder", "cross"
const char* name_of(AttentionKind kind);

/// One head of one attention layer. `head` is the original index of the head: removing other heads
/// does not renumber it. Ordered by kind, layer, head.
struct HeadId {
  AttentionKind kind = AttentionKind::encoder_self;
  Index layer = 0;
  Index head = 0;
  auto operator<=>(const HeadId&) const = default;
  using T = HeadId;
  using Fields = Listed<&T::kind, &T::layer, &T::head>;
  /// "cross 1.3": kind, layer, head
  std::string text() const;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
