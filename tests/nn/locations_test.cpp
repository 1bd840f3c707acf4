// Locations of attentions in a model: assignment, replacement of an attention, and the error for
// two attentions in one location.
#include "headroom/base/error.hpp"
#include "headroom/nn/fused_heads.hpp"
#include "headroom/nn/transformer.hpp"
#include "headroom/ops/dropout.hpp"
#include "support/catch.hpp"
#include "support/nn_support.hpp"
#include "support/random.hpp"

using namespace headroom;
using namespace headroom::test;
using Catch::Contains;

namespace {

const BlockConfig small_block{.width = 8, .heads = 2, .dropout = Real(0.3)};

std::unique_ptr<Attention> own_attention(Index width, std::uint64_t seed) {
  Rng rng(seed);
  AttentionConfig config{.width = width, .heads = 2, .dropout = Real(0.3)};
  return std::make_unique<FusedHeads>(config, rng);
}

/// A user-defined module with two attentions.
class TwoAttentions : public Module {
 public:
  TwoAttentions(std::unique_ptr<Attention> a, std::unique_ptr<Attention> b)
      : first(std::move(a)), second(std::move(b)) {}
  void members(Members& visit) override {
    visit("first", *first);
    visit("second", *second);
  }
  std::string title() const override { return "TwoAttentions"; }
  std::unique_ptr<Attention> first, second;
};

}  // namespace

TEST_CASE("a replaced attention takes over location, random streams and training mode") {
  Rng rng(1), same(1);
  Encoder one(small_block, 2, false, rng), other(small_block, 2, false, same);
  for (auto& layer : other.layers) {
    auto next = own_attention(8, 7);
    copy_parameters(layer->self_attn(), *next);
    layer->set_attention(std::move(next));
  }
  const Array x = normal({2, 3, 8}, rng);
  const RandomStep step(3, 4);
  CHECK_THAT(other(Tensor(x), AttentionMask::none()).value(),
             SameBits(one(Tensor(x), AttentionMask::none()).value()));

  one.eval();
  one.layers[1]->set_attention(own_attention(8, 7));
  CHECK_FALSE(one.layers[1]->self_attn().training());
  prune(one, std::vector<HeadId>{{AttentionKind::encoder_self, 1, 0}});
  CHECK(one.layers[0]->self_attn().alive().size() == 2);
  CHECK(one.layers[1]->self_attn().alive().size() == 1);
}

TEST_CASE("a decoder layer's attentions are replaced one by one") {
  Rng rng(1);
  Decoder decoder(small_block, 2, false, rng);
  const std::string streams = decoder.layers[1]->multihead_attn().path();
  decoder.layers[1]->set_self_attention(own_attention(8, 7));
  decoder.layers[1]->set_cross_attention(own_attention(8, 8));
  CHECK(decoder.layers[1]->multihead_attn().path() == streams);
  CHECK(streams == "layers.1.multihead_attn");
  const auto found = attentions(decoder);
  REQUIRE(found.size() == 4);
  CHECK(found[1].location() == AttentionLocation{AttentionKind::decoder_self, 1});
  CHECK(found[1].name == "layers.1.self_attn");
  CHECK(found[3].location() == AttentionLocation{AttentionKind::cross, 1});
  CHECK(found[3].name == "layers.1.multihead_attn");
}

TEST_CASE("an attention that cannot take a place is refused") {
  Rng rng(1);
  EncoderLayer layer(small_block, rng);
  CHECK_THROWS_WITH(layer.set_attention(nullptr), Contains("nullptr"));
  CHECK_THROWS_WITH(layer.set_attention(own_attention(6, 1)), Contains("6, 6, 6") && Contains("8"));
}

TEST_CASE("two attentions with one location are an error that names both") {
  TwoAttentions model(own_attention(8, 1), own_attention(8, 2));
  const auto both = Contains("first and second have the same location, encoder 0");
  CHECK_THROWS_WITH(attentions(model), both);
  CHECK_THROWS_WITH(live_heads(model), both);
  CHECK_THROWS_WITH(prune(model, std::vector<HeadId>{{AttentionKind::encoder_self, 0, 1}}), both);
  CHECK(model.first->alive().size() == 2);
  model.second->set_location({AttentionKind::encoder_self, 1});
  prune(model, std::vector<HeadId>{{AttentionKind::encoder_self, 0, 1}});
  CHECK(model.first->alive().size() == 1);
  CHECK(model.second->alive().size() == 2);
}

TEST_CASE("an attention that two layers share counts once") {
  class Shared : public Module {
   public:
    void members(Members& visit) override {
      visit("first", *attention);
      visit("second", *attention);
    }
    std::string title() const override { return "Shared"; }
    std::unique_ptr<Attention> attention = own_attention(8, 1);
  };
  Shared model;
  CHECK(attentions(model).size() == 1);
  CHECK(live_heads(model).size() == 2);
}
