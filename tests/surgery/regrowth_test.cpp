// Heads between model and stash: regrow() undoes cut(), for every optimizer; fresh heads; swaps.
#include "headroom/surgery/regrowth.hpp"

#include <algorithm>

#include "headroom/algebra/algebra.hpp"
#include "headroom/base/error.hpp"
#include "headroom/ops/ops.hpp"
#include "support/all_optimizers.hpp"
#include "support/catch.hpp"
#include "support/nn_support.hpp"
#include "support/optim_support.hpp"
#include "support/own_layouts.hpp"

using namespace headroom;
using namespace headroom::test;
using Catch::Matchers::Contains;

namespace {

std::vector<Layout> layouts_with_bias() {
  return {Layout::separate, Layout::fused, Layout::shared, slopes_layout(), table_layout()};
}

/// The same and grouped queries, whose keys stay with the group while one of its heads is there.
std::vector<Layout> layouts_with_groups() {
  std::vector<Layout> layouts = layouts_with_bias();
  layouts.push_back(grouped_layout());
  return layouts;
}

/// An attention of six heads with its optimizer.
struct SixHeads {
  SixHeads(Layout layout, const OptimizerCase& rule) {
    Rng rng(3);
    attention = make_attention(layout, {.width = 6, .heads = 6, .head_dim = 1}, rng);
    randomise(*attention, rng);
    optimizer = rule.make(*attention);
  }
  void random_steps(std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t step = first; step <= last; ++step) {
      random_gradients(*attention, step);
      optimizer->step(0.01);
    }
  }
  std::unique_ptr<Attention> attention;
  std::unique_ptr<Optimizer> optimizer;
};

std::vector<HeadId> ids(const std::vector<Index>& heads) {
  std::vector<HeadId> result;
  for (const Index head : heads) result.push_back({AttentionKind::encoder_self, 0, head});
  return result;
}

/// Parameters, moments and step counts of a model, by name.
struct Everything {
  explicit Everything(const Optimizer& optimizer) : states(optimizer.states()) {
    for (const auto& [name, tensor] : parameters(optimizer.model())) {
      values.push_back({name, tensor.value().clone()});
    }
    for (auto& [name, state] : states) {
      state.first = state.first.clone();
      state.second = state.second.clone();
    }
  }
  bool operator==(const Everything& other) const {
    const auto same = [](const Array& a, const Array& b) {
      return a.defined() == b.defined() && (!a.defined() || SameBits(a).match(b));
    };
    return std::ranges::equal(values, other.values,
                              [&](const auto& a, const auto& b) {
                                return a.first == b.first && same(a.second, b.second);
                              }) &&
           std::ranges::equal(states, other.states, [&](const auto& a, const auto& b) {
             const OptimizerState &x = a.second, &y = b.second;
             return a.first == b.first && same(x.first, y.first) && same(x.second, y.second) &&
                    x.axis == y.axis && x.steps == y.steps;
           });
  }
  std::vector<std::pair<std::string, Array>> values;
  std::map<std::string, OptimizerState> states;
};

}  // namespace

TEST_CASE("regrow undoes a cut to the bit: parameters, moments and counts, for every optimizer") {
  for (const OptimizerCase& rule : all_optimizers()) {
    for (const Layout layout : layouts_with_groups()) {
      SixHeads six(layout, rule);
      six.random_steps(1, 2);
      // Head 4 is younger than the others, so that step counts differ.
      const std::vector<HeadStash> young{{cut(*six.optimizer, ids({4}))[0].share}};
      regrow(*six.optimizer, young);
      six.random_steps(3, 4);
      const Everything before(*six.optimizer);
      for (unsigned set = 1; set < 64; ++set) {
        INFO(rule.name << ", " << name_of(layout) << ", set " << set);
        std::vector<HeadStash> stashes = cut(*six.optimizer, ids(heads_in(set)));
        REQUIRE(six.attention->alive().size() + stashes.size() == 6);
        CHECK_FALSE(Everything(*six.optimizer) == before);
        if (set % 2 == 0) std::ranges::reverse(stashes);
        if (set % 3 == 0) {  // one after the other
          for (const HeadStash& one : stashes) regrow(*six.optimizer, {&one, 1});
        } else {
          regrow(*six.optimizer, stashes);
        }
        CHECK(Everything(*six.optimizer) == before);
      }
      six.random_steps(5, 5);
    }
  }
}

