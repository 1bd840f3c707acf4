// The layouts against each other: the same heads compute the same function.
#include "headroom/nn/fused_heads.hpp"
#include "headroom/nn/separate_heads.hpp"
#include "headroom/nn/shared_head.hpp"
#include "support/catch.hpp"
#include "support/nn_support.hpp"

using namespace headroom;
using namespace headroom::test;

TEST_CASE("separate and fused heads with the same blocks are the same function") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    AttentionCase c = random_case(seed);
    INFO("seed " << seed << ", " << c.config.heads << " heads of " << c.config.head_dim);
    Rng rng(seed);
    SeparateHeads separate(c.config, rng);
    FusedHeads fused(c.config, rng);
    randomise(separate, rng);
    set_head_values(fused, head_values(separate));
    AttentionAsk ask;
    ask.maps = ask.head_out = seed % 2 == 1;  // alternates composed and fused computation

    const AttentionOut a = run(separate, c, ask);
    const Array query = c.query.grad(), key = c.key.grad(), value = c.value.grad();
    const Array gates = c.gates.grad();
    const AttentionOut b = run(fused, c, ask);
    CHECK_THAT(b.y.value(), same_numbers(a.y.value(), same_function));
    CHECK_THAT(c.query.grad(), same_numbers(query, same_function));
    CHECK_THAT(c.key.grad(), same_numbers(key, same_function));
    CHECK_THAT(c.value.grad(), same_numbers(value, same_function));
    if (gates.defined()) CHECK_THAT(c.gates.grad(), same_numbers(gates, same_function));
    if (ask.maps) {
      CHECK_THAT(b.maps.value(), same_numbers(a.maps.value(), same_function));
      CHECK_THAT(b.head_out.value(), same_numbers(a.head_out.value(), same_function));
    }
    check_same_blocks(head_gradients(fused), head_gradients(separate), same_function);
  }
}

TEST_CASE("a shared head equals a fused layer whose weights repeat it on the diagonal") {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    AttentionCase c = random_case(seed, true);
    INFO("seed " << seed << ", " << c.config.heads << " heads of " << c.config.head_dim);
    Rng rng(seed);
    SharedHead shared(c.config, rng);
    FusedHeads fused(c.config, rng);
    randomise(shared, rng);
    const Index heads = c.config.heads, d = c.config.head_dim, width = heads * d;
    Array packed = zeros({3 * width, width});
    Index third = 0;
    for (const Linear* small : {&shared.queries, &shared.keys, &shared.values}) {
      for (Index h = 0; h < heads; ++h) {
        for (Index i = 0; i < d * d; ++i) {
          packed[(third * width + h * d + i / d) * width + h * d + i % d] =
              small->weight.value()[i];
        }
      }
      ++third;
    }
    fused.in_proj_weight.set_value(packed);
    fused.out_proj.weight.set_value(shared.fc_out.weight.value().clone());
    if (c.config.bias) fused.out_proj.bias.set_value(shared.fc_out.bias.value().clone());

    const Array y = run(shared, c).y.value();
    const Array query = c.query.grad(), key = c.key.grad(), value = c.value.grad();
    CHECK_THAT(run(fused, c).y.value(), same_numbers(y, same_function));
    CHECK_THAT(c.query.grad(), same_numbers(query, same_function));
    CHECK_THAT(c.key.grad(), same_numbers(key, same_function));
    CHECK_THAT(c.value.grad(), same_numbers(value, same_function));
    CHECK_THAT(shared.fc_out.weight.grad(),
               same_numbers(fused.out_proj.weight.grad(), same_function));
    // The gradient of the shared projection is the sum of the diagonal blocks.
    third = 0;
    for (const Linear* small : {&shared.queries, &shared.keys, &shared.values}) {
      Array sum = zeros({d, d});
      for (Index h = 0; h < heads; ++h) {
        for (Index i = 0; i < d * d; ++i) {
          sum[i] +=
              fused.in_proj_weight.grad()[(third * width + h * d + i / d) * width + h * d + i % d];
        }
      }
      CHECK_THAT(small->weight.grad(), CloseTo(sum, 0, test::tolerance(1e-11, 2e-5)));
      ++third;
    }
  }
}

TEST_CASE("equal seeds start all layouts but the shared one as the same function") {
  AttentionCase c = random_case(3, true);
  Rng a(5), b(5);
  SeparateHeads separate(c.config, a);
  FusedHeads fused(c.config, b);
  const HeadBlocks left = head_values(separate), right = head_values(fused);
  for (const auto& [place, block] : left) CHECK_THAT(right.at(place), SameBits(block));
}

TEST_CASE("width 512 with biases has 1,050,624 parameters, whatever the number of heads") {
  for (const Index heads : {1, 2, 4, 8, 16}) {
    for (const Layout layout : {Layout::separate, Layout::fused}) {
      Rng rng(1);
      AttentionConfig config;
      config.width = 512;
      config.heads = heads;
      CHECK(count_parameters(*make_attention(layout, config, rng)) == 1050624);
    }
  }
  Rng rng(1);
  AttentionConfig config;
  config.width = 512;
  config.heads = 8;
  CHECK(count_parameters(*make_attention(Layout::shared, config, rng)) == 3 * 64 * 64 + 512 * 513);
}

TEST_CASE("sizes that do not fit together are refused with a remedy") {
  Rng rng(1);
  const auto make = [&](Layout layout, AttentionConfig config) {
    return make_attention(layout, config, rng);
  };
  AttentionConfig config;
  config.width = 10;
  config.heads = 3;
  for (const Layout layout : all_layouts) {
    CHECK_THROWS_WITH(make(layout, config), Catch::Contains("3 heads must divide width 10"));
  }
  config.head_dim = 4;
  CHECK_THROWS_WITH(make(Layout::shared, config), Catch::Contains("need queries, keys and values"));
  CHECK(make(Layout::fused, config)->head_dim() == 4);
  config.heads = 0;
  CHECK_THROWS_WITH(make(Layout::fused, config), Catch::Contains("at least 1"));
  CHECK_THROWS_WITH(layout_from("fussed"), Catch::Contains("fused"));
}
