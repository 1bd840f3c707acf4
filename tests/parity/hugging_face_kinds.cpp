// Parity with Hugging Face Transformers: BERT's attention and GPT-2, with heads pruned.
#include <tuple>

#include "headroom/base/error.hpp"
#include "headroom/nn/models.hpp"
#include "headroom/ops/arithmetic.hpp"
#include "headroom/surgery/layout_conversion.hpp"
#include "parity/kinds.hpp"
#include "parity/twin.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace parity {

namespace {

/// A parameter outside the attentions, called otherwise in the file.
struct OtherParameter {
  std::string theirs, ours;
  bool transposed = false;  // a Conv1D's weight, [in, out]
};

/// How a model of ours is stored in the file.
struct ForeignModel {
  ForeignLayout layout;
  std::vector<std::string> prefixes;  // of each attention's names, by layer
  std::vector<OtherParameter> others;
};

Array transposed(const Array& matrix) {
  const Index rows = matrix.dim(0), columns = matrix.dim(1);
  Array result({columns, rows});
  for (Index i = 0; i < rows * columns; ++i) {
    result[(i % columns) * rows + i / columns] = matrix[i];
  }
  return result;
}

std::map<std::string, Tensor> tensors_of(Module& model) {
  std::map<std::string, Tensor> tensors;
  for (const auto& [name, tensor] : parameters(model)) tensors[name] = tensor;
  return tensors;
}

/// Sets every parameter of a model from arrays under their names.
void import_model(NamedArrays arrays, Module& model, const ForeignModel& foreign) {
  std::map<std::string, Tensor> tensors = tensors_of(model);
  for (const OtherParameter& other : foreign.others) {
    const auto found = arrays.extract(other.theirs);
    if (found.empty()) throw UsageError("the file has no " + other.theirs);
    const Array value = other.transposed ? transposed(found.mapped()) : found.mapped();
    Tensor& target = tensors.at(other.ours);
    if (!(value.shape() == target.shape())) throw ShapeError(other.theirs + " does not fit");
    target.set_value(value);
  }
  const std::vector<NamedAttention> found = attentions(model);
  for (std::size_t i = 0; i < found.size(); ++i) {
    NamedArrays own;
    std::erase_if(arrays, [&](const auto& entry) {
      const auto& [name, array] = entry;
      if (!name.starts_with(foreign.prefixes[i])) return false;
      own[name.substr(foreign.prefixes[i].size())] = array;
      return true;
    });
    import_attention(own, *found[i].attention, foreign.layout);
  }
  if (!arrays.empty()) throw UsageError("nothing takes " + arrays.begin()->first);
}

/// The parameters of a model, or their gradients, under their names.
NamedArrays export_model(Module& model, const ForeignModel& foreign, bool gradients) {
  NamedArrays arrays;
  const std::map<std::string, Tensor> tensors = tensors_of(model);
  for (const OtherParameter& other : foreign.others) {
    const Tensor& tensor = tensors.at(other.ours);
    const Array& array = gradients ? tensor.grad() : tensor.value();
    arrays[other.theirs] = other.transposed ? transposed(array) : array;
  }
  const std::vector<NamedAttention> found = attentions(model);
  for (std::size_t i = 0; i < found.size(); ++i) {
    Attention& attention = *found[i].attention;
    for (auto& [name, array] : gradients ? export_gradients(attention, foreign.layout)
                                         : export_attention(attention, foreign.layout)) {
      arrays[foreign.prefixes[i] + name] = array;
    }
  }
  return arrays;
}

/// The full model comes in and goes abroad; there and at home the heads of each layer are removed,
/// which must leave exactly what their own prune_heads left.
void import_and_prune(Case& c, Module& home, Module& model, const ForeignModel& foreign,
                      const std::map<std::size_t, std::vector<Index>>& pruned) {
  import_model(c.arrays("before."), home, foreign);
  std::vector<Module*> sides{&home};
  if (&model != &home) {
    transplant(home, model);
    sides.push_back(&model);
  }
  for (Module* side : sides) {
    for (const auto& [layer, heads] : pruned) attentions(*side).at(layer).attention->prune(heads);
    for (const auto& [name, array] : export_model(*side, foreign, false)) {
      c.compare_exactly("param." + name, array);
    }
  }
}

void compare_gradients(Case& c, Module& home, const ForeignModel& foreign) {
  for (const auto& [name, array] : export_model(home, foreign, true)) {
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
  const ForeignModel foreign{
      ForeignLayout::bert,
      {""},
      {{"output.LayerNorm.weight", "norm.weight"}, {"output.LayerNorm.bias", "norm.bias"}}};

  Twin<AttentionBlock> twin{Layout::fused, layout, [&](Layout wanted) {
                              Rng rng(1);
                              return std::make_unique<AttentionBlock>(wanted, config, epsilon, rng);
                            }};
  import_and_prune(c, twin.home(), twin.model(), foreign,
                   {{0, c.config().at("pruned_heads").get<std::vector<Index>>()}});
  const Tensor y = twin.model()(x, AttentionMask::lengths(c.ids("lengths")));
  c.compare_outputs(std::vector<Output>{{"y", y}});
  c.compare_gradient("x", x);
  twin.bring_gradients_home();
  compare_gradients(c, twin.home(), foreign);
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

  ForeignModel foreign{ForeignLayout::gpt2,
                       {},
                       {{"transformer.wte.weight", "embedding.weight"},
                        {"transformer.wpe.weight", "positions.weight"},
                        {"transformer.ln_f.weight", "decoder.norm.weight"},
                        {"transformer.ln_f.bias", "decoder.norm.bias"}}};
  for (Index i = 0; i < config.layers; ++i) {
    const std::string theirs = "transformer.h." + std::to_string(i),
                      ours = "decoder.layers." + std::to_string(i);
    foreign.prefixes.push_back(theirs + ".attn.");
    for (const auto& [from, to, conv1d] : {std::tuple(".ln_1", ".norm1", false),
                                           {".ln_2", ".norm2", false},
                                           {".mlp.c_fc", ".linear1", true},
                                           {".mlp.c_proj", ".linear2", true}}) {
      foreign.others.push_back({theirs + from + ".weight", ours + to + ".weight", conv1d});
      foreign.others.push_back({theirs + from + ".bias", ours + to + ".bias"});
    }
  }
  std::map<std::size_t, std::vector<Index>> pruned;
  for (const auto& [layer, heads] : c.config().at("pruned_heads").items()) {
    pruned[std::stoul(layer)] = heads.get<std::vector<Index>>();
  }

  Twin<LanguageModel> twin{Layout::fused, layout, [&](Layout wanted) {
                             Rng rng(1);
                             config.block.layout = wanted;
                             return std::make_unique<LanguageModel>(config, rng);
                           }};
  import_and_prune(c, twin.home(), twin.model(), foreign, pruned);
  const Tensor logits = twin.model()(c.ids("ids"));
  c.compare_outputs(std::vector<Output>{{"logits", logits}});
  twin.bring_gradients_home();
  compare_gradients(c, twin.home(), foreign);
}

}  // namespace parity
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
