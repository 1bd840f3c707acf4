// Transplant, and distances between models of different layouts, by matching blocks.
#include "headroom/surgery/transplant.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "headroom/base/error.hpp"
#include "headroom/base/extremes.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

using Tensors = std::map<std::string, Tensor>;

/// All parameters except empty ones, which remain of a projection when all its heads are removed.
Tensors by_name(Module& module) {
  Tensors tensors;
  for (const auto& [name, tensor] : parameters(module)) {
    if (tensor.size() > 0) tensors[name] = tensor;
  }
  return tensors;
}

/// Owner and part name each slice uniquely in every layout.
using SliceKey = std::tuple<Index, std::vector<Index>, HeadPart>;
SliceKey key_of(const HeadSlice& slice) { return {slice.head, slice.group, slice.part()}; }

/// Blocks of one attention.
void match_attention(const NamedAttention& from, const NamedAttention& to,
                     std::vector<MatchingBlock>& blocks) {
  std::map<SliceKey, HeadSlice> wanted;
  for (const HeadSlice& slice : to.attention->head_slices()) {
    wanted[key_of(slice)] = slice;
  }
  for (const HeadSlice& slice : from.attention->head_slices()) {
    const auto found = wanted.find(key_of(slice));
    if (found == wanted.end() || found->second.length() != slice.length() ||
        found->second.axis != slice.axis) {
      throw UsageError(fmt::format(
          "transplant: {} of {} of {} ({}) has no counterpart in {}; both need the same live "
          "heads, head_dim, biases and groups, and a SharedHead corresponds only to a SharedHead",
          name_of<HeadRole>(slice.role), slice.owner_text(),
          from.name.empty() ? "the attention" : from.name, slice.name, to.attention->title()));
    }
    blocks.push_back({{slice, from.full_name(slice.name)},
                      {found->second, to.full_name(found->second.name)},
                      slice.role == HeadRole::key_bias});
    wanted.erase(found);
  }
  if (!wanted.empty()) {
    throw UsageError(fmt::format("transplant: {} of {} has no counterpart in {}",
                                 wanted.begin()->second.name, to.name, from.attention->title()));
  }
}

/// Calls visit(start in from, start in to, length) for each pair of matching runs.
template <class Visit>
void for_each_pair_of_runs(const MatchingBlock& block, const Shape& from, const Shape& to,
                           Visit visit) {
  const Runs a = runs_of(from, block.from), b = runs_of(to, block.to);
  if (a.length != b.length || a.count != b.count) {
    throw ShapeError(fmt::format("transplant: {} {} and {} {} do not correspond", block.from.name,
                                 from.text(), block.to.name, to.text()));
  }
  for (Index run = 0; run < a.count; ++run) {
    visit(a.first + run * a.stride, b.first + run * b.stride, a.length);
  }
}

template <class ValueOf>
Distance distance(Module& a, Module& b, ValueOf value_of) {
  const Tensors in_a = by_name(a), in_b = by_name(b);
  Distance result;
  for (const MatchingBlock& block : matching_blocks(a, b)) {
    const Array& x = value_of(in_a.at(block.from.name));
    const Array& y = value_of(in_b.at(block.to.name));
    if (!x.defined() || !y.defined()) continue;
    double difference = 0, scale = 0;
    for_each_pair_of_runs(block, x.shape(), y.shape(), [&](Index i, Index j, Index n) {
      for (Index k = 0; k < n; ++k) {
        const auto p = double(x[i + k]), q = double(y[j + k]);
        difference = larger(difference, std::abs(p - q));
        scale = std::max({scale, std::abs(p), std::abs(q)});
      }
    });
    const double relative = difference == 0 ? 0 : difference / scale;
    if (block.key_bias) {
      result.key_bias = larger(result.key_bias, relative);
    } else if (relative > result.largest || std::isnan(relative)) {
      result.largest = relative;
      result.where = block.from.name;
    }
  }
  return result;
}

}  // namespace

std::vector<MatchingBlock> matching_blocks(Module& from, Module& to) {
  const std::vector<NamedAttention> a = attentions(from), b = attentions(to);
  if (a.size() != b.size()) {
    throw UsageError(
        fmt::format("transplant: {} attentions on one side, {} on the other", a.size(), b.size()));
  }
  std::vector<MatchingBlock> blocks;
  for (std::size_t i = 0; i < a.size(); ++i) match_attention(a[i], b[i], blocks);

  std::set<std::string> from_heads, to_heads;
  for (const MatchingBlock& block : blocks) {
    from_heads.insert(block.from.name);
    to_heads.insert(block.to.name);
  }
  const Tensors target = by_name(to);
  std::size_t others = 0;
  for (const auto& [name, tensor] : by_name(from)) {
    if (from_heads.contains(name)) continue;
    const auto found = target.find(name);
    if (found == target.end())
      throw UsageError(fmt::format("transplant: the target has no {}", name));
    if (!(found->second.shape() == tensor.shape())) {
      throw ShapeError(fmt::format("transplant: {} is {} in the source and {} in the target", name,
                                   tensor.shape().text(), found->second.shape().text()));
    }
    const AxisRange whole{0, 0, AxisView(tensor.shape(), 0).length};
    blocks.push_back({{whole, name}, {whole, name}});
    ++others;
  }
  if (others + to_heads.size() != target.size()) {
    throw UsageError("transplant: the target has parameters that the source has not");
  }
  return blocks;
}

