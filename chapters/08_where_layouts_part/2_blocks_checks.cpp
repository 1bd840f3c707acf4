// Checks parameter_blocks: every element once, LAMB moves both layouts alike, and the blocks are
// those that the contract describes, also in a model with two attentions and after a prune.
#include <fmt/format.h>

#include <map>
#include <set>
#include <string>

#include "common/checks.hpp"
#include "headroom/surgery/transplant.hpp"
#include "headroom/nn/fused_heads.hpp"
#include "headroom/nn/separate_heads.hpp"
#include "headroom/optim/lamb.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library
using chapter::random_array;

constexpr AttentionConfig config{.width = 12, .heads = 4};
constexpr auto granularities = all_of<Granularity>();

/// Both layouts with the same random weights and gradients.
struct Twins {
  explicit Twins(std::uint64_t seed)
      : rng(seed, "08/2"), separate(config, rng), fused(config, rng) {
    for (NamedParameter& p : parameters(separate)) {
      p.tensor.set_value(random_array(p.tensor.shape(), rng), random_array(p.tensor.shape(), rng));
    }
    transplant(separate, fused);
    transplant_gradients(separate, fused);
  }
  Rng rng;
  SeparateHeads separate;
  FusedHeads fused;
};

/// Two attentions and a Linear.
struct Model : Module {
  explicit Model(Rng& rng) : first(config, rng), second(config, rng), last(12, 5, rng) {
    second.set_location({AttentionKind::encoder_self, 1});
  }
  void members(Members& visit) override {
    visit("first", first);
    visit("second", second);
    visit("last", last);
  }
  std::string title() const override { return "Model"; }
  FusedHeads first;
  SeparateHeads second;
  Linear last;
};

/// The number of the block of every element, by parameter. Fails for an element that is in none or
/// in several, and for a part that does not exist.
using Owners = std::map<std::string, std::vector<int>>;

Owners owners(Module& model, Granularity granularity) {
  constexpr int none = -1;
  Owners owner;
  std::map<std::string, Shape> shapes;
  for (const auto& [name, tensor] : parameters(model)) {
    owner[name].assign(std::size_t(tensor.size()), none);
    shapes[name] = tensor.shape();
  }
  const std::string where = fmt::format("Granularity::{}: ", name_of(granularity));
  int number = 0;
  for (const ParameterBlock& block : parameter_blocks(model, granularity)) {
    for (const BlockPart& part : block) {
      chapter::require(
          owner.contains(part.name),
          fmt::format("{}the model has no parameter {}.\nThe full name begins with the name of the "
                      "attention, unless that is \"\".",
                      where, part.name));
      const Shape& shape = shapes[part.name];
      chapter::require(part.axis >= 0 && part.axis < shape.rank() && part.begin >= 0 &&
                           part.begin < part.end && part.end <= shape[part.axis],
                       fmt::format("{}{} {} has no indices [{}, {}) of axis {}.", where, part.name,
                                   shape.text(), part.begin, part.end, part.axis));
      for_each_run(shape, part, [&](Index first, Index count) {
        for (Index i = first; i < first + count; ++i) {
          int& holder = owner[part.name][std::size_t(i)];
          const Index row = shape.rank() == 2 ? i / shape[1] : i;
          chapter::require(holder == none,
                           fmt::format("{}row {} of {} is in 2 blocks.", where, row, part.name));
          holder = number;
        }
      });
    }
    ++number;
  }
  for (const auto& [name, holders] : owner) {
    for (std::size_t i = 0; i < holders.size(); ++i) {
      const Index columns = shapes[name].rank() == 2 ? shapes[name][1] : 1;
      chapter::require(holders[i] != none, fmt::format("{}row {} of {} is in no block.", where,
                                                       Index(i) / columns, name));
    }
  }
  return owner;
}

const char* text_of(HeadRole role) {
  switch (role) {
    case HeadRole::query: return "W_Q";
    case HeadRole::key: return "W_K";
    case HeadRole::value: return "W_V";
    case HeadRole::query_bias: return "b_Q";
    case HeadRole::key_bias: return "b_K";
    case HeadRole::value_bias: return "b_V";
    default: return "W_O";
  }
}

/// A slice of a head with the block of its first element.
struct Place {
  std::string attention;
  HeadRole role;
  Index head;
  int block;
};

