// Means of heads' outputs in place of removed heads.
#include "headroom_measure/pruning/compensation.hpp"

#include "headroom/algebra/algebra.hpp"
#include "headroom/nn/fused_heads.hpp"
#include "support/catch.hpp"
#include "support/fixed_learner.hpp"

using namespace headroom;
using namespace headroom::test;
using Catch::Matchers::Contains;

namespace {

/// Fused heads with a parameter that only this layout has.
class ExtraHeads : public FusedHeads {
 public:
  ExtraHeads(const AttentionConfig& config, Rng& rng)
      : FusedHeads(config, rng), extra(parameter(ones({config.heads}))) {}
  std::vector<HeadSlice> head_slices() const override {
    auto slices = FusedHeads::head_slices();
    for (Index i = 0; i < live(); ++i) {
      slices.push_back(
          {HeadRole::extra, alive()[static_cast<std::size_t>(i)], "extra", 0, i, i + 1});
    }
    return slices;
  }
  void members(Members& visit) override {
    FusedHeads::members(visit);
    visit("extra", extra);
  }
  Tensor extra;
};

std::vector<HeadId> one_of_each_kind() {
  return {{AttentionKind::encoder_self, 0, 1},
          {AttentionKind::decoder_self, 1, 0},
          {AttentionKind::cross, 0, 2},
          {AttentionKind::cross, 0, 0}};
}

/// W_V^h = 0: the head's output is b_V^h at every query, whatever its attention weights are.
void make_constant(Module& model, const std::vector<HeadId>& heads) {
  for (const NamedAttention& found : attentions(model)) {
    HeadBlocks blocks = head_values(*found.attention);
    for (const HeadId& head : heads) {
      if (!(found.id(head.head) == head)) continue;
      Array& values = blocks.at({HeadRole::value, head.head});
      values = zeros(values.shape());
    }
    set_head_values(*found.attention, blocks);
  }
}

std::vector<Array> logits_of_all(const FixedLearner& learner, Seq2Seq& model) {
  const NoGrad quiet;
  std::vector<Array> all;
  for (const Seq2SeqBatch& example : learner.examples()) {
    all.push_back(logits_of(model, example, nullptr).value());
  }
  return all;
}

double largest_change(const std::vector<Array>& a, const std::vector<Array>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (Index e = 0; e < a[i].size(); ++e) {
      most = std::max(most, std::abs(double(a[i][e]) - double(b[i][e])));
    }
  }
  return most;
}

Tensor output_bias(Module& model, const HeadId& head) {
  for (const NamedAttention& found : attentions(model)) {
    if (!(found.id(head.head) == head)) continue;
    for (const auto& [name, tensor] : parameters(*found.attention)) {
      if (name.ends_with("out.bias") || name.ends_with("out_proj.bias")) return tensor;
    }
  }
  return {};
}

}  // namespace

TEST_CASE("the mean output of a head is that over all queries but padding") {
  for (const Layout layout : all_layouts) {
    FixedLearner learner(layout);
    const std::vector<HeadId> heads = one_of_each_kind();
    const std::map<HeadId, Array> means = mean_head_outputs(learner, heads);
    REQUIRE(means.size() == heads.size());
    learner.model().eval();
    const NoGrad quiet;
    for (const HeadId& head : heads) {
      INFO(name_of(layout) << ", " << head.text());
      std::vector<double> sum(std::size_t(means.at(head).size()));
      Index queries = 0;
      for (const Seq2SeqBatch& example : learner.examples()) {  // alone, without padding
        HeadProbe probe;
        probe.head_out = true;
        logits_of(learner.model(), example, &probe);
        const Array all = probe.seen.at({head.kind, head.layer}).head_out.value();
        const Array own = slice(all, {1, head.head, head.head + 1});  // [1, 1, Tq, D]
        for (Index i = 0; i < own.size(); ++i) sum[std::size_t(i) % sum.size()] += double(own[i]);
        queries += own.dim(2);
      }
      Array expected(means.at(head).shape());
      for (Index d = 0; d < expected.size(); ++d) {
        expected[d] = Real(sum[std::size_t(d)] / double(queries));
      }
      CHECK_THAT(means.at(head), same_numbers(expected, same_function));
    }
  }
}

