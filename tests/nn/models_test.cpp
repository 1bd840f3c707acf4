// Whole models: masks, shapes, dropout, and a gradient for every parameter.
#include "headroom/nn/models.hpp"

#include "headroom/autograd/tape.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/record_json.hpp"
#include "headroom/nn/init.hpp"
#include "headroom/ops/dropout.hpp"
#include "support/catch.hpp"
#include "support/nn_support.hpp"

using namespace headroom;
using namespace headroom::test;

namespace {

constexpr auto all_kinds = all_of<ModelKind>();

std::unique_ptr<Module> random_model(const ModelConfig& config, std::uint64_t seed = 1) {
  Rng rng(seed);
  auto model = make_model(config, rng);
  randomise(*model, rng);
  return model;
}

/// Element (b, t, v) of logits [B, T, V].
Real at(const Array& x, Index b, Index t, Index v) { return x[(b * x.dim(1) + t) * x.dim(2) + v]; }

/// Selects heads of every kind and layer for removal, and all heads of one attention.
std::vector<HeadId> some_heads(Module& model) {
  std::vector<HeadId> gone;
  for (const HeadId& head : live_heads(model)) {
    const bool first_attention = head.kind == AttentionKind::decoder_self && head.layer == 0;
    if (head.head == head.layer || first_attention) gone.push_back(head);
  }
  return gone;
}

/// Returns true for parameters that feed only an attention without heads: the projections that
/// SharedHead keeps, and the norm before a pre-norm layer's attention.
bool serves_no_head(Module& model, const std::string& name) {
  for (const NamedAttention& found : attentions(model)) {
    if (!found.attention->alive().empty() || found.location().kind == AttentionKind::cross)
      continue;
    const std::string layer = found.name.substr(0, found.name.rfind('.'));
    for (const char* projection : {".queries.weight", ".keys.weight", ".values.weight"}) {
      if (name == found.name + projection) return true;
    }
    for (const auto& [path, module] : modules(model)) {
      if (path != layer) continue;
      const auto* encoder = dynamic_cast<EncoderLayer*>(module);
      const auto* decoder = dynamic_cast<DecoderLayer*>(module);
      const bool norm_first = encoder != nullptr ? encoder->norm_first : decoder->norm_first;
      if (norm_first && name.starts_with(layer + ".norm1.")) return true;
    }
  }
  return false;
}

}  // namespace

TEST_CASE("a decoder does not see the future") {
  for (const Layout layout : all_layouts) {
    for (const bool norm_first : {true, false}) {
      INFO(name_of(layout) << ", norm first " << norm_first);
      Rng rng(3);
      const ModelConfig config = small_config(ModelKind::seq2seq, layout, norm_first);
      const auto model = random_model(config);
      auto& seq2seq = dynamic_cast<Seq2Seq&>(*model);
      const TinyBatch batch = tiny_batch(config, rng);
      Ids changed = batch.target.clone();
      for (Index b = 0; b < 4; ++b) changed[b * 6 + 4] = (changed[b * 6 + 4] + 1) % 6;
      const Array before = seq2seq(batch.source, batch.lengths, batch.target).value();
      const Array after = seq2seq(batch.source, batch.lengths, changed).value();
      for (Index b = 0; b < 4; ++b) {
        for (Index t = 0; t < 6; ++t) {
          bool moved = false;
          for (Index v = 0; v < 6; ++v) moved |= at(before, b, t, v) != at(after, b, t, v);
          CHECK(moved == (t >= 4));
        }
      }
    }
  }
}

TEST_CASE("a language model does not see the future") {
  for (const Layout layout : all_layouts) {
    Rng rng(4);
    const ModelConfig config = small_config(ModelKind::language_model, layout);
    const auto model = random_model(config);
    auto& language = dynamic_cast<LanguageModel&>(*model);
    const Ids ids = random_ids({2, 8}, rng, 7);
    Ids changed = ids.clone();
    changed[7] = (changed[7] + 1) % 7;  // the last token of row 0
    const Array before = language(ids).value(), after = language(changed).value();
    for (Index t = 0; t < 8; ++t) {
      bool moved = false;
      for (Index v = 0; v < 7; ++v) {
        moved |= at(before, 0, t, v) != at(after, 0, t, v);
        CHECK(at(before, 1, t, v) == at(after, 1, t, v));
      }
      CHECK(moved == (t == 7));
    }
  }
}

