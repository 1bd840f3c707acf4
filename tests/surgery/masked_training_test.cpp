// A masked and a compact model remain the same function during training.
#include <cmath>

#include "headroom/nn/transformer.hpp"
#include "headroom/ops/losses.hpp"
#include "headroom/optim/adam.hpp"
#include "headroom/optim/clipping.hpp"
#include "headroom/optim/sgd.hpp"
#include "support/catch.hpp"
#include "support/nn_support.hpp"

using namespace headroom;
using namespace headroom::test;

namespace {

constexpr Index head_count = 6;

/// One encoder layer with its optimizer, and with gates if it is the masked one.
struct Trained {
  Trained(Layout layout, unsigned set) {
    BlockConfig config;
    config.width = 12;
    config.heads = head_count;
    config.hidden = 10;
    config.layout = layout;
    Rng rng(31);
    layer = std::make_unique<EncoderLayer>(config, rng);
    randomise(*layer, rng);
    switch (set % 3) {
      case 0: optimizer = std::make_unique<Adam>(*layer); break;
      case 1: optimizer = std::make_unique<AdamW>(*layer); break;
      default: optimizer = std::make_unique<Sgd>(*layer, SgdOptions{.momentum = 0.9}); break;
    }
  }

  /// Trains one step towards y; returns the loss before it.
  Real step(const Tensor& x, const Tensor& y) {
    optimizer->zero_grad();
    const Tensor loss = squared_error((*layer)(x, AttentionMask::causal(), &probe), y);
    loss.backward();
    clip_grad_norm(*layer, 0.5);
    optimizer->step(0.01);
    return loss.item();
  }

  std::unique_ptr<EncoderLayer> layer;
  std::unique_ptr<Optimizer> optimizer;
  HeadProbe probe;
};

}  // namespace

TEST_CASE("masked equals compact through 20 optimizer steps, for all 63 sets of removed heads",
          "[slow]") {
  Rng rng(32);
  const Tensor x = constant(test::normal({4, 5, 12}, rng));
  const Tensor y = constant(test::normal({4, 5, 12}, rng));
  for (const Layout layout : all_layouts) {
    for (unsigned set = 1; set < 64; ++set) {
      INFO(name_of(layout) << ", set " << set);
      Trained masked(layout, set), compact(layout, set);
      for (int step = 0; step < 3; ++step) {  // moments are not zero when the heads are removed
        masked.step(x, y);
        compact.step(x, y);
      }
      const std::vector<Index> gone = heads_in(set);
      Array gates({head_count}, Real(1));
      for (const Index head : gone) gates[head] = 0;
      masked.probe.gates[{AttentionKind::encoder_self, 0}] = constant(gates);
      for (ParameterEdit& edit : compact.layer->self_attn().prune(gone)) {
        edit.name = "self_attn." + edit.name;
        compact.optimizer->apply(edit);
      }
      for (int step = 0; step < 20; ++step) {
        const Real a = masked.step(x, y), b = compact.step(x, y);
        CHECK(std::abs(a - b) <= same_function * std::abs(a));
      }

      // The kept heads; if there are none, nothing uses the projections that SharedHead keeps.
      const HeadBlocks expected = head_values(masked.layer->self_attn());
      for (const auto& [place, block] : head_values(compact.layer->self_attn())) {
        if (place.first == HeadRole::key_bias) continue;  // rounding noise, which Adam amplifies
        if (place.second == HeadSlice::of_all && set == 63) continue;
        INFO("role " << int(place.first) << ", head " << place.second);
        CHECK_THAT(block, same_numbers(expected.at(place), same_function));
      }
      // All other parameters; the norm before an attention without heads has no effect either.
      const auto left = parameters(*masked.layer), right = parameters(*compact.layer);
      for (const auto& [name, tensor] : right) {
        if (name.starts_with("self_attn.") || (set == 63 && name.starts_with("norm1."))) continue;
        for (const auto& [other, value] : left) {
          if (other != name) continue;
          INFO(name);
          CHECK_THAT(tensor.value(), same_numbers(value.value(), same_function));
        }
      }
    }
  }
}
