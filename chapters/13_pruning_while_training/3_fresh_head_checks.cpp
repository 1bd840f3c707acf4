// Checks fresh_head by what it promises: the model is the same function, the head learns, and its
// random numbers are its own. The hypotheses are other parts that were set to 0.
#include <fmt/format.h>

#include "common/checks.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/surgery/regrowth.hpp"
#include "headroom/nn/attention.hpp"
#include "headroom/ops/losses.hpp"
#include "headroom/optim/adam.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library
using chapter::random_array;

constexpr Index width = 12, heads = 4;

HeadId id(Index head) { return {AttentionKind::encoder_self, 0, head}; }

/// An attention that has lost heads 1 and 3 in training.
struct Layer {
  Layer(Layout layout, std::uint64_t seed) {
    Rng rng(seed, "13/3");
    attention = make_attention(layout, {.width = width, .heads = heads}, rng);
    for (NamedParameter& p : parameters(*attention)) {
      p.tensor.set_value(random_array(p.tensor.shape(), rng));
    }
    x = Tensor(random_array({2, 5, width}, rng));
    target = Tensor(random_array({2, 5, width}, rng));
    optimizer = std::make_unique<Adam>(*attention);
    step();
    const std::vector<HeadId> gone{id(1), id(3)};
    cut(*optimizer, gone);
  }
  Tensor output() const { return (*attention)(x, x, AttentionMask::none()); }
  void step() {
    optimizer->zero_grad();
    squared_error(output(), target).backward();
    optimizer->step(0.01);
  }
  HeadStash fresh(Index head, std::uint64_t seed = 7, Index step = 20) {
    return fresh_head(*attention, id(head), seed, step);
  }
  Array values(const HeadStash& stash, HeadRole role) const { return stash.share.value.at(role); }

  std::unique_ptr<Attention> attention;
  std::unique_ptr<Adam> optimizer;
  Tensor x, target;
};

bool is_zero(const Array& values) {
  return std::all_of(values.span().begin(), values.span().end(), [](Real v) { return v == 0; });
}

bool same(const Array& a, const Array& b) {
  return a.shape() == b.shape() && std::equal(a.span().begin(), a.span().end(), b.span().begin());
}

const std::vector<Layout> layouts{Layout::fused, Layout::separate};

}  // namespace

TEST_CASE("the model stays the same function", "[13/3]") {
  for (const std::uint64_t seed : chapter::seeds) {
    for (const Layout layout : layouts) {
      Layer layer(layout, seed);
      const Array before = layer.output().value();
      const HeadStash fresh = layer.fresh(3);
      const Array w_o = layer.values(fresh, HeadRole::output);
      regrow(*layer.optimizer, {&fresh, 1});
      std::string guess;
      if (is_zero(layer.values(fresh, HeadRole::query))) {
        guess =
            "\nIt looks as if the queries are 0: such a head attends to all tokens alike, and its "
            "output is their mean, not 0.";
      } else if (!is_zero(w_o)) {
        guess =
            "\nIt looks as if its output was not set to 0: random columns of W_O add random "
            "numbers to what the others have learned.";
      }
      const std::string text =
          chapter::difference("the outputs with the new head", before, layer.output().value(),
                              {{"batch", "token", "channel"}, {}});
      chapter::require(text.empty(), text + guess);
    }
  }
}

TEST_CASE("the head learns", "[13/3]") {
  for (const std::uint64_t seed : chapter::seeds) {
    for (const Layout layout : layouts) {
      Layer layer(layout, seed);
      const HeadStash fresh = layer.fresh(1);
      regrow(*layer.optimizer, {&fresh, 1});
      for (int i = 0; i < 5; ++i) layer.step();
      const HeadStash later = stash(*layer.optimizer, id(1));
      const bool moved =
          !same(layer.values(fresh, HeadRole::output), layer.values(later, HeadRole::output));
      std::string why;
      if (is_zero(layer.values(fresh, HeadRole::value))) {
        why = is_zero(layer.values(fresh, HeadRole::query)) ? "\nIt looks as if all parts are 0."
                                                            : "\nIt looks as if W_V is 0 as well.";
      }
      chapter::require(moved,
                       "after 5 steps W_O of the new head is what it was: dW_O = A^T dy has "
                       "the factor A, and dW_V has the factor W_O. One of them must not be "
                       "0, or no gradient ever arrives." +
                           why);
      chapter::require(
          !same(layer.values(fresh, HeadRole::value), layer.values(later, HeadRole::value)),
          "after 5 steps W_V of the new head is what it was.");
    }
  }
}

TEST_CASE("its random numbers are those of a new attention", "[13/3]") {
  for (const std::uint64_t seed : chapter::seeds) {
    for (const Layout layout : layouts) {
      Layer layer(layout, seed);
      layer.fresh(1, seed, 3);
      const HeadStash fresh = layer.fresh(3, seed, 4);
      chapter::require(fresh.share.head == id(3),
                       fmt::format("the head is called {}, expected {}.", fresh.share.head.text(),
                                   id(3).text()));
      const auto query_of = [&](const std::string& purpose, std::uint64_t step, Index head) {
        Rng rng(seed, purpose, step);
        const auto drawn = make_attention(layout, layer.attention->config(), rng);
        drawn->set_location(layer.attention->location());
        return share_of({"", drawn.get()}, head).value.at(HeadRole::query);
      };
      const std::string purpose = "regrow " + id(3).text();
      const Array yours = layer.values(fresh, HeadRole::query);
      std::string guess;
      if (!same(yours, layer.values(layer.fresh(3, seed, 4), HeadRole::query))) {
        guess =
            "\nThe same call gives other numbers the second time: it depends on what was drawn "
            "before, and a resumed run has drawn nothing.";
      } else if (same(yours, layer.values(layer.fresh(1, seed, 4), HeadRole::query))) {
        guess =
            "\nIt looks as if two heads that come back at the same step have the same random "
            "numbers: twins, which get the same gradients.";
      } else if (same(yours, layer.values(layer.fresh(3, seed, 5), HeadRole::query))) {
        guess =
            "\nIt looks as if another step gives the same random numbers: a head that was no good "
            "would come back as it was.";
      } else if (same(yours, layer.values(layer.fresh(3, seed + 1, 4), HeadRole::query))) {
        guess = "\nIt looks as if another seed gives the same random numbers.";
      } else if (same(yours, query_of(purpose, 4, 0))) {
        guess = "\nIt looks as if every head of the attention gets the numbers of head 0.";
      }
      const std::string text =
          chapter::difference("the queries' weights of the new head", query_of(purpose, 4, 3),
                              yours, {{"row", "channel"}, {}});
      chapter::require(text.empty(), text + guess);
    }
  }
}

TEST_CASE("heads that the model never had", "[13/3]") {
  Layer layer(Layout::fused, 1);
  CHECK_THROWS(layer.fresh(heads));
}
