// Dates: an encoder-decoder learns to read written dates, and is tested on dates it never saw.
// usage: dates [STEPS=500]
#include <cstdio>
#include <cstdlib>

#include "headroom/data/batches.hpp"
#include "headroom/data/task.hpp"
#include "headroom/nn/models.hpp"
#include "headroom/optim/adam.hpp"
#include "headroom/optim/clipping.hpp"
#include "headroom/optim/rate.hpp"
#include "headroom/train/evaluation.hpp"
#include "headroom/train/objectives.hpp"

using namespace headroom;

int main(int argc, char** argv) {
  const Index steps = argc > 1 ? std::atol(argv[1]) : 500;
  const auto task = std::get<Seq2SeqTask>(make_task("dates"));

  ModelConfig config;
  config.block = {.width = 64, .heads = 4, .hidden = 256, .layout = Layout::separate};
  config.source_vocabulary = task.source.size();
  config.target_vocabulary = task.target.size();
  Rng rng(1, "init");
  Seq2Seq model(config, rng);
  std::printf("%ld parameters, %ld heads\n", static_cast<long>(count_parameters(model)),
              static_cast<long>(live_heads(model).size()));

  AdamW optimizer(model, {.beta2 = 0.98, .weight_decay = 0.01});
  const RateSchedule rate(
      RateOptions{.shape = RateShape::cosine, .peak = 4e-3, .warmup = 50, .steps = steps});
  Seq2SeqLoader loader(task, 64, 1);
  for (Index step = 0; step < steps; ++step) {
    const Seq2SeqBatch batch = loader.next();
    const Tensor loss = training_loss(model, batch);
    if (step % 100 == 0)
      std::printf("step %3ld  loss %.3f\n", static_cast<long>(step), double(loss.item()));
    optimizer.zero_grad();
    loss.backward();
    clip_grad_norm(model, 1);
    optimizer.step(rate(step));
  }

  for (std::size_t i = 0; i < 5; ++i) {
    const Tokens& source = task.test[i].source;
    const auto outputs = outputs_for(model, {&source, 1}, task.source, task.target, 12);
    std::printf("  %-28s %s\n", task.source.decode(source).c_str(),
                task.target.decode(outputs[0][0].ids).c_str());
  }
  const double exact = score_greedily(model, task.test, task.source, task.target).exact_match();
  std::printf("exact match on dates never seen: %.1f %%\n", 100 * exact);
  return exact > 0.5 ? 0 : 1;
}
