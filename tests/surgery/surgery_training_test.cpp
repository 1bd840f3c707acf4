// Training after surgery: a model without heads takes the steps of one with
// masked heads, for every set of heads, kind of attention and optimizer, or
// differs by as much as this file says.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "headroom/ops/losses.hpp"
#include "headroom/optim/clipping.hpp"
#include "headroom/surgery/regrowth.hpp"
#include "support/all_optimizers.hpp"
#include "support/catch.hpp"
#include "support/nn_support.hpp"

using namespace headroom;
using namespace headroom::test;

namespace {

/// The data of one kind of attention: queries, memory and mask.
struct KindOfCall {
  explicit KindOfCall(AttentionKind which) : kind(which) {
    Rng rng(41, name_of(kind));
    query = constant(test::normal({2, 4, 6}, rng));
    memory = query;
    mask = AttentionMask::causal();
    if (kind == AttentionKind::encoder_self) mask = AttentionMask::lengths(Ids({2}, {4, 3}));
    if (kind == AttentionKind::cross) {
      memory = constant(test::normal({2, 3, 6}, rng));
      mask = AttentionMask::none();
    }
    target = constant(test::normal({2, 4, 6}, rng));
  }
  AttentionKind kind;
  Tensor query, memory, target;
  AttentionMask mask;
};

/// An attention of six heads with its optimizer, and with gates if it is the
/// masked one.
struct TrainedHeads {
  TrainedHeads(const KindOfCall& of, Layout layout, const OptimizerCase& rule) : call(of) {
    Rng rng(31);
    attention = make_attention(layout, {.width = 6, .heads = 6, .head_dim = 1}, rng);
    attention->set_location({call.kind, 0});
    randomise(*attention, rng);
    optimizer = rule.make(*attention);
  }
  std::vector<HeadId> ids(const std::vector<Index>& heads) const {
    std::vector<HeadId> result;
    for (const Index head : heads) result.push_back({call.kind, 0, head});
    return result;
  }
  void mask(const std::vector<Index>& heads) {
    Array gates({6}, Real(1));
    for (const Index head : heads) gates[head] = 0;
    ask.gates = constant(gates);
  }
  void step(bool clip = true) {
    optimizer->zero_grad();
    const Tensor y = (*attention)(call.query, call.memory, call.memory, call.mask, ask).y;
    squared_error(y, call.target).backward();
    if (clip) clip_grad_norm(*attention, 0.5);
    optimizer->step(0.01);
  }

  const KindOfCall& call;
  std::unique_ptr<Attention> attention;
  std::unique_ptr<Optimizer> optimizer;
  AttentionAsk ask;
};

/// The largest relative difference of the projections of live heads: for each
/// role, max |a - b| / max |b - from|. `from` may be empty, which counts as 0.
/// Key biases do not count: their gradients are rounding noise, which Adam
/// amplifies.
double relative_difference_of(const HeadBlocks& a, const HeadBlocks& b,
                              const HeadBlocks& from = {}) {
  std::map<HeadRole, std::pair<double, double>> roles;  // max |a - b|, max |b - from|
  for (const auto& [place, block] : a) {
    const auto other = b.find(place);
    if (place.first == HeadRole::key_bias || other == b.end()) continue;
    auto& [difference, scale] = roles[place.first];
    for (Index i = 0; i < block.size(); ++i) {
      const Real start = from.empty() ? 0 : from.at(place)[i];
      difference = std::max(difference, double(std::abs(block[i] - other->second[i])));
      scale = std::max(scale, double(std::abs(other->second[i] - start)));
    }
  }
  double largest = 0;
  for (const auto& [role, pair] : roles) largest = std::max(largest, pair.first / pair.second);
  return largest;
}

/// Trains for 3 steps, removes or masks the heads of a set, and trains for 20
/// more.
double distance_after_20_steps(const KindOfCall& call, Layout layout, const OptimizerCase& rule,
                               unsigned set) {
  TrainedHeads masked(call, layout, rule), compact(call, layout, rule);
  for (int step = 0; step < 3; ++step) {  // moments are not zero when the heads are removed
    masked.step();
    compact.step();
  }
  masked.mask(heads_in(set));
  cut(*compact.optimizer, compact.ids(heads_in(set)));
  for (int step = 0; step < 20; ++step) {
    masked.step();
    compact.step();
  }
  HeadBlocks left = head_values(*compact.attention);
  if (set == 63) {  // nothing uses the projections that SharedHead keeps
    std::erase_if(left, [](const auto& entry) { return entry.first.second == HeadSlice::of_all; });
  }
  return relative_difference_of(left, head_values(*masked.attention));
}

/// How much the first update of the other heads changes because a fresh head is
/// there, which does not change their gradients.
double change_by_fresh_head(const KindOfCall& call, Layout layout, const OptimizerCase& rule) {
  TrainedHeads without(call, layout, rule), with(call, layout, rule);
  const HeadId head = with.ids({2})[0];
  for (TrainedHeads* one : {&without, &with}) {
    for (int step = 0; step < 3; ++step) one->step();
    cut(*one->optimizer, {&head, 1});
  }
  const HeadBlocks before = head_values(*without.attention);
  const HeadStash fresh = fresh_head(*with.attention, head, 5, 3);
  regrow(*with.optimizer, {&fresh, 1});
  without.step(false);  // the norm of all gradients would include the fresh head's
  with.step(false);
  return relative_difference_of(head_values(*with.attention), head_values(*without.attention),
                                before);
}

/// The rules under which a removed head changes no other head: those that treat
/// every element alike, and the others with a block for each head.
std::vector<OptimizerCase> separable_rules() {
  std::vector<OptimizerCase> rules = all_optimizers();
  std::erase_if(rules, [](const OptimizerCase& rule) {
    return !rule.by_element && rule.granularity != Granularity::head;
  });
  return rules;
}

void check_masked_equals_compact(const KindOfCall& call, Layout layout, const OptimizerCase& rule,
                                 unsigned set) {
  const double apart = distance_after_20_steps(call, layout, rule, set);
  INFO(name_of(call.kind) << ", " << name_of(layout) << ", " << rule.name << ", set " << set);
  CHECK(apart < double(tolerance(1e-12, 1e-3)));
}

}  // namespace

