// The trainer and its loop: models learn, every parameter moves, failures are explained.
#include "headroom/train/trainer.hpp"

#include <cmath>
#include <cstring>

#include "headroom/base/error.hpp"
#include "headroom/data/embedded_tasks.hpp"
#include "headroom/ops/ops.hpp"
#include "headroom/optim/sgd.hpp"
#include "support/bag.hpp"
#include "support/catch.hpp"
#include "support/small_training.hpp"

using namespace headroom;
using Catch::Matchers::Contains;

namespace {

/// A language model of the repeated alphabet.
ModelConfig alphabet_config(Layout layout) {
  ModelConfig config;
  config.kind = ModelKind::language_model;
  config.block.width = 16;
  config.block.heads = 2;
  config.block.hidden = 32;
  config.block.layout = layout;
  config.layers = 1;
  config.source_vocabulary = config.target_vocabulary = 8;
  config.longest = 16;
  return config;
}

std::vector<std::int32_t> alphabet_text() {
  std::vector<std::int32_t> text;
  for (std::int32_t i = 0; i < 400; ++i) text.push_back(i * i % 8);
  return text;
}

}  // namespace

TEST_CASE("a language model learns a repeating text in every layout") {
  const std::vector<std::int32_t> text = alphabet_text();
  for (const Layout layout : all_of<Layout>()) {
    INFO(name_of(layout));
    Rng rng(1, "init");
    LanguageModel model(alphabet_config(layout), rng);
    Adam optimizer(model);
    Trainer trainer(optimizer, RateOptions{.peak = 1e-2}, {.seed = 1});
    double first = 0, last = 0;
    TrainingLoop loop(80, [&] {
      const TextBatch batch = random_windows(text, 8, 12, 1, trainer.steps());
      return trainer.step([&] { return training_loss(model, batch); }, label_count(batch));
    });
    loop.each([&](StepReport& report) {
      if (report.step == 1) first = report.loss;
      last = report.loss;
    });
    CHECK(loop.run());
    CHECK(first > 1.5);
    CHECK(last < first / 5);
    const std::vector<TextBatch> windows = evaluation_windows(text, 8, 12);
    CHECK(mean_loss(model, windows) < 0.6);
    CHECK(model.training());  // evaluation put it back
  }
}

TEST_CASE("an encoder-decoder learns its examples by heart and answers them greedily") {
  Seq2SeqTask task = make_reverse_task({.seed = 2, .train = 12, .validation = 4, .test = 4});
  ModelConfig config = small_config(task, Layout::fused);
  config.block.width = 32;
  config.block.hidden = 64;
  config.block.dropout = 0;
  Rng rng(5, "init");
  Seq2Seq model(config, rng);
  AdamW optimizer(model);
  Trainer trainer(optimizer, RateOptions{.peak = 1e-2, .warmup = 10});
  Seq2SeqLoader loader(task, 12, 7);
  std::vector<Seq2SeqQuestion> questions;
  for (const Seq2SeqExample& example : task.train) {
    questions.push_back({example.source, {example.target}});
  }
  TrainingLoop loop(150, [&] {
    const Seq2SeqBatch batch = loader.next();
    return trainer.step([&] { return training_loss(model, batch); }, label_count(batch));
  });
  CHECK(score_greedily(model, questions, task.source, task.target, 5).exact_match() < 0.5);
  loop.run();
  const SequenceScore score = score_greedily(model, questions, task.source, task.target, 5);
  CHECK(score.answers == 12);
  CHECK(score.exact_match() == 1.0);
  const std::vector<Seq2SeqBatch> batches =
      evaluation_batches(task.train, 5, task.source, task.target);
  CHECK(mean_loss(model, batches) < 0.1);
}

TEST_CASE("a classifier is scored by its likeliest class") {
  const ClassificationTask task =
      make_brackets_task({.seed = 1, .train = 64, .validation = 32, .test = 8});
  ModelConfig config;
  config.kind = ModelKind::classifier;
  config.block.width = 16;
  config.block.heads = 2;
  config.layers = 1;
  config.source_vocabulary = task.tokens.size();
  config.target_vocabulary = 2;
  Rng rng(1, "init");
  Classifier model(config, rng);
  Adam optimizer(model);
  Trainer trainer(optimizer, RateOptions{.peak = 5e-3});
  ClassificationLoader loader(task, 64, 3);
  for (int step = 0; step < 60; ++step) {
    const ClassificationBatch batch = loader.next();
    trainer.step([&] { return training_loss(model, batch); });
  }
  const auto batches = evaluation_batches(task.train, 16, task.tokens);
  const double share = accuracy(model, batches);
  CHECK(share > 0.8);
  CHECK(mean_loss(model, batches) < 0.6);
  auto turned = batches;  // the other class everywhere
  for (ClassificationBatch& batch : turned) {
    batch.labels = batch.labels.clone();
    for (std::int32_t& label : batch.labels.span()) label = 1 - label;
  }
  CHECK(std::abs(accuracy(model, turned) - (1 - share)) < 1e-12);
}

TEST_CASE("the mean loss is per label, however the batches are cut") {
  SmallRun run;
  const auto whole = evaluation_batches(run.task.train, 90, run.task.source, run.task.target);
  const auto parts = evaluation_batches(run.task.train, 7, run.task.source, run.task.target);
  const double rounding = is_double ? 1e-12 : 1e-5;
  CHECK(std::abs(mean_loss(run.model, whole) - mean_loss(run.model, parts)) < rounding);

  const std::vector<std::int32_t> text = alphabet_text();
  Rng rng(1, "init");
  LanguageModel model(alphabet_config(Layout::fused), rng);
  const auto windows = evaluation_windows(text, 64, 12), few = evaluation_windows(text, 5, 12);
  Index labels = 0;
  for (const TextBatch& batch : few) labels += label_count(batch);
  CHECK(labels == Index(text.size()) - 1);  // the last window is not full
  CHECK(std::abs(mean_loss(model, windows) - mean_loss(model, few)) < rounding);
}

