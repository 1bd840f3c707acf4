// A model against the best constant answer.
#include "headroom_measure/importance/task_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "headroom/base/text.hpp"
#include "headroom/data/batches.hpp"
#include "headroom/ops/reductions.hpp"
#include "headroom/statistics/contrasts.hpp"
#include "headroom/train/evaluation.hpp"
#include "headroom/train/learner.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr double one_sided_level = 0.05;
constexpr Index enough_examples = 30;  // to call a better model one that has not learned
constexpr double gain_within_rounding = is_double ? 1e-9 : 1e-5;  // relative to the measure

/// How often each label occurs.
std::map<std::int32_t, double> counts_of(const std::vector<Ids>& labels) {
  std::map<std::int32_t, double> counts;
  for (const Ids& of_batch : labels) {
    for (const std::int32_t label : of_batch.span()) {
      if (label != ignored_label) ++counts[label];
    }
  }
  return counts;
}

/// The labels of each example, without padding.
std::vector<Tokens> answers_of(const std::vector<Ids>& labels) {
  std::vector<Tokens> answers;
  for (const Ids& of_batch : labels) {
    const Index length = of_batch.size() / of_batch.dim(0);
    for (Index i = 0; i < of_batch.size(); ++i) {
      if (i % length == 0) answers.emplace_back();
      if (of_batch[i] != ignored_label) answers.back().push_back(of_batch[i]);
    }
  }
  return answers;
}

/// For each example 1 where the most frequent answer is right, else 0. An answer with the token
/// `never` is not one.
std::vector<double> right_of_majority(const std::vector<Ids>& labels, std::int32_t never) {
  const std::vector<Tokens> answers = answers_of(labels);
  std::map<Tokens, Index> counts;
  for (const Tokens& answer : answers) {
    const bool known = std::find(answer.begin(), answer.end(), never) == answer.end();
    if (known && !answer.empty()) ++counts[answer];
  }
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  const Tokens majority = counts.empty() ? Tokens() : most->first;
  std::vector<double> right;
  for (const Tokens& answer : answers) {
    right.push_back(!answer.empty() && answer == majority ? 1 : 0);
  }
  return right;
}

/// Adds for each example 1 where the largest logits are at all of its labels, else 0; also 0 where
/// it has no label, as for the constant answer, or the label `never`.
void add_right(const Array& logits, const Ids& labels, std::int32_t never,
               std::vector<double>& right) {
  const Ids answers = argmax(logits);
  const Index length = labels.size() / labels.dim(0);
  for (Index begin = 0; begin < labels.size(); begin += length) {
    Index asked = 0, hits = 0;
    for (Index i = begin; i < begin + length; ++i) {
      if (labels[i] == ignored_label) continue;
      ++asked;
      if (answers[i] == labels[i] && labels[i] != never) ++hits;
    }
    right.push_back(asked > 0 && hits == asked ? 1 : 0);
  }
}

/// For each example the loss of the distribution of all labels.
std::vector<double> losses_of_shares(const std::vector<Ids>& labels) {
  const auto counts = counts_of(labels);
  double all = 0;
  for (const auto& [label, count] : counts) all += count;
  std::vector<double> losses;
  for (const Ids& of_batch : labels) {
    const Index length = of_batch.size() / of_batch.dim(0);
    for (Index i = 0; i < of_batch.size(); ++i) {
      if (i % length == 0) losses.push_back(0);
      if (of_batch[i] != ignored_label) losses.back() -= std::log(counts.at(of_batch[i]) / all);
    }
  }
  return losses;
}

std::string measure_text(const TaskCheck& check, double value) {
  return check.measure == "loss" ? fmt::format("{:.4g}", value)
                                 : fmt::format("{:.1f} %", 100 * value);
}

}  // namespace

std::string TaskCheck::text() const {
  return fmt::format("{} {}, best constant answer {}", measure, measure_text(*this, model),
                     measure_text(*this, constant));
}

std::string TaskCheck::warning(const std::string& name) const {
  if (learned) return "";
  const bool is_better = measure == "loss" ? model < constant : model > constant;
  const bool few = examples < enough_examples;
  const bool may = few && (is_better || measure == "loss");  // that answer is made of these labels
  return fmt::format(
      "{} {} not {}learned the task: its {} of {}{} is not clearly better than the {} of the best "
      "constant answer ({} test {})",
      name, may ? "may" : "has", may ? "have " : "", measure, measure_text(*this, model),
      measure == "loss" ? " nats per example" : "", measure_text(*this, constant),
      with_commas(examples), examples == 1 ? "example" : "examples");
}

TaskCheck check_task(Learner& learner, Index most) {
  const Evaluating now(learner.model());
  std::vector<double> losses, right;
  std::vector<Ids> labels;
  TaskCheck check{.measure = "loss"};
  // The unknown token is no output (see DecodingLimits); a class is.
  const auto never = [&] {
    const Vocabulary words(TokenKind::words, Specials::all, {});
    return check.measure == "exact match" ? words.unk() : std::int32_t{-1};
  };
  learner.visit(ExampleSet::test, most, [&](const ProbedBatch& batch) {
    HeadProbe probe;
    labels.push_back(batch.labels);
    check.measure = batch.labels.rank() == 1 ? "accuracy" : batch.encoded ? "exact match" : "loss";
    if (check.measure != "loss") {
      return add_right(batch.logits(probe).value(), batch.labels, never(), right);
    }
    const Tensor of_batch = batch.losses(probe);
    for (const Real loss : of_batch.value().span()) losses.push_back(double(loss));
  });
  const bool answers = check.measure != "loss";
  const std::vector<double>& of_model = answers ? right : losses;
  const std::vector<double> of_constant =
      answers ? right_of_majority(labels, never()) : losses_of_shares(labels);
  check.examples = std::ssize(of_model);
  check.model = mean_of(of_model);
  check.constant = mean_of(of_constant);
  const PairedContrast gain =
      answers ? paired_contrast(of_model, of_constant) : paired_contrast(of_constant, of_model);
  if (gain.p) check.p = gain.mean > 0 ? *gain.p / 2 : 1 - *gain.p / 2;
  check.learned =
      check.p && *check.p < one_sided_level && gain.mean > gain_within_rounding * check.constant;
  return check;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
