// A user's program that removes heads while a model trains, in a loop of its own.
#include <cstdio>
#include <variant>

#include "headroom/headroom.hpp"
#include "headroom_measure/headroom_measure.hpp"

using namespace headroom;

int main() {
  const auto task = std::get<Seq2SeqTask>(make_task("reverse"));
  ModelConfig config;
  config.block = {.width = 16, .heads = 4, .hidden = 32};
  config.layers = 1;
  config.source_vocabulary = task.source.size();
  config.target_vocabulary = task.target.size();
  Rng rng(1, "init");
  Seq2Seq model(config, rng);
  AdamW optimizer(model);
  Seq2SeqLoader loader(task, 16, 1);

  // The first heads go first, one after every second step.
  Pruner pruner(optimizer, {.remove = 3, .pace = Gradual{.from = 0, .to = 6, .every = 2}},
                [&](Index) { return HeadChoice{.order = live_heads(model)}; });
  Trainer trainer(optimizer, RateSchedule({.peak = 1e-3}));
  trainer.add(pruner);
  StepReport report;
  for (Index step = 0; step < 8; ++step) {
    const Seq2SeqBatch batch = loader.next();
    report = trainer.step([&] { return training_loss(model, batch); });
  }
  std::printf("Real has %d bytes, %d of 12 heads are left\n", int(sizeof(Real)),
              int(report.heads_alive));
  if (sizeof(Real) != EXPECTED_BYTES) return 2;
  return report.heads_alive == 9 && live_heads(model).size() == 9 ? 0 : 1;
}
