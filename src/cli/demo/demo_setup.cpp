// The demo's task, model and schedule.
#include "cli/demo/demo_setup.hpp"

#include <algorithm>

#include "headroom/optim/adam.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Learning rate: cosine decay in the first phase, and again from a lower start in the second.
RateOptions rate_of_learning(const DemoSetup& setup) {
  return {.shape = RateShape::cosine,
          .peak = setup.rate,
          .warmup = std::min<Index>(50, setup.learn_steps / 10),
          .steps = setup.learn_steps,
          .floor = setup.rate / 20};
}

RateOptions rate_of_removal(const DemoSetup& setup) {
  const Index steps = setup.prune_steps + setup.recover_steps;
  return {.shape = RateShape::linear,
          .peak = setup.rate / 2,
          .warmup = std::min<Index>(10, steps / 10),
          .steps = steps,
          .floor = setup.rate / 100};
}

}  // namespace

Seq2SeqTask demo_task(const DemoSetup& setup) {
  TaskOptions options;
  options.seed = setup.seed;
  options.validation = setup.validation;
  return std::get<Seq2SeqTask>(make_task("dates", options));
}

std::unique_ptr<TrainingRun> demo_run(const DemoSetup& setup, const Seq2SeqTask& task,
                                      Layout layout, Index telemetry) {
  TrainingSettings settings;
  settings.task = task.name;
  settings.data.seed = setup.seed;
  settings.data.validation = setup.validation;
  settings.model.block.width = setup.width;
  settings.model.block.heads = setup.heads;
  settings.model.block.hidden = setup.hidden;
  settings.model.block.layout = layout;
  settings.model.layers = setup.layers;
  settings.learner.batch_size = setup.batch_size;
  settings.learner.quick = 200;
  settings.rate = rate_of_learning(setup);
  settings.steps = setup.steps();
  settings.learner.seed = setup.seed;
  settings.telemetry = telemetry;
  settings.model = fitted_to(task, settings.model, settings.learner);
  auto learner = make_learner(task, settings.model, settings.learner);
  auto optimizer =
      std::make_unique<AdamW>(learner->model(), AdamOptions{.beta2 = 0.98, .weight_decay = 0.01});
  auto run = std::make_unique<TrainingRun>(settings, std::move(learner), std::move(optimizer));
  run->add_phase(setup.learn_steps, rate_of_removal(setup));
  return run;
}

Seq2Seq& seq2seq_of(TrainingRun& run) { return dynamic_cast<Seq2Seq&>(run.model()); }

double test_exact_match(TrainingRun& run) {
  return run.learner().test().at("exact_match").get<double>();
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