TEST_CASE("an encoder sees the whole source, but no padding") {
  for (const Layout layout : all_layouts) {
    for (const ModelKind kind : {ModelKind::seq2seq, ModelKind::classifier}) {
      Rng rng(5);
      const ModelConfig config = small_config(kind, layout);
      const auto model = random_model(config);
      const TinyBatch batch = tiny_batch(config, rng);  // lengths 5, 3, 4, 1 of 5
      const auto outputs = [&](const Ids& source) {
        if (auto* seq2seq = dynamic_cast<Seq2Seq*>(model.get())) {
          return (*seq2seq)(source, batch.lengths, batch.target).value();
        }
        return dynamic_cast<Classifier&>(*model)(source, batch.lengths).value();
      };
      const Array before = outputs(batch.source);
      for (Index t = 0; t < 5; ++t) {
        Ids changed = batch.source.clone();
        for (Index b = 0; b < 4; ++b) changed[b * 5 + t] = (changed[b * 5 + t] + 1) % 7;
        const Array after = outputs(changed);
        const Index each = before.size() / 4;
        for (Index b = 0; b < 4; ++b) {
          bool moved = false;
          for (Index i = b * each; i < (b + 1) * each; ++i) moved |= before[i] != after[i];
          CHECK(moved == (t < batch.lengths[b]));
        }
      }
    }
  }
}

TEST_CASE("after one step every parameter of every model has moved") {
  for (const ModelKind kind : all_kinds) {
    for (const Layout layout : all_layouts) {
      for (const bool norm_first : {true, false}) {
        for (const bool composed : {false, true}) {
          for (const bool pruned : {false, true}) {
            INFO(name_of(kind) << ", " << name_of(layout) << ", norm first " << norm_first
                               << ", composed " << composed << ", pruned " << pruned);
            ModelConfig config = small_config(kind, layout, norm_first);
            config.positions = composed ? PositionKind::learned : PositionKind::sinusoidal;
            config.tied_output = pruned && kind != ModelKind::classifier;
            const auto model = random_model(config);
            if (pruned) prune(*model, some_heads(*model));
            Rng rng(6);
            const TinyBatch batch = tiny_batch(config, rng);
            HeadProbe probe;
            probe.maps = composed;  // maps select the composed attention
            loss_of(*model, batch, &probe).backward();
            std::map<std::string, Array> before;
            for (auto& [name, tensor] : parameters(*model)) before[name] = tensor.value().clone();
            std::map<std::string, HeadBlocks> heads_before;
            for (const auto& place : attentions(*model)) {
              heads_before[place.name] = head_values(*place.attention);
            }
            descend(*model, Real(0.5));
            const auto moved = [](const Array& a, const Array& b) {
              return !std::equal(a.span().begin(), a.span().end(), b.span().begin());
            };
            for (auto& [name, tensor] : parameters(*model)) {
              INFO(name);
              if (tensor.size() == 0) continue;  // the output columns of no heads
              // The key bias has no effect on the function: its gradient is zero, or noise.
              if (name.find(".key.") != std::string::npos && name.ends_with("bias")) continue;
              CHECK(moved(tensor.value(), before.at(name)) == !serves_no_head(*model, name));
            }
            for (const auto& place : attentions(*model)) {
              for (const auto& [which, block] : head_values(*place.attention)) {
                if (which.first == HeadRole::key_bias) continue;
                INFO(place.name << " role " << int(which.first) << " head " << which.second);
                const bool of_no_head =
                    which.second == HeadSlice::of_all && place.attention->alive().empty();
                CHECK(moved(block, heads_before.at(place.name).at(which)) == !of_no_head);
              }
            }
          }
        }
      }
    }
  }
}

TEST_CASE("dropout acts in training, follows the step, and is off in evaluation") {
  for (const ModelKind kind : all_kinds) {
    for (const Layout layout : all_layouts) {
      INFO(name_of(kind) << ", " << name_of(layout));
      ModelConfig config = small_config(kind, layout);
      config.block.dropout = Real(0.3);
      const auto model = random_model(config);
      config.block.dropout = 0;
      const auto dry = random_model(config);
      copy_parameters(*model, *dry);
      Rng rng(7);
      const TinyBatch batch = tiny_batch(config, rng);
      const auto loss = [&](Module& m, std::uint64_t step) {
        const NoGrad quiet;
        const RandomStep random(11, step);
        return loss_of(m, batch).item();
      };
      CHECK(loss(*model, 1) == loss(*model, 1));
      CHECK(loss(*model, 1) != loss(*model, 2));
      CHECK(loss(*model, 1) != loss(*dry, 1));
      model->eval();
      CHECK(loss(*model, 1) == loss(*dry, 1));
    }
  }
}

