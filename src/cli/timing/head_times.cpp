// Times of heads: medians of forward passes that take turns.
#include "cli/timing/head_times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "cli/timing/interleaved.hpp"
#include "headroom/base/error.hpp"
#include "headroom/statistics/ranks.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr Index turns = 9;
constexpr double least_share = 0.1;  // of the mean, see measure_head_times()

/// Half of the live heads of an attention, at least one.
std::vector<HeadId> half_of(const NamedAttention& found) {
  const std::span<const Index> alive = found.attention->alive();
  std::vector<HeadId> half;
  for (std::size_t i = 0; i < std::max<std::size_t>(1, alive.size() / 2); ++i) {
    half.push_back(found.id(alive[i]));
  }
  return half;
}

}  // namespace

std::vector<double> times_without(Learner& learner, ModelCut& cut,
                                  const std::vector<std::vector<HeadId>>& sets) {
  const auto pass = [&] { example_losses(learner, ExampleSet::selection, timed_examples); };
  std::vector<std::vector<double>> times(sets.size());
  for (Index turn = 0; turn < turns; ++turn) {
    for (std::size_t i = 0; i < sets.size(); ++i) {
      cut.without(sets[i], [&] {
        pass();  // first, for the caches
        times[i].push_back(milliseconds(1, pass));
      });
    }
  }
  std::vector<double> medians;
  for (const std::vector<double>& of_set : times) medians.push_back(median(of_set));
  return medians;
}

HeadTimes measure_head_times(Learner& learner, ModelCut& cut) {
  std::vector<AttentionLocation> locations;
  std::vector<std::vector<HeadId>> sets{{}};
  for (const NamedAttention& found : attentions(learner.model())) {
    if (found.attention->alive().empty()) continue;
    locations.push_back(found.location());
    sets.push_back(half_of(found));
  }
  const std::vector<double> measured = times_without(learner, cut, sets);
  HeadTimes times{.whole = measured[0], .of_heads = {}, .without = {}};
  double sum = 0;
  for (std::size_t i = 0; i < locations.size(); ++i) {
    const double gain = (times.whole - measured[i + 1]) / double(sets[i + 1].size());
    times.of_heads[locations[i]] = gain;
    sum += std::max(gain, 0.0);
  }
  const double least = sum > 0 ? least_share * sum / double(locations.size()) : times.whole;
  for (auto& [location, of_head] : times.of_heads) of_head = std::max(of_head, least);
  times.without = [&learner, &cut](const std::vector<HeadId>& removed) {
    return times_without(learner, cut, {removed})[0];
  };
  return times;
}

std::vector<HeadScore> per_millisecond(std::vector<HeadScore> scores, const HeadTimes& times) {
  for (HeadScore& entry : scores) entry.score /= times.of(entry.head);
  return scores;
}

std::vector<HeadId> heads_to_remove(Module& model, const HeadTimes& times,
                                    std::vector<HeadScore> scores, const Budget& budget,
                                    double limit) {
  if (times.whole <= limit) {
    throw UsageError(
        fmt::format("--budget-ms {:g}: the model takes {:.3g} ms already; give a "
                    "shorter time",
                    limit, times.whole));
  }
  const std::vector<HeadId> order = least_important_first(std::move(scores));
  const Index most = most_removable(model, order, budget);
  double fastest = times.whole;
  for (Index remove = 1; remove <= most; ++remove) {
    std::vector<HeadId> heads = first_allowed(model, order, remove, budget);
    double expected = times.whole;
    for (const HeadId& head : heads) expected -= times.of(head);
    if (expected > limit && remove < most) continue;  // too many heads to be worth measuring
    fastest = times.without(heads);
    if (fastest <= limit) return heads;
  }
  throw UsageError(fmt::format(
      "--budget-ms {:g}: with {} heads removed, all that the budget allows, the model takes {:.3g} "
      "ms; give a longer time, or lower --at-least or --at-least-of-kind",
      limit, most, fastest));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
