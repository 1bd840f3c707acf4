// Maps, costs and gate gradients of all heads at a few steps of a run.
#include "headroom_runs/records/head_lives.hpp"

#include <algorithm>

#include "headroom/base/at.hpp"
#include "headroom/base/record.hpp"
#include "headroom_measure/importance/head_game.hpp"
#include "headroom_runs/records/head_records.hpp"
#include "records/forward_once.hpp"
#include "records/shown_tokens.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace lived_example {
namespace {

constexpr Index shortest = 2, wanted_from = 6, wanted_to = 16, longest = 48;

FixedExample example_of(const Seq2SeqTask& task, const Seq2SeqQuestion& question) {
  FixedExample example{question.source, question.answers[0], {}};
  Tokens target = example.target_in;
  target.push_back(task.target.eos());
  example.target_in.insert(example.target_in.begin(), task.target.bos());
  example.shown.source = shown_tokens(task.source, example.source);
  example.shown.target = shown_tokens(task.target, target);
  example.shown.decoder_input = shown_tokens(task.target, example.target_in);
  return example;
}

FixedExample example_of(const ClassificationTask& task, const LabelledExample& labelled) {
  FixedExample example{labelled.tokens, {}, {}};
  example.shown.source = shown_tokens(task.tokens, labelled.tokens);
  return example;
}

/// The most and the fewest tokens of a side.
std::pair<Index, Index> sizes(const Seq2SeqQuestion& question) {
  return std::minmax<Index>(Index(question.source.size()), Index(question.answers[0].size()));
}
std::pair<Index, Index> sizes(const LabelledExample& labelled) {
  return {Index(labelled.tokens.size()), Index(labelled.tokens.size())};
}

/// A task with questions.
template <class TaskType>
std::optional<FixedExample> chosen(const TaskType& task) {
  const auto& all = task.validation;
  auto found = std::find_if(all.begin(), all.end(), [](const auto& one) {
    const auto [least, most] = sizes(one);
    return least >= wanted_from && most <= wanted_to;
  });
  if (found == all.end()) {
    found = std::min_element(all.begin(), all.end(), [](const auto& a, const auto& b) {
      return sizes(a).second < sizes(b).second;
    });
  }
  if (found == all.end()) return {};
  const auto [least, most] = sizes(*found);
  if (least < 1 || most < shortest || most > longest) return {};
  return example_of(task, *found);
}

std::optional<FixedExample> chosen(const TextCorpus& corpus) {
  const Tokens& text = corpus.validation;
  const auto count = std::min(std::ssize(text) - 1, std::ptrdiff_t{wanted_to});
  if (count < shortest) return {};
  FixedExample example{{}, Tokens(text.begin(), text.begin() + count), {}};
  example.shown.decoder_input = shown_tokens(corpus.vocabulary, example.target_in);
  example.shown.target =
      shown_tokens(corpus.vocabulary, Tokens(text.begin() + 1, text.begin() + count + 1));
  return example;
}

/// Costs and gradients have six digits, as telemetry has.
double rounded(double value) { return rounded_number(value, 6); }

}  // namespace
}  // namespace lived_example

std::optional<FixedExample> fixed_example(const Task& task) {
  return std::visit([](const auto& of_kind) { return lived_example::chosen(of_kind); }, task);
}

bool HeadLives::is_due(Index step) const {
  if (step == 1 || step * parts / steps_ != (step - 1) * parts / steps_) return true;
  std::vector<Index> changes;
  for (const PruningEvent& event : timeline_()) {
    if (event.removed.empty() && event.regrown.empty()) continue;
    if (event.step <= step) changes.push_back(event.step);
  }
  std::sort(changes.begin(), changes.end());
  const Index apart = (steps_ + 2 * parts - 1) / (2 * parts);  // rounded up
  Index last = -apart;
  for (const Index change : changes) {
    if (change - last >= apart) last = change;
  }
  return last == step;
}

LifeLine HeadLives::line(Index step) const {
  Module& model = learner_->model();
  LifeLine line{.step = step, .heads = live_heads(model)};
  // A game has a limited number of players; the others keep gate 1.
  for (Index first = 0; first < std::ssize(line.heads); first += HeadSet::most) {
    const auto begin = line.heads.begin() + first;
    const auto count = std::min(HeadSet::most, std::ssize(line.heads) - first);
    HeadGame game(*learner_, ExampleSet::importance, examples, {begin, begin + count});
    line.examples = game.examples();
    std::vector<HeadSet> subsets{game.all()};
    for (Index head = 0; head < count; ++head) subsets.push_back(game.all().without(head));
    const std::vector<double> losses = game.values(subsets);
    const std::vector<double> gates(std::size_t(count), 1.0);
    for (const double gradient : game.gradient(gates)) {
      line.gate_gradient.push_back(lived_example::rounded(gradient));
    }
    for (Index head = 0; head < count; ++head) {
      line.cost.push_back(lived_example::rounded(at(losses, head + 1) - losses[0]));
    }
  }
  if (example_) {
    HeadProbe probe;
    probe.maps = true;
    forward_once(model, {example_->source, example_->target_in}, &probe);
    line.example = example_->shown;
    line.example->maps = map_records(model, probe);
  }
  return line;
}

void HeadLives::after_update(StepReport& report) {
  if (is_due(report.step)) report.lines.push_back(json_of(line(report.step)));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
