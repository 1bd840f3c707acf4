// Has a model learned its task? Constant, untrained, barely trained and trained models.
#include "headroom_measure/importance/task_check.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>

#include "headroom/data/batches.hpp"
#include "headroom/data/embedded_tasks.hpp"
#include "headroom/optim/adam.hpp"
#include "headroom/statistics/intervals.hpp"
#include "headroom/train/learner.hpp"
#include "headroom/train/trainer.hpp"
#include "support/catch.hpp"

using namespace headroom;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

std::unique_ptr<Learner> learner_of(const Task& task, std::uint64_t seed = 1) {
  ModelConfig config;
  config.block.width = 16;
  config.block.heads = 2;
  config.block.dropout = 0;
  config.layers = 1;
  const LearnerOptions options{.batch_size = 16, .length = 8, .seed = seed};
  return make_learner(task, fitted_to(task, config, options), options);
}

/// Is the first letter an a? Two of three are.
ClassificationTask first_letter() {
  ClassificationTask task{
      .name = "first letter",
      .tokens = Vocabulary::of_text(TokenKind::characters, Specials::all, "abc"),
      .classes = {"no", "yes"},
      .train = {},
      .validation = {},
      .test = {}};
  Rng rng(3, "letters");
  for (Index i = 0; i < 300; ++i) {
    std::string text(1, rng.below(3) == 0 ? 'b' : 'a');
    for (Index k = 0; k < 5; ++k) text += "abc"[rng.below(3)];
    auto& set = i < 150 ? task.train : i < 170 ? task.validation : task.test;
    set.push_back({task.tokens.encode(text), text[0] == 'a' ? 1 : 0});
  }
  return task;
}

Seq2SeqTask reversed() { return make_reverse_task({.train = 3000, .validation = 20, .test = 90}); }

TextCorpus letters() {
  TextCorpus corpus{
      .name = "text",
      .vocabulary = Vocabulary::of_text(TokenKind::characters, Specials::none, "abcdefgh"),
      .train = {},
      .validation = {}};
  for (std::int32_t i = 0; i < 2000; ++i) {  // each letter follows from the one before
    (i < 1600 ? corpus.train : corpus.validation).push_back(i % 3 == 0 ? i / 3 % 2 : i % 3 + 2);
  }
  return corpus;
}

void train(Learner& learner, Index steps, double rate = 1e-2) {
  Adam adam(learner.model());
  Trainer trainer(adam, RateOptions{.shape = RateShape::constant, .peak = rate});
  for (Index step = 0; step < steps; ++step) {
    learner.next_batch();
    trainer.step([&](HeadProbe* probe) { return learner.loss(probe); });
  }
}

/// Gives a model the same answer to everything: the logarithms of shares, or of equal ones.
void make_constant(Learner& learner, const std::map<std::int32_t, double>& counts = {}) {
  for (auto& [name, parameter] : parameters(learner.model())) {
    parameter.set_value(zeros(parameter.shape()));
    if (name != "output.bias" || counts.empty()) continue;
    for (Real& logit : parameter.edit_value().span()) logit = -40;  // never
    for (const auto& [label, count] : counts) {
      parameter.edit_value().data()[label] = Real(std::log(count));
    }
  }
}

/// The labels of the test set.
std::map<std::int32_t, double> label_counts(Learner& learner) {
  std::map<std::int32_t, double> counts;
  learner.visit(ExampleSet::test, 1000, [&](const ProbedBatch& batch) {
    for (const std::int32_t label : batch.labels.span()) {
      if (label != ignored_label) ++counts[label];
    }
  });
  return counts;
}

/// A learner whose batches of examples are changed.
class Changed : public Learner {
 public:
  Changed(Learner& inner, std::function<void(ProbedBatch&)> change)
      : inner_(&inner), change_(std::move(change)) {}
  Module& model() override { return inner_->model(); }
  void visit(ExampleSet set, Index most,
             const std::function<void(const ProbedBatch&)>& see) override {
    inner_->visit(set, most, [&](ProbedBatch batch) {
      change_(batch);
      see(batch);
    });
  }
  Index next_batch() override { return inner_->next_batch(); }
  Tensor loss(HeadProbe* probe) override { return inner_->loss(probe); }
  Record evaluate() override { return inner_->evaluate(); }
  Record test() override { return inner_->test(); }
  const char* measure() const override { return inner_->measure(); }
  BestSoFar::Better better() const override { return inner_->better(); }
  Stateful& position() override { return inner_->position(); }
  Record about() const override { return inner_->about(); }