std::vector<Place> places(Module& model, const Owners& owner) {
  std::map<std::string, Shape> shapes;
  for (const auto& [name, tensor] : parameters(model)) shapes[name] = tensor.shape();
  std::vector<Place> all;
  for (const NamedAttention& attention : attentions(model)) {
    for (const HeadSlice& slice : attention.attention->head_slices()) {
      if (slice.head < 0) continue;
      const std::string name =
          attention.name.empty() ? slice.name : attention.name + "." + slice.name;
      const Index first = runs_of(shapes[name], slice).first;
      all.push_back({attention.name, slice.role, slice.head, owner.at(name)[std::size_t(first)]});
    }
  }
  return all;
}

/// Compares every pair of slices: together in one block where they belong together, apart where
/// they do not.
void require_borders(Module& model, Granularity granularity) {
  const Owners owner = owners(model, granularity);
  const std::string where = fmt::format("Granularity::{}: ", name_of(granularity));
  const std::vector<Place> all = places(model, owner);
  for (const Place& a : all) {
    for (const Place& b : all) {
      const bool same = a.block == b.block;
      if (a.attention != b.attention) {
        chapter::require(!same, fmt::format("{}{} of two attentions are in one block, \"{}\" and "
                                            "\"{}\".",
                                            where, text_of(a.role), a.attention, b.attention));
      } else if (a.role != b.role) {
        chapter::require(!same, fmt::format("{}{} and {} of head {} are in one block.", where,
                                            text_of(a.role), text_of(b.role), a.head));
      } else if (granularity == Granularity::head) {
        chapter::require(same == (a.head == b.head),
                         fmt::format("{}{} of heads {} and {} are in one block.", where,
                                     text_of(a.role), a.head, b.head));
      } else {
        chapter::require(same, fmt::format("{}{} of heads {} and {} are in different blocks.",
                                           where, text_of(a.role), a.head, b.head));
      }
    }
  }
}

}  // namespace

TEST_CASE("every element is in one block", "[08/2]") {
  Twins twins(1);
  for (const Granularity granularity : granularities) {
    owners(twins.fused, granularity);
    owners(twins.separate, granularity);
  }
}

TEST_CASE("tensor: each parameter is one block", "[08/2]") {
  Twins twins(1);
  for (Attention* const layer : std::initializer_list<Attention*>{&twins.fused, &twins.separate}) {
    const std::size_t blocks = parameter_blocks(*layer, Granularity::tensor).size();
    const std::size_t expected = parameters(*layer).size();
    chapter::require(blocks == expected, fmt::format("Granularity::tensor: {} blocks for {} "
                                                     "parameters.",
                                                     blocks, expected));
    for (const auto& [name, holders] : owners(*layer, Granularity::tensor)) {
      chapter::require(std::set<int>(holders.begin(), holders.end()).size() == 1,
                       fmt::format("Granularity::tensor: {} is in several blocks.", name));
    }
  }
}

TEST_CASE("LAMB moves both layouts alike", "[08/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    for (const Granularity granularity : {Granularity::head, Granularity::projection}) {
      Twins twins(seed);
      Lamb of_separate(twins.separate, {.granularity = granularity});
      Lamb of_fused(twins.fused, {.granularity = granularity});
      of_separate.step(0.01);
      of_fused.step(0.01);
      const Distance distance = parameter_distance(twins.separate, twins.fused);
      const double apart = std::max(distance.largest, distance.key_bias);
      if (apart > chapter::tolerance) {
        const bool ignored =
            owners(twins.fused, granularity) == owners(twins.fused, Granularity::tensor);
        FAIL(
            fmt::format("Granularity::{}: LAMB moves the fused layout differently from the "
                        "separate one, by {:.2g} after one step, most in {}.{}",
                        name_of(granularity), apart, distance.where,
                        ignored ? "\nIt looks as if the granularity was ignored: your blocks are "
                                  "those of Granularity::tensor."
                                : ""));
      }
    }
  }
  SUCCEED();
}

TEST_CASE("blocks end where heads end", "[08/2]") {
  Twins twins(1);
  for (const Granularity granularity : {Granularity::head, Granularity::projection}) {
    require_borders(twins.fused, granularity);
    require_borders(twins.separate, granularity);
  }
}

TEST_CASE("a model with two attentions", "[08/2]") {
  Rng rng(1);
  Model model(rng);
  for (const Granularity granularity : granularities) owners(model, granularity);
  for (const Granularity granularity : {Granularity::head, Granularity::projection}) {
    require_borders(model, granularity);
  }
}

TEST_CASE("after a prune", "[08/2]") {
  Rng rng(1);
  Model model(rng);
  model.first.prune(std::vector<Index>{1});
  model.second.prune(std::vector<Index>{0, 2});
  for (const Granularity granularity : granularities) owners(model, granularity);
  for (const Granularity granularity : {Granularity::head, Granularity::projection}) {
    require_borders(model, granularity);
  }
}
