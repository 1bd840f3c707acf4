// Functions derived from Module::members(): names, counts and printing.
#include <map>
#include <set>

#include "headroom/base/error.hpp"
#include "support/catch.hpp"
#include "support/nn_support.hpp"

using namespace headroom;
using namespace headroom::test;

namespace {

using Listing = std::vector<std::string>;

/// "name [shape]" of every parameter, in order.
Listing listing(Module& module) {
  Listing lines;
  for (const auto& [name, tensor] : parameters(module)) {
    lines.push_back(name + " " + tensor.shape().text());
  }
  return lines;
}

BlockConfig block(Layout layout) {
  BlockConfig config;
  config.width = 8;
  config.heads = 2;
  config.hidden = 20;
  config.layout = layout;
  return config;
}

}  // namespace

TEST_CASE("an encoder layer's names and shapes are those of torch.nn.TransformerEncoderLayer") {
  Rng rng(1);
  EncoderLayer layer(block(Layout::fused), rng);
  CHECK(listing(layer) == Listing{"self_attn.in_proj_weight [24, 8]", "self_attn.in_proj_bias [24]",
                                  "self_attn.out_proj.weight [8, 8]", "self_attn.out_proj.bias [8]",
                                  "linear1.weight [20, 8]", "linear1.bias [20]",
                                  "linear2.weight [8, 20]", "linear2.bias [8]", "norm1.weight [8]",
                                  "norm1.bias [8]", "norm2.weight [8]", "norm2.bias [8]"});
}

TEST_CASE("a decoder layer's names and shapes are those of torch.nn.TransformerDecoderLayer") {
  Rng rng(1);
  DecoderLayer layer(block(Layout::fused), rng);
  CHECK(listing(layer) ==
        Listing{"self_attn.in_proj_weight [24, 8]", "self_attn.in_proj_bias [24]",
                "self_attn.out_proj.weight [8, 8]", "self_attn.out_proj.bias [8]",
                "multihead_attn.in_proj_weight [24, 8]", "multihead_attn.in_proj_bias [24]",
                "multihead_attn.out_proj.weight [8, 8]", "multihead_attn.out_proj.bias [8]",
                "linear1.weight [20, 8]", "linear1.bias [20]", "linear2.weight [8, 20]",
                "linear2.bias [8]", "norm1.weight [8]", "norm1.bias [8]", "norm2.weight [8]",
                "norm2.bias [8]", "norm3.weight [8]", "norm3.bias [8]"});
}

TEST_CASE("own key and value widths are called as in torch.nn.MultiheadAttention") {
  Rng rng(1);
  AttentionConfig config;
  config.width = 8;
  config.heads = 2;
  config.key_width = 6;
  config.value_width = 10;
  CHECK(listing(*make_attention(Layout::fused, config, rng)) ==
        Listing{"q_proj_weight [8, 8]", "k_proj_weight [8, 6]", "v_proj_weight [8, 10]",
                "in_proj_bias [24]", "out_proj.weight [8, 8]", "out_proj.bias [8]"});
}

TEST_CASE("separate heads are called by their original number, after a prune too") {
  Rng rng(1);
  AttentionConfig config;
  config.width = 8;
  config.heads = 4;
  const auto layer = make_attention(Layout::separate, config, rng);
  const Index gone[] = {0, 2};
  layer->prune(gone);
  CHECK(listing(*layer) ==
        Listing{"query.1.weight [2, 8]", "query.1.bias [2]", "query.3.weight [2, 8]",
                "query.3.bias [2]", "key.1.weight [2, 8]", "key.1.bias [2]", "key.3.weight [2, 8]",
                "key.3.bias [2]", "value.1.weight [2, 8]", "value.1.bias [2]",
                "value.3.weight [2, 8]", "value.3.bias [2]", "out.weight [8, 4]", "out.bias [8]"});
}

TEST_CASE("without biases there are none but the norms'") {
  for (const Layout layout : all_layouts) {
    Rng rng(1);
    BlockConfig config = block(layout);
    config.bias = false;
    DecoderLayer layer(config, rng);
    for (const std::string& line : listing(layer)) {
      CHECK((line.find("bias") == std::string::npos || line.starts_with("norm")));
    }
  }
}

TEST_CASE("an RMS norm has a weight and no bias") {
  Norm norm(5, NormKind::rms);
  CHECK(listing(norm) == Listing{"weight [5]"});
}

TEST_CASE("a tied output is owned once and visited under both names") {
  Rng rng(1);
  ModelConfig config = small_config(ModelKind::seq2seq, Layout::fused);
  config.tied_output = true;
  Seq2Seq tied(config, rng);
  config.tied_output = false;
  Seq2Seq free(config, rng);
  CHECK(count_parameters(free) - count_parameters(tied) == 6 * 12 + 6);  // weight and bias
  const auto again = tied_parameters(tied);
  REQUIRE(again.size() == 1);
  CHECK(again[0].name == "output.weight");
  CHECK(again[0].tensor.same(tied.target_embedding.weight));
  CHECK(tied_parameters(free).empty());
}

