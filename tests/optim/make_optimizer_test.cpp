// Optimizers by name: the same steps as those of the optimizer that is made by hand.
#include "headroom/optim/make_optimizer.hpp"

#include "headroom/base/error.hpp"
#include "headroom/base/names.hpp"
#include "headroom/optim/adam.hpp"
#include "headroom/optim/lamb.hpp"
#include "headroom/optim/muon.hpp"
#include "headroom/optim/sgd.hpp"
#include "support/catch.hpp"
#include "support/nn_support.hpp"

using namespace headroom;

namespace {

/// The parameters of an attention after three steps of an optimizer, one after the other.
std::vector<Real> trained(const std::function<std::unique_ptr<Optimizer>(Module&)>& make) {
  Rng rng(4);
  const auto layer = make_attention(Layout::fused, {.width = 12, .heads = 3}, rng);
  const auto optimizer = make(*layer);
  for (int step = 0; step < 3; ++step) {
    const Tensor x = constant(test::normal({2, 5, 12}, rng));
    optimizer->zero_grad();
    (*layer)(x, x, AttentionMask::none()).backward(test::normal({2, 5, 12}, rng));
    optimizer->step(0.01);
  }
  std::vector<Real> values;
  for (const NamedParameter& p : parameters(*layer)) {
    values.insert(values.end(), p.tensor.value().span().begin(), p.tensor.value().span().end());
  }
  return values;
}

}  // namespace

TEST_CASE("an optimizer that is chosen by name makes the steps of its class") {
  const std::vector<ParameterGroup> groups{no_decay_of_vectors()};
  for (const Granularity granularity : {Granularity::tensor, Granularity::head}) {
    const auto chosen = [&](OptimizerKind kind) {
      return trained([&](Module& model) {
        return make_optimizer(model, {.kind = kind,
                                      .beta1 = 0.8,
                                      .beta2 = 0.9,
                                      .weight_decay = 0.3,
                                      .granularity = granularity});
      });
    };
    CHECK(chosen(OptimizerKind::lamb) == trained([&](Module& model) {
            return std::make_unique<Lamb>(model, LambOptions{.beta1 = 0.8,
                                                             .beta2 = 0.9,
                                                             .weight_decay = 0.3,
                                                             .granularity = granularity,
                                                             .groups = groups});
          }));
    CHECK(chosen(OptimizerKind::muon) == trained([&](Module& model) {
            return std::make_unique<Muon>(model, MuonOptions{.weight_decay = 0.3,
                                                             .granularity = granularity,
                                                             .adam_rate_factor = 0.1,
                                                             .groups = groups});
          }));
    if (granularity != Granularity::tensor) continue;
    CHECK(chosen(OptimizerKind::adamw) == trained([&](Module& model) {
            return std::make_unique<AdamW>(
                model,
                AdamOptions{.beta1 = 0.8, .beta2 = 0.9, .weight_decay = 0.3, .groups = groups});
          }));
    CHECK(chosen(OptimizerKind::sgd) == trained([&](Module& model) {
            return std::make_unique<Sgd>(
                model, SgdOptions{.momentum = 0.9, .weight_decay = 0.3, .groups = groups});
          }));
  }
}

TEST_CASE("an elementwise optimizer has no granularity") {
  Rng rng(1);
  const auto layer = make_attention(Layout::fused, {.width = 4, .heads = 2}, rng);
  for (const OptimizerKind kind : {OptimizerKind::adamw, OptimizerKind::sgd}) {
    CHECK_THROWS_WITH(make_optimizer(*layer, {.kind = kind, .granularity = Granularity::head}),
                      Catch::Contains(name_of(kind)) && Catch::Contains("lamb and muon"));
  }
}

TEST_CASE("every optimizer has a usual learning rate, proportional to AdamW's") {
  for (const OptimizerKind kind : all_of<OptimizerKind>()) {
    CHECK(usual_rate(kind, 2e-3) >= 2e-3);
    CHECK(usual_rate(kind, 4e-3) == 2 * usual_rate(kind, 2e-3));
  }
}
