// The learner of the demo.
#include "cli/demo_learner.hpp"

#include <algorithm>

#include "headroom/ops/losses.hpp"
#include "headroom/train/evaluation.hpp"
#include "headroom/train/objectives.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

DemoLearner::DemoLearner(const Seq2SeqTask& task, const ModelConfig& config, Rng rng,
                         const LearnerOptions& options, Index second_phase)
    : task_(task),
      options_(options),
      rng_(rng),
      model_(config, rng_),
      position_(task, options, second_phase) {}

Index DemoLearner::next_batch() {
  batch_ = position_.next();
  return label_count(batch_);
}

Tensor DemoLearner::loss(HeadProbe* probe) { return training_loss(model_, batch_, 0, probe); }

Record DemoLearner::evaluate() {
  const auto all = Index(task_.validation.size());
  const auto some = static_cast<std::size_t>(std::min(options_.quick, all));
  return {{"exact_match", exact_match(std::span(task_.validation).first(some))}};
}

Record DemoLearner::test() { return {{"exact_match", exact_match(task_.test)}}; }

double DemoLearner::exact_match(std::span<const Seq2SeqQuestion> questions) {
  return score_greedily(model_, questions, task_.source, task_.target).exact_match();
}

void DemoLearner::visit(ExampleSet set, Index most,
                        const std::function<void(const ProbedBatch&)>& see) {
  std::vector<Seq2SeqExample> pairs = set == ExampleSet::train  ? task_.train
                                      : set == ExampleSet::test ? first_answers(task_.test)
                                                                : first_answers(task_.validation);
  pairs.resize(std::min(static_cast<std::size_t>(most), pairs.size()));
  for (const Seq2SeqBatch& batch : evaluation_batches(pairs, 64, task_.source, task_.target)) {
    see(probed(batch.labels, [&](HeadProbe& probe) { return logits_of(model_, batch, &probe); }));
  }
}

DemoLearner::Position::Position(const Seq2SeqTask& of_task, const LearnerOptions& with,
                                Index second_phase_from)
    : task(of_task), options(with), second_phase(second_phase_from), batches(loader(0)) {}

Seq2SeqLoader DemoLearner::Position::loader(Index first_step) const {
  return {task, options.batch_size, options.seed + static_cast<std::uint64_t>(first_step)};
}

Seq2SeqBatch DemoLearner::Position::next() {
  if (steps++ == second_phase) batches = loader(second_phase);
  return batches.next();
}

void DemoLearner::Position::save_state(StateWriter to) const {
  to.integer("steps", steps);
  batches.plan.save_state(to);
}

void DemoLearner::Position::load_state(const StateReader& from) {
  steps = from.integer("steps");
  batches = loader(steps > second_phase ? second_phase : 0);
  batches.plan.load_state(from);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
