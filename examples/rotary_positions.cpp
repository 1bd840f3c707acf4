// Rotary positions (Su et al. 2021, "RoFormer") as a user-defined layout: queries and keys are
// rotated by angles that grow with their positions, so that their product depends on the distance.
// The model learns to repeat the token three positions back, and decodes from the cache.
#include <cmath>
#include <cstdio>

#include "headroom/nn/decoding.hpp"
#include "headroom/nn/fused_heads.hpp"
#include "headroom/nn/models.hpp"
#include "headroom/ops/arithmetic.hpp"
#include "headroom/ops/losses.hpp"
#include "headroom/ops/shaping.hpp"
#include "headroom/optim/adam.hpp"
#include "headroom/surgery/check_layout.hpp"

using namespace headroom;

/// Fused heads. Features i and i + D / 2 of a query or key at position t are rotated by the angle
/// t * frequencies[i].
class RotaryHeads : public FusedHeads {
 public:
  RotaryHeads(const AttentionConfig& config, Rng& rng) : FusedHeads(config, rng) {
    Array values({head_dim() / 2});
    for (Index i = 0; i < values.size(); ++i) {
      values[i] = Real(std::pow(10000.0, -2.0 * double(i) / double(head_dim())));
    }
    frequencies = constant(values);
  }
  static Layout registered() {
    static const Layout layout = add_layout("rotary", "fused heads with rotary positions",
                                            [](const AttentionConfig& config, Rng& rng) {
                                              return std::make_unique<RotaryHeads>(config, rng);
                                            });
    return layout;
  }
  Layout layout() const override { return registered(); }
  std::vector<HeadSlice> head_slices() const override {
    std::vector<HeadSlice> slices = FusedHeads::head_slices();
    slices.push_back(
        {HeadRole::extra, HeadSlice::of_none, "frequencies", 0, 0, frequencies.dim(0)});
    return slices;
  }
  void members(Members& visit) override {
    FusedHeads::members(visit);
    visit("frequencies", frequencies);
  }
  Tensor frequencies;  // [D / 2], not trained; says that these are no ordinary fused heads

 protected:
  /// `first` is the position of the first row: in decoding, the number of rows in the cache.
  Projections project(const Tensor& query, const Tensor& key, const Tensor& value,
                      Index first) const override {
    Projections heads = FusedHeads::project(query, key, value, first);
    heads.query = rotated(heads.query, first);
    if (key.defined()) heads.key = rotated(heads.key, first);
    return heads;
  }

 private:
  HeadColumns rotated(const HeadColumns& heads, Index first) const {
    const Index batch = heads.source.dim(0), time = heads.source.dim(1), half = head_dim() / 2;
    Array cosines({time, 1, half}), sines({time, 1, half});
    for (Index e = 0; e < cosines.size(); ++e) {
      const double angle = double(first + e / half) * double(frequencies.value()[e % half]);
      cosines[e] = Real(std::cos(angle));
      sines[e] = Real(std::sin(angle));
    }
    const Tensor columns = slice(heads.source, 2, heads.first, heads.first + live() * head_dim());
    const Tensor apart = reshape(columns, {batch, time, live(), head_dim()});
    const Tensor a = slice(apart, 3, 0, half), b = slice(apart, 3, half, 2 * half);
    const Tensor c = constant(cosines), s = constant(sines);
    return {reshape(concat({a * c - b * s, b * c + a * s}, 3), columns.shape()), 0};
  }
};

namespace {

constexpr Index batch = 16, length = 24, back = 3;

/// Random tokens 0 to 7, then each the token three positions before: the label is the next token.
void draw(Rng& rng, Ids& tokens, Ids& labels) {
  tokens = Ids(Shape{batch, length});
  labels = Ids(Shape{batch, length}, -100);
  for (Index e = 0; e < tokens.size(); ++e) {
    const Index t = e % length;
    tokens[e] = t < back ? static_cast<std::int32_t>(rng.below(8)) : tokens[e - back];
    if (t >= back) labels[e - 1] = tokens[e];
  }
}

std::unique_ptr<LanguageModel> trained(Layout layout) {
  ModelConfig config;
  config.kind = ModelKind::language_model;
  config.source_vocabulary = 8;
  config.positions = PositionKind::none;
  config.block = {.width = 32, .heads = 4, .layout = layout};
  Rng rng(1, "init"), data(2, "train");
  auto model = std::make_unique<LanguageModel>(config, rng);
  Adam optimizer(*model);
  Ids tokens, labels;
  for (int step = 0; step < 300; ++step) {
    draw(data, tokens, labels);
    const Tensor loss = cross_entropy((*model)(tokens), labels);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step(3e-3);
  }
  model->eval();
  return model;
}

/// The share of right tokens when the model continues three given ones.
double accuracy(const LanguageModel& model, bool cache) {
  Rng rng(3, "test");
  Ids tokens, labels, prompt(Shape{batch, back});
  draw(rng, tokens, labels);
  for (Index e = 0; e < prompt.size(); ++e) prompt[e] = tokens[e / back * length + e % back];
  const auto writer = make_writer(model, batch, cache);
  const auto texts = sample(*writer, {.longest = length - back}, {.temperature = 0}, rng, prompt);
  Index right = 0;
  for (Index b = 0; b < batch; ++b) {
    const std::vector<std::int32_t>& ids = texts[std::size_t(b)].ids;
    for (Index t = back; t < length; ++t) {
      right += ids[std::size_t(t - back)] == tokens[b * length + t];
    }
  }
  return double(right) / double(batch * (length - back));
}

}  // namespace

int main() {
  Rng rng(1, "check");
  check_layout(*make_attention(RotaryHeads::registered(), {.width = 12, .heads = 3}, rng));
  double right[2];
  for (const Layout layout : {Layout::fused, RotaryHeads::registered()}) {
    const auto model = trained(layout);
    const double cached = accuracy(*model, true), uncached = accuracy(*model, false);
    std::printf("%-6s tokens right: %5.1f %% from the cache, %5.1f %% without it\n",
                name_of(layout), 100 * cached, 100 * uncached);
    right[layout == RotaryHeads::registered()] = cached;
    if (cached != uncached) return 1;
  }
  return right[1] > 0.95 && right[0] < 0.8 ? 0 : 1;
}
