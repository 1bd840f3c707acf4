// Metrics: exact matches and edit distances.
#include "headroom/data/metrics.hpp"

#include <algorithm>
#include <limits>

#include "headroom/base/error.hpp"
#include "headroom/base/nearest.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {
double share(Index part, Index whole) { return whole == 0 ? 0.0 : double(part) / double(whole); }
}  // namespace

void SequenceScore::add(std::span<const std::int32_t> answer, std::span<const Tokens> accepted) {
  if (accepted.empty()) throw UsageError("score: a prediction needs at least one accepted answer");
  Index fewest = std::numeric_limits<Index>::max(), length = 0;
  for (const Tokens& reference : accepted) {
    const Index distance = edit_distance(answer, std::span<const std::int32_t>(reference));
    if (distance < fewest) {
      fewest = distance;
      length = std::ssize(reference);
    }
  }
  ++answers;
  exact += fewest == 0 ? 1 : 0;
  edits += fewest;
  reference_length += length;
}

double SequenceScore::exact_match() const { return share(exact, answers); }
double SequenceScore::token_error_rate() const { return share(edits, reference_length); }
double SequenceScore::word_error_rate() const { return share(answers - exact, answers); }

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