TEST_CASE("training does not touch a stash, and the head comes back as it was cut") {
  for (const OptimizerCase& rule : all_optimizers()) {
    for (const Layout layout : layouts_with_bias()) {
      INFO(rule.name << ", " << name_of(layout));
      SixHeads six(layout, rule);
      six.random_steps(1, 3);
      const std::vector<HeadStash> stashes = cut(*six.optimizer, ids({1, 2}));
      six.random_steps(4, 6);
      regrow(*six.optimizer, stashes);
      for (const HeadStash& before : stashes) {
        const HeadStash after = stash(*six.optimizer, before.share.head);
        for (const auto& [part, value] : before.share.value) {
          CHECK_THAT(after.share.value.at(part), SameBits(value));
          const OptimizerState &x = before.moments.at(part), &y = after.moments.at(part);
          if (x.first.defined()) CHECK_THAT(y.first, SameBits(x.first));
          if (x.second.defined()) CHECK_THAT(y.second, SameBits(x.second));
          CHECK(y.steps == x.steps);
          CHECK(y.steps == std::vector<std::int64_t>(y.steps.size(), 3));
        }
        CHECK(after.share.gradient.empty());
      }
      six.random_steps(7, 7);
      CHECK(stash(*six.optimizer, ids({2})[0]).moments.at(HeadRole::output).steps[0] == 4);
      CHECK(stash(*six.optimizer, ids({3})[0]).moments.at(HeadRole::output).steps[0] == 7);
    }
  }
}

TEST_CASE("a key comes back with its group as it was cut, and stays with what is there") {
  for (const OptimizerCase& rule : all_optimizers()) {
    INFO(rule.name);
    SixHeads six(grouped_layout(), rule);  // groups 0 and 1, 2 and 3, 4 and 5
    six.random_steps(1, 3);
    const std::vector<HeadStash> stashes = cut(*six.optimizer, ids({0, 1, 2}));
    six.random_steps(4, 6);
    const HeadStash third = stash(*six.optimizer, ids({3})[0]);
    regrow(*six.optimizer, stashes);
    const HeadPart key = HeadRole::key;
    for (const HeadStash& before : stashes) {
      const HeadStash after = stash(*six.optimizer, before.share.head);
      const HeadStash& wanted = before.share.head.head == 2 ? third : before;
      CHECK_THAT(after.share.value.at(key), SameBits(wanted.share.value.at(key)));
      CHECK(after.moments.at(key).steps == wanted.moments.at(key).steps);
      const Array &now = after.moments.at(key).first, &then = wanted.moments.at(key).first;
      REQUIRE(now.defined() == then.defined());
      if (now.defined()) CHECK_THAT(now, SameBits(then));
      CHECK_THAT(after.share.value.at(HeadRole::query),
                 SameBits(before.share.value.at(HeadRole::query)));
    }
  }
}

TEST_CASE("saved stashes come back to the bit, with and without moments") {
  for (const OptimizerCase& rule : all_optimizers()) {
    for (const Layout layout : layouts_with_groups()) {
      INFO(rule.name << ", " << name_of(layout));
      SixHeads six(layout, rule);
      six.random_steps(1, 2);
      const Everything before(*six.optimizer);
      std::vector<HeadStash> stashes = cut(*six.optimizer, ids({1, 4}));
      stashes.push_back(fresh_head(*six.attention, ids({1})[0], 3, 4));
      TensorFile file;
      save_stashes(StateWriter(file, "stash."), stashes);
      const std::vector<HeadStash> loaded = load_stashes(StateReader(file, "stash."));
      REQUIRE(loaded.size() == 3);
      CHECK(loaded[2].share.head == stashes[2].share.head);
      CHECK(loaded[2].moments.empty());
      CHECK_THAT(loaded[2].share.value.at(HeadRole::output),
                 SameBits(stashes[2].share.value.at(HeadRole::output)));
      regrow(*six.optimizer, std::span(loaded).first(2));
      CHECK(Everything(*six.optimizer) == before);
    }
  }
}

TEST_CASE("malformed stashes are refused") {
  SixHeads six(Layout::fused, all_optimizers()[2]);  // Adam
  six.random_steps(1, 2);
  const std::vector<HeadStash> stashes = cut(*six.optimizer, ids({1, 4}));
  const auto refuses = [&](const std::string& why, const auto& spoil) {
    std::vector<HeadStash> wrong = stashes;
    OptimizerState& state = wrong[1].moments.at(HeadRole::output);
    state.second = state.second.clone();
    spoil(wrong[1], state);
    TensorFile file;
    save_stashes(StateWriter(file, "stash."), wrong);
    CHECK_THROWS_AS(load_stashes(StateReader(file, "stash.")), FileError);
    CHECK_THROWS_WITH(load_stashes(StateReader(file, "stash.")), Contains(why));
  };
  refuses("-1 is no number of steps", [](auto&, auto& state) { state.steps[0] = -1; });
  refuses("-0.5 is negative", [](auto&, auto& state) { state.second[0] = Real(-0.5); });
  refuses("1.6.first", [](auto&, auto& state) { state.first = zeros({2}); });
  refuses("has no axis 2", [](auto&, auto& state) { state.axis = 2; });
  TensorFile empty;
  CHECK_THROWS_AS(load_stashes(StateReader(empty, "stash.")), FileError);
}