TEST_CASE("a head whose output is constant is cut without a change of the function") {
  for (const Layout layout : {Layout::separate, Layout::fused}) {
    INFO(name_of(layout));
    FixedLearner learner(layout);
    Seq2Seq& model = learner.model();
    model.eval();
    const std::vector<HeadId> heads = one_of_each_kind();
    make_constant(model, heads);
    const std::vector<Array> before = logits_of_all(learner, model);
    const Array bias = output_bias(model, heads[2]).value().clone();
    compensate(learner, heads, Compensation::none);
    CHECK_THAT(output_bias(model, heads[2]).value(), SameBits(bias));
    const std::map<HeadId, Array> means = mean_head_outputs(learner, heads);
    compensate(learner, heads, Compensation::mean);
    prune(model, heads);
    CHECK(largest_change(before, logits_of_all(learner, model)) < double(same_function));
    CHECK_FALSE(SameBits(bias).match(output_bias(model, heads[2]).value()));

    FixedLearner without(layout);
    without.model().eval();
    make_constant(without.model(), heads);
    prune(without.model(), heads);
    CHECK(largest_change(before, logits_of_all(without, without.model())) > 1e-3);
  }
}

TEST_CASE("the negative means undo a compensation") {
  FixedLearner learner;
  const std::vector<HeadId> heads = one_of_each_kind();
  std::map<HeadId, Array> means = mean_head_outputs(learner, heads);
  const Array before = output_bias(learner.model(), heads[3]).value().clone();
  compensate(learner.model(), means);
  CHECK_FALSE(SameBits(before).match(output_bias(learner.model(), heads[3]).value()));
  for (auto& [head, mean] : means) {
    for (Real& x : mean.span()) x = -x;
  }
  compensate(learner.model(), means);
  CHECK_THAT(output_bias(learner.model(), heads[3]).value(), same_numbers(before, same_function));
}

TEST_CASE("heads without an output bias or with extra parts are left alone") {
  const HeadId head{AttentionKind::encoder_self, 0, 1};
  for (const bool bias : {false, true}) {
    Rng rng(4);
    ExtraHeads extra({.width = 6, .heads = 3, .bias = bias}, rng);
    FusedHeads plain({.width = 6, .heads = 3, .bias = bias}, rng);
    for (Attention* const layer :
         {static_cast<Attention*>(&extra), static_cast<Attention*>(&plain)}) {
      const HeadBlocks before = head_values(*layer);
      compensate(*layer, {{head, ones({2})}});
      for (const auto& [place, block] : head_values(*layer)) {
        const bool changes = layer == &plain && place.first == HeadRole::output_bias;
        CHECK(SameBits(before.at(place)).match(block) != changes);
      }
    }
  }
}

TEST_CASE("a compensation for a head that is not there changes nothing") {
  FixedLearner learner;
  const HeadId alive{AttentionKind::cross, 0, 1}, gone{AttentionKind::encoder_self, 0, 1};
  prune(learner.model(), {&gone, 1});
  const Array before = output_bias(learner.model(), alive).value().clone();
  const Array mean = ones({learner.model().config.block.width / 3});
  CHECK_THROWS_WITH(mean_head_outputs(learner, {&gone, 1}), Contains("encoder 0.1 is not alive"));
  CHECK_THROWS_WITH(compensate(learner.model(), {{alive, mean}, {gone, mean}}),
                    Contains("encoder 0.1 is not alive"));
  CHECK_THROWS_WITH(compensate(learner.model(), {{alive, ones({1})}}),
                    Contains("the mean of cross"));
  CHECK_THAT(output_bias(learner.model(), alive).value(), SameBits(before));
}
