// Telemetry must not change a training run's results, and hardly its time.
#include "headroom/base/error.hpp"
#include "headroom/base/op_scope.hpp"
#include "headroom/base/parallel.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/ops/ops.hpp"
#include "headroom/optim/sgd.hpp"
#include "runs/watched_run.hpp"
#include "support/bag.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;
using Catch::Matchers::Contains;

namespace {

std::string checkpoint_bytes(const SmallRun& run) {
  const TemporaryFolder folder;
  run.checkpoint.save(folder / "checkpoint");
  return read_file(folder / "checkpoint");
}

/// Closes the gate of one head in every forward pass.
struct ShutHead : StepPart {
  void begin(Index, HeadProbe& probe) override {
    Array gates = ones({4});
    gates[2] = 0;
    probe.gates[{AttentionKind::cross, 0}] = constant(gates);
  }
};

}  // namespace

TEST_CASE("telemetry changes no bit of the training") {
  for (const Layout layout : all_of<Layout>()) {
    INFO(name_of(layout));
    SmallRun plain(layout);
    WatchedRun watched(layout, 1), sometimes(layout, 7);
    Index lines = 0;
    for (Index i = 0; i < 20; ++i) {
      const StepReport without = plain.step(), with = watched.step(), seldom = sometimes.step();
      CHECK(without.loss == with.loss);
      CHECK(without.gradient_norm == with.gradient_norm);
      CHECK(without.lines.empty());
      CHECK(telemetry_of(with).value().step == with.step);
      CHECK(seldom.lines.empty() == (seldom.step % 7 != 0));
      if (!seldom.lines.empty()) CHECK(seldom.lines == with.lines);
      lines += Index(seldom.lines.size());
      for (SmallRun* run : std::initializer_list<SmallRun*>{&plain, &watched, &sometimes}) {
        run->prune_when_due(with);
      }
    }
    CHECK(lines == 2);
    CHECK(checkpoint_bytes(plain) == checkpoint_bytes(watched));
    CHECK(checkpoint_bytes(plain) == checkpoint_bytes(sometimes));
  }
}

TEST_CASE("a trainer measures gradients before it clips them") {
  const auto first_line = [](double clip) {
    SmallRun run;
    Trainer trainer(run.optimizer, RateOptions{}, {.seed = 3, .clip = clip});
    HeadTelemetry telemetry(run.model, 1);
    trainer.add(telemetry);
    const Seq2SeqBatch batch = run.loader.next();
    const StepReport report =
        trainer.step([&](HeadProbe* probe) { return training_loss(run.model, batch, 0, probe); });
    return telemetry_of(report).value();
  };
  const TelemetryLine whole = first_line(0), clipped = first_line(1e-3);
  CHECK(clipped.gradient_norm == whole.gradient_norm);
  CHECK(clipped.gate_gradient == whole.gate_gradient);
  CHECK(whole.gradient_norm.query[0] > 0);
}

TEST_CASE("any number of threads writes the same line, with a finite number for every head") {
  const int before = num_threads();
  std::vector<std::string> lines;
  for (const int threads : {1, 2, 3}) {
    set_num_threads(threads);
    WatchedRun run(Layout::fused, 1);
    Record line;
    for (Index i = 0; i < 15; ++i) {
      const StepReport report = run.step();
      line = report.lines.at(0);
      run.prune_when_due(report);
    }
    lines.push_back(line.dump());
    CHECK(line["record"] == "heads");
    CHECK(line["heads"].size() == 9);
    for (const char* key : {"gate_gradient", "entropy", "confidence"}) {
      CHECK(line[key].size() == 9);
      for (const Record& number : line[key]) CHECK(number.is_number());
    }
    for (const char* key : {"gradient_norm", "update_ratio"}) {
      for (const char* block : {"query", "key", "value", "output"}) {
        CHECK(line[key][block].size() == 9);
        for (const Record& number : line[key][block]) CHECK(number.get<double>() > 0);
      }
    }
  }
  set_num_threads(before);
  CHECK(lines[0] == lines[1]);
  CHECK(lines[0] == lines[2]);
}

