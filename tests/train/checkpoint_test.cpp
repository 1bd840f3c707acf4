// Checkpoints: one file restores everything, and errors name what does not fit.
#include "headroom/train/checkpoint.hpp"

#include <cmath>
#include <cstring>
#include <limits>

#include "headroom/autograd/tape.hpp"
#include "headroom/base/error.hpp"
#include "headroom/io/checksums.hpp"
#include "support/catch.hpp"
#include "support/small_training.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;
using Catch::Matchers::Contains;

namespace {

/// Trains a run past its prune.
void train_a_little(SmallRun& run) {
  TrainingLoop loop(SmallRun::prune_at + 2, [&] { return run.step(); });
  loop.each([&](StepReport& report) { run.prune_when_due(report); });
  loop.run();
}

bool same_bits(const Array& a, const Array& b) {
  return a.shape() == b.shape() && std::memcmp(a.data(), b.data(), a.span().size_bytes()) == 0;
}

/// The error of load_model() for a checkpoint after a change of its content.
template <class Change>
void check_refused(const SmallRun& run, const std::string& words, Change change) {
  const TemporaryFolder folder;
  run.checkpoint.save(folder / "c.safetensors");
  TensorFile file = TensorFile::read(folder / "c.safetensors");
  file.metadata.erase(checksums_key);  // they would name the change
  change(file);
  file.write(folder / "c.safetensors");
  CHECK_THROWS_AS(load_model(folder / "c.safetensors"), FileError);
  CHECK_THROWS_WITH(load_model(folder / "c.safetensors"), Contains(words));
}

}  // namespace

TEST_CASE("a checkpoint with values that are not finite is refused, and the old one stays") {
  const TemporaryFolder folder;
  SmallRun run;
  train_a_little(run);
  run.checkpoint.save(folder / "c.safetensors");
  const std::string saved = folder.content("c.safetensors");
  const auto refused = [&](const std::string& name) {
    CHECK_THROWS_AS(run.checkpoint.save(folder / "c.safetensors"), NumericError);
    CHECK_THROWS_WITH(run.checkpoint.save(folder / "c.safetensors"),
                      Contains("c.safetensors: not saved") && Contains(name));
    const bool same = folder.content("c.safetensors") == saved;
    CHECK(same);
  };
  std::vector<NamedParameter> all = parameters(run.model);
  const Array before = all[1].tensor.value().clone();
  Array poisoned = before.clone();
  poisoned[2] = std::numeric_limits<Real>::infinity();
  all[1].tensor.set_value(poisoned);
  refused("1 of " + std::to_string(before.size()) + " values of model." + all[1].name);
  all[1].tensor.set_value(before);
  CHECK_NOTHROW(run.checkpoint.save(folder / "c.safetensors"));

  // The second moment overflows, the parameters do not.
  for (NamedParameter& parameter : all) {
    parameter.tensor.set_grad(
        Array(parameter.tensor.shape(), std::sqrt(std::numeric_limits<Real>::max()) * 100));
  }
  run.optimizer.step(1e-9);
  refused(".second are not finite");

  TensorFile file = TensorFile::read(folder / "c.safetensors");
  const std::string moment = "x";
  file.put(moment, Array({2}, std::numeric_limits<Real>::quiet_NaN()));
  CHECK(count_not_finite(file, moment) == 2);
  CHECK(count_not_finite(file, "model." + all[1].name) == 0);
}

TEST_CASE("a model comes back from the file alone, pruned as it was, and answers alike") {
  for (const Layout layout : all_of<Layout>()) {
    INFO(name_of(layout));
    const TemporaryFolder folder;
    SmallRun run(layout);
    train_a_little(run);
    run.checkpoint.save(folder / "c.safetensors");

    const SavedModel saved = load_model(folder / "c.safetensors");
    CHECK(saved.removed.size() == 3);
    CHECK(live_heads(saved.seq2seq()) == live_heads(run.model));
    const Vocabulary source = saved.vocabulary("source");
    CHECK(source.encode("abc") == run.task.source.encode("abc"));
    const Seq2SeqBatch batch = make_batch(run.task.train, {0, 1, 2}, source, run.task.target);
    const Evaluating now(run.model);
    const Tensor ours = run.model(batch.source, batch.source_lengths, batch.target_in);
    const Tensor theirs = saved.seq2seq()(batch.source, batch.source_lengths, batch.target_in);
    CHECK(same_bits(ours.value(), theirs.value()));
    CHECK_THROWS_WITH(saved.language_model(),
                      Contains("the model is a seq2seq, not a language_model"));
    CHECK_THROWS_AS(saved.vocabulary("tokens"), FileError);
  }
}