TEST_CASE("a swap is a cut and a regrowth in one event; the other heads keep everything") {
  for (const OptimizerCase& rule : all_optimizers()) {
    for (const Layout layout : layouts_with_bias()) {
      INFO(rule.name << ", " << name_of(layout));
      SixHeads swapped(layout, rule), stepwise(layout, rule);
      std::vector<HeadStash> waiting;
      for (SixHeads* six : {&swapped, &stepwise}) {
        six->random_steps(1, 2);
        waiting = cut(*six->optimizer, ids({0, 3}));
        six->random_steps(3, 4);
      }
      std::vector<HeadStash> in{waiting[0], {waiting[1].share}};  // head 3 starts at 0
      const Index parameters_before = count_parameters(*swapped.attention);
      std::vector<HeadStash> kept;
      for (const HeadId& head : ids({2, 4})) kept.push_back(stash(*swapped.optimizer, head));
      const std::vector<HeadStash> out = swap_heads(*swapped.optimizer, ids({1, 5}), in);
      cut(*stepwise.optimizer, ids({1, 5}));
      regrow(*stepwise.optimizer, in);
      CHECK(Everything(*swapped.optimizer) == Everything(*stepwise.optimizer));
      CHECK(std::ranges::equal(swapped.attention->alive(), std::vector<Index>{0, 2, 3, 4}));
      CHECK(count_parameters(*swapped.attention) == parameters_before);
      for (const HeadStash& before : kept) {
        const HeadStash after = stash(*swapped.optimizer, before.share.head);
        for (const auto& [part, value] : before.share.value) {
          CHECK_THAT(after.share.value.at(part), SameBits(value));
          CHECK(after.moments.at(part).steps == before.moments.at(part).steps);
        }
      }
      swapped.random_steps(5, 6);
      stepwise.random_steps(5, 6);
      CHECK(Everything(*swapped.optimizer) == Everything(*stepwise.optimizer));
      swap_heads(*swapped.optimizer, ids({0, 2, 3, 4}), out);  // none of them stays
      CHECK(std::ranges::equal(swapped.attention->alive(), std::vector<Index>{1, 5}));
    }
  }
}

TEST_CASE("an event that is refused changes neither model nor optimizer") {
  for (const Layout layout : layouts_with_bias()) {
    INFO(name_of(layout));
    SixHeads six(layout, all_optimizers()[2]);  // Adam
    six.random_steps(1, 2);
    const std::vector<HeadStash> stashes = cut(*six.optimizer, ids({1, 4}));
    const Everything before(*six.optimizer);
    const auto refuses = [&](const std::string& why, const auto& spoil) {
      std::vector<HeadStash> wrong = stashes;
      spoil(wrong);
      CHECK_THROWS_WITH(regrow(*six.optimizer, wrong), Contains(why));
      CHECK(Everything(*six.optimizer) == before);
      CHECK_THROWS_WITH(swap_heads(*six.optimizer, ids({0}), wrong), Contains(why));
      CHECK(Everything(*six.optimizer) == before);
    };
    refuses("has other moments of",
            [](auto& wrong) { wrong[1].moments.at(HeadRole::output).second = Array(); });
    refuses("has other moments of", [](auto& wrong) {
      wrong[1].moments.at(HeadRole::output).first = zeros({2, 2});
    });
    refuses("step counts for 1 indices",
            [](auto& wrong) { wrong[0].moments.at(HeadRole::output).steps.clear(); });
    if (layout != Layout::shared) {  // there W_O is the only part, and no moments at all are right
      refuses("no moments of", [](auto& wrong) { wrong[0].moments.erase(HeadRole::output); });
    }
    refuses("head 2 is alive", [](auto& wrong) { wrong[0].share.head.head = 2; });
    refuses("no attention cross 0",
            [](auto& wrong) { wrong[0].share.head.kind = AttentionKind::cross; });
    CHECK_THROWS_WITH(cut(*six.optimizer, ids({0, 1})), Contains("encoder 0.1 is not alive"));
    CHECK_THROWS_WITH(swap_heads(*six.optimizer, ids({1}), stashes), Contains("is not alive"));
    CHECK_THROWS_WITH(stash(*six.optimizer, {AttentionKind::cross, 3, 1}),
                      Contains("no attention cross 3; it has encoder 0"));
    CHECK(Everything(*six.optimizer) == before);
    regrow(*six.optimizer, stashes);
    six.random_steps(3, 3);
  }
}

