// Common code of the tests of the nn floor.
#include "support/nn_support.hpp"

#include <cmath>

#include "headroom/ops/losses.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace test {

CloseTo same_numbers(const Array& expected, Real tolerance) {
  Real scale = 1;
  for (const Real value : expected.span()) scale = std::max(scale, std::abs(value));
  return {expected, 0, tolerance * scale};
}

void randomise(Module& module, Rng& rng) {
  for (auto& [name, tensor] : parameters(module)) {
    const Real deviation =
        tensor.rank() > 1 ? 1 / std::sqrt(Real(std::max<Index>(tensor.dim(-1), 1))) : Real(0.5);
    const Real centre = name.find("norm") != std::string::npos && name.ends_with("weight") ? 1 : 0;
    for (Real& value : tensor.edit_value().span()) value = centre + deviation * rng.normal();
  }
}

void descend(Module& module, Real rate) {
  for (auto& [name, tensor] : parameters(module)) {
    const Array& gradient = tensor.grad();
    if (!gradient.defined()) continue;
    Array& value = tensor.edit_value();
    for (Index i = 0; i < value.size(); ++i) value[i] -= rate * gradient[i];
  }
}

// ---------------------------------------------------------------- heads as blocks

namespace {

/// Calls back with the element of `block` and of `whole` for each element of a head slice.
template <class F>
void each_element(const HeadSlice& slice, const Shape& whole, F f) {
  const Index columns = whole.rank() == 1 ? 1 : whole[1];
  const Index count = slice.end - slice.begin;
  if (slice.axis == 0) {
    for (Index i = 0; i < count * columns; ++i) f(i, slice.begin * columns + i);
  } else {
    for (Index row = 0; row < whole[0]; ++row) {
      for (Index i = 0; i < count; ++i) f(row * count + i, row * columns + slice.begin + i);
    }
  }
}

Tensor find(Module& module, const std::string& name) {
  for (auto& [known, tensor] : parameters(module)) {
    if (known == name) return tensor;
  }
  FAIL("no parameter " << name);
  return {};
}

HeadBlocks blocks_of(Attention& attention, bool gradients) {
  HeadBlocks blocks;
  for (const HeadSlice& slice : attention.head_slices()) {
    const Tensor parameter = find(attention, slice.name);
    const Array& whole = gradients ? parameter.grad() : parameter.value();
    if (!whole.defined()) continue;
    Array block(whole.shape().with(slice.axis, slice.end - slice.begin));
    each_element(slice, whole.shape(), [&](Index to, Index from) { block[to] = whole[from]; });
    blocks.emplace(std::pair(slice.role, slice.head), block);
  }
  return blocks;
}

}  // namespace

std::vector<Index> heads_in(unsigned set) {
  std::vector<Index> heads;
  for (Index head = 0; set >> head != 0; ++head) {
    if ((set >> head & 1U) != 0) heads.push_back(head);
  }
  return heads;
}

HeadBlocks head_values(Attention& attention) { return blocks_of(attention, false); }
HeadBlocks head_gradients(Attention& attention) { return blocks_of(attention, true); }

void set_head_values(Attention& attention, const HeadBlocks& blocks) {
  for (const HeadSlice& slice : attention.head_slices()) {
    const Array& block = blocks.at({slice.role, slice.head});
    Array& whole = find(attention, slice.name).edit_value();
    each_element(slice, whole.shape(), [&](Index from, Index to) { whole[to] = block[from]; });
  }
}

void check_same_blocks(const HeadBlocks& actual, const HeadBlocks& expected, Real tolerance) {
  REQUIRE(actual.size() == expected.size());
  for (const auto& [place, block] : expected) {
    INFO("role " << int(place.first) << ", head " << place.second);
    REQUIRE(actual.contains(place));
    if (place.first == HeadRole::key_bias) {
      CHECK_THAT(actual.at(place), CloseTo(block, 0, test::tolerance(1e-11, 1e-5)));
    } else {
      CHECK_THAT(actual.at(place), same_numbers(block, tolerance));
    }
  }
}

// ---------------------------------------------------------------- random calls

namespace {

AttentionMask random_mask(Rng& rng, Index batch, Index heads, Index queries, Index keys) {
  const auto lengths = [&](const Shape& shape) {  // rows without any key included
    return AttentionMask::lengths(random_ids(shape, rng, keys + 1));
  };
  switch (rng.below(9)) {
    case 0: return AttentionMask::none();
    case 1: return AttentionMask::causal();
    case 2: return AttentionMask::causal(2);
    case 3: return lengths({batch});
    case 4: return lengths({batch, queries});
    case 5: return AttentionMask::allow(random_bytes({queries, keys}, rng, Real(0.7)));
    case 6: return AttentionMask::allow(random_bytes({batch, queries, keys}, rng, Real(0.7)));
    case 7:
      return AttentionMask::allow(random_bytes({batch, heads, queries, keys}, rng, Real(0.7)));
    default:
      return AttentionMask::causal(1) & lengths({batch}) &
             AttentionMask::allow(random_bytes({queries, keys}, rng, Real(0.8)));
  }
}

}  // namespace