TEST_CASE("each branch of a layer has its own dropout") {
  Rng rng(12);
  BlockConfig config;
  config.width = 8;
  config.heads = 2;
  DecoderLayer layer(config, rng);
  randomise(layer, rng);
  const Tensor x = constant(test::normal({2, 3, 8}, rng));
  const RandomStep random(1, 1);
  const auto y = [&] {
    return layer(x, x, AttentionMask::causal(), AttentionMask::none()).value();
  };
  const Array whole = y();
  for (Dropout* const dropout : {&layer.dropout1, &layer.dropout2, &layer.dropout3}) {
    dropout->p = 1;  // without this branch
    CHECK_THAT(y(), !same_numbers(whole, Real(1e-3)));
    dropout->p = 0;
  }
  for (Dropout* const dropout : {&layer.dropout1, &layer.dropout2, &layer.dropout3}) dropout->p = 1;
  CHECK_THAT(y(), SameBits(x.value()));
}

TEST_CASE("training with dropout outside of a random step is refused") {
  ModelConfig config = small_config(ModelKind::classifier, Layout::fused);
  config.block.dropout = Real(0.1);
  const auto model = random_model(config);
  Rng rng(7);
  CHECK_THROWS_AS(loss_of(*model, tiny_batch(config, rng)), UsageError);
}

TEST_CASE("with dropout too, separate equals fused and masked equals compact") {
  BlockConfig config;
  config.width = 12;
  config.heads = 4;
  config.hidden = 20;
  config.dropout = Real(0.25);
  Rng rng(8);
  config.layout = Layout::separate;
  EncoderLayer separate(config, rng);
  config.layout = Layout::fused;
  EncoderLayer fused(config, rng);
  randomise(separate, rng);
  // Compares the heads block by block and all other parameters by name.
  for (auto& [name, tensor] : parameters(fused)) {
    for (auto& [other, source] : parameters(separate)) {
      if (name == other) tensor.set_value(source.value().clone());
    }
  }
  set_head_values(fused.self_attn(), head_values(separate.self_attn()));
  const Tensor x = constant(test::normal({3, 5, 12}, rng));
  const AttentionMask mask = AttentionMask::causal();
  for (const bool ask_maps : {false, true}) {
    const RandomStep random(3, 14);
    HeadProbe probe;
    probe.maps = ask_maps;
    Array gates({4}, Real(1));
    gates[1] = gates[2] = 0;
    HeadProbe closed = probe;
    closed.gates[{AttentionKind::encoder_self, 0}] = constant(gates);
    const Array y = separate(x, mask, &probe).value();
    CHECK_THAT(fused(x, mask, &probe).value(), same_numbers(y, same_function));
    const Array masked = separate(x, mask, &closed).value();
    for (EncoderLayer* layer : {&separate, &fused}) {
      Rng again(1);
      config.layout = layer->self_attn().layout();
      EncoderLayer compact(config, again);
      copy_parameters(*layer, compact);
      const Index gone[] = {1, 2};
      compact.self_attn().prune(gone);
      CHECK_THAT(compact(x, mask, &probe).value(), same_numbers(masked, same_function));
    }
  }
}

TEST_CASE("a probe answers for every attention of a model, by kind and layer") {
  for (const ModelKind kind : all_kinds) {
    const ModelConfig config = small_config(kind, Layout::fused);
    const auto model = random_model(config);
    Rng rng(9);
    const TinyBatch batch = tiny_batch(config, rng);
    HeadProbe probe;
    probe.maps = probe.head_out = probe.rows = true;
    loss_of(*model, batch, &probe);
    const auto all = attentions(*model);
    CHECK(all.size() == (kind == ModelKind::seq2seq ? 6U : 2U));
    REQUIRE(probe.seen.size() == all.size());
    for (const auto& place : all) {
      const AttentionOut& out = probe.seen.at(place.location());
      CHECK(out.maps.dim(1) == 3);
      CHECK(out.head_out.dim(3) == 4);
      CHECK(out.rows.entropy.defined());
    }
  }
}

TEST_CASE("a longer sequence than the model's longest is refused with a remedy") {
  const ModelConfig config = small_config(ModelKind::language_model, Layout::fused);
  const auto model = random_model(config);
  const auto& language = dynamic_cast<LanguageModel&>(*model);
  CHECK_THROWS_WITH(language(Ids({1, 13}, 1)), Catch::Contains("larger 'longest'"));
}

