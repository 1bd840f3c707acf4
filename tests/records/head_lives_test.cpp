// HeadLives: when it measures, what it measures, and that it does not change the training.
#include "headroom_runs/records/head_lives.hpp"

#include <cmath>

#include "headroom/base/at.hpp"
#include "headroom/ops/ops.hpp"
#include "headroom/train/evaluation.hpp"
#include "support/catch.hpp"
#include "support/recipe_run.hpp"

using namespace headroom;
using namespace headroom::test;

namespace {

constexpr Index longer = 4 * recipe_steps;

Seq2SeqTask lived_task() {
  return make_reverse_task({.seed = 3, .train = 90, .validation = 40, .test = 9});
}

/// The mean loss of the examples with the gate of a head at some value, for each example by itself.
double loss_with_gate(Learner& learner, const HeadId& head, Real gate) {
  const Evaluating now(learner.model());
  double sum = 0, count = 0;
  learner.visit(ExampleSet::importance, HeadLives::examples, [&](const ProbedBatch& batch) {
    for (Index row = 0; row < batch.examples; ++row) {
      HeadProbe probe;
      Array gates = ones({recipe_settings().model.block.heads});
      gates[head.head] = gate;
      probe.gates[{head.kind, head.layer}] = Tensor(gates);
      sum += double(batch.picked(std::span(&row, 1)).losses(probe).value()[0]);
      ++count;
    }
  });
  return sum / count;
}

}  // namespace

TEST_CASE("lives are measured evenly and after removals, as the timeline alone says") {
  RecipeRun pruned({.remove = 1});
  std::vector<PruningEvent> timeline;
  const HeadLives lives(pruned.run.learner(), {}, 160, [&] { return timeline; });
  const auto due = [&] {
    std::vector<Index> steps;
    for (Index step = 1; step <= 160; ++step) {
      if (lives.is_due(step)) steps.push_back(step);
    }
    return steps;
  };
  const std::vector<Index> even{1, 20, 40, 60, 80, 100, 120, 140, 160};
  CHECK(due() == even);
  const HeadId head{AttentionKind::cross, 0, 0};
  timeline = {{.step = 30, .heads = {head}, .scores = {1}},  // a measurement only
              {.step = 65, .removed = {head}},
              {.step = 70, .regrown = {head}},   // less than half a part later
              {.step = 75, .removed = {head}}};  // half a part after 65
  CHECK(due() == std::vector<Index>{1, 20, 40, 60, 65, 75, 80, 100, 120, 140, 160});
}

TEST_CASE("measuring lives does not change a bit of the training") {
  for (const auto& [name, recipe] : recipes()) {
    if (!recipe.removes()) continue;
    INFO(name);
    const TemporaryFolder folder;
    RecipeRun plain(recipe), measured(recipe);
    HeadLives lives(measured.run.learner(), fixed_example(lived_task()), recipe_steps,
                    [&] { return measured.parts.history().timeline; });
    measured.run.add("lives", lives);
    Index lines = 0;
    measured.run.each([&](const StepReport& report) { lines += Index(report.lines.size()); });
    plain.run.run();
    measured.run.run();
    CHECK(lines >= HeadLives::parts);
    CHECK(checkpoint_bytes(plain, folder) == checkpoint_bytes(measured, folder));
  }
}

TEST_CASE("a line has the costs, gate gradients and maps of the live heads") {
  RecipeRun pruned({.remove = 3, .examples = 20, .pace = OneShot{.at = 4}});
  pruned.run.run();
  Learner& learner = pruned.run.learner();
  const HeadLives lives(learner, fixed_example(lived_task()), longer,
                        [&] { return pruned.parts.history().timeline; });
  const LifeLine line = lives.line(12);
  CHECK(line.step == 12);
  CHECK(line.heads == live_heads(learner.model()));
  CHECK(line.heads.size() == 9);
  CHECK(line.examples > 0);
  REQUIRE(line.cost.size() == line.heads.size());
  const double aside = is_double ? 1e-6 : 1e-2, tiny = is_double ? 1e-6 : 2e-2;
  for (std::size_t i = 0; i < line.heads.size(); ++i) {
    const HeadId& head = line.heads[i];
    INFO(head.text());
    const double whole = loss_with_gate(learner, head, 1);
    const double cost = loss_with_gate(learner, head, 0) - whole;
    CHECK(std::abs(line.cost[i] - cost) < 1e-5 * std::abs(cost) + (is_double ? 1e-9 : 1e-4));
    const double slope = (loss_with_gate(learner, head, Real(1 + aside)) -
                          loss_with_gate(learner, head, Real(1 - aside))) /
                         (2 * aside);
    CHECK(std::abs(line.gate_gradient[i] - slope) < 1e-3 * std::abs(slope) + tiny);
  }
  REQUIRE(line.example.has_value());
  CHECK(line.example->source.size() >= 2);
  CHECK(line.example->target.back() == "$");
  CHECK(line.example->decoder_input.front() == "^");
  CHECK(line.example->maps.size() == line.heads.size());
  RunRecord run{.title = "lives"};
  add_log_line(json_of(line), "line", run);
  CHECK(run.lives == std::vector{line});
  Record broken = json_of(line);
  broken["cost"].erase(0);
  CHECK_THROWS_WITH(add_log_line(broken, "line", run), "line: lives.cost has 8 values for 9 heads");
  broken = json_of(line);
  broken["example"]["maps"][0]["rows"].erase(0);
  CHECK_THROWS_AS(add_log_line(broken, "line", run), DataError);
}

TEST_CASE("the fixed example is a short one of the validation set, or none") {
  Seq2SeqTask pairs = lived_task();
  const std::optional<FixedExample> example = fixed_example(pairs);
  REQUIRE(example.has_value());
  CHECK(example->source.size() == example->shown.source.size());
  CHECK(example->target_in.size() == example->shown.target.size());
  pairs.validation.clear();
  CHECK_FALSE(fixed_example(pairs).has_value());

  ClassificationTask brackets = make_brackets_task({.seed = 3, .train = 50, .validation = 20});
  REQUIRE(fixed_example(brackets).has_value());
  CHECK(fixed_example(brackets)->shown.target.empty());
  brackets.validation = {{Tokens(100, 3), 0}};
  CHECK_FALSE(fixed_example(brackets).has_value());

  const std::string text = "to be, or not to be, that is the question: whether ";
  TextCorpus corpus{.name = "text",
                    .vocabulary = Vocabulary::of_text(TokenKind::characters, Specials::none, text),
                    .train = {},
                    .validation = {}};
  corpus.validation = corpus.vocabulary.encode(text);
  const std::optional<FixedExample> words = fixed_example(corpus);
  REQUIRE(words.has_value());
  CHECK(words->target_in.size() == 16);
  CHECK(words->shown.decoder_input[1] == words->shown.target[0]);
}
