// Scores of heads from training's own gradients.
#include "headroom_measure/pruning/training_scores.hpp"

#include <algorithm>
#include <cmath>

#include "headroom/base/error.hpp"
#include "headroom/base/op_scope.hpp"
#include "headroom/io/fields.hpp"
#include "headroom/train/gate_gradients.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

RecordedScores TrainingScores::scores() const {
  if (sums_.empty()) return {};
  RecordedScores scores;
  for (const Sums& entry : sums_) {
    scores["running_sensitivity"].push_back({entry.head, entry.absolute / double(entry.steps)});
    scores["movement"].push_back({entry.head, -entry.sum});
  }
  return scores;
}

void TrainingScores::after_backward() {
  const OpScope op("training scores");
  now_.clear();
  const std::vector<double> gradients = gate_gradients(*model_);
  for (const HeadId& head : live_heads(*model_)) now_.push_back({head, gradients[now_.size()]});
}

void TrainingScores::after_update(StepReport& /*report*/) {
  for (const auto& [head, gradient] : now_) {
    auto entry = std::find_if(sums_.begin(), sums_.end(), [&, &wanted = head](const Sums& sums) {
      return sums.head == wanted;
    });
    if (entry == sums_.end()) entry = sums_.insert(entry, {.head = head});
    ++entry->steps;
    entry->absolute += std::abs(gradient);
    entry->sum += gradient;
  }
}

void TrainingScores::save_state(StateWriter to) const {
  to.record("sums", json_of(sums_));
  save_scores(to, scores());
}

void TrainingScores::load_state(const StateReader& from) {
  sums_.clear();
  if (!from.has("sums")) return;
  try {
    sums_ = struct_of<std::vector<Sums>>(from.record("sums"), from.where("sums"));
    for (const Sums& entry : sums_) {
      if (entry.steps < 1) throw DataError(from.where("sums") + ": a head took part in no step");
    }
  } catch (const DataError& error) {
    throw FileError(error.what());
  }
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
