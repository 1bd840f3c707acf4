// Checks FusedHeads::head_slices against a table that is written down for each role, and the
// removal of heads that is built on it against closed gates.
#include <fmt/format.h>

#include <map>

#include "common/checks.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/nn/fused_heads.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library
using chapter::random_array;

AttentionConfig config_of(std::uint64_t seed, bool bias) {
  return {.width = 11 + Index(seed),
          .heads = 4 + Index(seed % 3),
          .head_dim = 2 + Index(seed % 2),
          .bias = bias};
}

/// A layer whose sizes all differ, with random weights.
struct RandomLayer : FusedHeads {
  explicit RandomLayer(std::uint64_t seed, bool bias = true)
      : RandomLayer(config_of(seed, bias), Rng(seed, "12/1")) {}

 private:
  RandomLayer(const AttentionConfig& config, Rng rng) : FusedHeads(config, rng) {
    for (NamedParameter& p : parameters(*this)) {
      p.tensor.set_value(random_array(p.tensor.shape(), rng));
    }
  }
};

using Owner = std::pair<HeadRole, Index>;
using Table = std::map<Owner, HeadSlice>;

Table table_of(const FusedHeads& layer) {
  const HeadRole roles[3][2] = {{HeadRole::query, HeadRole::query_bias},
                                {HeadRole::key, HeadRole::key_bias},
                                {HeadRole::value, HeadRole::value_bias}};
  Table table;
  const Index d = layer.head_dim(), live = std::ssize(layer.alive());
  const auto add = [&](const HeadSlice& slice) { table[{slice.role, slice.head}] = slice; };
  for (Index i = 0; i < live; ++i) {
    const Index head = layer.alive()[std::size_t(i)];
    for (Index third = 0; third < 3; ++third) {
      const Index begin = third * live * d + i * d;
      add({roles[third][0], head, "in_proj_weight", 0, begin, begin + d});
      if (layer.config().bias) {
        add({roles[third][1], head, "in_proj_bias", 0, begin, begin + d});
      }
    }
    add({HeadRole::output, head, "out_proj.weight", 1, i * d, (i + 1) * d});
  }
  if (layer.config().bias) {
    add({HeadRole::output_bias, HeadSlice::of_none, "out_proj.bias", 0, 0, layer.config().width});
  }
  return table;
}

/// "the keys of head 2"
std::string text_of(const Owner& owner) {
  const auto& [role, head] = owner;
  const auto of = [&, number = head](const char* what) {
    return fmt::format("{} head {}", what, number);
  };
  switch (role) {
    case HeadRole::query: return of("the queries of");
    case HeadRole::key: return of("the keys of");
    case HeadRole::value: return of("the values of");
    case HeadRole::query_bias: return of("the query biases of");
    case HeadRole::key_bias: return of("the key biases of");
    case HeadRole::value_bias: return of("the value biases of");
    case HeadRole::output: return of("the output weights of");
    default: return head == HeadSlice::of_none ? "the output bias of no head" : of("something of");
  }
}

/// "rows [6, 9) of in_proj_weight"
std::string text_of(const HeadSlice& slice) {
  const char* what = slice.name.ends_with("bias") ? "elements"
                     : slice.axis == 0            ? "rows"
                                                  : "columns";
  return fmt::format("{} [{}, {}) of {}", what, slice.begin, slice.end, slice.name);
}

bool same(const HeadSlice& a, const HeadSlice& b) {
  return a.name == b.name && a.axis == b.axis && a.begin == b.begin && a.end == b.end;
}

/// Where the slices of the thirds of weight and bias begin and end, -1 for those that are missing.
Array thirds_of(const Table& right, const Table& yours) {
  Array ends({std::ssize(right), 2}, -1);
  Index at = 0;
  for (const auto& [owner, slice] : right) {
    const auto found = yours.find(owner);
    if (slice.name.starts_with("in_proj") && found != yours.end()) {
      ends[at] = Real(found->second.begin);
      ends[at + 1] = Real(found->second.end);
    }
    at += 2;
  }
  return ends;
}

