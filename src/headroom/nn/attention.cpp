// The part that all layouts share: masks, gates, cache, score bias, optional results, pruning.
#include "headroom/nn/attention.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <set>
#include <utility>

#include "headroom/algebra/algebra.hpp"
#include "headroom/autograd/listing.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/base/error.hpp"
#include "headroom/nn/gates.hpp"
#include "headroom/ops/composed.hpp"
#include "headroom/ops/shaping.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

AttentionConfig completed(AttentionConfig config) {
  if (config.width < 1 || config.heads < 1) {
    throw UsageError(fmt::format("attention: width {} and {} heads; both must be at least 1",
                                 config.width, config.heads));
  }
  if (config.head_dim == 0) {
    if (config.width % config.heads != 0) {
      throw UsageError(fmt::format("attention: {} heads must divide width {}, or give head_dim",
                                   config.heads, config.width));
    }
    config.head_dim = config.width / config.heads;
  }
  if (config.key_width == 0) config.key_width = config.width;
  if (config.value_width == 0) config.value_width = config.width;
  return config;
}

/// Appends the rows [B, T, W] of `columns` (W columns from `first` on) to a cache buffer.
void append(Array& buffer, const HeadColumns& columns, Index width, Index length, Index capacity) {
  const Array& source = columns.source.value();
  const Index batch = source.dim(0), time = source.dim(1), stride = source.dim(2);
  if (!buffer.defined()) buffer = zeros({batch, capacity, width});
  for (Index row = 0; row < batch * time; ++row) {
    const Index b = row / time, t = row % time;
    std::memcpy(buffer.data() + (b * capacity + length + t) * width,
                source.data() + row * stride + columns.first,
                static_cast<std::size_t>(width) * sizeof(Real));
  }
}

/// Allows only the filled part of a cache.
AttentionMask filled(const KeyValueCache& cache) {
  if (cache.length == cache.capacity) return AttentionMask::none();
  return AttentionMask::lengths(Ids({cache.keys.dim(0)}, static_cast<std::int32_t>(cache.length)));
}

/// The heads' outputs of an attention without heads, [B, Tq, 0], which do not depend on the inputs
/// or on the parameters of the projections. They are on the tape all the same: the graph is not
/// cut, and an optimizer knows why these parameters and whatever feeds only them get no gradient.
Tensor no_heads(Attention& attention, const Tensor& query, const Tensor& key, const Tensor& value,
                const Tensor& gates) {
  OpScope op("attention");
  std::vector<Tensor> inputs{query, key, value, gates};
  for (const NamedParameter& own : parameters(attention)) inputs.push_back(own.tensor);
  return record(op, Array({query.dim(0), query.dim(1), 0}), inputs, nothing_flows);
}

}  // namespace

Attention::Attention(AttentionConfig config) : config_(completed(config)) {
  for (Index head = 0; head < config_.heads; ++head) alive_.push_back(head);
}

Tensor Attention::operator()(const Tensor& query, const Tensor& memory,
                             const AttentionMask& mask) const {
  return (*this)(query, memory, memory, mask).y;
}

