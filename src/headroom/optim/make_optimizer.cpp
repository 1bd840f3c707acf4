// Optimizers by name.
#include "headroom/optim/make_optimizer.hpp"

#include "headroom/base/error.hpp"
#include "headroom/base/names.hpp"
#include "headroom/optim/adam.hpp"
#include "headroom/optim/lamb.hpp"
#include "headroom/optim/muon.hpp"
#include "headroom/optim/sgd.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

void check(const OptimizerChoice& choice) {
  const bool elementwise = choice.kind == OptimizerKind::adamw || choice.kind == OptimizerKind::sgd;
  if (elementwise && choice.granularity != Granularity::tensor) {
    throw UsageError(std::string("granularity ") + name_of(choice.granularity) + ": " +
                     name_of(choice.kind) +
                     " treats every element alike; lamb and muon have a granularity");
  }
}

std::unique_ptr<Optimizer> make_optimizer(Module& model, const OptimizerChoice& choice,
                                          std::vector<ParameterGroup> groups) {
  check(choice);
  groups.push_back(no_decay_of_vectors());
  switch (choice.kind) {
    case OptimizerKind::adamw:
      return std::make_unique<AdamW>(model, AdamOptions{.beta1 = choice.beta1,
                                                        .beta2 = choice.beta2,
                                                        .weight_decay = choice.weight_decay,
                                                        .groups = groups});
    case OptimizerKind::sgd:
      return std::make_unique<Sgd>(
          model,
          SgdOptions{.momentum = 0.9, .weight_decay = choice.weight_decay, .groups = groups});
    case OptimizerKind::lamb:
      return std::make_unique<Lamb>(model, LambOptions{.beta1 = choice.beta1,
                                                       .beta2 = choice.beta2,
                                                       .weight_decay = choice.weight_decay,
                                                       .granularity = choice.granularity,
                                                       .groups = groups});
    case OptimizerKind::muon:
      return std::make_unique<Muon>(model, MuonOptions{.weight_decay = choice.weight_decay,
                                                       .granularity = choice.granularity,
                                                       .adam_rate_factor = 0.1,
                                                       .groups = groups});
  }
  throw UsageError("make_optimizer: no such optimizer");
}

double usual_rate(OptimizerKind kind, double adamw_rate) {
  switch (kind) {
    case OptimizerKind::adamw: return adamw_rate;
    case OptimizerKind::sgd: return 50 * adamw_rate;
    case OptimizerKind::lamb: return 5 * adamw_rate;
    case OptimizerKind::muon: return 10 * adamw_rate;
  }
  return adamw_rate;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