TEST_CASE(
    "masked = compact over 20 steps: all 63 sets, kinds of attention and "
    "separable rules",
    "[slow]") {
  const std::vector<OptimizerCase> rules = separable_rules();
  REQUIRE(rules.size() == 6);
  for (const AttentionKind kind : all_of<AttentionKind>()) {
    const KindOfCall call(kind);
    for (unsigned set = 1; set < 64; ++set) {
      for (const OptimizerCase& rule : rules) {
        check_masked_equals_compact(call, Layout::fused, rule, set);
      }
      // The other layouts take turns; the next case takes all.
      check_masked_equals_compact(call, Layout::separate, rules[set % rules.size()], set);
      check_masked_equals_compact(call, Layout::shared, rules[(set + 3) % rules.size()], set);
    }
  }
}

TEST_CASE("masked = compact over 20 steps, the same in all layouts", "[long]") {
  for (const AttentionKind kind : all_of<AttentionKind>()) {
    const KindOfCall call(kind);
    for (const Layout layout : {Layout::separate, Layout::shared}) {
      for (const OptimizerCase& rule : separable_rules()) {
        for (unsigned set = 1; set < 64; ++set) {
          check_masked_equals_compact(call, layout, rule, set);
        }
      }
    }
  }
}

namespace {

/// Differences of LAMB and Muon where a block holds more than one head.
struct Pinned {
  const char* rule;
  Layout layout;
  double after_cut;    // of the parameters, 20 steps after heads 0, 3 and 4 were
                       // removed
  double after_fresh;  // of the first update after head 2 came back fresh
};

constexpr Pinned pinned[] = {
    {"lamb per tensor", Layout::separate, 0.0444831, 0.11019},
    {"lamb per tensor", Layout::fused, 0.160565, 0.122329},
    {"lamb per tensor", Layout::shared, 0.0256394, 0.0872716},
    {"lamb per projection", Layout::separate, 0.238671, 0.115178},
    {"lamb per projection", Layout::fused, 0.0768176, 0.130218},
    {"lamb per projection", Layout::shared, 0.0256394, 0.0872716},
    {"muon per tensor", Layout::separate, 0.0669499, 0.922733},
    {"muon per tensor", Layout::fused, 0.10893, 0.468317},
    {"muon per tensor", Layout::shared, 0.09584, 0.643925},
    {"muon per projection", Layout::separate, 0.0907313, 0.932663},
    {"muon per projection", Layout::fused, 0.0981239, 0.511775},
    {"muon per projection", Layout::shared, 0.09584, 0.643925},
};

}  // namespace

TEST_CASE(
    "where a block holds several heads, surgery changes the others by "
    "this much") {
  const KindOfCall call(AttentionKind::encoder_self);
  for (const OptimizerCase& rule : all_optimizers()) {
    for (const Layout layout : all_layouts) {
      INFO(rule.name << ", " << name_of(layout));
      const double after_cut = distance_after_20_steps(call, layout, rule, 0b011001),
                   after_fresh = change_by_fresh_head(call, layout, rule);
      if (rule.by_element || rule.granularity == Granularity::head) {
        CHECK(after_cut < double(tolerance(1e-12, 1e-3)));
        CHECK(after_fresh < double(tolerance(1e-12, 1e-3)));
        continue;
      }
      const auto* const pin = std::ranges::find_if(pinned, [&](const Pinned& entry) {
        return entry.rule == rule.name && entry.layout == layout;
      });
      REQUIRE(pin != std::end(pinned));
      CHECK(std::abs(after_cut / pin->after_cut - 1) < 0.01);
      CHECK(std::abs(after_fresh / pin->after_fresh - 1) < 0.01);
    }
  }
}

