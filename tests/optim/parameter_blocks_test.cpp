// Parameter blocks: each element is in exactly one block, and blocks end where heads end.
#include "headroom/optim/parameter_blocks.hpp"

#include "headroom/base/error.hpp"
#include "support/catch.hpp"
#include "support/nn_support.hpp"
#include "support/own_layouts.hpp"

using namespace headroom;

namespace {

constexpr auto granularities = all_of<Granularity>();

std::unique_ptr<Attention> attention_of(Layout layout) {
  Rng rng(1);
  return make_attention(layout, {.width = 12, .heads = 3, .head_dim = 4}, rng);
}

std::string text_of(const ParameterBlock& block) {
  std::string text;
  for (const BlockPart& part : block) {
    text += part.name + "[" + std::to_string(part.axis) + ": " + std::to_string(part.begin) + "-" +
            std::to_string(part.end) + "] ";
  }
  return text;
}

std::vector<std::string> texts_of(Attention& attention, Granularity granularity) {
  std::vector<std::string> texts;
  for (const ParameterBlock& block : parameter_blocks(attention, granularity)) {
    texts.push_back(text_of(block));
  }
  return texts;
}

/// Checks that every element of every parameter is in exactly one block.
void check_cover(Module& model, Granularity granularity) {
  std::map<std::string, std::vector<int>> seen;
  for (const auto& [name, tensor] : parameters(model)) {
    seen[name].resize(static_cast<std::size_t>(tensor.size()), 0);
  }
  std::map<std::string, Shape> shapes;
  for (const auto& [name, tensor] : parameters(model)) shapes[name] = tensor.shape();
  for (const ParameterBlock& block : parameter_blocks(model, granularity)) {
    for (const BlockPart& part : block) {
      for_each_run(shapes.at(part.name), part, [&](Index first_element, Index count) {
        for (Index i = 0; i < count; ++i) {
          ++seen.at(part.name).at(static_cast<std::size_t>(first_element + i));
        }
      });
    }
  }
  for (const auto& [name, counts] : seen) {
    INFO(name);
    CHECK(std::all_of(counts.begin(), counts.end(), [](int count) { return count == 1; }));
  }
}

/// One key for all heads in the same parameter as their queries, and two extra parts of each head.
class PackedHeads : public FusedHeads {
 public:
  PackedHeads(const AttentionConfig& config, Rng& rng)
      : FusedHeads(config, rng),
        wide(parameter(ones({config.heads, 5}))),
        narrow(parameter(ones({config.heads, 2}))) {}
  void members(Members& visit) override {
    FusedHeads::members(visit);
    visit("wide", wide);
    visit("narrow", narrow);
  }
  std::vector<HeadSlice> head_slices() const override {
    std::vector<HeadSlice> slices = FusedHeads::head_slices();
    for (HeadSlice& slice : slices) {
      if (slice.role == HeadRole::key) slice.head = HeadSlice::of_all;
    }
    for (const Index head : alive()) {
      for (const char* name : {"wide", "narrow"}) {
        slices.push_back({HeadRole::extra, head, name, 0, head, head + 1});
      }
    }
    return slices;
  }
  Tensor wide, narrow;
};

}  // namespace

TEST_CASE("every element of every parameter is in exactly one block") {
  for (const Layout layout : test::all_layouts) {
    for (const ModelKind kind : {ModelKind::seq2seq, ModelKind::language_model}) {
      Rng rng(2);
      const auto model = make_model(test::small_config(kind, layout), rng);
      const HeadId first = live_heads(*model).front();
      prune(*model, std::vector<HeadId>{first});
      for (const Granularity granularity : granularities) {
        INFO(name_of(layout) << ", " << name_of(granularity));
        check_cover(*model, granularity);
      }
    }
  }
}

