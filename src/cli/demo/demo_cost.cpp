// Time and memory of training steps.
#include "cli/demo/demo_cost.hpp"

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

std::vector<OperationCost> operation_costs(const std::vector<Seq2Seq*>& models,
                                           const Seq2SeqBatch& batch, const char* operation,
                                           int rounds) {
  std::vector<std::vector<double>> times(models.size());
  std::vector<OperationCost> costs(models.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < models.size(); ++i) {
      set_profiling(true);
      training_loss(*models[i], batch).backward();
      set_profiling(false);
      zero_grad(*models[i]);
      OperationCost& cost = costs[i] = {};
      for (const ProfileRow& row : profile()) {
        cost.step_flops += row.flops;
        if (row.name != operation) continue;
        cost.flops += row.flops;
        cost.ms += 1e3 * row.seconds;
      }
      times[i].push_back(cost.ms);
    }
  }
  for (std::size_t i = 0; i < models.size(); ++i) costs[i].ms = median(times[i]);
  return costs;
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