TEST_CASE(
    "per head, LAMB's trust ratio of a fresh W_O is 1: it moves by the "
    "learning rate") {
  const KindOfCall call(AttentionKind::cross);
  for (const OptimizerCase& rule : all_optimizers()) {
    if (rule.name != "lamb per head") continue;
    for (const Layout layout : all_layouts) {
      TrainedHeads six(call, layout, rule);
      six.step();
      const HeadId head = six.ids({4})[0];
      cut(*six.optimizer, {&head, 1});
      const HeadStash fresh = fresh_head(*six.attention, head, 5, 3);
      regrow(*six.optimizer, {&fresh, 1});
      six.step();
      const auto values = head_values(*six.attention);
      for (const Real w : values.at({HeadRole::output, 4}).span()) {
        CHECK(std::abs(std::abs(double(w)) / 0.01 - 1) < 1e-2);  // sign(g) / (1 + epsilon / |g|)
      }
    }
  }
}

namespace {

/// The blocks of a model: those of live heads, and all other parameters.
std::map<std::string, Array> blocks_of_model(Module& model) {
  std::map<std::string, Array> blocks;
  for (const auto& [name, tensor] : parameters(model)) {
    if (tensor.size() > 0) blocks[name] = tensor.value().clone();
  }
  for (const NamedAttention& found : attentions(model)) {
    for (const HeadSlice& part : found.attention->head_slices()) {
      blocks.erase(found.name + "." + part.name);
    }
    for (const auto& [place, block] : head_values(*found.attention)) {
      if (place.first == HeadRole::key_bias) continue;  // its gradient is always 0
      blocks[fmt::format("{} {} {}", found.location().text(), name_of<HeadRole>(place.first),
                         place.second)] = block;
    }
  }
  return blocks;
}

/// A model with its optimizer and one batch.
struct TrainedModel {
  TrainedModel(Layout layout, const OptimizerCase& rule)
      : rng(2), model(small_config(ModelKind::seq2seq, layout), rng) {
    optimizer = rule.make(model);
    batch = tiny_batch(model.config, rng);
  }
  /// Trains one step; returns the names of the blocks in which nothing moved.
  std::set<std::string> step() {
    const std::map<std::string, Array> before = blocks_of_model(model);
    optimizer->zero_grad();
    loss_of(model, batch).backward();
    optimizer->step(0.01);
    std::set<std::string> unmoved;
    for (const auto& [name, block] : blocks_of_model(model)) {
      if (SameBits(block).match(before.at(name))) unmoved.insert(name);
    }
    return unmoved;
  }
  Rng rng;
  Seq2Seq model;
  std::unique_ptr<Optimizer> optimizer;
  TinyBatch batch;
};

using Names = std::set<std::string>;

}  // namespace

TEST_CASE(
    "every live parameter moves in the step after an event, under every "
    "optimizer") {
  for (const Layout layout : all_layouts) {
    for (const OptimizerCase& rule : all_optimizers()) {
      INFO(name_of(layout) << ", " << rule.name);
      TrainedModel run(layout, rule);
      Optimizer& optimizer = *run.optimizer;
      CHECK(run.step() == Names{});
      const HeadId crossing{AttentionKind::cross, 0, 1},
          encoding{AttentionKind::encoder_self, 1, 0};
      const std::vector<HeadId> two{crossing, encoding};
      const std::vector<HeadStash> stashes = cut(optimizer, two);
      CHECK(run.step() == Names{});
      regrow(optimizer, stashes);
      CHECK(run.step() == Names{});
      const HeadId other{AttentionKind::cross, 1, 2};
      const std::vector<HeadStash> first = swap_heads(optimizer, {&other, 1}, {});
      swap_heads(optimizer, {&crossing, 1}, first);
      CHECK(run.step() == Names{});

      // A layer without heads: nothing depends on the norm before it, or on
      // what SharedHead keeps.
      std::vector<HeadId> all;
      for (Index head = 0; head < 3; ++head) all.push_back({AttentionKind::decoder_self, 0, head});
      cut(optimizer, all);
      Names dead{"decoder.layers.0.norm1.weight", "decoder.layers.0.norm1.bias"};
      if (layout == Layout::shared) {
        for (const char* const role : {"query", "key", "value"}) {
          dead.insert(fmt::format("decoder 0 {} {}", role, Index{HeadSlice::of_all}));
        }
      }
      CHECK(run.step() == dead);

      // Only W_O of a fresh head has a gradient in the first step.
      const HeadStash fresh = fresh_head(run.model, all[1], 3, 6);
      regrow(optimizer, {&fresh, 1});
      for (const std::string& name : run.step()) {
        INFO(name);
        const bool of_fresh = name.starts_with("decoder 0 ") && !name.ends_with(" output 1");
        CHECK((of_fresh || dead.contains(name)));
      }
      CHECK(run.step() == Names{});
    }
  }
}