TEST_CASE("parts of all heads beside parts of one, and two extra parts, are blocks of their own") {
  Rng rng(1);
  PackedHeads attention({.width = 12, .heads = 3}, rng);
  for (const Granularity granularity : granularities) {
    INFO(name_of(granularity));
    check_cover(attention, granularity);
    for (const ParameterBlock& block : parameter_blocks(attention, granularity)) {
      for (const BlockPart& part : block) CHECK(part.name == block.front().name);
    }
  }
  const auto all = texts_of(attention, Granularity::head);
  CHECK(std::ranges::count(all, "in_proj_weight[0: 12-24] ") == 1);
  CHECK(std::ranges::count(all, "wide[0: 1-2] ") == 1);
}

TEST_CASE("a fused matrix is cut into projections and heads, separate ones are put together") {
  const auto fused = attention_of(Layout::fused), separate = attention_of(Layout::separate);
  fused->prune(std::vector<Index>{1});
  separate->prune(std::vector<Index>{1});
  CHECK(texts_of(*fused, Granularity::tensor) ==
        std::vector<std::string>{"in_proj_weight[0: 0-24] ", "in_proj_bias[0: 0-24] ",
                                 "out_proj.weight[0: 0-12] ", "out_proj.bias[0: 0-12] "});
  CHECK(texts_of(*fused, Granularity::projection) ==
        std::vector<std::string>{"in_proj_weight[0: 0-8] ", "in_proj_weight[0: 8-16] ",
                                 "in_proj_weight[0: 16-24] ", "in_proj_bias[0: 0-8] ",
                                 "in_proj_bias[0: 8-16] ", "in_proj_bias[0: 16-24] ",
                                 "out_proj.weight[1: 0-8] ", "out_proj.bias[0: 0-12] "});
  const std::vector<std::string> heads = texts_of(*fused, Granularity::head);
  CHECK(heads.size() == 2 * 7 + 1);
  CHECK(heads[1] == "in_proj_weight[0: 4-8] ");
  CHECK(heads[13] == "out_proj.weight[1: 4-8] ");

  CHECK(texts_of(*separate, Granularity::tensor).size() == 14);
  const std::vector<std::string> projections = texts_of(*separate, Granularity::projection);
  CHECK(projections.size() == 8);
  CHECK(projections[1] == "key.0.weight[0: 0-4] key.2.weight[0: 0-4] ");
  CHECK(projections[6] == "out.weight[1: 0-8] ");
  CHECK(texts_of(*separate, Granularity::head).size() == heads.size());
}

TEST_CASE("the projections that all heads of the shared layout use stay whole") {
  const auto shared = attention_of(Layout::shared);
  const std::vector<std::string> texts = texts_of(*shared, Granularity::head);
  CHECK(std::count(texts.begin(), texts.end(), "queries.weight[0: 0-4] ") == 1);
  CHECK(std::count(texts.begin(), texts.end(), "fc_out.weight[1: 8-12] ") == 1);
}

TEST_CASE("a key that a group of heads shares is one block") {
  const auto grouped = attention_of(test::grouped_layout());
  std::vector<std::string> texts = texts_of(*grouped, Granularity::head);
  const auto count = [&](const char* text) { return std::count(texts.begin(), texts.end(), text); };
  CHECK(count("query.weight[0: 4-8] ") == 1);
  CHECK(count("key.weight[0: 0-4] ") == 1);
  CHECK(count("key.weight[0: 4-8] ") == 1);
  grouped->prune(std::vector<Index>{0, 2});
  texts = texts_of(*grouped, Granularity::head);
  CHECK(count("key.weight[0: 0-4] ") == 1);
  CHECK(count("key.weight[0: 4-8] ") == 0);
  texts = texts_of(*attention_of(test::grouped_layout()), Granularity::projection);
  CHECK(count("key.weight[0: 0-8] ") == 1);
}

TEST_CASE("granularities are found by name") {
  CHECK(from_name<Granularity>("granularity", "projection") == Granularity::projection);
  CHECK_THROWS_WITH(from_name<Granularity>("granularity", "heads"),
                    "granularity: \"heads\" is not one of tensor, projection, head");
}
