// Drawing an attention in one layout, transplanting it into the other.
#include "lab/twin_layouts.hpp"

#include "headroom/base/extremes.hpp"
#include "headroom/surgery/transplant.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

std::unique_ptr<Attention> same_heads(Attention& source, Layout layout) {
  Rng overwritten(0);
  auto copy = make_attention(layout, source.config(), overwritten);
  transplant(source, *copy);
  return copy;
}

TwinLayouts twin_layouts(const AttentionConfig& config, Rng& rng, Layout from) {
  TwinLayouts twins{make_attention(Layout::separate, config, rng),
                    make_attention(Layout::fused, config, rng)};
  Attention& source = from == Layout::separate ? *twins.separate : *twins.fused;
  Attention& target = from == Layout::separate ? *twins.fused : *twins.separate;
  for (auto& [name, tensor] : parameters(source)) {
    if (tensor.rank() == 1) tensor.set_value(normal(tensor.shape(), Real(0.2), rng));
  }
  transplant(source, target);
  return twins;
}

NamedArrays by_part(Attention& attention,
                    const std::function<const Array&(const std::string&)>& find) {
  for (auto& [name, tensor] : parameters(attention)) tensor.set_grad(find(name).clone());
  return export_gradients(attention, ForeignLayout::bert);
}

double parts_apart(const NamedArrays& a, const NamedArrays& b) {
  double most = 0;
  for (const auto& [name, array] : a) {
    if (name != "self.key.bias" && name != "k_proj.bias")
      most = larger(most, relative_difference(array, b.at(name)));
  }
  return most;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
