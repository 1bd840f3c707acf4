// The optimizers that the laboratory compares.
#include "lab/optimizer_rules.hpp"

#include <chrono>

#include "headroom/optim/adam.hpp"
#include "headroom/optim/lamb.hpp"
#include "headroom/optim/muon.hpp"
#include "headroom/optim/sgd.hpp"
#include "headroom/statistics/ranks.hpp"
#include "headroom/surgery/transplant.hpp"
#include "lab/imitation.hpp"
#include "lab/twin_layouts.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

template <class Kind, class Options>
OptimizerMaker maker(Options options) {
  return [options](Module& model) -> std::unique_ptr<Optimizer> {
    return std::make_unique<Kind>(model, options);
  };
}

}  // namespace

OptimizerMaker make_sgd(double momentum) { return maker<Sgd>(SgdOptions{.momentum = momentum}); }
OptimizerMaker make_adam(double epsilon) { return maker<Adam>(AdamOptions{.epsilon = epsilon}); }
OptimizerMaker make_adamw(double epsilon) {
  return maker<AdamW>(AdamOptions{.epsilon = epsilon, .weight_decay = 0.01});
}

std::vector<OptimizerRule> optimizer_rules(Index width) {
  // The mean over C outputs makes gradients smaller as the width grows; this affects SGD only.
  std::vector<OptimizerRule> rules{{{"SGD", make_sgd(), 0.05 * double(width)}},
                                   {{"Adam", make_adam(), 0.01}},
                                   {{"AdamW", make_adamw(), 0.01}}};
  constexpr Granularity all[] = {Granularity::tensor, Granularity::projection, Granularity::head};
  const auto name = [](const char* rule, Granularity g) {
    return std::string(rule) + " per " + name_of(g);
  };
  for (const Granularity g : all) {
    rules.push_back({{name("LAMB", g), maker<Lamb>(LambOptions{.granularity = g}), 0.02}, g});
  }
  for (const Granularity g : all) {
    rules.push_back({{name("Muon", g), maker<Muon>(MuonOptions{.granularity = g}), 0.02}, g});
  }
  return rules;
}

TrainingCurves train_both_layouts(const OptimizerRule& rule, Index width, Index heads,
                                  std::uint64_t seed) {
  Rng rng(seed, "optimizers");
  const auto [separate, fused] = twin_layouts({.width = width, .heads = heads, .bias = false}, rng);
  const Imitation task(width, heads, seed, false);
  const auto first = rule.training.make(*separate), second = rule.training.make(*fused);
  using Clock = std::chrono::steady_clock;
  TrainingCurves curves;
  std::vector<double> times;
  for (Index step = 0; step < TrainingCurves::steps; ++step) {
    const Imitation::Batch batch = task.batch(step);
    imitation_gradients(*separate, batch);
    curves.fused.push_back(imitation_gradients(*fused, batch));
    first->step(rule.training.rate);
    const auto begin = Clock::now();
    second->step(rule.training.rate);
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
  }
  curves.step_time = median(times);
  curves.apart = parameter_distance(*separate, *fused).largest;
  return curves;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
