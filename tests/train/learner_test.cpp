// Learners: training and validation data of each kind of task, and the measure of the best step.
#include "headroom/train/learner.hpp"

#include <algorithm>
#include <cmath>

#include "headroom/base/error.hpp"
#include "headroom/base/record_json.hpp"
#include "headroom/data/batches.hpp"
#include "headroom/data/embedded_tasks.hpp"
#include "headroom/ops/losses.hpp"
#include "headroom/ops/shaping.hpp"
#include "headroom/train/evaluation.hpp"
#include "support/catch.hpp"

using namespace headroom;

namespace {

std::unique_ptr<Learner> small_learner(const Task& task, const LearnerOptions& options) {
  ModelConfig config;
  config.block.width = 16;
  config.block.heads = 2;
  config.block.dropout = 0;
  config.layers = 1;
  return make_learner(task, fitted_to(task, config, options), options);
}

Seq2SeqTask small_pairs() { return make_reverse_task({.train = 20, .validation = 10, .test = 7}); }

ClassificationTask small_brackets() {
  return make_brackets_task({.train = 20, .validation = 10, .test = 7});
}

TextCorpus small_corpus() {
  TextCorpus corpus{
      .name = "text",
      .vocabulary = Vocabulary::of_text(TokenKind::characters, Specials::none, "abcdefgh"),
      .train = {},
      .validation = {}};
  for (std::int32_t i = 0; i < 100; ++i) {
    (i < 80 ? corpus.train : corpus.validation).push_back(i * i % 7);
  }
  return corpus;
}

}  // namespace

TEST_CASE("a learner evaluates on its validation set, evenly spread, and tests on the test set") {
  const Seq2SeqTask task = make_reverse_task({.train = 20, .validation = 40, .test = 7});
  const auto learner = small_learner(task, {.quick = 5});
  auto& model = dynamic_cast<Seq2Seq&>(learner->model());
  const auto loss_on = [&](const std::vector<Seq2SeqQuestion>& questions) {
    return mean_loss(model,
                     evaluation_batches(first_answers(questions), 128, task.source, task.target));
  };
  CHECK(learner->test()["test_loss"].get<double>() == loss_on(task.test));

  double sum = 0, labels = 0;
  learner->visit(ExampleSet::validation, 5, [&](const ProbedBatch& batch) {
    CHECK(batch.examples == 5);
    HeadProbe probe;
    const Tensor losses = batch.losses(probe), logits = batch.logits(probe);
    REQUIRE(losses.shape() == Shape{5});
    for (Index i = 0; i < 5; ++i) {  // each is the loss of its own row
      const Index length = batch.labels.dim(1);
      double row = 0;
      for (Index t = 0; t < length; ++t) {
        if (batch.labels[i * length + t] != ignored_label) ++labels;
      }
      const Tensor own = cross_entropy(
          slice(logits, 0, i, i + 1),
          Ids({1, length}, {batch.labels.data() + i * length, static_cast<std::size_t>(length)}),
          {.reduction = Reduction::sum});
      row = double(own.item());
      sum += row;
      CHECK(std::abs(double(losses.value()[i]) - row) < (is_double ? 1e-12 : 1e-5));
    }
  });
  CHECK(std::abs(sum / labels - learner->evaluate()["validation_loss"].get<double>()) <
        (is_double ? 1e-12 : 1e-5));
}

