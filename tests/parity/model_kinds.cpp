// Parity of blocks and models, and of twenty steps of training.
#include "headroom/base/error.hpp"
#include "headroom/nn/models.hpp"
#include "headroom/ops/losses.hpp"
#include "headroom/optim/adam.hpp"
#include "headroom/optim/clipping.hpp"
#include "headroom/optim/sgd.hpp"
#include "parity/kinds.hpp"
#include "parity/twin.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace parity {

namespace {

/// The configuration of a case's blocks; `layer` is the path of one of them.
BlockConfig block_config(const Case& c, const std::string& layer = "") {
  BlockConfig block;
  const Shape linear1 = c.parameter_shape(layer + "linear1.weight");
  block.width = linear1[1];
  block.hidden = linear1[0];
  block.heads = c.config().at("heads").get<Index>();
  block.norm_first = c.config().at("norm_first").get<bool>();
  block.activation =
      from_name<Activation>("activation", c.config().at("activation").get<std::string>());
  return block;
}

/// A twin of anything that is built from a block's configuration and `more`.
template <class M, class... More>
Twin<M> block_twin(Layout layout, BlockConfig block, More... more) {
  return {Layout::fused, layout, [&](Layout wanted) {
            Rng rng(1);
            block.layout = wanted;
            return std::make_unique<M>(block, more..., rng);
          }};
}

/// torch.nn.Transformer: both stacks with a last norm, whatever the order of norms inside.
class BothStacks : public Module {
 public:
  BothStacks(const BlockConfig& block, Index layers, Rng& rng)
      : encoder(block, layers, true, rng), decoder(block, layers, true, rng) {}
  void members(Members& visit) override {
    visit("encoder", encoder);
    visit("decoder", decoder);
  }
  std::string title() const override { return "BothStacks"; }
  Encoder encoder;
  Decoder decoder;
};

std::unique_ptr<Optimizer> optimizer_of(const Record& config, Module& model) {
  const auto name = config.at("optimizer").get<std::string>();
  if (name == "sgd" || name == "sgd_momentum") {
    SgdOptions options;
    options.momentum = config.value("momentum", 0.0);
    return std::make_unique<Sgd>(model, options);
  }
  AdamOptions options;
  options.beta1 = config.at("betas").at(0).get<double>();
  options.beta2 = config.at("betas").at(1).get<double>();
  options.epsilon = config.at("eps").get<double>();
  options.weight_decay = config.value("weight_decay", 0.0);
  if (name == "adamw") return std::make_unique<AdamW>(model, options);
  if (name == "adam") return std::make_unique<Adam>(model, options);
  throw UsageError("no optimizer " + name);
}

}  // namespace

void encoder_layer(Case& c, Layout layout) {
  Twin<EncoderLayer> twin = block_twin<EncoderLayer>(layout, block_config(c));
  c.load(twin.home());
  twin.bring_out();
  const Tensor x = c.input("x");
  const Tensor y = twin.model()(x, AttentionMask::allow(c.bytes("mask")));
  c.compare_outputs(std::vector<Output>{{"y", y}});
  c.compare_gradient("x", x);
  twin.bring_gradients_home();
  c.compare_gradients(twin.home());
}

void decoder_layer(Case& c, Layout layout) {
  Twin<DecoderLayer> twin = block_twin<DecoderLayer>(layout, block_config(c));
  c.load(twin.home());
  twin.bring_out();
  const Tensor x = c.input("x"), memory = c.input("memory");
  const Tensor y = twin.model()(x, memory, AttentionMask::allow(c.bytes("mask")),
                                AttentionMask::allow(c.bytes("memory_mask")));
  c.compare_outputs(std::vector<Output>{{"y", y}});
  c.compare_gradient("x", x);
  c.compare_gradient("memory", memory);
  twin.bring_gradients_home();
  c.compare_gradients(twin.home());
}

