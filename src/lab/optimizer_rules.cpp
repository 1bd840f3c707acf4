// The optimizers that the laboratory compares.
#include "lab/optimizer_rules.hpp"

#include "headroom/heads/transplant.hpp"
#include "headroom/optim/adam.hpp"
#include "headroom/optim/lamb.hpp"
#include "headroom/optim/muon.hpp"
#include "headroom/optim/sgd.hpp"
#include "lab/imitation.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

template <class Kind, class Options>
TrainingRule training_rule(std::string name, double rate, Options options) {
  return {std::move(name),
          [options](Module& model) -> std::unique_ptr<Optimizer> {
            return std::make_unique<Kind>(model, options);
          },
          rate};
}

}  // namespace

std::vector<OptimizerRule> optimizer_rules(Index width) {
  // The mean over C outputs makes gradients smaller as the width grows; only SGD notices.
  std::vector<OptimizerRule> rules{
      {training_rule<Sgd>("SGD", 0.05 * static_cast<double>(width), SgdOptions{})},
      {training_rule<Adam>("Adam", 0.01, AdamOptions{})},
      {training_rule<AdamW>("AdamW", 0.01, AdamOptions{.weight_decay = 0.01})}};
  for (const Granularity granularity :
       {Granularity::tensor, Granularity::projection, Granularity::head}) {
    const std::string per = std::string(" per ") + name_of(granularity);
    rules.push_back(
        {training_rule<Lamb>("LAMB" + per, 0.02, LambOptions{.granularity = granularity}),
         granularity});
  }
  for (const Granularity granularity :
       {Granularity::tensor, Granularity::projection, Granularity::head}) {
    const std::string per = std::string(" per ") + name_of(granularity);
    rules.push_back(
        {training_rule<Muon>("Muon" + per, 0.02, MuonOptions{.granularity = granularity}),
         granularity});
  }
  return rules;
}

TrainingCurves train_both_layouts(const OptimizerRule& rule, Index width, Index heads,
                                  std::uint64_t seed) {
  const AttentionConfig config{.width = width, .heads = heads, .bias = false};
  Rng rng(seed, "optimizers");
  const auto separate = make_attention(Layout::separate, config, rng),
             fused = make_attention(Layout::fused, config, rng);
  transplant(*separate, *fused);
  const Imitation task(width, heads, seed, false);
  const auto first = rule.training.make(*separate), second = rule.training.make(*fused);
  TrainingCurves curves;
  for (Index step = 0; step < TrainingCurves::steps; ++step) {
    const Imitation::Batch batch = task.batch(step);
    imitation_gradients(*separate, batch);
    curves.fused.push_back(imitation_gradients(*fused, batch));
    first->step(rule.training.rate);
    second->step(rule.training.rate);
  }
  curves.apart = parameter_distance(*separate, *fused).largest;
  return curves;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