void copy_blocks(const std::vector<MatchingBlock>& blocks,
                 const std::function<const Array&(const std::string&)>& source,
                 const std::function<Array&(const std::string&)>& target) {
  for (const MatchingBlock& block : blocks) {
    const Array& from = source(block.from.name);
    Array& to = target(block.to.name);
    if (to.shared()) to = to.clone();  // other holders keep the old elements
    for_each_pair_of_runs(block, from.shape(), to.shape(), [&](Index i, Index j, Index n) {
      std::copy_n(from.data() + i, n, to.data() + j);
    });
  }
}

void transplant(Module& from, Module& to) {
  Tensors source = by_name(from), target = by_name(to);
  copy_blocks(
      matching_blocks(from, to),
      [&](const std::string& name) -> const Array& { return source.at(name).value(); },
      [&](const std::string& name) -> Array& { return target.at(name).edit_value(); });
}

void transplant_gradients(Module& from, Module& to) {
  Tensors source = by_name(from), target = by_name(to);
  std::vector<MatchingBlock> blocks = matching_blocks(from, to);
  std::erase_if(blocks,
                [&](const auto& block) { return !source.at(block.from.name).grad().defined(); });
  for (auto& [name, tensor] : target) tensor.zero_grad();
  for (const MatchingBlock& block : blocks) {
    Tensor& tensor = target.at(block.to.name);
    if (!tensor.grad().defined()) tensor.set_grad(zeros(tensor.shape()));
  }
  copy_blocks(
      blocks, [&](const std::string& name) -> const Array& { return source.at(name).grad(); },
      [&](const std::string& name) -> Array& { return target.at(name).mutable_grad(); });
}

void transplant_moments(const Optimizer& from, Optimizer& to) {
  const std::vector<MatchingBlock> blocks = matching_blocks(from.model(), to.model());
  // Moments that do not exist (plain SGD) are not copied; those that do must exist on both sides.
  for (const auto moment : {&OptimizerState::first, &OptimizerState::second}) {
    std::vector<MatchingBlock> kept = blocks;
    std::erase_if(kept, [&](const auto& block) {
      const bool here = (from.state(block.from.name).*moment).defined();
      if (here != (to.state(block.to.name).*moment).defined()) {
        throw UsageError(
            fmt::format("transplant: {} and {} store different moments", from.title(), to.title()));
      }
      return !here;
    });
    copy_blocks(
        kept, [&](const std::string& name) -> const Array& { return from.state(name).*moment; },
        [&](const std::string& name) -> Array& { return to.state(name).*moment; });
  }
  for (const MatchingBlock& block : blocks) {  // step counts are along the same axis
    const OptimizerState& source = from.state(block.from.name);
    OptimizerState& target = to.state(block.to.name);
    if (source.axis != block.from.axis || target.axis != block.to.axis) {
      throw UsageError(
          fmt::format("transplant: the step counts of {} are along another axis than its heads",
                      block.to.name));
    }
    std::copy_n(source.steps.begin() + block.from.begin, block.from.length(),
                target.steps.begin() + block.to.begin);
  }
}

Distance parameter_distance(Module& a, Module& b) {
  return distance(a, b, [](const Tensor& t) -> const Array& { return t.value(); });
}

Distance gradient_distance(Module& a, Module& b) {
  return distance(a, b, [](const Tensor& t) -> const Array& { return t.grad(); });
}

double relative_difference(const Array& a, const Array& b) {
  const double difference = largest_difference(a, b);
  double scale = 0;
  for (const Array* array : {&a, &b}) {
    for (const Real x : array->span()) scale = std::max(scale, std::abs(double(x)));
  }
  return difference == 0 ? 0 : difference / scale;
}

double largest_difference(const Array& a, const Array& b) {
  if (!(a.shape() == b.shape())) {
    throw ShapeError(
        fmt::format("largest_difference: shapes {} and {}", a.shape().text(), b.shape().text()));
  }
  double most = 0;
  for (Index i = 0; i < a.size(); ++i) {
    most = larger(most, std::abs(double(a[i]) - double(b[i])));
  }
  return most;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