TEST_CASE("a learner's sets of examples are disjoint, and the same whatever their order") {
  const std::vector<ExampleSet> held_out{ExampleSet::importance, ExampleSet::selection,
                                         ExampleSet::validation};
  const auto contents = [](Learner& learner, ExampleSet set, Index most = 1000) {
    std::vector<std::vector<std::int32_t>> rows;
    learner.visit(set, most, [&](const ProbedBatch& batch) {
      const Index length = batch.labels.size() / batch.examples;
      for (Index i = 0; i < batch.examples; ++i) {
        const std::int32_t* row = batch.labels.data() + i * length;
        rows.emplace_back(row, std::find(row, row + length, ignored_label));
      }
    });
    std::sort(rows.begin(), rows.end());
    return rows;
  };
  Seq2SeqTask task = make_reverse_task({.train = 20, .validation = 41, .test = 7});
  const auto learner = small_learner(task, {});
  std::reverse(task.validation.begin(), task.validation.end());
  const auto reversed = small_learner(task, {});
  std::vector<std::vector<std::int32_t>> all;
  for (const ExampleSet set : held_out) {
    const auto rows = contents(*learner, set);
    CHECK(rows.size() == (set == ExampleSet::validation ? 21 : 10));
    CHECK(rows == contents(*reversed, set));
    CHECK(contents(*learner, set, 3) == contents(*learner, set, 3));
    all.insert(all.end(), rows.begin(), rows.end());
  }
  CHECK(contents(*learner, ExampleSet::validation, 4).size() == 4);
  CHECK(contents(*learner, ExampleSet::train).size() == 20);
  CHECK(contents(*learner, ExampleSet::test).size() == 7);
  std::sort(all.begin(), all.end());
  CHECK(all.size() == 41);
  CHECK(std::adjacent_find(all.begin(), all.end()) == all.end());  // in no two sets

  const auto brackets = small_learner(small_brackets(), {});
  Index examples = 0;
  for (const ExampleSet set : held_out) {
    brackets->visit(set, 1000, [&](const ProbedBatch& batch) {
      HeadProbe probe;
      CHECK(batch.losses(probe).shape() == Shape{batch.examples});
      examples += batch.examples;
    });
  }
  CHECK(examples == 10);
}

TEST_CASE("of a text, the examples are windows, and all of them are in one of the sets") {
  TextCorpus corpus = small_corpus();
  for (std::int32_t i = 0; i < 300; ++i) corpus.validation.push_back((i * i + i / 7) % 8);
  const auto learner = small_learner(corpus, {.length = 10});
  Index examples = 0, labels = 0;
  for (const ExampleSet set :
       {ExampleSet::importance, ExampleSet::selection, ExampleSet::validation}) {
    learner->visit(set, 1000, [&](const ProbedBatch& batch) {
      HeadProbe probe;
      CHECK(batch.losses(probe).shape() == Shape{batch.examples});
      examples += batch.examples;
      labels += batch.labels.size() -
                std::count(batch.labels.span().begin(), batch.labels.span().end(), ignored_label);
    });
  }
  CHECK(examples == 32);
  CHECK(labels == 319);
  Index tested = 0;
  learner->visit(ExampleSet::test, 1000,
                 [&](const ProbedBatch& batch) { tested += batch.examples; });
  CHECK(tested == examples);
}

TEST_CASE("a set without examples is refused by name") {
  const auto learner =
      small_learner(make_reverse_task({.train = 5, .validation = 3, .test = 1}), {});
  CHECK_THROWS_WITH(learner->visit(ExampleSet::importance, 5, [](const ProbedBatch&) {}),
                    Catch::Contains("importance set is empty"));
  CHECK_THROWS_AS(learner->visit(ExampleSet::selection, 5, [](const ProbedBatch&) {}), UsageError);
}

