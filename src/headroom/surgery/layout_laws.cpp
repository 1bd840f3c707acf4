// Attentions of a layout under test, and inputs for them.
#include "surgery/layout_laws.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "headroom/autograd/tape.hpp"
#include "headroom/base/error.hpp"
#include "headroom/ops/arithmetic.hpp"
#include "headroom/surgery/transplant.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace layout_laws {

Array random_values(const Shape& shape, Rng& rng, Real scale) {
  Array values(shape);
  for (Real& value : values.span()) value = scale * rng.uniform(-1, 1);
  return values;
}

bool same_bits(const Array& a, const Array& b) {
  if (!a.defined() || !b.defined()) return a.defined() == b.defined();
  return a.shape() == b.shape() && std::ranges::equal(a.span(), b.span());
}

bool same(const Array& a, const Array& b) {
  double scale = 1;
  for (const Real x : b.span()) scale = std::max(scale, std::abs(double(x)));
  return a.shape() == b.shape() && largest_difference(a, b) <= (is_double ? 1e-9 : 2e-4) * scale;
}

std::string range_text(const HeadSlice& slice) {
  return fmt::format("[{}, {}) of axis {} of {}", slice.begin, slice.end, slice.axis, slice.name);
}

std::string heads_text(std::span<const Index> removed) {
  return removed.empty() ? "all heads" : fmt::format("all heads but {}", fmt::join(removed, ", "));
}

std::map<std::string, Tensor> tensors_of(Attention& attention) {
  std::map<std::string, Tensor> tensors;
  for (const auto& [name, tensor] : parameters(attention)) tensors[name] = tensor;
  return tensors;
}

Array output_bias_of(Attention& attention) {
  for (const HeadSlice& part : attention.head_slices()) {
    if (part.role == HeadRole::output_bias) return tensors_of(attention).at(part.name).value();
  }
  return {};
}

Contents::Contents(Attention& attention) {
  for (const auto& [name, tensor] : parameters(attention)) {
    values[name] = tensor.value().clone();
    gradients[name] = tensor.grad().clone();
  }
}

LayoutCase::LayoutCase(const Attention& attention)
    : config(attention.config()), layout_(attention.layout()) {
  config.dropout = 0;
  Rng rng(1, "check_layout inputs");
  query = Tensor(random_values({batch, queries, config.width}, rng), true);
  key = Tensor(random_values({batch, keys, config.key_width}, rng), true);
  value = Tensor(random_values({batch, keys, config.value_width}, rng), true);
}

std::unique_ptr<Attention> LayoutCase::drawn() const {
  Rng rng(2, "check_layout constructor");
  auto attention = make_attention(layout_, config, rng);
  attention->eval();
  return attention;
}

std::unique_ptr<Attention> LayoutCase::make(int draw) const {
  auto attention = drawn();
  Rng rng(3 + std::uint64_t(draw), "check_layout parameters");
  for (auto& [name, tensor] : parameters(*attention)) {
    if (!tensor.requires_grad() || tensor.size() == 0) continue;
    const int last = tensor.rank() - 1;
    if (last >= 1) {
      const Real scale = Real(1.5 / std::sqrt(double(tensor.dim(last))));
      tensor.set_value(random_values(tensor.shape(), rng, scale));
      continue;
    }
    // Near the constructor's values: a temperature of 1 stays positive.
    Array values = tensor.value().clone();
    for (Real& x : values.span()) {
      x += Real(0.4) * (x * rng.uniform(-1, 1) + rng.uniform(-1, 1));
    }
    tensor.set_value(values);
  }
  return attention;
}

bool LayoutCase::self_attention() const {
  return config.key_width == config.width && config.value_width == config.width;
}

std::vector<Tensor> LayoutCase::outputs(const Attention& attention, const Tensor& gates) const {
  AttentionAsk ask;
  ask.gates = gates;
  std::vector<Tensor> all{attention(query, key, value, AttentionMask::none(), ask).y};
  if (self_attention()) {
    all.push_back(attention(query, query, query, AttentionMask::causal(), ask).y);
  }
  const Shape expected{batch, queries, config.width};
  for (const Tensor& y : all) {
    if (y.shape() == expected) continue;
    throw ShapeError(
        fmt::format("the output is {}, expected {}", y.shape().text(), expected.text()));
  }
  return all;
}

std::vector<Array> LayoutCase::values(const Attention& attention, const Tensor& gates) const {
  const NoGrad quiet;
  std::vector<Array> all;
  for (const Tensor& y : outputs(attention, gates)) all.push_back(y.value());
  return all;
}

Tensor LayoutCase::gates_without(std::span<const Index> heads) const {
  Array gates = ones({config.heads});
  for (const Index head : heads) gates[head] = 0;
  return constant(gates);
}

std::vector<std::vector<Index>> LayoutCase::sets_of_heads() const {
  const Index count = config.heads;
  std::set<std::vector<Index>> sets;
  const auto add = [&](const auto& belongs) {
    std::vector<Index> heads;
    for (Index head = 0; head < count; ++head) {
      if (belongs(head)) heads.push_back(head);
    }
    if (!heads.empty()) sets.insert(heads);
  };
  for (Index bits = 1; count <= 4 && bits < Index{1} << count; ++bits) {
    add([&](Index head) { return (bits >> head & 1) != 0; });
  }
  for (const Index one : {Index{0}, count / 2, count - 1}) {
    add([&](Index head) { return head == one; });
    add([&](Index head) { return head != one; });
  }
  add([](Index head) { return head % 2 == 0; });
  add([&](Index head) { return head < count / 2; });
  add([](Index) { return true; });
  return {sets.begin(), sets.end()};
}

}  // namespace layout_laws
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