AttentionOut Attention::operator()(const Tensor& query, const Tensor& key, const Tensor& value,
                                   const AttentionMask& mask, const AttentionAsk& ask,
                                   KeyValueCache* cache) const {
  const Index width = live() * config_.head_dim;
  AttentionOut out;
  if (ask.gates.defined()) set_listed(ask.gates);  // no module lists gates
  if (live() == 0) {                               // the output bias alone
    if (cache != nullptr && !cache->fixed) cache->length += key.dim(1);
    // members() only lists the parameters here
    out.y = combine(no_heads(const_cast<Attention&>(*this), query, key, value, ask.gates), query);
    return out;
  }

  Index first = 0;  // position of the first query, and of the first new key
  if (cache != nullptr) {
    if (grad_enabled()) throw UsageError("attention: a key/value cache needs NoGrad");
    first = cache->fixed ? cache->answered : cache->length;
  }
  const bool remembered = cache != nullptr && cache->fixed && cache->length > 0;
  Projections heads =
      remembered ? project(query, {}, {}, first) : project(query, key, value, first);
  if (cache != nullptr) {
    if (cache->fixed) cache->answered += query.dim(1);
    if (!remembered) {
      const Index more = key.dim(1);
      if (cache->capacity == 0) cache->capacity = more;
      if (cache->length + more > cache->capacity) {
        throw UsageError(
            fmt::format("attention: the cache has {} positions: {} are used and {} more do not fit",
                        cache->capacity, cache->length, more));
      }
      append(cache->keys, heads.key, width, cache->length, cache->capacity);
      append(cache->values, heads.value, width, cache->length, cache->capacity);
      cache->length += more;
    }
    heads.key = {Tensor(cache->keys), 0};
    heads.value = {Tensor(cache->values), 0};
  }

  AttentionOptions options;
  options.mask = cache == nullptr ? mask : mask & filled(*cache);
  options.original_heads = alive_;
  options.original_count = config_.heads;
  options.dropout = training() ? config_.dropout : Real(0);
  options.module = stream();
  options.score_bias = score_bias(query.dim(1), heads.key.source.dim(1), first);
  options.first_query = first;
  const Index d = config_.head_dim;

  Tensor y;
  if (ask.maps || ask.head_out) {  // unfused: both are ordinary tensors on the tape
    const composed::Attention seen =
        composed::attention(heads.query, heads.key, heads.value, live(), d, d, options);
    y = seen.y;
    if (ask.maps) out.maps = seen.maps;
    if (ask.head_out) out.head_out = seen.head_out;
  } else {
    y = attention(heads.query, heads.key, heads.value, live(), d, d, options);
  }
  if (ask.rows) out.rows = attention_rows(heads.query, heads.key, live(), d, options);
  if (ask.gates.defined()) y = apply_gates(y, ask.gates, alive_, config_.heads);
  out.y = combine(y, query);
  return out;
}

namespace {

/// The indices of one parameter's axis that belong to removed heads.
struct Cut {
  int axis = 0;
  std::set<Index> indices;
};

/// The cut of each parameter, by name, when heads are removed. Throws UsageError when head_slices()
/// names parts that do not exist.
std::map<std::string, Cut> cuts_of(const Attention& attention,
                                   const std::vector<NamedParameter>& parameters,
                                   std::span<const Index> heads) {
  std::map<std::string, Cut> cuts;
  for (const HeadSlice& slice : attention.head_slices()) {
    const auto found = std::find_if(parameters.begin(), parameters.end(),
                                    [&](const auto& p) { return p.name == slice.name; });
    if (found == parameters.end() || slice.axis < 0 || slice.axis >= found->tensor.rank() ||
        slice.begin < 0 || slice.end > found->tensor.dim(slice.axis)) {
      throw UsageError(fmt::format("head_slices() of {}: [{}, {}) is outside axis {} of {}",
                                   attention.title(), slice.begin, slice.end, slice.axis,
                                   slice.name));
    }
    if (!slice.leaves_with(heads)) continue;
    Cut& cut = cuts[slice.name];
    if (!cut.indices.empty() && cut.axis != slice.axis) {
      throw UsageError(fmt::format("head_slices() of {}: {} is cut along two axes",
                                   attention.title(), slice.name));
    }
    cut.axis = slice.axis;
    for (Index i = slice.begin; i < slice.end; ++i) cut.indices.insert(i);
  }
  return cuts;
}

/// Removes a cut from a parameter's value and gradient.
ParameterEdit removed(const std::string& name, Tensor parameter, const Cut& cut) {
  ParameterEdit edit{.name = name, .axis = cut.axis};
  for (Index i = 0; i < parameter.dim(cut.axis); ++i) {
    if (!cut.indices.contains(i)) edit.from.push_back(i);
  }
  parameter.set_value(edit.applied_to(parameter.value()), edit.applied_to(parameter.grad()));
  return edit;
}

}  // namespace

