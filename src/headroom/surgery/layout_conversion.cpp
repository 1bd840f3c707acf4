// Conversion to and from the layouts of other implementations: head by head, through head_slices(),
// so that this file does not depend on how our layouts store them.
#include "headroom/surgery/layout_conversion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "headroom/base/error.hpp"
#include "headroom/base/nearest.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The names of a layout's arrays.
struct ForeignNames {
  std::array<const char*, 3> weight, bias;  // of query, key, value; one name thrice: packed
  const char *output, *output_bias;
  bool transposed;  // weights are [in, out]
};

bool equal_widths(const AttentionConfig& config) {
  return config.key_width == config.width && config.value_width == config.width;
}

ForeignNames names_in(ForeignLayout layout, const AttentionConfig& config) {
  switch (layout) {
    case ForeignLayout::pytorch: {
      ForeignNames names{{"in_proj_weight", "in_proj_weight", "in_proj_weight"},
                         {"in_proj_bias", "in_proj_bias", "in_proj_bias"},
                         "out_proj.weight",
                         "out_proj.bias",
                         false};
      if (!equal_widths(config)) names.weight = {"q_proj_weight", "k_proj_weight", "v_proj_weight"};
      return names;
    }
    case ForeignLayout::bert:
      return {{"self.query.weight", "self.key.weight", "self.value.weight"},
              {"self.query.bias", "self.key.bias", "self.value.bias"},
              "output.dense.weight",
              "output.dense.bias",
              false};
    case ForeignLayout::gpt2:
      return {{"c_attn.weight", "c_attn.weight", "c_attn.weight"},
              {"c_attn.bias", "c_attn.bias", "c_attn.bias"},
              "c_proj.weight",
              "c_proj.bias",
              true};
    case ForeignLayout::bart:
      return {{"q_proj.weight", "k_proj.weight", "v_proj.weight"},
              {"q_proj.bias", "k_proj.bias", "v_proj.bias"},
              "out_proj.weight",
              "out_proj.bias",
              false};
    case ForeignLayout::summae:
      return {{"q_proj/kernel", "k_proj/kernel", "v_proj/kernel"},
              {},
              "output_proj/kernel",
              nullptr,
              true};
  }
  throw UsageError("layout conversion: no such layout");
}

/// Throws unless the layout has an array for every parameter of the attention, and no others.
void check_can_hold(ForeignLayout layout, const Attention& attention) {
  const AttentionConfig& config = attention.config();
  const char* why = nullptr;
  if (layout == ForeignLayout::summae && config.bias) why = "this layout has no biases";
  const bool optional_biases = layout == ForeignLayout::pytorch || layout == ForeignLayout::summae;
  if (!optional_biases && !config.bias) why = "this layout has biases";
  if (layout == ForeignLayout::gpt2 && !equal_widths(config)) {
    why = "keys and values must be as wide as queries";
  }
  for (const HeadSlice& slice : attention.head_slices()) {
    if (slice.role == HeadRole::score_bias) why = "this layout has no score bias";
    if (slice.role == HeadRole::extra) why = "this layout has no such parameters";
    if (slice.head < 0 && slice.role <= HeadRole::output) {
      why = "its heads share their projections";
    }
  }
  if (why == nullptr) return;
  throw UsageError(fmt::format("layout conversion: {} cannot hold {}: {}", name_of(layout),
                               attention.title(), why));
}

/// A slice of ours and the location of its channels in a foreign array: channel d of the head at
/// index first + d * step of `axis`.
struct Correspondence {
  HeadSlice ours;
  std::string theirs;
  int axis = 0;
  Index first = 0, step = 1;
};

/// The arrays of a foreign layout, and how the slices of an attention fill them.
struct ConversionPlan {
  std::map<std::string, Shape> shapes;
  std::vector<Correspondence> correspondences;
};

/// Query 0, key 1, value 2.
std::size_t part_of(HeadRole role) {
  switch (role) {
    case HeadRole::key:
    case HeadRole::key_bias: return 1;
    case HeadRole::value:
    case HeadRole::value_bias: return 2;
    default: return 0;
  }
}

ConversionPlan make_plan(const Attention& attention, ForeignLayout layout, HeadOrder order) {
  check_can_hold(layout, attention);
  const AttentionConfig& config = attention.config();
  const ForeignNames names = names_in(layout, config);
  const auto alive = attention.alive();
  const auto live = Index(alive.size());
  const Index channels = live * config.head_dim;
  const auto packed = [](const std::array<const char*, 3>& three) {
    return std::string_view(three[0]) == three[1];
  };
  const auto matrix = [&](Index out, Index in) {
    return names.transposed ? Shape{in, out} : Shape{out, in};
  };

  ConversionPlan plan;
  const std::array<Index, 3> widths{config.width, config.key_width, config.value_width};
  for (std::size_t part = 0; part < 3; ++part) {
    plan.shapes[names.weight[part]] =
        matrix(packed(names.weight) ? 3 * channels : channels, widths[part]);
    if (config.bias) {
      plan.shapes[names.bias[part]] = {packed(names.bias) ? 3 * channels : channels};
    }
  }
  plan.shapes[names.output] = matrix(config.width, channels);
  if (config.bias) plan.shapes[names.output_bias] = {config.width};

  const int out_axis = names.transposed ? 1 : 0, in_axis = 1 - out_axis;
  for (const HeadSlice& slice : attention.head_slices()) {
    const auto place = [&](const char* name, int axis, Index offset) {
      const Index i = std::find(alive.begin(), alive.end(), slice.head) - alive.begin();
      const auto channel = [&](Index d) { return channel_of(order, i, d, live, config.head_dim); };
      plan.correspondences.push_back(
          {slice, name, axis, offset + channel(0), channel(1) - channel(0)});
    };
    const std::size_t part = part_of(slice.role);
    const Index third = Index(part) * channels;  // the first channel in a packed array
    switch (slice.role) {
      case HeadRole::query:
      case HeadRole::key:
      case HeadRole::value:
        place(names.weight[part], out_axis, packed(names.weight) ? third : 0);
        break;
      case HeadRole::query_bias:
      case HeadRole::key_bias:
      case HeadRole::value_bias: place(names.bias[part], 0, packed(names.bias) ? third : 0); break;
      case HeadRole::output: place(names.output, in_axis, 0); break;
      case HeadRole::output_bias:
        plan.correspondences.push_back({slice, names.output_bias, 0, 0, 1});
        break;
      case HeadRole::score_bias:
      case HeadRole::extra: break;  // check_can_hold() rejects them
    }
  }
  return plan;
}

