// A small training run with every state that a resume must restore: dropout, bucketed batches,
// moments, a prune in the middle.
#pragma once

#include "headroom/data/embedded_tasks.hpp"
#include "headroom/nn/models.hpp"
#include "headroom/optim/adam.hpp"
#include "headroom/train/train.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

inline ModelConfig small_config(const Seq2SeqTask& task, Layout layout) {
  ModelConfig config;
  config.block.width = 16;
  config.block.heads = 4;
  config.block.hidden = 24;
  config.block.dropout = Real(0.1);
  config.block.layout = layout;
  config.layers = 1;
  config.source_vocabulary = task.source.size();
  config.target_vocabulary = task.target.size();
  config.longest = 24;
  return config;
}

struct SmallRun {
  static constexpr Index steps = 30, prune_at = 13, save_every = 4;

  explicit SmallRun(Layout layout = Layout::separate)
      : task(make_reverse_task({.seed = 2, .train = 90, .validation = 10, .test = 10})),
        rng(5, "init"),
        model(small_config(task, layout), rng),
        optimizer(model),
        trainer(optimizer, RateOptions{.shape = RateShape::cosine, .warmup = 5, .steps = steps},
                {.seed = 3}),
        loader(task, 8, 7) {
    checkpoint.about = task_record(task);
    checkpoint.add("model", model);
    checkpoint.add("optimizer", optimizer);
    checkpoint.add("trainer", trainer);
    checkpoint.add("data", loader.plan);
  }

  StepReport step() {
    const Seq2SeqBatch batch = loader.next();
    return trainer.step(
        [&](HeadProbe* probe) { return training_loss(model, batch, Real(0.1), probe); },
        label_count(batch));
  }
  void prune_when_due(const StepReport& report) {
    if (report.step != prune_at) return;
    const std::vector<HeadId> heads = {{AttentionKind::encoder_self, 0, 1},
                                       {AttentionKind::cross, 0, 0},
                                       {AttentionKind::cross, 0, 3}};
    optimizer.apply(prune(model, heads));
  }

  Seq2SeqTask task;
  Rng rng;
  Seq2Seq model;
  AdamW optimizer;
  Trainer trainer;
  Seq2SeqLoader loader;
  Checkpoint checkpoint;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