void AttentionCase::zero_grad() {
  for (Tensor* tensor : {&query, &key, &value, &gates}) tensor->zero_grad();
}

AttentionCase random_case(std::uint64_t seed, bool shared_layout_fits) {
  Rng rng(seed, "attention case");
  const Index heads = 1 + rng.below(6), head_dim = 1 + rng.below(5);
  const bool odd_sizes = !shared_layout_fits && rng.below(2) == 1;
  const bool self = rng.below(2) == 1;
  AttentionCase c;
  c.config.heads = heads;
  c.config.head_dim = head_dim;
  c.config.width = odd_sizes ? 1 + rng.below(9) : heads * head_dim;
  c.config.bias = rng.below(4) != 0;
  if (!self && odd_sizes) {
    c.config.key_width = 1 + rng.below(7);
    c.config.value_width = 1 + rng.below(7);
  }
  const auto width = [&](Index own) { return own == 0 ? c.config.width : own; };
  const Index batch = 1 + rng.below(3), queries = 1 + rng.below(5);
  const Index keys = self ? queries : 1 + rng.below(6);
  c.query = parameter(normal({batch, queries, c.config.width}, rng));
  c.key = self ? c.query : parameter(normal({batch, keys, width(c.config.key_width)}, rng));
  c.value = self ? c.query
            : rng.below(2) == 1 && c.config.key_width == c.config.value_width
                ? c.key
                : parameter(normal({batch, keys, width(c.config.value_width)}, rng));
  c.mask = random_mask(rng, batch, heads, queries, keys);
  switch (rng.below(4)) {
    case 0: break;
    case 1: c.gates = parameter(normal({heads}, rng)); break;
    case 2: c.gates = parameter(normal({batch, heads}, rng)); break;
    default: c.gates = parameter(normal({batch, heads, queries}, rng)); break;
  }
  c.cotangent = normal({batch, queries, c.config.width}, rng);
  return c;
}

AttentionOut run(const Attention& attention, AttentionCase& c, AttentionAsk ask) {
  c.zero_grad();
  ask.gates = c.gates;
  AttentionOut out = attention(c.query, c.key, c.value, c.mask, ask);
  out.y.backward(c.cotangent, true);
  return out;
}

// ---------------------------------------------------------------- small models

ModelConfig small_config(ModelKind kind, Layout layout, bool norm_first) {
  ModelConfig config;
  config.kind = kind;
  config.block.width = 12;
  config.block.heads = 3;
  config.block.hidden = 20;
  config.block.layout = layout;
  config.block.norm_first = norm_first;
  config.layers = 2;
  config.source_vocabulary = 7;
  config.target_vocabulary = 6;
  config.longest = 12;
  return config;
}

TinyBatch tiny_batch(const ModelConfig& config, Rng& rng) {
  TinyBatch batch;
  const Index tokens =
      config.kind == ModelKind::seq2seq ? config.target_vocabulary : config.source_vocabulary;
  batch.source = random_ids({4, 5}, rng, config.source_vocabulary);
  batch.lengths = Ids({4}, {5, 3, 4, 1});
  batch.target = random_ids({4, 6}, rng, tokens);
  batch.labels = random_ids({4, 6}, rng, tokens);
  batch.classes = random_ids({4}, rng, std::max<Index>(config.target_vocabulary, 1));
  return batch;
}

Tensor loss_of(Module& model, const TinyBatch& batch, HeadProbe* probe) {
  if (auto* seq2seq = dynamic_cast<Seq2Seq*>(&model)) {
    return cross_entropy((*seq2seq)(batch.source, batch.lengths, batch.target, probe),
                         batch.labels);
  }
  if (auto* language = dynamic_cast<LanguageModel*>(&model)) {
    return cross_entropy((*language)(batch.target, probe), batch.labels);
  }
  if (auto* classifier = dynamic_cast<Classifier*>(&model)) {
    return cross_entropy((*classifier)(batch.source, batch.lengths, probe), batch.classes);
  }
  if (auto* masked = dynamic_cast<MaskedLanguageModel*>(&model)) {
    return cross_entropy((*masked)(batch.source, batch.lengths, probe), batch.source);
  }
  auto& encoder = dynamic_cast<TextEncoder&>(model);
  const Tensor hidden = encoder(batch.source, batch.lengths, probe);
  return cross_entropy(encoder.pooled(hidden, batch.lengths), batch.classes);
}

}  // namespace test
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
