// Runs that begin with another one's weights, gradients of several batches, and the end by
// patience.
#include <cmath>

#include "headroom/base/error.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom_runs/runs/setting.hpp"
#include "headroom_runs/runs/training_run.hpp"
#include "headroom_runs/tables/given_vocabulary.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;
using Catch::Matchers::Contains;

namespace {

RunSettings small_settings(const std::string& task, const std::filesystem::path& data = {}) {
  RunSettings settings = usual_settings(task);
  TrainingSettings& run = settings.training;
  run.data.data = data;
  run.model.block.width = 16;
  run.model.block.hidden = 32;
  run.model.block.heads = 2;
  run.model.layers = 1;
  run.learner.batch_size = 4;
  run.learner.length = 8;
  run.steps = 6;
  run.rate.warmup = 0;
  run.evaluate_every = run.save_every = 3;
  run.telemetry = 0;
  run.derive();
  return settings;
}

/// All parameters of a model, one after the other.
std::vector<double> numbers_of(Module& model) {
  std::vector<double> all;
  for (const NamedParameter& parameter : parameters(model)) {
    for (const Real value : parameter.tensor.value().span()) all.push_back(double(value));
  }
  return all;
}

double largest_difference_of(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

/// Words of different lengths and what they become.
std::string words_table() {
  std::string text;
  for (const char* word :
       {"a",   "bcd", "ab",   "abcdab", "cab", "dd", "bad", "cabd", "dab", "b",
        "acd", "bda", "dcba", "aab",    "bb",  "cc", "dca", "abc",  "bca", "ad"}) {
    text += std::string(word) + "\t" + word + "s\n";
  }
  return text;
}

}  // namespace

TEST_CASE("the gradients of N batches are those of one batch of N times the size") {
  const TemporaryFolder folder;
  const std::string task = GENERATE("pairs", "brackets", "text");
  INFO(task);
  std::filesystem::path data;
  if (task == "pairs") data = folder.file("words.tsv", words_table());
  if (task == "text") data = folder.file("text.txt", std::string(400, 'a') + "bcd ba dc");
  TrainingSettings in_parts = small_settings(task, data).training;
  in_parts.learner.label_smoothing = Real(0.1);
  // Adam would make full steps of the rounding noise that is the gradient of a key bias.
  in_parts.optimizer.kind = OptimizerKind::sgd;
  TrainingSettings whole = in_parts;
  in_parts.learner.accumulate = 3;
  whole.learner.batch_size = 12;
  TrainingRun parts(in_parts, in_parts.make_task()), one(whole, whole.make_task());
  for (int step = 0; step < 4; ++step) {
    const StepReport some = parts.step(), all = one.step();
    CHECK(some.tokens == all.tokens);
    CHECK(std::abs(some.loss - all.loss) < (is_double ? 1e-12 : 1e-5));
    CHECK(std::abs(some.gradient_norm - all.gradient_norm) < (is_double ? 1e-12 : 1e-4));
  }
  CHECK(largest_difference_of(numbers_of(parts.model()), numbers_of(one.model())) <
        (is_double ? 1e-12 : 2e-4));
}

TEST_CASE("the parts of a batch draw different dropout masks") {
  TrainingSettings settings = small_settings("brackets").training;
  settings.learner.accumulate = 2;
  settings.model.block.dropout = Real(0.5);
  TrainingRun in_parts(settings, settings.make_task());
  TrainingSettings dry = settings;
  dry.model.block.dropout = 0;
  TrainingRun without(dry, dry.make_task());
  CHECK(in_parts.step().loss != without.step().loss);
}

TEST_CASE("a run begins with the weights of another one, with or without its moments") {
  const TemporaryFolder folder;
  const RunSettings first = small_settings("reverse");
  const TrainingSettings& settings = first.training;
  TrainingRun trained(settings, settings.make_task());
  trained.keep_in(RunFolder(folder / "first"));
  trained.run();
  const std::vector<double> weights = numbers_of(trained.model());

  TrainingSettings again = settings;
  again.vocabulary = vocabulary_of(load_model(folder / "first/checkpoint.safetensors"));
  const auto begun = [&](Moments moments) {
    auto run = std::make_unique<TrainingRun>(again, again.make_task());
    run->take_weights(folder / "first/checkpoint.safetensors", moments);
    CHECK(numbers_of(run->model()) == weights);
    CHECK(run->steps() == 0);
    return run;
  };
  const auto fresh = begun(Moments::fresh), kept = begun(Moments::keep);
  const auto updates_of = [](TrainingRun& run) {
    Index most = 0;
    for (const auto& [name, state] : run.optimizer().states()) {
      for (const Index updates : state.steps) most = std::max(most, updates);
    }
    return most;
  };
  CHECK(updates_of(*fresh) == 0);
  CHECK(updates_of(*kept) == 6);

  // A run with moments of more updates than it has steps is saved and resumed.
  kept->keep_in(RunFolder(folder / "kept"));
  REQUIRE_FALSE(kept->run(nullptr, 2));
  TrainingRun resumed(again, again.make_task());
  resumed.keep_in(RunFolder(folder / "kept", IfExists::resume));
  CHECK(resumed.steps() == 2);
  CHECK(numbers_of(resumed.model()) == numbers_of(kept->model()));
  kept->run();
  resumed.run();
  CHECK(numbers_of(resumed.model()) == numbers_of(kept->model()));
}

TEST_CASE("weights of another size, and of a model with fewer heads, are refused") {
  const TemporaryFolder folder;
  const TrainingSettings settings = small_settings("reverse").training;
  TrainingRun trained(settings, settings.make_task());
  trained.optimizer().apply(
      prune(trained.model(), std::vector<HeadId>{{AttentionKind::encoder_self, 0, 1}}));
  trained.save(folder / "pruned.safetensors");

  TrainingRun same(settings, settings.make_task());
  same.take_weights(folder / "pruned.safetensors", Moments::fresh);
  CHECK(numbers_of(same.model()) == numbers_of(trained.model()));

  TrainingRun other_heads(settings, settings.make_task());
  prune(other_heads.model(), std::vector<HeadId>{{AttentionKind::encoder_self, 0, 0}});
  CHECK_THROWS_WITH(other_heads.take_weights(folder / "pruned.safetensors", Moments::fresh),
                    Contains("does not have all heads of this run"));

  TrainingSettings wide = settings;
  wide.model.block.hidden = 48;
  TrainingRun wider(wide, wide.make_task());
  CHECK_THROWS_WITH(wider.take_weights(folder / "pruned.safetensors", Moments::fresh),
                    Contains("has no parameter") && Contains("of shape"));
}

TEST_CASE("a run ends when its patience does, and a resumed one at the same step") {
  const TemporaryFolder folder;
  TrainingSettings settings = small_settings("brackets").training;
  settings.steps = 200;
  settings.rate.peak = 1e-12;  // nothing is learned, so no evaluation is better than the first
  settings.rate.shape = RateShape::constant;
  settings.patience = 3;
  settings.derive();
  TrainingRun run(settings, settings.make_task());
  run.keep_in(RunFolder(folder / "run"));
  REQUIRE_FALSE(run.run(nullptr, 4));
  TrainingRun resumed(settings, settings.make_task());
  resumed.keep_in(RunFolder(folder / "run", IfExists::resume));
  CHECK(resumed.run());
  CHECK(resumed.steps() == 3 + 3 * 3);  // the first evaluation is after step 3
  CHECK(resumed.conclude()["ended_by"] == "patience");

  TrainingRun finished(settings, settings.make_task());
  finished.keep_in(RunFolder(folder / "run", IfExists::resume));
  CHECK(finished.run());
  CHECK(finished.steps() == 12);

  settings.patience = 0;
  settings.steps = 20;
  settings.derive();
  TrainingRun patient(settings, settings.make_task());
  CHECK(patient.run());
  CHECK(patient.steps() == 20);
}

TEST_CASE("data are read in the vocabulary of the model, and what it lacks is unknown or refused") {
  const TemporaryFolder folder;
  const Vocabulary letters(TokenKind::characters, Specials::all, {"d", "c", "b", "a", "s"});
  const Record pairs{
      {"kind", "seq2seq"}, {"source", letters.record()}, {"target", letters.record()}};
  TrainingSettings settings = small_settings("pairs", folder.file("w.tsv", words_table())).training;
  const auto own = std::get<Seq2SeqTask>(settings.make_task());
  settings.vocabulary = pairs;
  const auto theirs = std::get<Seq2SeqTask>(settings.make_task());
  REQUIRE(own.train.size() == theirs.train.size());
  for (std::size_t i = 0; i < own.train.size(); ++i) {
    CHECK(own.source.decode(own.train[i].source) == theirs.source.decode(theirs.train[i].source));
    CHECK(own.target.decode(own.train[i].target) == theirs.target.decode(theirs.train[i].target));
  }
  CHECK(theirs.source.encode("a") == letters.encode("a"));

  const Vocabulary few(TokenKind::characters, Specials::all, {"a", "b", "s"});
  const auto some = std::get<Seq2SeqTask>(in_vocabulary(
      own, {{"kind", "seq2seq"}, {"source", few.record()}, {"target", letters.record()}}, "x"));
  bool is_unknown = false;
  for (const Seq2SeqExample& one : some.train) {
    is_unknown |= std::count(one.source.begin(), one.source.end(), few.unk()) > 0;
  }
  CHECK(is_unknown);

  const auto refused = [&](const Task& task, Record vocabulary, const char* words) {
    CHECK_THROWS_WITH(in_vocabulary(task, vocabulary, "settings"), Contains(words));
  };
  refused(own, {{"kind", "classifier"}}, "the task needs a seq2seq, but the model is a classifier");
  const Vocabulary words(TokenKind::words, Specials::all, {"a"});
  refused(own, {{"kind", "seq2seq"}, {"source", words.record()}, {"target", few.record()}},
          "the data are characters, but the model reads and predicts words");
  refused(own, {{"kind", "seq2seq"}, {"source", few.record()}}, "\"vocabulary.target\" is missing");
  const ClassificationTask labels{.name = "labels",
                                  .tokens = letters,
                                  .classes = {"good", "new"},
                                  .train = {},
                                  .validation = {},
                                  .test = {}};
  refused(labels,
          {{"kind", "classifier"}, {"tokens", letters.record()}, {"classes", {"bad", "good"}}},
          "the model has no class \"new\"; its classes are \"bad\", \"good\"");
  const Vocabulary plain(TokenKind::characters, Specials::none, {"a", "b"}),
      known(TokenKind::characters, Specials::none, {"b"});
  refused(TextCorpus{"text", plain, {0, 1}, {0}},
          {{"kind", "language_model"}, {"tokens", known.record()}}, "does not know \"a\"");
}