TEST_CASE("a sinusoidal table is no parameter, a learned one is") {
  Rng rng(1);
  ModelConfig config = small_config(ModelKind::classifier, Layout::fused);
  const auto count = [&](PositionKind kind) {
    config.positions = kind;
    return count_parameters(*make_model(config, rng));
  };
  CHECK(count(PositionKind::sinusoidal) == count(PositionKind::none));
  CHECK(count(PositionKind::learned) == count(PositionKind::none) + 12 * 12);
}

TEST_CASE("a model prints as a tree with titles and numbers of parameters") {
  Rng rng(1);
  Seq2Seq model(small_config(ModelKind::seq2seq, Layout::separate), rng);
  const std::string text = describe(model);
  for (const char* line :
       {"Seq2Seq(7 -> 6 tokens)", "Encoder(2 layers)", "Decoder(2 layers)", "EncoderLayer(pre-norm",
        "DecoderLayer(pre-norm", "3 of 3 heads of width 4", "Linear(12 -> 20)", "LayerNorm(12)"}) {
    CHECK_THAT(text, Catch::Contains(line));
  }
  CHECK_THAT(text, Catch::Contains(std::to_string(count_parameters(model)) + " parameters"));
}

TEST_CASE("the tree has names in the parent, one indentation per level, and no dropout of 0") {
  Rng rng(1);
  ModelConfig config = small_config(ModelKind::classifier, Layout::fused);
  config.layers = 1;
  const auto tree = [&] {
    const std::string text = describe(*make_model(config, rng));
    std::string names;  // without titles and numbers
    for (std::size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos;
         begin = end + 1) {
      names += text.substr(begin, text.find_first_of(":(", begin) - begin) + "\n";
    }
    return names;
  };
  const std::string attention =
      "    layers.0\n"
      "      self_attn\n"
      "        out_proj\n";
  config.block.dropout = 0;
  CHECK_THAT(tree(), Catch::Contains(attention));
  CHECK_THAT(tree(), !Catch::Contains("dropout"));
  CHECK_THAT(tree(), Catch::StartsWith("Classifier\n  "));
  config.block.dropout = Real(0.25);
  CHECK_THAT(tree(), Catch::Contains("\n      dropout"));
}

namespace {

/// A module whose members() gives two of them one name.
class Namesakes : public Module {
 public:
  explicit Namesakes(Rng& rng, bool modules_) : modules(modules_), a(2, 2, rng), b(2, 3, rng) {}
  void members(Members& visit) override {
    if (modules) {
      visit("inner", a);
      visit("inner", b);
    } else {
      visit("weight", a.weight);
      visit("weight", b.weight);
    }
  }
  std::string title() const override { return "Namesakes"; }
  bool modules;
  Linear a, b;
};

}  // namespace

TEST_CASE("two members of one name are an error that names them") {
  Rng rng(1);
  Namesakes parameters(rng, false), children(rng, true);
  CHECK_THROWS_AS(check_names(parameters), UsageError);
  CHECK_THROWS_WITH(
      check_names(parameters),
      "module Namesakes: two of its members are called \"weight\"; each needs a name of "
      "its own in members()");
  CHECK_THROWS_WITH(children.name_streams(), Catch::Contains("called \"inner\""));
  Seq2Seq model(small_config(ModelKind::seq2seq, Layout::separate), rng);
  CHECK_NOTHROW(check_names(model));
}

TEST_CASE("train and eval reach every module") {
  Rng rng(1);
  Seq2Seq model(small_config(ModelKind::seq2seq, Layout::fused), rng);
  for (const auto& [name, module] : modules(model)) CHECK(module->training());
  model.eval();
  for (const auto& [name, module] : modules(model)) CHECK_FALSE(module->training());
}

TEST_CASE("every module of a model has a random stream of its own, the same in every layout") {
  std::map<std::string, std::uint64_t> first;
  for (const Layout layout : {Layout::separate, Layout::fused}) {
    Rng rng(1);
    Seq2Seq model(small_config(ModelKind::seq2seq, layout), rng);
    std::map<std::string, std::uint64_t> streams;
    std::set<std::uint64_t> different;
    for (const auto& [name, module] : modules(model)) {
      if (name.find(".query") != std::string::npos) continue;
      streams[name] = module->stream();
      different.insert(module->stream());
    }
    CHECK(different.size() == streams.size());
    if (first.empty()) first = streams;
    for (const auto& [name, stream] : streams) {
      if (first.contains(name)) CHECK(first.at(name) == stream);
    }
  }
}

TEST_CASE("copying parameters refuses what does not fit, by name") {
  Rng rng(1);
  BlockConfig wide = block(Layout::fused);
  wide.hidden = 24;
  EncoderLayer a(block(Layout::fused), rng), b(wide, rng), c(block(Layout::separate), rng);
  CHECK_THROWS_WITH(copy_parameters(a, b), Catch::Contains("linear1.weight is [20, 8]"));
  CHECK_THROWS_WITH(copy_parameters(a, c), Catch::Contains("self_attn.query.0.weight"));
  EncoderLayer d(block(Layout::fused), rng);
  copy_parameters(a, d);
  const auto left = parameters(a), right = parameters(d);
  for (std::size_t i = 0; i < left.size(); ++i) {
    CHECK_THAT(right[i].tensor.value(), SameBits(left[i].tensor.value()));
    CHECK_FALSE(right[i].tensor.value().same_buffer(left[i].tensor.value()));
  }
}
