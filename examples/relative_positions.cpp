// T5's relative positions (Raffel et al. 2020, section 2.1) as a user-defined layout: a learned
// bias for each head and bucket of distances. The model learns to repeat the token three positions
// back, which is impossible without positions.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "headroom/nn/fused_heads.hpp"
#include "headroom/nn/models.hpp"
#include "headroom/ops/losses.hpp"
#include "headroom/ops/shaping.hpp"
#include "headroom/optim/adam.hpp"
#include "headroom/surgery/check_layout.hpp"

using namespace headroom;

/// Fused heads with a table [live, buckets].
class RelativePositions : public FusedHeads {
 public:
  static constexpr Index buckets = 16, farthest = 64;
  RelativePositions(const AttentionConfig& config, Rng& rng)
      : FusedHeads(config, rng), table(parameter(zeros({config.heads, buckets}))) {}

  static Layout registered() {
    static const Layout layout =
        add_layout("relative", "fused heads with a bias by distance",
                   [](const AttentionConfig& config, Rng& rng) {
                     return std::make_unique<RelativePositions>(config, rng);
                   });
    return layout;
  }
  Layout layout() const override { return registered(); }

  /// Returns the bucket of a distance to an earlier key: one bucket for each distance below half
  /// the buckets, then wider and wider ones up to `farthest`. Later keys share the bucket of
  /// distance 0.
  static Index bucket(Index distance) {
    constexpr Index exact = buckets / 2;
    if (distance < exact) return std::max<Index>(0, distance);
    const double share = std::log(double(distance) / exact) / std::log(double(farthest) / exact);
    return std::min(buckets - 1, exact + Index(share * (buckets - exact)));
  }
  Tensor score_bias(Index queries, Index keys, Index first) const override {
    Ids ids({queries * keys});
    for (Index e = 0; e < ids.size(); ++e) {
      ids[e] = static_cast<std::int32_t>(bucket(first + e / keys - e % keys));
    }
    const Tensor all = gather(of_original_heads(table), 1, ids);
    return reshape(all, {config().heads, queries, keys});
  }
  std::vector<HeadSlice> head_slices() const override {
    std::vector<HeadSlice> slices = FusedHeads::head_slices();
    for (Index i = 0; i < live(); ++i) {
      const Index head = alive()[static_cast<std::size_t>(i)];
      slices.push_back({HeadRole::score_bias, head, "table", 0, i, i + 1});
    }
    return slices;
  }
  void members(Members& visit) override {
    FusedHeads::members(visit);
    visit("table", table);
  }
  Tensor table;  // [live, buckets]
};

namespace {

constexpr Index batch = 16, length = 24, back = 3;

/// Random tokens 0 to 7; the label is the token three positions back. The first three are ignored.
void draw(Rng& rng, Ids& tokens, Ids& labels) {
  tokens = Ids(Shape{batch, length});
  labels = Ids(Shape{batch, length}, -100);
  for (Index e = 0; e < tokens.size(); ++e) {
    tokens[e] = static_cast<std::int32_t>(rng.below(8));
    if (e % length >= back) labels[e] = tokens[e - back];
  }
}

/// The loss after 400 steps of training; chance level is log 8 = 2.08.
double trained_loss(Layout layout) {
  ModelConfig config;
  config.kind = ModelKind::language_model;
  config.layers = 1;
  config.source_vocabulary = 8;
  config.positions = PositionKind::none;
  config.block = {.width = 32, .heads = 4, .layout = layout};
  Rng rng(1, "init"), data(2, "train");
  LanguageModel model(config, rng);
  Adam optimizer(model);
  Ids tokens, labels;
  double now = 0;
  for (int step = 0; step < 400; ++step) {
    draw(data, tokens, labels);
    const Tensor loss = cross_entropy(model(tokens), labels);
    now = double(loss.item());
    optimizer.zero_grad();
    loss.backward();
    optimizer.step(1e-2);
  }
  return now;
}

}  // namespace

int main() {
  Rng rng(1, "check");
  check_layout(*make_attention(RelativePositions::registered(), {.width = 8, .heads = 4}, rng));
  const double without = trained_loss(Layout::fused),
               with = trained_loss(RelativePositions::registered());
  std::printf("loss without positions %.3f, with relative positions %.3f\n", without, with);
  return with < 0.2 && without > 1 ? 0 : 1;
}
