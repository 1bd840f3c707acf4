// PruningHistory: the heads that a run began with, what they were worth, and when they left.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "headroom/base/head_id.hpp"
#include "headroom/io/fields.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A change of the set of heads after a step, or a measurement of heads for later changes.
struct PruningEvent {
  Index step = 0;
  std::string by{};  // the metric, chooser or gates that decided
  std::vector<HeadId> removed{}, regrown{};
  std::vector<HeadId> heads{};   // that were scored, before the change; none: no head was
  std::vector<double> scores{};  // of these heads; larger is more important
  bool operator==(const PruningEvent&) const = default;
  using T = PruningEvent;
  using Fields = Listed<&T::step, if_any<&T::by>, if_any<&T::removed>, if_any<&T::regrown>,
                        if_any<&T::heads>, if_any<&T::scores>>;
};

/// A head that was alive when the first heads were chosen.
struct HeadHistory {
  HeadId id = {};                         // with the original number of the head
  std::optional<double> importance = {};  // then; larger is more important
  std::optional<double> cost = {};        // rise of the loss when only this head is removed
  std::optional<Index> removed_at = {};   // the last removal; none: it is alive
  std::optional<Index> turn = {};         // index in the order of removals; none: it is kept

  using T = HeadHistory;
  using Fields = Listed<fields_of<&T::id>, &T::importance, &T::cost, &T::removed_at, &T::turn>;
};

/// The heads of a run with all removals and measurements, by a Pruner, by LearnedGates or by both.
struct PruningHistory {
  std::vector<HeadHistory> heads{};            // empty before the first choice
  double lowest = 0;                           // a page counts importance from here
  std::string importance_name{}, cost_name{};  // in words
  std::vector<PruningEvent> timeline{};        // all removals and measurements so far
};

/// Throws DataError, beginning with `origin`, unless each event has a score for each head that was
/// scored.
void check_timeline(const std::vector<PruningEvent>& timeline, const std::string& origin);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