TEST_CASE("a resumed run takes the next step as the saved one does") {
  const TemporaryFolder folder;
  SmallRun run;
  train_a_little(run);
  run.checkpoint.save(folder / "c.safetensors");
  SmallRun resumed;
  resumed.checkpoint.load(folder / "c.safetensors");
  CHECK(resumed.trainer.steps() == run.trainer.steps());
  CHECK(resumed.checkpoint.about == run.checkpoint.about);
  for (int step = 0; step < 3; ++step) CHECK(run.step().loss == resumed.step().loss);
  const auto ours = parameters(run.model), theirs = parameters(resumed.model);
  REQUIRE(ours.size() == theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    INFO(ours[i].name);
    CHECK(same_bits(ours[i].tensor.value(), theirs[i].tensor.value()));
    CHECK(same_bits(run.optimizer.state(ours[i].name).second,
                    resumed.optimizer.state(ours[i].name).second));
  }
}

TEST_CASE("a language model opens from a checkpoint with the former names, moments included") {
  ModelConfig config;
  config.kind = ModelKind::language_model;
  config.source_vocabulary = 7;
  config.block = {.width = 8, .heads = 2};
  Rng rng(1), other(2);
  LanguageModel model(config, rng), resumed(config, other);
  AdamW optimizer(model), resumed_optimizer(resumed);
  optimizer.apply(prune(model, std::vector<HeadId>{{AttentionKind::decoder_self, 1, 0}}));
  for (auto& [name, tensor] : parameters(model)) tensor.set_grad(tensor.value().clone());
  optimizer.step(0.1);
  const TemporaryFolder folder;
  Checkpoint checkpoint;
  checkpoint.add("model", model);
  checkpoint.add("optimizer", optimizer);
  checkpoint.save(folder / "new.safetensors");
  TensorFile file = TensorFile::read(folder / "new.safetensors");
  const auto former = [](std::string text) {
    for (std::size_t at = 0; (at = text.find("decoder.", at)) != std::string::npos; ++at) {
      text.replace(at, 8, "encoder.");
    }
    return text;
  };
  Index renamed = 0;
  for (const std::string& name : file.names()) {
    if (former(name) == name) continue;
    file.rename(name, former(name));
    ++renamed;
  }
  REQUIRE(renamed == 4 * 26);  // of each parameter of the stack: value, two moments, step counts
  REQUIRE(former(file.metadata.at("optimizer.axes")) != file.metadata.at("optimizer.axes"));
  file.metadata["optimizer.axes"] = former(file.metadata["optimizer.axes"]);
  file.metadata.erase(checksums_key);
  add_checksums(file);
  file.write(folder / "old.safetensors");

  const SavedModel saved = load_model(folder / "old.safetensors");
  Checkpoint again;
  again.add("model", resumed);
  again.add("optimizer", resumed_optimizer);
  again.load(folder / "old.safetensors");
  const auto ours = parameters(model), opened = parameters(*saved.model),
             theirs = parameters(resumed);
  for (std::size_t i = 0; i < ours.size(); ++i) {
    INFO(ours[i].name);
    CHECK(ours[i].name == opened.at(i).name);
    CHECK(same_bits(ours[i].tensor.value(), opened[i].tensor.value()));
    CHECK(same_bits(ours[i].tensor.value(), theirs.at(i).tensor.value()));
    const OptimizerState &a = optimizer.state(ours[i].name),
                         &b = resumed_optimizer.state(ours[i].name);
    CHECK(same_bits(a.second, b.second));
    CHECK(a.steps == b.steps);
    CHECK(a.axis == b.axis);
  }

  file.put("model.decoder.norm.weight", Array({8}));  // both names: neither is taken
  file.metadata.erase(checksums_key);
  file.write(folder / "both.safetensors");
  CHECK_THROWS_WITH(load_model(folder / "both.safetensors"),
                    Contains("model.encoder.norm.weight") && Contains("no such parameter"));
}

TEST_CASE("a checkpoint that does not fit the run is refused by name") {
  const TemporaryFolder folder;
  SmallRun run;
  run.checkpoint.save(folder / "c.safetensors");

  SmallRun fused(Layout::fused);
  CHECK_THROWS_WITH(fused.checkpoint.load(folder / "c.safetensors"),
                    Contains("layout") && Contains("separate") && Contains("fused"));
  SmallRun pruned;
  prune(pruned.model, std::vector<HeadId>{{AttentionKind::cross, 0, 1}});
  CHECK_THROWS_WITH(pruned.checkpoint.load(folder / "c.safetensors"),
                    Contains("has head cross 0.1"));
  Trainer other_seed(run.optimizer, RateOptions{}, {.seed = 4});
  Checkpoint other;
  other.add("trainer", other_seed);
  CHECK_THROWS_WITH(other.load(folder / "c.safetensors"), Contains("trained with seed 3, not 4"));
  CHECK_THROWS_AS(other.add("trainer", other_seed), UsageError);
}