void check(const FusedHeads& layer) {
  const std::vector<HeadSlice> slices = layer.head_slices();
  const Table right = table_of(layer);
  Table yours;
  Index last = -1;
  for (const HeadSlice& slice : slices) {
    const Owner owner{slice.role, slice.head};
    chapter::require(
        right.contains(owner) || slice.role != HeadRole::output_bias,
        fmt::format(
            "out_proj.bias is given to head {}: the output bias belongs to no head, so that "
            "it stays when heads are removed. Its head is HeadSlice::of_none.",
            slice.head));
    std::string why;
    const auto alive = layer.alive();
    if (std::find(alive.begin(), alive.end(), slice.head) == alive.end() && slice.head >= 0) {
      why = fmt::format(
          " Head {} was removed.\nIt looks as if the heads were numbered anew: after a "
          "removal, alive()[i] is not i.",
          slice.head);
    }
    chapter::require(right.contains(owner), fmt::format("{} should have no slice, and have {}.{}",
                                                        text_of(owner), text_of(slice), why));
    chapter::require(yours.emplace(owner, slice).second,
                     fmt::format("{} have two slices.", text_of(owner)));
    if (slice.head < 0) continue;
    chapter::require(slice.head >= last,
                     "the slices are not head after head: see alive() for the order.");
    last = slice.head;
  }
  for (const auto& [owner, slice] : right) {
    const auto found = yours.find(owner);
    if (found == yours.end()) {
      if (owner.first == HeadRole::output_bias) {
        FAIL(
            "the output bias is missing: without a slice nobody knows that out_proj.bias belongs "
            "to "
            "no head.");
      }
      FAIL(text_of(owner) << " should have a slice, and have none.");
    }
    if (same(found->second, slice)) continue;
    std::string why = chapter::looks_as_if(thirds_of(right, yours));
    if (owner.first == HeadRole::output && found->second.axis == 0) {
      why +=
          "\nOutputs are rows of W_O, inputs are its columns: a head owns columns of the output "
          "matrix.";
    } else if (owner.first == HeadRole::output &&
               found->second.begin >= layer.out_proj.weight.dim(1)) {
      why += "\nThe output columns are not packed in thirds: W_O reads one vector of each head.";
    }
    FAIL(text_of(owner) << ": " << text_of(found->second) << ", expected " << text_of(slice) << "."
                        << why);
  }
  SUCCEED();
}

/// The outputs when the gates of some heads are closed.
Array with_closed_gates(const FusedHeads& layer, const Tensor& x, std::span<const Index> heads) {
  Array gates({layer.config().heads}, 1);
  for (const Index head : heads) gates[head] = 0;
  AttentionAsk ask;
  ask.gates = Tensor(gates);
  return layer(x, x, x, AttentionMask::none(), ask).y.value();
}

}  // namespace

TEST_CASE("all heads", "[12/1]") {
  for (const std::uint64_t seed : chapter::seeds) check(RandomLayer(seed));
}

TEST_CASE("without bias", "[12/1]") {
  for (const std::uint64_t seed : chapter::seeds) check(RandomLayer(seed, false));
}

TEST_CASE("after a removal, and after the next one", "[12/1]") {
  for (const std::uint64_t seed : chapter::seeds) {
    RandomLayer layer(seed);
    layer.prune(std::vector<Index>{1});
    check(layer);
    layer.prune(std::vector<Index>{0, 3});
    check(layer);
  }
}

TEST_CASE("removed heads are those whose gates were closed", "[12/1]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const NoGrad quiet;
    RandomLayer layer(seed);
    Rng rng(seed, "12/1 x");
    const Tensor x(random_array({2, 5, layer.config().width}, rng));
    const std::vector<Index> first{1}, second{0, 3}, both{0, 1, 3};
    const Array expected = with_closed_gates(layer, x, both);
    layer.prune(first);
    layer.prune(second);
    chapter::require_equal("the outputs after two removals", expected,
                           layer(x, x, AttentionMask::none()).value(),
                           {{"batch", "token", "channel"}, {}});
  }
}
