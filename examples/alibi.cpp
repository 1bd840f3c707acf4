// ALiBi (Press et al. 2022) as a user-defined layout: a score bias of -slope |i - j| in place of
// positions. The model learns which of two flags came last on 16 tokens and still knows it on 64.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "headroom/nn/fused_heads.hpp"
#include "headroom/nn/models.hpp"
#include "headroom/ops/losses.hpp"
#include "headroom/optim/adam.hpp"
#include "headroom/surgery/check_layout.hpp"

using namespace headroom;

/// Fused heads, each with a fixed slope: 2^(-8 / H), 2^(-16 / H), ..., 2^-8.
class Alibi : public FusedHeads {
 public:
  Alibi(const AttentionConfig& config, Rng& rng) : FusedHeads(config, rng) {
    Array values({config.heads});
    for (Index h = 0; h < config.heads; ++h) {
      values[h] = Real(std::exp2(-8.0 * double(h + 1) / double(config.heads)));
    }
    slopes = constant(values);
  }
  static Layout registered() {
    static const Layout layout = add_layout("alibi", "fused heads with a slope each",
                                            [](const AttentionConfig& config, Rng& rng) {
                                              return std::make_unique<Alibi>(config, rng);
                                            });
    return layout;
  }
  Layout layout() const override { return registered(); }
  Tensor score_bias(Index, Index, Index) const override { return of_original_heads(slopes); }
  std::vector<HeadSlice> head_slices() const override {
    std::vector<HeadSlice> slices = FusedHeads::head_slices();
    for (Index i = 0; i < live(); ++i) {
      const Index head = alive()[static_cast<std::size_t>(i)];
      slices.push_back({HeadRole::score_bias, head, "slopes", 0, i, i + 1});
    }
    return slices;
  }
  void members(Members& visit) override {
    FusedHeads::members(visit);
    visit("slopes", slopes);
  }
  Tensor slopes;  // [live]
};

namespace {

/// Letters 0 to 5, and a flag (6 or 7) in one of four places. The label is the last flag so far;
/// the first token is always a flag.
void draw(Rng& rng, Index batch, Index length, Ids& tokens, Ids& labels) {
  tokens = Ids(Shape{batch, length});
  labels = Ids(Shape{batch, length});
  for (Index e = 0; e < tokens.size(); ++e) {
    const bool flag = e % length == 0 || rng.below(4) == 0;
    tokens[e] = static_cast<std::int32_t>(flag ? 6 + rng.below(2) : rng.below(6));
    labels[e] = flag ? tokens[e] : labels[e - 1];
  }
}

double accuracy(const LanguageModel& model, Index length) {
  Rng rng(3, "test");
  Ids tokens, labels;
  draw(rng, 32, length, tokens, labels);
  const Array logits = model(tokens).value();
  Index right = 0;
  for (Index e = 0; e < labels.size(); ++e) {
    const Real* const row = logits.data() + e * 8;
    right += std::max_element(row, row + 8) - row == labels[e];
  }
  return double(right) / double(labels.size());
}

void train(LanguageModel& model) {
  Rng rng(2, "train");
  Adam optimizer(model);
  Ids tokens, labels;
  for (int step = 0; step < 300; ++step) {
    draw(rng, 16, 16, tokens, labels);
    const Tensor loss = cross_entropy(model(tokens), labels);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step(3e-3);
  }
  model.eval();
}

}  // namespace

int main() {
  const Layout alibi = Alibi::registered();
  Rng any(1, "check");
  check_layout(*make_attention(alibi, {.width = 8, .heads = 4}, any));
  double known[2];
  for (const Layout layout : {Layout::fused, alibi}) {
    ModelConfig config;
    config.kind = ModelKind::language_model;
    config.layers = 1;
    config.source_vocabulary = 8;
    config.positions = PositionKind::none;
    config.block = {.width = 32, .heads = 4, .layout = layout};
    Rng rng(1, "init");
    LanguageModel model(config, rng);
    train(model);
    known[layout == alibi] = accuracy(model, 64);
    std::printf("%-6s last flag known: %5.1f %% of 16 tokens, %5.1f %% of 64\n", name_of(layout),
                100 * accuracy(model, 16), 100 * known[layout == alibi]);
  }
  return known[1] > 0.9 && known[1] > known[0] + 0.1 ? 0 : 1;
}