TEST_CASE("a learner's loss is the smoothed cross-entropy of the task's next batch") {
  const LearnerOptions options{
      .batch_size = 4, .length = 6, .seed = 3, .label_smoothing = Real(0.2)};
  const auto check_next = [](Learner& learner, Index labels, const Tensor& logits,
                             const Ids& targets) {
    CHECK(learner.next_batch() == labels);
    const Tensor expected = cross_entropy(
        logits, targets, {.label_smoothing = Real(0.2), .ignore_index = ignored_label});
    CHECK(learner.loss().item() == expected.item());
  };
  SECTION("pairs") {
    const Seq2SeqTask task = small_pairs();
    const auto learner = small_learner(task, options);
    const auto& model = dynamic_cast<Seq2Seq&>(learner->model());
    Seq2SeqLoader loader(task, 4, 3);
    for (int step = 0; step < 7; ++step) {
      const Seq2SeqBatch batch = loader.next();
      check_next(*learner, batch.target_tokens,
                 model(batch.source, batch.source_lengths, batch.target_in), batch.labels);
    }
  }
  SECTION("classes") {
    const ClassificationTask task = small_brackets();
    const auto learner = small_learner(task, options);
    const auto& model = dynamic_cast<Classifier&>(learner->model());
    ClassificationLoader loader(task, 4, 3);
    for (int step = 0; step < 7; ++step) {
      const ClassificationBatch batch = loader.next();
      check_next(*learner, 4, model(batch.tokens, batch.lengths), batch.labels);
    }
  }
  SECTION("text") {
    const TextCorpus corpus = small_corpus();
    const auto learner = small_learner(corpus, options);
    const auto& model = dynamic_cast<LanguageModel&>(learner->model());
    for (Index step = 0; step < 7; ++step) {
      const TextBatch batch = random_windows(corpus.train, 4, 6, 3, step);
      check_next(*learner, 24, model(batch.inputs), batch.labels);
    }
  }
}

TEST_CASE("the batches of every kind of task go on where they stood") {
  for (const Task& task : {Task(small_pairs()), Task(small_brackets()), Task(small_corpus())}) {
    CAPTURE(task.index());
    const LearnerOptions options{.batch_size = 4, .length = 6};
    const auto whole = small_learner(task, options), resumed = small_learner(task, options);
    for (int step = 0; step < 3; ++step) whole->next_batch();
    TensorFile file;
    whole->position().save_state(StateWriter(file, "data."));
    resumed->position().load_state(StateReader(file, "data."));
    for (int step = 0; step < 7; ++step) {
      whole->next_batch();
      resumed->next_batch();
      CHECK(resumed->loss().item() == whole->loss().item());
    }
  }
}

TEST_CASE("a text's place before its first batch is refused") {
  const auto learner = small_learner(small_corpus(), {.batch_size = 4, .length = 6});
  TensorFile file;
  file.metadata = {{"data.step", "-1"}};
  CHECK_THROWS_AS(learner->position().load_state(StateReader(file, "data.")), FileError);
  CHECK_THROWS_WITH(learner->position().load_state(StateReader(file, "data.")),
                    Catch::Contains("\"data.step\": -1 is negative"));
}

TEST_CASE("characters are judged by exact matches, words by error rate, text by its loss") {
  using Better = BestSoFar::Better;
  struct Case {
    Task task;
    std::string measure;
    Better better;
  };
  const std::vector<Case> cases{
      {small_pairs(), "exact_match", Better::higher},
      {make_spelling_task({.train = 20, .validation = 10, .test = 7}), "wer", Better::lower},
      {small_brackets(), "accuracy", Better::higher},
      {small_corpus(), "validation_loss", Better::lower}};
  for (const Case& c : cases) {
    INFO(c.measure);
    const auto learner = small_learner(c.task, {.length = 6});
    CHECK(learner->measure() == c.measure);
    CHECK(learner->better() == c.better);
    CHECK(learner->evaluate().contains(c.measure));
    CHECK(learner->test().contains(c.measure));
  }
}

TEST_CASE("a model that is fitted to a task has positions for its longest source and target") {
  const Vocabulary letters = Vocabulary::of_text(TokenKind::characters, Specials::all, "a");
  const Tokens one(1, 4), forty(40, 4);
  for (const auto& [source, target] : {std::pair(one, forty), std::pair(forty, one)}) {
    const Seq2SeqTask task{.name = "by hand",
                           .source = letters,
                           .target = letters,
                           .train = {{source, target}},
                           .validation = {{source, {target}}},
                           .test = {{source, {target}}},
                           .skipped = {}};
    CHECK(fitted_to(task, {}, {}).longest > 40);  // <bos> takes one more
    CHECK_NOTHROW(small_learner(task, {})->test());
  }
}