TEST_CASE("what a measured step adds is a small share of the step's work") {
  // Two layers of the sizes that `bench step --case small` has six of.
  ModelConfig config;
  config.kind = ModelKind::language_model;
  config.block.width = 256;
  config.block.heads = 8;
  config.layers = 2;
  config.source_vocabulary = config.target_vocabulary = 256;
  config.longest = 128;
  Rng rng(1, "init");
  LanguageModel model(config, rng);
  AdamW optimizer(model);
  HeadTelemetry telemetry(model, 2);
  Ids ids(Shape{8, 128});
  for (std::int32_t& id : ids.span()) id = static_cast<std::int32_t>(rng.below(256));

  const auto profile_of_step = [&](Index step) {
    set_profiling(true);
    HeadProbe probe;
    StepReport report;
    optimizer.zero_grad();
    telemetry.begin(step, probe);
    cross_entropy(model(ids, &probe), ids).backward();
    telemetry.after_backward();
    optimizer.step(1e-3);
    telemetry.after_update(report);
    set_profiling(false);
    return profile();
  };
  const auto total = [](const std::vector<ProfileRow>& rows) {
    ProfileRow sum;
    for (const ProfileRow& row : rows) {
      sum.flops += row.flops;
      sum.bytes += row.bytes;
      sum.calls += row.calls;
    }
    return sum;
  };
  const auto is_telemetry = [](const ProfileRow& row) {
    return row.name == "telemetry" || row.name == "attention rows";
  };
  const std::vector<ProfileRow> plain_rows = profile_of_step(1), rows = profile_of_step(2);
  CHECK(std::none_of(plain_rows.begin(), plain_rows.end(), is_telemetry));
  const ProfileRow plain = total(plain_rows), measured = total(rows);
  // All added work is profiled under its own name.
  std::vector<ProfileRow> own;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(own), is_telemetry);
  const ProfileRow added = total(own);
  CHECK(added.calls == measured.calls - plain.calls);
  CHECK(added.calls == 2 + 2);  // twice, and the rows of two layers
  CHECK(std::abs(added.flops - (measured.flops - plain.flops)) < 1);
  CHECK(std::abs(added.bytes - (measured.bytes - plain.bytes)) < 1);

  // 2 flops for every score, 9 for every weight; each of q and k and five times the weights moved.
  const double pairs = 2 * 8 * 8 * (128 * 129 / 2), weights = 2 * 4 * 256 * 256;
  const double moved = 2 * 2 * 8 * 128 * 256 + 5 * weights;
  CHECK(added.flops == pairs * 2 * 32 + 9 * weights);
  CHECK(added.bytes > moved * sizeof(Real));
  CHECK(added.bytes < 1.02 * moved * sizeof(Real));
  // So a tenth of it, in every tenth step, is far less than 3 %.
  CHECK(added.flops < 0.02 * plain.flops);
  CHECK(added.bytes < 0.05 * plain.bytes);
}

TEST_CASE("telemetry says what it needs") {
  SmallRun run;
  CHECK_THROWS_WITH(HeadTelemetry(run.model, -1), Contains("-1"));
  CHECK_THROWS_AS(HeadTelemetry(run.model, -1), UsageError);
  Trainer trainer(run.optimizer, RateOptions{});
  HeadTelemetry second(run.model, 2);
  trainer.add(second);
  const Seq2SeqBatch batch = run.loader.next();
  const auto unprobed = [&] { return training_loss(run.model, batch); };
  CHECK_NOTHROW(trainer.step(unprobed));
  CHECK_THROWS_WITH(trainer.step(unprobed), Contains("did not give the probe"));

  Bag bag;  // no attention: no telemetry
  Tensor& p = bag.add("p", Array({2}, {1, 2}));
  Sgd optimizer(bag);
  Trainer without(optimizer, RateOptions{});
  HeadTelemetry none(bag, 1);
  without.add(none);
  CHECK(without.step([&] { return sum(p * p); }).lines.empty());
}

TEST_CASE("gates that a part sets are in the forward pass, with telemetry beside them") {
  SmallRun plain;
  WatchedRun gated(Layout::separate, 1);
  ShutHead shut;
  gated.trainer.add(shut);
  const StepReport without = plain.step(), with = gated.step();
  CHECK(without.loss != with.loss);
  // The closed head's output weights get no gradient, as its telemetry shows, in the order of
  // heads.
  const TelemetryLine line = telemetry_of(with).value();
  for (std::size_t i = 0; i < line.heads.size(); ++i) {
    INFO(line.heads[i].text());
    CHECK((line.gradient_norm.output[i] == 0) == (line.heads[i].text() == "cross 0.2"));
  }
}