std::vector<ParameterEdit> Attention::prune(std::span<const Index> original_heads) {
  std::vector<Index> kept_positions, kept_heads;
  for (const Index head : original_heads) {
    if (std::find(alive_.begin(), alive_.end(), head) == alive_.end()) {
      throw UsageError(
          fmt::format("prune: head {} is not alive; alive are {}", head, fmt::join(alive_, ", ")));
    }
  }
  for (std::size_t i = 0; i < alive_.size(); ++i) {
    if (std::find(original_heads.begin(), original_heads.end(), alive_[i]) ==
        original_heads.end()) {
      kept_positions.push_back(Index(i));
      kept_heads.push_back(alive_[i]);
    }
  }
  const std::vector<NamedParameter> before = parameters(*this);
  const std::map<std::string, Cut> cuts = cuts_of(*this, before, original_heads);
  drop_modules(kept_positions);
  alive_ = kept_heads;
  const std::vector<NamedParameter> after = parameters(*this);
  std::vector<ParameterEdit> edits;
  for (const auto& [name, tensor] : before) {
    const auto cut = cuts.find(name);
    if (cut == cuts.end()) continue;
    const bool gone = std::none_of(after.begin(), after.end(), [&, &old = tensor](const auto& p) {
      return p.tensor.same(old);
    });
    edits.push_back(gone ? ParameterEdit{.name = name, .gone = true}
                         : removed(name, tensor, cut->second));
  }
  return edits;
}

Tensor Attention::score_bias(Index /*queries*/, Index /*keys*/, Index /*first*/) const {
  return {};
}

void Attention::drop_modules(std::span<const Index> /*kept*/) {}
void Attention::add_modules(std::span<const Index> /*fresh*/) {}

Tensor Attention::of_original_heads(const Tensor& live_heads) const {
  if (live_heads.rank() < 1 || live_heads.dim(0) != live()) {
    throw ShapeError(fmt::format("attention: {} must begin with the number of live heads, {}",
                                 live_heads.shape().text(), live()));
  }
  if (live() == config_.heads) return live_heads;
  Ids rows(Shape{config_.heads}, static_cast<std::int32_t>(live()));  // the row of zeros
  for (std::size_t i = 0; i < alive_.size(); ++i) rows[alive_[i]] = static_cast<std::int32_t>(i);
  const Tensor none = constant(zeros(live_heads.shape().with(0, 1)));
  return gather(concat({live_heads, none}, 0), 0, rows);
}

Index Attention::projection_fan_out() const {
  const Index matrix = config_.heads * config_.head_dim;
  switch (config_.init) {
    case FanPolicy::packed: return 3 * matrix;
    case FanPolicy::per_matrix: return matrix;
    case FanPolicy::per_head: return config_.head_dim;
  }
  return matrix;
}

std::string Attention::title() const {
  return fmt::format("Attention({}, {} of {} heads of width {})", name_of(layout()), live(),
                     config_.heads, config_.head_dim);
}

namespace {

/// Copies the filled part of rows rows[0], rows[1], ... of a cache buffer to a new one.
Array moved(const Array& buffer, std::span<const Index> rows, Index length, Index capacity) {
  const Index before = buffer.dim(1), width = buffer.dim(2);
  Array result = zeros({Index(rows.size()), capacity, width});
  Real* to = result.data();
  for (const Index row : rows) {
    std::copy_n(buffer.data() + row * before * width, length * width, to);
    to += capacity * width;
  }
  return result;
}

}  // namespace

void KeyValueCache::reorder(std::span<const Index> rows) {
  if (keys.defined()) keys = moved(keys, rows, length, capacity);
  if (values.defined()) values = moved(values, rows, length, capacity);
}

void KeyValueCache::reserve(Index positions) {
  if (positions <= capacity) return;
  capacity = positions;
  if (!keys.defined()) return;
  std::vector<Index> all(static_cast<std::size_t>(keys.dim(0)));
  std::iota(all.begin(), all.end(), Index{0});
  reorder(all);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