TEST_CASE("a fresh head leaves the function as it is; W_O moves first, then all other parts") {
  for (const Layout layout : layouts_with_bias()) {
    for (const OptimizerCase& rule : all_optimizers()) {
      if (rule.name == "momentum" || rule.name == "adamw" || !rule.by_element) continue;
      INFO(rule.name << ", " << name_of(layout));
      SixHeads six(layout, rule);
      Rng rng(5);
      const Tensor x = constant(test::normal({3, 4, 6}, rng));
      const Array cotangent = test::normal({3, 4, 6}, rng);
      const auto step = [&] {
        zero_grad(*six.attention);
        (*six.attention)(x, x, AttentionMask::causal()).backward(cotangent);
        six.optimizer->step(0.05);
      };
      step();
      cut(*six.optimizer, ids({1, 4}));
      const Array before = (*six.attention)(x, x, AttentionMask::causal()).value();
      const HeadId head = ids({4})[0];
      const HeadStash fresh = fresh_head(*six.attention, head, 7, 20);
      regrow(*six.optimizer, {&fresh, 1});
      CHECK_THAT((*six.attention)(x, x, AttentionMask::causal()).value(),
                 same_numbers(before, same_function));
      HeadStash now = stash(*six.optimizer, head);
      for (const auto& [part, value] : now.share.value) {
        CHECK((max_abs(value) > 0) == (part.role == HeadRole::query || part.role == HeadRole::key ||
                                       part.role == HeadRole::value ||
                                       part.role == HeadRole::score_bias));
      }
      for (int i = 1; i <= 2; ++i) {
        step();
        const HeadStash next = stash(*six.optimizer, head);
        for (const auto& [part, value] : next.share.value) {
          INFO(name_of<HeadRole>(part.role) << " in step " << i);
          if (part.role == HeadRole::key_bias) continue;  // its gradient is always 0
          const Array& former = now.share.value.at(part);
          if (i == 1 && part.role != HeadRole::output) {
            CHECK_THAT(value, SameBits(former));
          } else if (part.role == HeadRole::score_bias) {  // distances that no query has
            CHECK_FALSE(SameBits(former).match(value));
          } else {
            for (Index e = 0; e < value.size(); ++e) CHECK(value[e] != former[e]);
          }
          CHECK(next.moments.at(part).steps ==
                std::vector<std::int64_t>(next.moments.at(part).steps.size(), i));
        }
        now = next;
      }
    }
  }
}

TEST_CASE("the numbers of a fresh head depend on seed, step and head alone") {
  const OptimizerCase adam = all_optimizers()[2];
  const HeadId head = ids({4})[0];
  const auto query_of = [&](Layout layout, const std::vector<Index>& gone, std::uint64_t seed,
                            Index step, const HeadId& of) {
    SixHeads six(layout, adam);
    cut(*six.optimizer, ids(gone));
    return fresh_head(*six.attention, of, seed, step).share.value.at(HeadRole::query);
  };
  const Array drawn = query_of(Layout::fused, {4}, 7, 20, head);
  CHECK_THAT(query_of(Layout::fused, {0, 1, 2, 3, 4, 5}, 7, 20, head), SameBits(drawn));
  CHECK_THAT(query_of(Layout::separate, {2, 4}, 7, 20, head), SameBits(drawn));
  CHECK_FALSE(SameBits(drawn).match(query_of(Layout::fused, {4}, 8, 20, head)));
  CHECK_FALSE(SameBits(drawn).match(query_of(Layout::fused, {4}, 7, 21, head)));
  CHECK_FALSE(SameBits(drawn).match(query_of(Layout::fused, {4}, 7, 20, ids({3})[0])));
  SixHeads six(Layout::fused, adam);
  CHECK_THROWS_WITH(fresh_head(*six.attention, {AttentionKind::encoder_self, 0, 6}, 1, 1),
                    Contains("encoder 0 has 6 heads and no head 6"));
  CHECK_THROWS_WITH(fresh_head(*six.attention, {AttentionKind::encoder_self, 1, 0}, 1, 1),
                    Contains("no attention encoder 1; it has encoder 0"));
}