TEST_CASE("every step drops elements of its own, chosen by the seed") {
  const auto masks_of = [](std::uint64_t seed) {
    Bag bag;
    Tensor& p = bag.add("p", ones({64}));
    Sgd optimizer(bag);
    Trainer trainer(optimizer, RateOptions{.peak = 0}, {.seed = seed});
    std::vector<std::vector<Real>> masks;
    for (int step = 0; step < 3; ++step) {
      trainer.step([&] {
        const Tensor dropped = dropout(p, Real(0.5), mask_stream(1));
        masks.emplace_back(dropped.value().span().begin(), dropped.value().span().end());
        return sum(dropped);
      });
    }
    return masks;
  };
  const auto masks = masks_of(1);
  REQUIRE(masks.size() == 3);
  CHECK(masks[0] != masks[1]);
  CHECK(masks[1] != masks[2]);
  CHECK(masks == masks_of(1));
  CHECK(masks[0] != masks_of(2)[0]);
}

TEST_CASE("a step is taken at the rate that the schedule has for the steps done before") {
  Bag bag;
  Tensor& p = bag.add("p", Array({1}, {0}));
  Sgd optimizer(bag);
  const RateSchedule rate({.shape = RateShape::linear, .peak = 0.5, .warmup = 2, .steps = 4});
  Trainer trainer(optimizer, rate, {.clip = 0});
  for (const double expected : {0.25, 0.5, 0.5, 0.25}) {
    const Real before = p.value()[0];
    const StepReport report = trainer.step([&] { return sum(p); });
    CHECK(report.rate == expected);
    CHECK(p.value()[0] == before - Real(expected));
  }
}

TEST_CASE("a step clips the gradient to its limit and reports the norm of before") {
  for (const auto& [clip, length] :
       {std::pair(0.5, 0.5), std::pair(6.0, 5.0), std::pair(0.0, 5.0)}) {
    CAPTURE(clip);
    Bag bag;
    Tensor& p = bag.add("p", Array({2}, {0, 0}));
    Sgd optimizer(bag);
    Trainer trainer(optimizer, RateOptions{.peak = 1}, {.clip = clip});
    const Tensor weights(Array({2}, {3, 4}));
    CHECK(trainer.step([&] { return sum(p * weights); }).gradient_norm == 5.0);
    CHECK(std::abs(double(p.value()[0]) + length * 3 / 5) < 1e-6);
    CHECK(std::abs(double(p.value()[1]) + length * 4 / 5) < 1e-6);
  }
}

TEST_CASE("two models in lockstep on the same batches stay the same function") {
  SmallRun one, two;
  for (int step = 0; step < 5; ++step) CHECK(one.step().loss == two.step().loss);
}

TEST_CASE("a NaN in the loss names step and operation, and changes nothing") {
  Bag bag;
  Tensor& p = bag.add("p", Array({2}, {1, -1}));
  Adam optimizer(bag);
  Trainer trainer(optimizer, RateOptions{});
  CHECK_THROWS_AS(trainer.step([&] { return sum(log(p) * Tensor(Real(2))); }), NumericError);
  CHECK_THROWS_WITH(trainer.step([&] { return sum(log(p) * Tensor(Real(2))); }),
                    Contains("step 1: the loss is") && Contains("nan") && Contains("log"));
  CHECK(p.value()[0] == Real(1));
  CHECK(trainer.steps() == 0);
  CHECK(optimizer.state("p").steps[0] == 0);
}

TEST_CASE("an infinite gradient names its parameter and operation") {
  Bag bag;
  Tensor& p = bag.add("p", Array({2}, {1, 0}));
  Adam optimizer(bag);
  Trainer trainer(optimizer, RateOptions{});
  CHECK_THROWS_WITH(trainer.step([&] { return sum(sqrt(p)); }),
                    Contains("step 1: the gradient of p is not finite") && Contains("sqrt"));
  CHECK(p.value()[0] == Real(1));
  CHECK_FALSE(p.grad().defined());
}

TEST_CASE("a parameter that was not finite before is named") {
  Bag bag;
  Tensor& p = bag.add("p", Array({2}, {1, std::numeric_limits<Real>::infinity()}));
  Adam optimizer(bag);
  Trainer trainer(optimizer, RateOptions{});
  CHECK_THROWS_WITH(trainer.step([&] { return sum(p * p); }),
                    Contains("parameter p was not finite"));
}

TEST_CASE("observers are called in their order, at their steps and at the end") {
  Bag bag;
  Tensor& p = bag.add("p", Array({1}, {1}));
  Sgd optimizer(bag);
  Trainer trainer(optimizer, RateOptions{});
  TrainingLoop loop(7, [&] { return trainer.step([&] { return sum(p * p); }); });
  std::vector<std::string> calls;
  const auto note = [&](const char* name) {
    return [&calls, name](StepReport& report) {
      calls.push_back(name + std::to_string(report.step));
      report.metrics[name] = report.step;
    };
  };
  loop.every(3, note("a"));
  loop.every(2, [&](StepReport& report) {
    CHECK(report.metrics.contains("a") == (report.step == 6 || report.step == 7));
    note("b")(report);
  });
  loop.at_end(note("end"));
  CHECK(loop.run());
  CHECK(calls == std::vector<std::string>{"b2", "a3", "b4", "a6", "b6", "a7", "b7", "end7"});
  CHECK(loop.run(7));  // no steps left
  CHECK(calls.size() == 8);
  CHECK_THROWS_AS(loop.every(0, note("never")), UsageError);
}
