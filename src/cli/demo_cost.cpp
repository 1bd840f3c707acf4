// Time and memory of training steps.
#include "cli/demo_cost.hpp"

#include <chrono>

#include "headroom/base/op_scope.hpp"
#include "headroom/optim/adam.hpp"
#include "headroom/statistics/ranks.hpp"
#include "headroom/train/objectives.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

std::vector<double> median_step_ms(const std::vector<Seq2Seq*>& models, const Seq2SeqBatch& batch,
                                   int rounds) {
  std::vector<std::vector<double>> times(models.size());
  std::vector<AdamW> optimizers;
  for (Seq2Seq* model : models) optimizers.emplace_back(*model);
  for (int round = -3; round < rounds; ++round) {  // the first three warm up
    for (std::size_t i = 0; i < models.size(); ++i) {
      const auto begin = std::chrono::steady_clock::now();
      training_loss(*models[i], batch).backward();
      optimizers[i].step(0);  // learning rate 0: the full work, no change
      optimizers[i].zero_grad();
      const std::chrono::duration<double, std::milli> time =
          std::chrono::steady_clock::now() - begin;
      if (round >= 0) times[i].push_back(time.count());
    }
  }
  std::vector<double> medians;
  for (const std::vector<double>& list : times) medians.push_back(median(list));
  return medians;
}

double operation_ms(Seq2Seq& model, const Seq2SeqBatch& batch, const char* operation, int rounds) {
  set_profiling(true);
  for (int round = 0; round < rounds; ++round) training_loss(model, batch).backward();
  set_profiling(false);
  zero_grad(model);
  double seconds = 0;
  for (const ProfileRow& row : profile()) {
    if (row.name == operation) seconds += row.seconds;
  }
  return 1e3 * seconds / rounds;
}

double step_bytes(Seq2Seq& model, const Seq2SeqBatch& batch) {
  zero_grad(model);
  const std::size_t before = pool_statistics().live;
  reset_pool_peak();
  training_loss(model, batch).backward();
  const std::size_t peak = pool_statistics().peak - before;
  zero_grad(model);
  const auto gradients = double(count_parameters(model)) * sizeof(Real);
  return double(peak) + 3 * gradients;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