 private:
  Learner* inner_;
  std::function<void(ProbedBatch&)> change_;
};

/// Losses that are those of the best constant answer times 1 - gain, with some spread.
Changed nearly_constant(Learner& inner, double gain) {
  return {inner, [gain, counts = label_counts(inner)](ProbedBatch& batch) {
            double all = 0;
            for (const auto& [label, count] : counts) all += count;
            const Index length = batch.labels.size() / batch.examples;
            Array losses = zeros({batch.examples});
            for (Index i = 0; i < batch.labels.size(); ++i) {
              if (batch.labels[i] == ignored_label) continue;
              const double loss = -std::log(counts.at(batch.labels[i]) / all);
              losses.data()[i / length] += Real(loss * (1 - gain * (1 + 0.5 * double(i % 3))));
            }
            batch.losses = [losses](HeadProbe&) { return Tensor(losses); };
          }};
}

/// A model that gives `logit(example, position, label, token)`; examples count from 0.
using Logit = std::function<double(Index, Index, std::int32_t, std::int32_t)>;
Changed with_logits(Learner& inner, Index tokens, const Logit& logit) {
  return {inner, [tokens, logit, seen = std::make_shared<Index>(0)](ProbedBatch& batch) {
            const Index length = batch.labels.dim(1);
            Array logits = zeros({batch.examples, length, tokens});
            for (Index i = 0; i < batch.labels.size(); ++i) {
              for (Index token = 0; token < tokens; ++token) {
                logits.data()[i * tokens + token] = Real(
                    logit(*seen + i / length, i % length, batch.labels[i], std::int32_t(token)));
              }
            }
            *seen += batch.examples;
            batch.logits = [logits](HeadProbe&) { return Tensor(logits); };
            batch.losses = [logits, labels = batch.labels](HeadProbe&) {
              return example_losses(Tensor(logits), labels);
            };
          }};
}

}  // namespace

TEST_CASE("a gain within rounding is none, however regular it is") {
  const auto inner = learner_of(letters());
  Changed rounding = nearly_constant(*inner, is_double ? 1e-10 : 1e-7),
          small = nearly_constant(*inner, 0.01);
  CHECK_FALSE(check_task(rounding).learned);
  CHECK(check_task(small).learned);
  CHECK(check_task(small).p.value() < 1e-6);
}

TEST_CASE("a classifier has learned its task when it clearly beats the most frequent class") {
  const ClassificationTask task = first_letter();
  const auto yes = double(std::count_if(task.test.begin(), task.test.end(),
                                        [](const LabelledExample& x) { return x.label == 1; }));
  const auto trained = learner_of(task);
  train(*trained, 60);
  const TaskCheck learned = check_task(*trained);
  CHECK(learned.measure == "accuracy");
  CHECK(learned.examples == 130);
  CHECK(learned.constant == yes / 130);
  CHECK(learned.model > 0.95);
  CHECK(learned.learned);
  CHECK(learned.p.value() < 1e-6);
  CHECK(learned.warning() == "");

  const auto constant = learner_of(task);
  make_constant(*constant, {{0, 1}, {1, 2}});
  const TaskCheck always_yes = check_task(*constant);
  CHECK(always_yes.model == always_yes.constant);
  CHECK_FALSE(always_yes.p.has_value());
  CHECK_FALSE(always_yes.learned);
  CHECK_THAT(always_yes.warning(),
             StartsWith("The model has not learned the task: its accuracy of ") &&
                 Contains("best constant answer (130 test examples)"));
  make_constant(*constant, {{0, 2}, {1, 1}});
  CHECK(check_task(*constant).p.value() > 0.99);  // worse than the other constant answer

  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    INFO("seed " << seed);
    CHECK_FALSE(check_task(*learner_of(task, seed)).learned);
  }
}

