// Checks transplant. What a fused layer must contain is put together here from the small matrices
// of the separate one, with concat; head_slices() and matching_blocks() are not used.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "common/checks.hpp"
#include "headroom/algebra/algebra.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/base/error.hpp"
#include "headroom/surgery/transplant.hpp"
#include "headroom/nn/fused_heads.hpp"
#include "headroom/nn/models.hpp"
#include "headroom/nn/separate_heads.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library
using chapter::random_array;
using Arrays = std::map<std::string, Array>;
using Linears = std::vector<std::unique_ptr<Linear>>;

const chapter::Names names{{"row", "column"}, {}};

// The heads' outputs together are less wide than a token, so that W_O is not square.
const AttentionConfig config{.width = 16, .heads = 4, .head_dim = 3};

void randomise(Module& module, Rng& rng) {
  for (NamedParameter& p : parameters(module)) {
    p.tensor.set_value(random_array(p.tensor.shape(), rng));
  }
}

Arrays values_of(Module& module) {
  Arrays values;
  for (const NamedParameter& p : parameters(module)) values[p.name] = p.tensor.value().clone();
  return values;
}

/// The parameters of a fused layer with the heads of a separate one.
Arrays fused(const SeparateHeads& layer) {
  std::vector<Array> weights, biases;
  for (const Linears* heads : {&layer.query, &layer.key, &layer.value}) {
    for (const auto& own : *heads) {
      weights.push_back(own->weight.value());
      biases.push_back(own->bias.value());
    }
  }
  return {{"in_proj_weight", concat(weights, 0)},
          {"in_proj_bias", concat(biases, 0)},
          {"out_proj.weight", layer.out.weight.value().clone()},
          {"out_proj.bias", layer.out.bias.value().clone()}};
}

bool same(const Array& a, const Array& b) {
  return std::equal(a.span().begin(), a.span().end(), b.span().begin(), b.span().end());
}

/// Compares the parameters of a fused layer after a transplant with the expected ones.
void compare(const SeparateHeads& from, Module& to) {
  const Arrays yours = values_of(to);
  for (const auto& [name, array] : fused(from)) {
    chapter::require_equal(fmt::format("the elements of {}", name), array, yours.at(name), names);
  }
}

/// A fused layer whose list names the keys of a head before its queries.
class OtherOrder : public FusedHeads {
 public:
  using FusedHeads::FusedHeads;
  std::vector<HeadSlice> head_slices() const override {
    std::vector<HeadSlice> slices = FusedHeads::head_slices();
    for (std::size_t i = 2; i < slices.size(); ++i) {  // query, its bias, key, its bias
      if (slices[i].role == HeadRole::key || slices[i].role == HeadRole::key_bias) {
        std::swap(slices[i - 2], slices[i]);
      }
    }
    return slices;
  }
};

/// A language model with two layers.
std::unique_ptr<Module> make_model(Layout layout, Rng& rng) {
  ModelConfig model;
  model.kind = ModelKind::language_model;
  model.source_vocabulary = 7;
  model.block = {.width = 16, .heads = 4, .head_dim = 3, .hidden = 10, .layout = layout};
  auto module = headroom::make_model(model, rng);
  randomise(*module, rng);
  return module;
}

/// Parameters of a model outside of its attentions.
bool has_no_head(const std::string& name) { return name.find("self_attn") == std::string::npos; }

struct Models {
  explicit Models(std::uint64_t seed)
      : rng(seed, "07/3"),
        separate(make_model(Layout::separate, rng)),
        fused(make_model(Layout::fused, rng)) {}
  Rng rng;
  std::unique_ptr<Module> separate, fused;
};

}  // namespace

TEST_CASE("one layer: from separate to fused", "[07/3]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Rng rng(seed, "07/3");
    SeparateHeads from(config, rng);
    FusedHeads to(config, rng);
    randomise(from, rng);
    randomise(to, rng);
    transplant(from, to);
    compare(from, to);
  }
}

TEST_CASE("slices in another order", "[07/3]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Rng rng(seed, "07/3");
    SeparateHeads from(config, rng);
    OtherOrder to(config, rng);
    randomise(from, rng);
    transplant(from, to);
    const Arrays expected = fused(from), yours = values_of(to);
    for (const auto& [name, array] : expected) {
      const std::string text = chapter::difference(fmt::format("the elements of {}", name), array,
                                                   yours.at(name), names);
      chapter::require(text.empty(),
                       "right for FusedHeads, wrong for a layout whose list has the keys of a head "
                       "before its queries.\n" +
                           text);
    }
  }
}

TEST_CASE("a whole model", "[07/3]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Models models(seed);
    const Arrays before = values_of(*models.fused), from = values_of(*models.separate);
    transplant(*models.separate, *models.fused);
    const Arrays after = values_of(*models.fused);
    bool stayed = true;
    for (const auto& [name, array] : after) {
      if (has_no_head(name)) stayed = stayed && same(before.at(name), array);
    }
    chapter::require(!stayed,
                     "the heads moved; embeddings, norms and feed-forward layers stayed behind: "
                     "they have the same name in both models.");
    for (const auto& [name, array] : after) {
      if (!has_no_head(name)) continue;
      chapter::require_equal(fmt::format("the elements of {}", name), from.at(name), array, names);
    }
    for (const NamedAttention& attention : attentions(*models.fused)) {
      const auto all = attentions(*models.separate);
      const auto other = std::find_if(all.begin(), all.end(), [&](const NamedAttention& a) {
        return a.location() == attention.location();
      });
      compare(dynamic_cast<const SeparateHeads&>(*other->attention), *attention.attention);
    }
  }
}

TEST_CASE("training one model does not move the other", "[07/3]") {
  Models models(1);
  transplant(*models.separate, *models.fused);
  const Arrays before = values_of(*models.fused);
  for (NamedParameter& p : parameters(*models.separate)) p.tensor.edit_value()[0] += 1;
  for (const auto& [name, array] : values_of(*models.fused)) {
    chapter::require(same(before.at(name), array),
                     fmt::format("{} of the two models now share their elements: training one of "
                                 "them moves the other. Copy the elements; an Array is a handle.",
                                 name));
  }
}

TEST_CASE("after a prune", "[07/3]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Rng rng(seed, "07/3");
    SeparateHeads from(config, rng);
    FusedHeads to(config, rng);
    randomise(from, rng);
    randomise(to, rng);
    const std::vector<Index> second{1};
    from.prune(second);
    to.prune(second);
    std::string text;
    try {
      transplant(from, to);
      const Arrays expected = fused(from), yours = values_of(to);
      for (const auto& [name, array] : expected) {
        if (text.empty()) {
          text = chapter::difference(fmt::format("the elements of {}", name), array, yours.at(name),
                                     names);
        }
      }
    } catch (const std::exception& error) {
      text = fmt::format("Your code was stopped: {}.", error.what());
    }
    chapter::require(text.empty(),
                     "right with all heads, wrong after head 1 was removed: heads 0, 2 and 3 are "
                     "left.\nA slice's head is its original number, its begin counts live heads "
                     "only.\n" +
                         text);
  }
}

TEST_CASE("there and back: every bit", "[07/3]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Models models(seed);
    const Arrays before = values_of(*models.separate);
    transplant(*models.separate, *models.fused);
    randomise(*models.separate, models.rng);
    transplant(*models.fused, *models.separate);
    for (const auto& [name, array] : values_of(*models.separate)) {
      chapter::require(
          same(array, before.at(name)),
          fmt::format("a model moved to the other layout and back has another {}.", name));
    }
  }
}