/// Calls visit(index in ours, index in theirs) for all corresponding elements.
template <class Visit>
void for_each_number(const Correspondence& c, const Shape& ours, const Shape& theirs, Visit visit) {
  const Index count = c.ours.end - c.ours.begin, others = ours.size() / ours[c.ours.axis];
  // Element `other` of channel `channel` of an array with the channels along `axis`.
  const auto element = [](const Shape& shape, int axis, Index channel, Index other) {
    if (shape.rank() == 1) return channel;
    return axis == 0 ? channel * shape[1] + other : other * shape[1] + channel;
  };
  for (Index d = 0; d < count; ++d) {
    for (Index other = 0; other < others; ++other) {
      visit(element(ours, c.ours.axis, c.ours.begin + d, other),
            element(theirs, c.axis, c.first + d * c.step, other));
    }
  }
}

std::map<std::string, Tensor> tensors_of(Attention& attention) {
  std::map<std::string, Tensor> tensors;
  for (const auto& [name, tensor] : parameters(attention)) tensors[name] = tensor;
  return tensors;
}

/// `array_of` is the value or the gradient of a parameter.
template <class ArrayOf>
NamedArrays exported(Attention& attention, ForeignLayout layout, HeadOrder order,
                     ArrayOf array_of) {
  const ConversionPlan plan = make_plan(attention, layout, order);
  NamedArrays arrays;
  for (const auto& [name, shape] : plan.shapes) arrays[name] = Array(shape);
  const std::map<std::string, Tensor> tensors = tensors_of(attention);
  for (const Correspondence& c : plan.correspondences) {
    const Array& from = array_of(tensors.at(c.ours.name));
    if (!from.defined()) {
      throw UsageError(fmt::format("layout conversion: {} has no gradient", c.ours.name));
    }
    Array& to = arrays.at(c.theirs);
    for_each_number(c, from.shape(), to.shape(), [&](Index i, Index j) { to[j] = from[i]; });
  }
  return arrays;
}

/// Throws unless the arrays are those of the plan.
void check_arrays(const NamedArrays& arrays, const ConversionPlan& plan, ForeignLayout layout) {
  std::vector<std::string> given;
  for (const auto& [name, array] : arrays) {
    if (!plan.shapes.contains(name)) given.push_back(name);
  }
  for (const auto& [name, shape] : plan.shapes) {
    const auto found = arrays.find(name);
    if (found == arrays.end()) {
      throw UsageError(fmt::format("layout conversion: {} is missing, which {} has{}", name,
                                   name_of(layout), did_you_mean(name, given)));
    }
    if (!(found->second.shape() == shape)) {
      throw ShapeError(
          fmt::format("layout conversion: {} is {} but the live heads need {} in the layout {}",
                      name, found->second.shape().text(), shape.text(), name_of(layout)));
    }
  }
  if (!given.empty()) {
    throw UsageError(
        fmt::format("layout conversion: {} is unused; {} has no parameter of that name",
                    given.front(), name_of(layout)));
  }
}

}  // namespace

Index channel_of(HeadOrder order, Index head, Index d, Index heads, Index head_dim) {
  return order == HeadOrder::blocked ? head * head_dim + d : d * heads + head;
}

std::map<std::string, Shape> foreign_shapes(const Attention& attention, ForeignLayout layout) {
  return make_plan(attention, layout, HeadOrder::blocked).shapes;
}

NamedArrays export_attention(Attention& attention, ForeignLayout layout, HeadOrder order) {
  return exported(attention, layout, order,
                  [](const Tensor& tensor) -> const Array& { return tensor.value(); });
}

NamedArrays export_gradients(Attention& attention, ForeignLayout layout, HeadOrder order) {
  return exported(attention, layout, order,
                  [](const Tensor& tensor) -> const Array& { return tensor.grad(); });
}

void import_attention(const NamedArrays& arrays, Attention& attention, ForeignLayout layout,
                      HeadOrder order) {
  const ConversionPlan plan = make_plan(attention, layout, order);
  check_arrays(arrays, plan, layout);
  std::map<std::string, Tensor> tensors = tensors_of(attention);
  for (const Correspondence& c : plan.correspondences) {
    const Array& from = arrays.at(c.theirs);
    Array& to = tensors.at(c.ours.name).edit_value();
    if (to.shared()) to = to.clone();  // copies of the array keep the old values
    for_each_number(c, to.shape(), from.shape(), [&](Index i, Index j) { to[i] = from[j]; });
  }
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