void transformer(Case& c, Layout layout) {
  const auto layers = c.config().at("layers").get<Index>();
  Twin<BothStacks> twin =
      block_twin<BothStacks>(layout, block_config(c, "encoder.layers.0."), layers);
  c.load(twin.home());
  twin.bring_out();
  const Tensor source = c.input("source"), target = c.input("target");
  const AttentionMask padding = AttentionMask::lengths(c.ids("source_lengths"));
  const Tensor memory = twin.model().encoder(source, padding);
  const Tensor y = twin.model().decoder(target, memory, AttentionMask::causal(), padding);
  c.compare_outputs(std::vector<Output>{{"y", y}});
  c.compare_gradient("source", source);
  c.compare_gradient("target", target);
  twin.bring_gradients_home();
  c.compare_gradients(twin.home());
}

void language_model(Case& c, Layout layout) {
  const Record& sizes = c.config();
  ModelConfig config;
  config.kind = ModelKind::language_model;
  config.layers = sizes.at("L").get<Index>();
  config.source_vocabulary = sizes.at("V").get<Index>();
  config.longest = sizes.at("T").get<Index>();
  config.positions = PositionKind::learned;
  config.tied_output = true;
  config.block.width = sizes.at("D").get<Index>();
  config.block.heads = sizes.at("H").get<Index>();
  config.block.activation =
      from_name<Activation>("activation", sizes.at("activation").get<std::string>());
  config.block.epsilon = Real(sizes.at("eps_norm").get<double>());

  std::vector<ParameterName> names{{"wte.weight", "embedding.weight"},
                                   {"wpe.weight", "positions.weight"},
                                   {"ln_f.weight", "decoder.norm.weight"},
                                   {"ln_f.bias", "decoder.norm.bias"}};
  for (Index i = 0; i < config.layers; ++i) {
    const std::string theirs = "h." + std::to_string(i),
                      ours = "decoder.layers." + std::to_string(i);
    for (const char* name :
         {"in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"}) {
      names.push_back({theirs + ".attn." + name, ours + ".self_attn." + name});
    }
    for (const auto& [from, to] : {std::pair(".ln_1", ".norm1"),
                                   {".ln_2", ".norm2"},
                                   {".fc", ".linear1"},
                                   {".proj", ".linear2"}}) {
      names.push_back({theirs + from + ".weight", ours + to + ".weight"});
      names.push_back({theirs + from + ".bias", ours + to + ".bias"});
    }
  }

  Twin<LanguageModel> twin{Layout::fused, layout, [&](Layout wanted) {
                             Rng rng(1);
                             config.block.layout = wanted;
                             return std::make_unique<LanguageModel>(config, rng);
                           }};
  c.load(twin.home(), names);
  twin.bring_out();
  const Tensor logits = twin.model()(c.ids("ids"));
  const Tensor loss = headroom::cross_entropy(logits, c.ids("targets"));
  c.compare_outputs(std::vector<Output>{{"logits", logits}, {"loss", loss}});
  twin.bring_gradients_home();
  c.compare_gradients(twin.home(), names);
}

void train(Case& c, Layout layout) {
  BlockConfig block = block_config(c);
  block.epsilon = Real(c.config().at("eps_norm").get<double>());
  Twin<EncoderLayer> twin = block_twin<EncoderLayer>(layout, block);
  c.load(twin.home());
  twin.bring_out();

  const std::unique_ptr<Optimizer> optimizer = optimizer_of(c.config(), twin.model());
  const double clip = c.config().at("clip").get<double>(), rate = c.config().at("lr").get<double>();
  const Tensor x = c.input("x").detach(), y = c.input("y").detach();
  Array losses({c.config().at("steps").get<Index>()});
  for (Real& slot : losses.span()) {
    optimizer->zero_grad();
    const Tensor loss = squared_error(twin.model()(x, AttentionMask::none()), y);
    slot = loss.item();
    loss.backward();
    if (clip > 0) clip_grad_norm(twin.model(), clip);
    optimizer->step(rate);
  }
  c.compare("out.losses", losses);
  twin.bring_parameters_home();
  c.compare_after(twin.home());
}

}  // namespace parity
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