TEST_CASE("a file that is not what it says is refused with the entry's name") {
  SmallRun run;
  train_a_little(run);
  const auto without = [](TensorFile& file, const std::string& name) {
    TensorFile rest;
    rest.metadata = file.metadata;
    for (const std::string& other : file.names()) {
      if (other != name) rest.put(other, file.tensor(other));
    }
    file = rest;
  };
  const std::string norm = "model.encoder.layers.0.norm1.weight";
  check_refused(run, norm, [&](TensorFile& file) { without(file, norm); });
  check_refused(run, norm, [&](TensorFile& file) {
    without(file, norm);
    file.put(norm, zeros({17}));
  });
  check_refused(run, "model.intruder",
                [](TensorFile& file) { file.put("model.intruder", ones({2})); });
  check_refused(run, "model.config", [](TensorFile& file) { file.metadata.erase("model.config"); });
  const auto with_config = [](const char* key, const Record& value, bool in_block) {
    return [=](TensorFile& file) {
      Record config = Record::parse(file.metadata["model.config"]);
      Record& place = in_block && config.contains("block") ? config["block"] : config;
      place[key] = value;
      file.metadata["model.config"] = config.dump();
    };
  };
  check_refused(run, "larger model", with_config("width", 9'000'000, true));
  check_refused(run, "larger model", with_config("layers", 9'000'000, false));
  check_refused(run, "model.config", with_config("surprise", 1, false));
  check_refused(run, "is not a kind of attention", [](TensorFile& file) {
    file.metadata["model.removed"] = R"([{"kind": "sideways", "layer": 0, "head": 0}])";
  });
  check_refused(run, "cross 7.0", [](TensorFile& file) {
    file.metadata["model.removed"] = R"([{"kind": "cross", "layer": 7, "head": 0}])";
  });
}

TEST_CASE("a bit that changed in a checkpoint is found, in each of its parts") {
  const TemporaryFolder folder;
  SmallRun run;
  train_a_little(run);
  run.checkpoint.save(folder / "c.safetensors");
  const TensorFile whole = TensorFile::read(folder / "c.safetensors");
  const std::string bytes = folder.content("c.safetensors");
  std::uint64_t header = 0;
  std::memcpy(&header, bytes.data(), sizeof header);
  Index found = 0;
  for (std::size_t at = 8 + header; at < bytes.size(); at += 997) {
    std::string changed = bytes;
    changed[at] = char(changed[at] ^ (1 << (at % 8)));
    folder.file("c.safetensors", changed);
    CAPTURE(at);
    CHECK_THROWS_WITH(run.checkpoint.load(folder / "c.safetensors"),
                      Contains("has changed since it was saved"));
    CHECK_THROWS_AS(load_model(folder / "c.safetensors"), FileError);
    ++found;
  }
  CHECK(found > 20);
  TensorFile other = whole;
  other.metadata["trainer.steps"] = "3";
  other.write(folder / "c.safetensors");
  CHECK_THROWS_WITH(run.checkpoint.load(folder / "c.safetensors"),
                    Contains("its metadata has changed"));
}

TEST_CASE("the best value so far is remembered") {
  BestSoFar best(BestSoFar::Better::lower);
  CHECK(best.improves(3, 10));
  CHECK_FALSE(best.improves(3, 20));
  CHECK(best.improves(2.5, 30));
  TensorFile file;
  best.save_state(StateWriter(file, "best."));
  BestSoFar again(BestSoFar::Better::lower);
  again.load_state(StateReader(file, "best."));
  CHECK_FALSE(again.improves(2.75, 40));
  CHECK(again.value() == 2.5);
  CHECK(again.step() == 30);
  BestSoFar highest(BestSoFar::Better::higher);
  CHECK(highest.improves(0, 1));
  CHECK(highest.improves(0.5, 2));
  CHECK_FALSE(highest.improves(0.25, 3));
}

TEST_CASE("what is no finite number is never the best, not even the first") {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const auto better : {BestSoFar::Better::lower, BestSoFar::Better::higher}) {
    BestSoFar best(better);
    for (const double value : {std::nan(""), infinity, -infinity}) {
      INFO(value);
      CHECK_FALSE(best.improves(value, 10));
      CHECK(best.step() == 0);
    }
    CHECK(best.improves(3, 20));
    CHECK_FALSE(best.improves(std::nan(""), 30));
    CHECK(best.value() == 3);
    TensorFile file;
    CHECK_NOTHROW(best.save_state(StateWriter(file)));
  }
}

TEST_CASE("a best value from a step before the first is refused") {
  TensorFile file;
  file.metadata = {{"best.value", "2.5"}, {"best.step", "-1"}};
  BestSoFar best(BestSoFar::Better::lower);
  CHECK(best.improves(3, 10));
  CHECK_THROWS_AS(best.load_state(StateReader(file, "best.")), FileError);
  CHECK_THROWS_WITH(best.load_state(StateReader(file, "best.")),
                    Contains("\"best.step\": -1 is negative"));
  CHECK(best.value() == 3);  // unchanged
}
