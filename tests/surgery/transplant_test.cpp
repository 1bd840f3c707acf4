// Transplant: the same function in another layout, to the last number and back.
#include "headroom/surgery/transplant.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "headroom/autograd/tape.hpp"
#include "headroom/base/error.hpp"
#include "headroom/nn/models.hpp"
#include "headroom/ops/losses.hpp"
#include "headroom/optim/adam.hpp"
#include "headroom/optim/sgd.hpp"
#include "support/catch.hpp"
#include "support/nn_support.hpp"
#include "support/own_layouts.hpp"

using namespace headroom;
using headroom::test::randomise;

namespace {

ModelConfig small_model(Layout layout, bool bias = true) {
  ModelConfig config = test::small_config(ModelKind::seq2seq, layout, true);
  config.block.bias = bias;
  return config;
}

struct Batch {
  Ids source{{2, 5}, {1, 2, 3, 4, 5, 6, 5, 4, 0, 0}};
  Ids lengths{{2}, {5, 3}};
  Ids target{{2, 4}, {1, 2, 3, 4, 5, 4, 3, 2}};
  Ids labels{{2, 4}, {2, 3, 4, 5, 4, 3, 2, -100}};
};

Tensor loss_of(const Seq2Seq& model, const Batch& batch) {
  return cross_entropy(model(batch.source, batch.lengths, batch.target), batch.labels);
}

const double model_tolerance = is_double ? 1e-12 : 2e-6;

}  // namespace

TEST_CASE("separate and fused are the same function after a transplant, gradients included") {
  for (const bool bias : {true, false}) {
    Rng rng(3), other(4);
    Seq2Seq separate(small_model(Layout::separate, bias), rng);
    Seq2Seq fused(small_model(Layout::fused, bias), other);
    randomise(separate, rng);
    CHECK(parameter_distance(separate, fused).largest > 0.1);
    transplant(separate, fused);
    CHECK(parameter_distance(separate, fused).largest == 0);
    CHECK(parameter_distance(separate, fused).key_bias == 0);

    const Batch batch;
    const Tensor a = separate(batch.source, batch.lengths, batch.target);
    const Tensor b = fused(batch.source, batch.lengths, batch.target);
    CHECK(relative_difference(a.value(), b.value()) < model_tolerance);
    loss_of(separate, batch).backward();
    loss_of(fused, batch).backward();
    const Distance apart = gradient_distance(separate, fused);
    INFO(apart.where);
    CHECK(apart.largest < (is_double ? 1e-12 : 2e-5));
  }
}

TEST_CASE(
    "a transplant there and back is the identity, for weights and gradients, after a prune too") {
  Rng rng(5), other(6), third(7);
  Seq2Seq separate(small_model(Layout::separate), rng);
  Seq2Seq fused(small_model(Layout::fused), other);
  Seq2Seq again(small_model(Layout::separate), third);
  const std::vector<HeadId> gone{{AttentionKind::cross, 1, 2},
                                 {AttentionKind::encoder_self, 0, 0},
                                 {AttentionKind::decoder_self, 1, 0},
                                 {AttentionKind::decoder_self, 1, 1},
                                 {AttentionKind::decoder_self, 1, 2}};
  for (Seq2Seq* model : {&separate, &fused, &again}) prune(*model, gone);
  randomise(separate, rng);
  loss_of(separate, {}).backward();
  transplant(separate, fused);
  transplant_gradients(separate, fused);
  transplant(fused, again);
  transplant_gradients(fused, again);
  CHECK(parameter_distance(separate, again).largest == 0);
  CHECK(gradient_distance(separate, again).largest == 0);
  CHECK(gradient_distance(separate, again).key_bias == 0);
}

TEST_CASE("distances say when a number is none") {
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  const Array a({2}, Real(1));
  for (const Index at : {0, 1}) {
    Array b = a.clone();
    b[at] = nan;
    CHECK(std::isnan(relative_difference(a, b)));
    CHECK(std::isnan(relative_difference(b, a)));
  }
  Rng rng(1);
  const auto one = make_attention(Layout::fused, {.width = 8, .heads = 2}, rng);
  const auto other = make_attention(Layout::separate, one->config(), rng);
  transplant(*one, *other);
  CHECK(parameter_distance(*one, *other).largest == 0);
  Tensor spoilt = parameters(*other).front().tensor;
  Array value = spoilt.value().clone();
  value[0] = nan;
  spoilt.set_value(value);
  const Distance distance = parameter_distance(*one, *other);
  CHECK(std::isnan(distance.largest));
  CHECK(distance.where == "in_proj_weight");
}

TEST_CASE("equal seeds give equal functions in both layouts") {
  Rng a(11), b(11);
  Seq2Seq separate(small_model(Layout::separate), a);
  Seq2Seq fused(small_model(Layout::fused), b);
  CHECK(parameter_distance(separate, fused).largest == 0);
}

