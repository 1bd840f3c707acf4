// Removes heads from a trunk until it has the size of a run's model, and times it.
#include "cli/timing/study_times.hpp"

#include <span>

#include "cli/timing/head_times.hpp"
#include "headroom/base/parallel.hpp"
#include "headroom_runs/runs/load_learner.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The heads to remove from a model, the last ones of each attention.
std::vector<HeadId> removed_for(const StudySize& size, Module& model) {
  std::vector<HeadId> removed;
  for (const NamedAttention& found : attentions(model)) {
    const std::span<const Index> heads = found.attention->alive();
    const auto left = size.alive.find(found.location());
    const std::size_t first = left == size.alive.end() ? 0 : std::size_t(left->second);
    for (std::size_t i = first; i < heads.size(); ++i) removed.push_back(found.id(heads[i]));
  }
  return removed;
}

}  // namespace

StudyLatency measure_latency(const StudyPlan& plan, const std::filesystem::path& folder,
                             const std::function<void(Index sizes)>& progress) {
  set_num_threads(1);
  StudyLatency latency{.examples = timed_examples, .threads = 1};
  const std::vector<StudySize> sizes = study_sizes(plan, folder);
  for (auto first = sizes.begin(), next = first; first != sizes.end(); first = next) {
    const std::unique_ptr<Learner> learner = load_learner(first->whole);
    ModelCut cut(*learner, {.chooser = "magnitude"});  // it chooses nothing here
    std::vector<std::vector<HeadId>> removed;
    for (; next != sizes.end() && next->whole == first->whole; ++next) {
      removed.push_back(removed_for(*next, learner->model()));
    }
    progress(std::ssize(removed));
    const std::vector<double> times = times_without(*learner, cut, removed);
    for (auto size = first; size != next; ++size) {
      for (const std::string& cell : size->cells) {
        latency.milliseconds[cell] = times[std::size_t(size - first)];
      }
    }
  }
  return latency;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