TEST_CASE("a model of a text has learned it when it clearly beats the shares of the tokens") {
  const Task task = letters();
  const auto trained = learner_of(task);
  train(*trained, 200);
  const TaskCheck learned = check_task(*trained);
  CHECK(learned.measure == "loss");
  CHECK(learned.model < learned.constant);
  CHECK(learned.learned);
  CHECK(std::abs(learned.model - mean_of(example_losses(*trained, ExampleSet::test, 1000))) <
        1e-9 * learned.model);

  // The loss of shares is the labels' entropy times their number in an example.
  const std::map<std::int32_t, double> counts = label_counts(*trained);
  double all = 0, entropy = 0;
  for (const auto& [label, count] : counts) all += count;
  for (const auto& [label, count] : counts) entropy -= count / all * std::log(count / all);
  CHECK(std::abs(learned.constant - entropy * all / double(learned.examples)) < 1e-9);

  // No constant answer counts as learned, not even the one that fits these examples best.
  const auto constant = learner_of(task);
  make_constant(*constant, counts);
  const TaskCheck best = check_task(*constant);
  CHECK(std::abs(best.model / best.constant - 1) < (is_double ? 1e-12 : 1e-6));
  CHECK_FALSE(best.learned);
  make_constant(*constant);
  CHECK(check_task(*constant).model > best.constant);
  CHECK_FALSE(check_task(*constant).learned);

  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto learner = learner_of(task, seed);
    INFO("seed " << seed);
    const TaskCheck untrained = check_task(*learner);
    CHECK_FALSE(untrained.learned);
    CHECK(untrained.p.value() > 0.99);
    CHECK_THAT(untrained.warning("That of seed 1"),
               StartsWith("That of seed 1 has not learned the task: its loss of ") &&
                   Contains(" nats per example is not clearly better than the "));
    train(*learner, 1, 1e-4);
    CHECK_FALSE(check_task(*learner).learned);
  }
}

TEST_CASE("an encoder-decoder has learned its task when it has clearly more exact matches") {
  const Seq2SeqTask task = make_dates_task({.train = 300, .validation = 20, .test = 200});
  const Index tokens = task.target.size();
  std::map<Tokens, double> answers;
  double most = 0;
  for (const Seq2SeqQuestion& question : task.test) {
    most = std::max(most, ++answers[question.answers[0]]);
  }
  const auto inner = learner_of(task);

  // Dates begin with 19 or 20 and have two hyphens: the best distribution for each position has
  // half the loss of one for all positions, but it does not read its input.
  std::map<std::pair<Index, std::int32_t>, double> shares;
  inner->visit(ExampleSet::test, 1000, [&](const ProbedBatch& batch) {
    const Index length = batch.labels.dim(1);
    for (Index i = 0; i < batch.labels.size(); ++i) ++shares[{i % length, batch.labels[i]}];
  });
  const auto by_position = [&](Index, Index position, std::int32_t, std::int32_t token) {
    const auto found = shares.find({position, token});
    return found == shares.end() ? -40 : std::log(found->second);
  };
  Changed blind = with_logits(*inner, tokens, by_position);
  const TaskCheck check = check_task(blind);
  CHECK(check.measure == "exact match");
  CHECK(check.examples == 200);
  CHECK(check.constant == most / 200);
  CHECK(check.model <= check.constant);
  CHECK_FALSE(check.learned);
  CHECK_THAT(check.warning(),
             StartsWith("The model has not learned the task: its exact match of 0."));

  // Right tokens in one of so many examples, and in these at all positions before the last ones.
  const auto right = [&](Index one_of, Index before) {
    Changed model = with_logits(
        *inner, tokens, [=](Index example, Index position, std::int32_t label, std::int32_t token) {
          return example % one_of == 0 && position < before && label == token ? 9 : 0;
        });
    return check_task(model);
  };
  CHECK(right(4, 99).model == 0.25);
  CHECK(right(4, 99).learned);
  CHECK_FALSE(right(200, 99).learned);
  CHECK(right(1, 99).model == 1);
  CHECK(right(1, 10).model == 0);  // the date is right, but it does not end

  const auto untrained = learner_of(reversed());
  CHECK_FALSE(check_task(*untrained).learned);
  train(*untrained, 60);  // a smaller loss, but no exact match
  CHECK_FALSE(check_task(*untrained).learned);
}

TEST_CASE("the check takes evenly spread examples, and its record can be read back") {
  const auto learner = learner_of(reversed());
  TaskCheck check = check_task(*learner, 10);
  CHECK(check.examples == 10);
  CHECK(struct_of<TaskCheck>(json_of(check), "check") == check);
  check = {.measure = "accuracy", .examples = 1000, .model = 0.514, .constant = 0.503};
  CHECK(check.text() == "accuracy 51.4 %, best constant answer 50.3 %");
  CHECK(check.warning() ==
        "The model has not learned the task: its accuracy of 51.4 % is not clearly better than the "
        "50.3 % of the best constant answer (1,000 test examples)");
}