TEST_CASE("models whose heads do not correspond are refused by name") {
  Rng rng(8);
  Seq2Seq separate(small_model(Layout::separate), rng);
  Seq2Seq fused(small_model(Layout::fused), rng);
  const std::vector<HeadId> gone{{AttentionKind::cross, 0, 1}};
  prune(fused, gone);
  CHECK_THROWS_WITH(transplant(separate, fused),
                    Catch::Contains("head 1 of decoder.layers.0.multihead_attn"));
  Seq2Seq grouped(small_model(test::grouped_layout()), rng), same(grouped.config, rng);
  CHECK_THROWS_WITH(
      transplant(grouped, separate),
      Catch::Contains("key of heads 0, 1 of encoder.layers.0.self_attn (key.weight)"));
  transplant(grouped, same);
  CHECK(parameter_distance(grouped, same).largest == 0);
  ModelConfig wide = small_model(Layout::fused);
  wide.block.hidden = 24;
  Seq2Seq wider(wide, rng);
  CHECK_THROWS_AS(transplant(separate, wider), ShapeError);
}

TEST_CASE("each head takes its own step counts into the other layout, and back") {
  constexpr Index heads = 3, dim = 4;
  Rng rng(31);
  const AttentionConfig config{.width = 12, .heads = heads};
  const auto separate = make_attention(Layout::separate, config, rng);
  const auto fused = make_attention(Layout::fused, config, rng);
  const auto again = make_attention(Layout::separate, config, rng);
  AdamW first(*separate), second(*fused), third(*again);
  const char* const roles[] = {"query", "key", "value"};
  const auto count_of = [](Index role, Index head, Index row) {
    return static_cast<std::int64_t>(1000 * (role + 1) + 100 * head + row);
  };
  for (Index role = 0; role < 3; ++role) {
    for (Index head = 0; head < heads; ++head) {
      for (const char* kind : {"weight", "bias"}) {
        std::vector<std::int64_t>& steps =
            first.state(fmt::format("{}.{}.{}", roles[role], head, kind)).steps;
        REQUIRE(steps.size() == dim);
        for (Index row = 0; row < dim; ++row) {
          steps[static_cast<std::size_t>(row)] = count_of(role, head, row);
        }
      }
    }
  }
  std::vector<std::int64_t>& columns = first.state("out.weight").steps;
  REQUIRE(columns.size() == heads * dim);
  std::iota(columns.begin(), columns.end(), 50);
  first.state("out.bias").steps.assign(heads * dim, 7);

  transplant_moments(first, second);
  for (const char* name : {"in_proj_weight", "in_proj_bias"}) {
    INFO(name);
    const std::vector<std::int64_t>& steps = second.state(name).steps;
    REQUIRE(steps.size() == 3 * heads * dim);
    for (Index row = 0; row < 3 * heads * dim; ++row) {
      const Index role = row / (heads * dim), head = row / dim % heads;
      CHECK(steps[static_cast<std::size_t>(row)] == count_of(role, head, row % dim));
    }
  }
  CHECK(second.state("out_proj.weight").steps == columns);
  CHECK(second.state("out_proj.bias").steps == first.state("out.bias").steps);

  transplant_moments(second, third);
  for (const auto& [name, state] : first.states()) {
    INFO(name);
    CHECK(third.state(name).steps == state.steps);
  }
}

TEST_CASE("training goes on in the other layout as it would have in this one, moments and all") {
  Rng rng(21), other(22);
  Seq2Seq separate(small_model(Layout::separate), rng);
  Seq2Seq fused(small_model(Layout::fused), other);
  randomise(separate, rng);
  AdamW first(separate), second(fused);
  const auto step = [](Seq2Seq& model, Optimizer& optimizer) {
    optimizer.zero_grad();
    loss_of(model, {}).backward();
    optimizer.step(1e-3);
  };
  for (int i = 0; i < 4; ++i) step(separate, first);
  step(fused, second);  // its moments and step count must be replaced
  first.apply(prune(separate, std::vector<HeadId>{{AttentionKind::cross, 0, 1}}));
  second.apply(prune(fused, std::vector<HeadId>{{AttentionKind::cross, 0, 1}}));
  transplant(separate, fused);
  transplant_moments(first, second);
  CHECK(second.state("decoder.layers.0.multihead_attn.in_proj_weight").steps ==
        std::vector<std::int64_t>(24, 4));
  for (int i = 0; i < 4; ++i) {
    step(separate, first);
    step(fused, second);
  }
  // Adam divides by the root of tiny second moments: rounding grows, most in the key biases.
  const Distance apart = parameter_distance(separate, fused);
  INFO(apart.where);
  CHECK(apart.largest < (is_double ? 1e-10 : 1e-3));

  Sgd plain(fused);
  CHECK_THROWS_WITH(transplant_moments(first, plain), Catch::Contains("store different moments"));
}
