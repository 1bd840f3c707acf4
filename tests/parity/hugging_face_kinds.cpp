// Parity with Hugging Face Transformers: BERT's attention and GPT-2, before and after its own
// prune_heads(); folder_kinds.cpp has whole folders.
#include "headroom/base/error.hpp"
#include "headroom/nn/models.hpp"
#include "headroom/ops/arithmetic.hpp"
#include "headroom/surgery/layout_conversion.hpp"
#include "headroom_foreign/folders/model_folder.hpp"
#include "parity/kinds.hpp"
#include "parity/twin.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace parity {

namespace {

/// Sets every parameter of a model from arrays under their names in the file.
void import_model(NamedArrays arrays, Module& model, const NameTable& names) {
  read_foreign_names(model, names, true, [&](const std::string& name) {
    const auto found = arrays.extract(name);
    if (found.empty()) throw UsageError("the file has no " + name);
    return found.mapped();
  });
  if (!arrays.empty()) throw UsageError("nothing takes " + arrays.begin()->first);
}

/// The full model comes in and goes abroad; there and at home the heads of each layer are removed,
/// which must leave exactly what their own prune_heads left.
void import_and_prune(Case& c, Module& home, Module& model, const NameTable& names,
                      const std::map<std::size_t, std::vector<Index>>& pruned) {
  import_model(c.arrays("before."), home, names);
  std::vector<Module*> sides{&home};
  if (&model != &home) {
    transplant(home, model);
    sides.push_back(&model);
  }
  for (Module* side : sides) {
    for (const auto& [layer, heads] : pruned) attentions(*side).at(layer).attention->prune(heads);
    for (const auto& [name, array] : in_foreign_names(*side, names, true)) {
      c.compare_exactly("param." + name, array);
    }
  }
}

void compare_gradients(Case& c, Module& home, const NameTable& names) {
  for (const auto& [name, array] : in_foreign_names(home, names, true, true)) {
    c.compare("grad.param." + name, array);
  }
}

/// Attention with its residual and norm, in that order.
class AttentionBlock : public Module {
 public:
  AttentionBlock(Layout layout, const AttentionConfig& config, Real epsilon, Rng& rng)
      : attention(make_attention(layout, config, rng)),
        norm(config.width, NormKind::layer, epsilon) {}
  Tensor operator()(const Tensor& x, const AttentionMask& mask) const {
    return norm((*attention)(x, x, mask) + x);
  }
  void members(Members& visit) override {
    visit("attention", *attention);
    visit("norm", norm);
  }
  std::string title() const override { return "AttentionBlock"; }

  std::unique_ptr<Attention> attention;
  Norm norm;
};

}  // namespace

void bert_attention(Case& c, Layout layout) {
  const Tensor x = c.input("x");
  AttentionConfig config;
  config.width = x.dim(2);
  config.heads = c.config().at("heads").get<Index>();
  const auto epsilon = Real(c.config().at("eps_norm").get<double>());
  const NameTable names{
      "",
      ForeignLayout::bert,
      {{"", "attention", NameOf::attention}, {"output.LayerNorm", "norm", NameOf::layer}}};

  Twin<AttentionBlock> twin{Layout::fused, layout, [&](Layout wanted) {
                              Rng rng(1);
                              return std::make_unique<AttentionBlock>(wanted, config, epsilon, rng);
                            }};
  import_and_prune(c, twin.home(), twin.model(), names,
                   {{0, c.config().at("pruned_heads").get<std::vector<Index>>()}});
  const Tensor y = twin.model()(x, AttentionMask::lengths(c.ids("lengths")));
  c.compare_outputs(std::vector<Output>{{"y", y}});
  c.compare_gradient("x", x);
  twin.bring_gradients_home();
  compare_gradients(c, twin.home(), names);
}

void gpt2_model(Case& c, Layout layout) {
  ModelConfig config;
  config.kind = ModelKind::language_model;
  config.layers = c.config().at("layers").get<Index>();
  config.source_vocabulary = c.parameter_shape("transformer.wte.weight")[0];
  config.longest = c.parameter_shape("transformer.wpe.weight")[0];
  config.positions = PositionKind::learned;
  config.tied_output = true;
  config.block.width = c.parameter_shape("transformer.wte.weight")[1];
  config.block.hidden = c.parameter_shape("transformer.h.0.mlp.c_fc.weight")[1];
  config.block.heads = c.config().at("heads").get<Index>();
  config.block.activation =
      from_name<Activation>("activation", c.config().at("activation").get<std::string>());
  config.block.epsilon = Real(c.config().at("eps_norm").get<double>());

  const NameTable& names = names_of_architecture("GPT2LMHeadModel", config);
  std::map<std::size_t, std::vector<Index>> pruned;
  for (const auto& [layer, heads] : c.config().at("pruned_heads").items()) {
    pruned[std::stoul(layer)] = heads.get<std::vector<Index>>();
  }

  Twin<LanguageModel> twin{Layout::fused, layout, [&](Layout wanted) {
                             Rng rng(1);
                             config.block.layout = wanted;
                             return std::make_unique<LanguageModel>(config, rng);
                           }};
  import_and_prune(c, twin.home(), twin.model(), names, pruned);
  const Tensor logits = twin.model()(c.ids("ids"));
  c.compare_outputs(std::vector<Output>{{"logits", logits}});
  twin.bring_gradients_home();
  compare_gradients(c, twin.home(), names);
}

}  // namespace parity
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
