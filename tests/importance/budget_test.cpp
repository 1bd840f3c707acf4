// Budgets: the heads that may be removed, and choices under a budget.
#include "headroom_measure/importance/budget.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "headroom/base/at.hpp"
#include "headroom/base/error.hpp"
#include "headroom/io/fields.hpp"
#include "headroom/nn/models.hpp"
#include "support/catch.hpp"
#include "support/nn_support.hpp"

using namespace headroom;
using namespace headroom::test;

namespace {

constexpr AttentionKind encoder = AttentionKind::encoder_self,
                        decoder = AttentionKind::decoder_self, cross = AttentionKind::cross;

/// An encoder-decoder with two layers of three heads in each stack: 18 heads.
struct SmallModel {
  Rng rng{3};
  Seq2Seq model{small_config(ModelKind::seq2seq, Layout::fused), rng};
  std::vector<HeadId> heads = live_heads(model);
};

/// How many of the heads are where.
Index count_in(std::span<const HeadId> heads, AttentionKind kind) {
  return std::count_if(heads.begin(), heads.end(), [&](const auto& h) { return h.kind == kind; });
}
Index count_in(std::span<const HeadId> heads, AttentionKind kind, Index layer) {
  return std::count_if(heads.begin(), heads.end(),
                       [&](const auto& h) { return h.kind == kind && h.layer == layer; });
}

std::vector<HeadId> shuffled(std::vector<HeadId> heads, Rng& rng) {
  for (Index i = std::ssize(heads); i > 1; --i)
    std::swap(at(heads, i - 1), at(heads, rng.below(i)));
  return heads;
}

}  // namespace

TEST_CASE("by default one head of each kind is left, wherever the least important ones are") {
  SmallModel small;
  std::vector<HeadId> order = small.heads;  // the kinds one after the other
  const std::vector<HeadId> removed = first_allowed(small.model, order, 15, {});
  CHECK(count_in(removed, encoder) == 5);
  CHECK(count_in(removed, decoder) == 5);
  CHECK(count_in(removed, cross) == 5);
  CHECK(removed[0] == order[0]);
  CHECK(removed[5] == order[6]);  // order[5] is the last of its kind
  CHECK(first_allowed(small.model, order, 4, {}) == std::vector(order.begin(), order.begin() + 4));
  CHECK(first_allowed(small.model, order, 18, {.at_least_of_kind = 0}).size() == 18);
}

TEST_CASE("the most that can be removed is what a choice accepts, and not one more") {
  SmallModel small;
  prune(small.model, std::vector<HeadId>{{encoder, 0, 1}, {cross, 1, 0}, {cross, 1, 2}});
  for (const BudgetOver over : all_of<BudgetOver>()) {
    for (Index at_least = 0; at_least <= 3; ++at_least) {
      for (Index of_kind = 0; of_kind <= 4; ++of_kind) {
        const Budget budget{.over = over, .at_least = at_least, .at_least_of_kind = of_kind};
        const std::vector<HeadId> live = live_heads(small.model);
        const Index most = most_removable(small.model, live, budget);
        CHECK(std::ssize(first_allowed(small.model, live, most, budget)) == most);
        CHECK_THROWS_AS(first_allowed(small.model, live, most + 1, budget), UsageError);
      }
    }
  }
}

TEST_CASE("a budget keeps heads in each attention, and says when that is impossible") {
  SmallModel small;
  const std::vector<HeadId> removed = first_allowed(small.model, small.heads, 12, {.at_least = 1});
  for (const AttentionKind kind : {encoder, decoder, cross}) {
    CHECK(count_in(removed, kind, 0) == 2);
    CHECK(count_in(removed, kind, 1) == 2);
  }
  CHECK_THROWS_WITH(first_allowed(small.model, small.heads, 13, {.at_least = 1}),
                    "prune: 13 heads cannot be removed if each attention keeps 1 and each kind of "
                    "attention 1; at most 12 can");
  CHECK_THROWS_WITH(first_allowed(small.model, small.heads, 16, {}),
                    Catch::Contains("at most 15 can"));
  // Only candidates count as removable, all live heads as kept.
  const std::span<const HeadId> two(small.heads.data(), 2);
  CHECK(first_allowed(small.model, two, 2, {.at_least = 1}).size() == 2);
  CHECK_THROWS_WITH(first_allowed(small.model, two, 3, {}), Catch::Contains("at most 2 can"));
  CHECK_THROWS_WITH(first_allowed(small.model, two, -1, {}), Catch::Contains("negative"));
  CHECK_THROWS_WITH(first_allowed(small.model, two, 1, {.at_least = -1}),
                    Catch::Contains("negative"));
}

