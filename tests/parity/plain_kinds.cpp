// Parity of layers without heads, and of the loss.
#include "headroom/nn/layers.hpp"
#include "headroom/ops/losses.hpp"
#include "parity/kinds.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace parity {

void linear(Case& c, Layout) {
  const Shape weight = c.parameter_shape("weight");
  Rng rng(1);
  Linear layer(weight[1], weight[0], rng, c.config().at("bias").get<bool>());
  c.load(layer);
  const Tensor x = c.input("x");
  c.compare_outputs(std::vector<Output>{{"y", layer(x)}});
  c.compare_gradient("x", x);
  c.compare_gradients(layer);
}

void layer_norm(Case& c, Layout) {
  Norm layer(c.parameter_shape("weight")[0], NormKind::layer,
             Real(c.config().at("eps").get<double>()));
  c.load(layer);
  const Tensor x = c.input("x");
  c.compare_outputs(std::vector<Output>{{"y", layer(x)}});
  c.compare_gradient("x", x);
  c.compare_gradients(layer);
}

void activation(Case& c, Layout) {
  const Tensor x = c.input("x");
  const Tensor y =
      activate(from_name<Activation>("activation", c.config().at("name").get<std::string>()), x);
  c.compare_outputs(std::vector<Output>{{"y", y}});
  c.compare_gradient("x", x);
}

void cross_entropy(Case& c, Layout) {
  CrossEntropyOptions options;
  options.ignore_index = c.config().at("ignore_index").get<std::int32_t>();
  options.label_smoothing = Real(c.config().at("label_smoothing").get<double>());
  const Tensor logits = c.input("logits");
  const Tensor loss = headroom::cross_entropy(logits, c.ids("targets"), options);
  c.compare_outputs(std::vector<Output>{{"loss", loss}});
  c.compare_gradient("logits", logits);
}

void embedding(Case& c, Layout) {
  const Shape weight = c.parameter_shape("weight");
  Rng rng(1);
  Embedding layer(weight[0], weight[1], rng);
  c.load(layer);
  c.compare_outputs(std::vector<Output>{{"y", layer(c.ids("ids"))}});
  c.compare_gradients(layer);
}

}  // namespace parity
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
