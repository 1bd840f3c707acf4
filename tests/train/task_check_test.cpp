// Has a model learned its task? Constant, untrained, barely trained and trained models.
#include "headroom/train/task_check.hpp"

#include <algorithm>
#include <cmath>
#include <map>

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

/// Losses that are those of the best constant answer times 1 - gain, with some spread.
class NearlyConstant : public Learner {
 public:
  NearlyConstant(Learner& inner, double gain) : inner_(&inner), gain_(gain) {}
  Module& model() override { return inner_->model(); }
  void visit(ExampleSet set, Index most,
             const std::function<void(const ProbedBatch&)>& see) override {
    const std::map<std::int32_t, double> counts = label_counts(*inner_);
    double all = 0;
    for (const auto& [label, count] : counts) all += count;
    inner_->visit(set, most, [&](ProbedBatch batch) {
      const Index length = batch.labels.size() / batch.examples;
      Array losses = zeros({batch.examples});
      for (Index i = 0; i < batch.labels.size(); ++i) {
        if (batch.labels[i] == ignored_label) continue;
        const double loss = -std::log(counts.at(batch.labels[i]) / all);
        losses.data()[i / length] += Real(loss * (1 - gain_ * (1 + 0.5 * double(i % 3))));
      }
      batch.losses = [losses](HeadProbe&) { return Tensor(losses); };
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
  double gain_;
};

}  // namespace

TEST_CASE("a gain within rounding is none, however regular it is") {
  const auto inner = learner_of(letters());
  NearlyConstant rounding(*inner, is_double ? 1e-10 : 1e-7), small(*inner, 0.01);
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

TEST_CASE("other models have learned their task when they clearly beat the shares of the tokens") {
  for (const Task& task : {Task(reversed()), Task(letters())}) {
    const bool text = std::holds_alternative<TextCorpus>(task);
    INFO((text ? "text" : "reverse"));
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