TEST_CASE("kinds and attentions lose the same share, in one step or in many") {
  SmallModel small;
  for (const Index step : {Index{1}, Index{4}, Index{12}}) {
    SmallModel gradual;
    Rng rng(static_cast<std::uint64_t>(step));
    for (Index gone = 0; gone < 12; gone += step) {
      const std::vector<HeadId> order = shuffled(live_heads(gradual.model), rng);
      prune(gradual.model,
            first_allowed(gradual.model, order, step, {.over = BudgetOver::per_kind}));
    }
    const std::vector<HeadId> left = live_heads(gradual.model);
    for (const AttentionKind kind : {encoder, decoder, cross}) CHECK(count_in(left, kind) == 2);
  }
  Rng rng(9);
  const std::vector<HeadId> removed =
      first_allowed(small.model, shuffled(small.heads, rng), 8, {.over = BudgetOver::per_layer});
  for (const AttentionKind kind : {encoder, decoder, cross}) {
    for (const Index layer : {0, 1}) {
      const Index gone = count_in(removed, kind, layer);
      CHECK((gone == 1 || gone == 2));
    }
  }
  // A kind that has lost more heads than the others keeps the rest until they have caught up.
  prune(small.model, std::vector<HeadId>{{cross, 0, 0}, {cross, 0, 1}, {cross, 1, 2}});
  const std::vector<HeadId> next = first_allowed(
      small.model, shuffled(live_heads(small.model), rng), 6, {.over = BudgetOver::per_kind});
  CHECK(count_in(next, encoder) == 3);
  CHECK(count_in(next, decoder) == 3);
  // If a kind must keep its heads, more are removed from the others.
  const std::vector<HeadId> rest =
      first_allowed(small.model, live_heads(small.model), 9,
                    {.over = BudgetOver::per_kind, .at_least = 0, .at_least_of_kind = 2});
  CHECK(count_in(rest, encoder) == 4);
  CHECK(count_in(rest, decoder) == 4);
  CHECK(count_in(rest, cross) == 1);
}

TEST_CASE("taking the cheapest allowed head each time is the best choice of all that are allowed") {
  Rng rng(11);
  ModelConfig config = small_config(ModelKind::seq2seq, Layout::fused);
  config.layers = 1;
  Rng init(4);
  Seq2Seq model(config, init);
  const std::vector<HeadId> heads = live_heads(model);
  REQUIRE(heads.size() == 9);
  for (const BudgetOver over : all_of<BudgetOver>()) {
    for (const Index of_kind : {0, 1, 2}) {
      const Budget budget{
          .over = over, .at_least = of_kind == 2 ? 1 : 0, .at_least_of_kind = of_kind};
      const Index remove = of_kind == 2 ? 3 : 5;
      INFO(name_of(over) << ", " << of_kind << " of each kind");
      std::vector<double> costs;
      for (std::size_t i = 0; i < heads.size(); ++i) costs.push_back(double(rng.uniform(-1, 1)));
      std::vector<Index> order(heads.size());
      std::iota(order.begin(), order.end(), Index{0});
      std::sort(order.begin(), order.end(),
                [&](Index a, Index b) { return at(costs, a) < at(costs, b); });
      std::vector<HeadId> sorted;
      for (const Index i : order) sorted.push_back(at(heads, i));
      const auto cost_of = [&](const std::vector<HeadId>& set) {
        double sum = 0;
        for (const HeadId& head : set) {
          sum += at(costs, std::find(heads.begin(), heads.end(), head) - heads.begin());
        }
        return sum;
      };
      double best = 1e300;
      for (std::uint64_t bits = 0; bits < 512; ++bits) {
        if (std::popcount(bits) != remove) continue;
        std::vector<HeadId> set;
        for (Index i = 0; i < 9; ++i) {
          if ((bits >> i & 1) != 0) set.push_back(at(heads, i));
        }
        bool allowed = true;
        for (const AttentionKind kind : {encoder, decoder, cross}) {
          const Index left = 3 - count_in(set, kind);
          allowed = allowed && left >= std::max(of_kind, budget.at_least);
          // Three groups of equal size lose `remove` heads: 5 as 2, 2 and 1, in their order.
          const Index share = remove == 3 ? 1 : kind == cross ? 1 : 2;
          allowed = allowed && (over == BudgetOver::global || 3 - left == share);
        }
        if (allowed) best = std::min(best, cost_of(set));
      }
      CHECK(std::abs(cost_of(first_allowed(model, sorted, remove, budget)) - best) < 1e-12);
    }
  }
}

TEST_CASE("an allowance counts heads that are taken and given back") {
  SmallModel small;
  Allowance allowance(small.model, small.heads, 3, {.at_least = 2, .at_least_of_kind = 5});
  CHECK(allowance.left() == 3);
  const HeadId first{cross, 0, 1}, second{cross, 1, 1};
  allowance.take(first);
  CHECK_FALSE(allowance.allows({cross, 0, 2}));  // its attention keeps 2
  CHECK_FALSE(allowance.allows(second));         // the kind keeps 5
  CHECK(allowance.allows({decoder, 0, 0}));
  allowance.give_back(first);
  CHECK(allowance.allows(second));
  allowance.take(second);
  allowance.take({decoder, 0, 0});
  allowance.take({encoder, 0, 0});
  CHECK(allowance.left() == 0);
}

TEST_CASE("a budget is written and read by the names of its fields") {
  const Budget budget{.over = BudgetOver::per_layer, .at_least = 2, .at_least_of_kind = 3};
  const Record record = json_of(budget);
  CHECK(record.dump() == R"({"over":"per_layer","at_least":2,"at_least_of_kind":3})");
  CHECK(struct_of<Budget>(record, "a.json") == budget);
}