TEST_CASE("a configuration survives its record, and a wrong one is refused by key") {
  ModelConfig config = small_config(ModelKind::seq2seq, Layout::separate, false);
  config.block.activation = Activation::gelu_tanh;
  config.block.norm = NormKind::rms;
  config.positions = PositionKind::learned;
  config.tied_output = true;
  const Record record = config.to_record();
  CHECK(record["epsilon"].dump() == "1e-05");
  CHECK(ModelConfig::from_record(record).to_record() == record);
  Record unknown = record;
  unknown["widht"] = 3;
  CHECK_THROWS_WITH(ModelConfig::from_record(unknown), Catch::Contains("widht"));
  const auto refused = [&](const char* key, const Record& value, const char* text) {
    Record wrong = record;
    wrong[key] = value;
    CHECK_THROWS_WITH(ModelConfig::from_record(wrong), Catch::Contains(text));
    CHECK_THROWS_AS(ModelConfig::from_record(wrong), UsageError);
  };
  refused("width", "wide", "model configuration: width must be a whole number, not \"wide\"");
  refused("heads", -1, "model configuration: heads must be a number from 0");
  refused("dropout", Record(), "model configuration: dropout must be a number from 0");
  refused("layout", "fussed", "layout: \"fussed\" is not one of");
  refused("norm", "lay", "model configuration: norm must be one of layer, rms, not \"lay\"");
  unknown.erase("widht");
  unknown.erase("width");
  CHECK_THROWS_WITH(ModelConfig::from_record(unknown), "model configuration: \"width\" is missing");
}

TEST_CASE("a model rebuilds its pruned shapes from a configuration and a list of heads") {
  for (const Layout layout : all_layouts) {
    const ModelConfig config = small_config(ModelKind::seq2seq, layout);
    Rng rng(1), again(1);
    const auto full = make_model(config, rng);
    const std::vector<HeadId> gone = some_heads(*full);
    prune(*full, gone);
    const auto rebuilt = make_model(config, again, gone);
    CHECK(live_heads(*rebuilt) == live_heads(*full));
    copy_parameters(*full, *rebuilt);  // throws when a shape differs
  }
}

TEST_CASE("a variant survives its record, and models without one are written as before") {
  ModelConfig config = small_config(ModelKind::seq2seq, Layout::fused);
  CHECK_FALSE(config.to_record().contains("variant"));
  CHECK_FALSE(config.to_record().contains("attention_dropout"));
  config.block.attention_dropout = Real(0.1);
  config.variant.decoder_heads = 2;
  config.variant.output_bias = false;
  config.variant.pooling = Pooling::first;
  const Record record = config.to_record();
  CHECK(record["attention_dropout"].dump() == "0.1");
  const ModelConfig read = ModelConfig::from_record(record);
  CHECK(read.variant == config.variant);
  CHECK(read.block.attention_dropout == config.block.attention_dropout);
  CHECK_FALSE(read.block.hidden_dropout.has_value());
  Record wrong = record;
  wrong["variant"]["decoder_heads"] = -2;
  CHECK_THROWS_WITH(ModelConfig::from_record(wrong),
                    Catch::Contains("variant.decoder_heads must be a number from 0"));
  wrong["variant"].erase("decoder_heads");
  CHECK_THROWS_WITH(ModelConfig::from_record(wrong), Catch::Contains("variant"));
}

TEST_CASE("a kept row is looked up and gets no gradient from it") {
  Rng rng(1);
  Embedding table(4, 3, rng);
  const Ids ids({1, 4}, {2, 1, 2, 3});
  const Array before = table(ids).value();
  table.keep_row(2);
  const Tensor y = table(ids);
  CHECK(std::equal(before.span().begin(), before.span().end(), y.value().span().begin()));
  sum(y + reshape(slice(table.weight, 0, 2, 3), {1, 1, 3})).backward();
  const Array& gradient = table.weight.grad();
  const std::vector<Real> expected{0, 0, 0, 1, 1, 1, 4, 4, 4, 1, 1, 1};  // 4: by the other use
  CHECK(std::equal(expected.begin(), expected.end(), gradient.span().begin()));
}

TEST_CASE("without initial values a model draws nothing, and the stream stays where it was") {
  const ModelConfig config = small_config(ModelKind::seq2seq, Layout::fused);
  Rng rng(1), untouched(1);
  {
    const NoInit quick;
    const std::unique_ptr<Module> model = make_model(config, rng);
    for (const auto& [name, tensor] : parameters(*model)) {
      if (tensor.rank() > 1) continue;  // has no values
      const bool is_norm = name.find("norm") != std::string::npos && name.ends_with("weight");
      for (const Real x : tensor.value().span()) REQUIRE(x == Real(is_norm ? 1 : 0));
    }
    CHECK(rng.state() == untouched.state());
  }
  const std::unique_ptr<Module> model = make_model(config, rng);
  CHECK_FALSE(rng.state() == untouched.state());
}
