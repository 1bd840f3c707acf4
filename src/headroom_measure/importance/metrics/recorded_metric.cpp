// Scores that training recorded.
#include "importance/metrics/recorded_metric.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace headroom {
inline namespace HEADROOM_PRECISION {

void RecordedMetric::begin(const MetricSubject& subject) {
  const auto found = subject.recorded.find(name_);
  if (found == subject.recorded.end()) {
    absent_ = "the run did not record it";
    return;
  }
  for (const HeadId& head : subject.heads) {
    const auto entry = std::find_if(found->second.begin(), found->second.end(),
                                    [&](const HeadScore& score) { return score.head == head; });
    if (entry == found->second.end()) {
      absent_ = fmt::format("the run recorded no score of {}", head.text());
      return;
    }
    scores_.push_back(entry->score);
  }
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
