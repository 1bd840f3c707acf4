// Metrics of importance, each against an independent computation on single examples.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "headroom/autograd/tape.hpp"
#include "headroom/base/error.hpp"
#include "headroom/nn/models.hpp"
#include "headroom/ops/losses.hpp"
#include "headroom/ops/reductions.hpp"
#include "headroom/statistics/ranks.hpp"
#include "headroom/train/objectives.hpp"
#include "headroom_measure/importance/head_metric.hpp"
#include "importance/plain_direct.hpp"
#include "importance/plain_games.hpp"
#include "importance/plain_metrics.hpp"
#include "support/catch.hpp"
#include "support/close.hpp"

using namespace headroom;
using namespace headroom::test;

namespace {

/// One row for each metric: its expected score of a head.
using Expected = std::function<double(FixedLearner&, const HeadId&)>;
const std::map<std::string, Expected> expectations{
    {"depth", [](FixedLearner&, const HeadId& head) { return double(head.layer); }},
    {"magnitude", weights_of},
    {"attention_l1", [](FixedLearner&, const HeadId&) { return 1.0; }},
    {"attention_l2",
     [](FixedLearner& l, const HeadId& h) { return std::sqrt(by_rows(l, h, squares_of)); }},
    {"position_variance",
     [](FixedLearner& l, const HeadId& h) { return by_rows(l, h, variance_of); }},
    {"entropy", mean_entropy},
    {"confidence",
     [](FixedLearner& l, const HeadId& h) {
       return by_rows(l, h, [](const auto& w) { return *std::max_element(w.begin(), w.end()); });
     }},
    {"first_token",
     [](FixedLearner& l, const HeadId& h) {
       return by_rows(l, h, [](const auto& w) { return w.front(); });
     }},
    {"output_norm", norm_of_outputs},
    {"output_variance", variance_of_outputs},
    {"redundancy", largest_cosine},
    {"direct_effect", direct_effect_of},
    {"self_repair", repaired_part},
    {"sensitivity", sensitivity_of},
    {"sensitivity_normalised", share_of_attention},
    {"sensitivity_per_token", by_tokens},
    {"sensitivity_per_batch", by_batch_gates},
    {"taylor", [](FixedLearner& l,
                  const HeadId& h) { return by_differences(l, h, [](double g) { return -g; }); }},
    {"fisher",
     [](FixedLearner& l, const HeadId& h) {
       return by_differences(l, h, [](double g) { return g * g; });
     }},
    {"entropy_and_sensitivity", half_and_half},
    {"logit_jacobian", by_logits},
    {"value_path", [](FixedLearner& l, const HeadId& h) { return by_batch_scaling(l, h, "out"); }},
    {"routing_path",
     [](FixedLearner& l, const HeadId& h) { return by_batch_scaling(l, h, "query"); }},
    {"parameter_taylor", taylor_of_parameters},
    {"gradient_norms", product_of_norms},
    {"running_sensitivity", recorded_score},
    {"movement", recorded_score},
    {"hard_concrete", recorded_score},
    {"subset", recorded_score},
    {"frozen_gates", recorded_score},
    {"causal_gating", pulled_gates},
    {"path", along_the_diagonal},
    {"random_masks", under_masks},
    {"taylor2", parabola},
    {"leave_one_out", removal_cost},
    {"all_but_one", alone_in_its_attention},
    {"divergence", divergence_without},
    {"greedy", turn_of_removal},
    {"regression", fitted_presence},
    {"shapley_sampled", in_random_orders},
    {"shapley", [](FixedLearner& l, const HeadId& h) { return by_dividends(l, h, true); }},
    {"banzhaf", [](FixedLearner& l, const HeadId& h) { return by_dividends(l, h, false); }},
};

std::vector<std::string> names_of_all() {
  std::vector<std::string> names;
  for (const MetricEntry& entry : head_metrics()) names.push_back(entry.info.name);
  return names;
}

/// Checks the scores of these metrics, measured together and each alone.
void check_scores(FixedLearner& learner, const std::vector<std::string>& names) {
  const ImportanceOptions options = options_for(learner);
  const ImportanceTable table = measure_importance(learner, names, options);
  CHECK(table.columns.size() == names.size());
  REQUIRE(table.heads == live_heads(learner.model()));
  for (const ImportanceTable::Column& column : table.columns) {
    INFO(column.info.name);
    REQUIRE(column.scores.size() == table.heads.size());
    // The others do not change it, but for the rounding of maps that are kept.
    const ImportanceTable alone = measure_importance(learner, {column.info.name}, options);
    CHECK_FALSE(column.info.cost.empty());
    if (column.info.cost == "0") CHECK(alone.forward + alone.backward == 0);
    if (column.info.cost == "F") CHECK((alone.forward == 1 && alone.backward == 0));
    if (column.info.cost == "B") CHECK((alone.forward == 1 && alone.backward == 1));
    for (std::size_t i = 0; i < table.heads.size(); ++i) {
      CHECK(std::abs(alone.columns[0].scores[i] - column.scores[i]) < (is_double ? 1e-12 : 1e-5));
    }
  }
  // Some of the plain computations change the parameters by rounding.
  for (const ImportanceTable::Column& column : table.columns) {
    INFO(column.info.name);
    CHECK_FALSE(column.info.formula.empty());
    CHECK_FALSE(column.info.source.empty());
    const auto expected = expectations.find(column.info.name);
    if (expected == expectations.end()) {
      CHECK(column.info.name == "random");
      continue;
    }
    std::vector<double> wanted;
    double largest = 0;
    for (const HeadId& head : table.heads) {
      wanted.push_back(expected->second(learner, head));
      largest = std::max(largest, std::abs(wanted.back()));
    }
    for (std::size_t i = 0; i < table.heads.size(); ++i) {
      INFO(table.heads[i].text());
      CHECK(std::abs(column.scores[i] - wanted[i]) <=
            (is_double ? 1e-6 * largest : 3e-3 * std::max(1.0, largest)));
    }
  }
}

}  // namespace

TEST_CASE("every metric gives the scores of its formula, alone and with all others", "[slow]") {
  const std::set<std::string> of_all_subsets{"shapley", "banzhaf"};
  std::vector<std::string> names = names_of_all();
  CHECK(names.size() >= 30);
  FixedLearner learner(Layout::separate), small(Layout::separate, {3, 6, 4}, 1);
  check_scores(small, {of_all_subsets.begin(), of_all_subsets.end()});
  const ImportanceTable absent = measure_importance(learner, {"shapley"});
  REQUIRE(absent.absent.size() == 1);
  CHECK(absent.forward == 0);
  CHECK_THAT(absent.absent[0].reason, Catch::Contains("of at most 12 heads"));
  std::erase_if(names, [&](const std::string& name) { return of_all_subsets.count(name) != 0; });
  check_scores(learner, names);
}

TEST_CASE("the guide says of every metric what it takes from its source") {
  std::ifstream guide(HEADROOM_SOURCE "/docs/pruning.md");
  std::multiset<std::string> rows;
  for (std::string line; std::getline(guide, line);) {
    if (!line.starts_with("| ")) continue;
    std::istringstream names(line.substr(2, line.find(" |", 2) - 2));
    for (std::string name; std::getline(names, name, ',');) {
      rows.insert(name.substr(name.find_first_not_of(' ')));
    }
  }
  for (const MetricEntry& entry : head_metrics()) {
    INFO(entry.info.name);
    CHECK(rows.count(entry.info.name) >= 1);
  }
}

TEST_CASE("all metrics that see batches share one forward and five backward passes") {
  FixedLearner learner;
  std::vector<std::string> names;
  for (const MetricEntry& entry : head_metrics()) {
    if (!entry.make()->plays()) names.push_back(entry.info.name);
  }
  const ImportanceTable table = measure_importance(learner, names, options_for(learner));
  CHECK(table.columns.size() == names.size());
  CHECK(table.forward == 1);
  CHECK(table.backward == 1 + logit_directions);  // from the loss and from the logits
  CHECK(measure_importance(learner, {"leave_one_out"}).forward == 1 + std::ssize(table.heads));
}

TEST_CASE("logit_jacobian estimates the squared change of the logits without bias, from 4 draws") {
  FixedLearner learner;
  const std::vector<HeadId> heads = live_heads(learner.model());
  std::vector<double> exact, variance;  // of the score, with |v|^2 the squared change of an example
  for (const HeadId& head : heads) {
    double sum = 0, squares = 0;
    for (std::size_t x = 0; x < 3; ++x) {
      const double change = squared_change_of_logits(learner, x, head);
      sum += change / 3;
      squares += 2 * change * change / (9 * double(logit_directions));
    }
    exact.push_back(sum);
    variance.push_back(squares);
  }
  const ImportanceTable alone = measure_importance(learner, {"logit_jacobian"});
  CHECK((alone.forward == 1 && alone.backward == logit_directions));
  constexpr int seeds = 100;
  std::vector<double> means(heads.size(), 0);
  double spread = 0, rank = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    const ImportanceOptions options{.seed = std::uint64_t(seed)};
    const std::vector<double> scores =
        measure_importance(learner, {"logit_jacobian"}, options).columns[0].scores;
    for (std::size_t h = 0; h < heads.size(); ++h) {
      means[h] += scores[h] / seeds;
      spread += std::pow(scores[h] - exact[h], 2) / variance[h] / double(seeds * heads.size());
    }
    rank += rank_correlation(scores, exact) / seeds;
  }
  for (std::size_t h = 0; h < heads.size(); ++h) {
    INFO(heads[h].text());
    CHECK(std::abs(means[h] - exact[h]) < 4 * std::sqrt(variance[h] / seeds));
  }
  CHECK((spread > 0.7 && spread < 1.4));
  CHECK(rank > 0.88);
}

TEST_CASE("scores are those of the live heads, by their original numbers") {
  FixedLearner whole, pruned;
  const std::vector<HeadId> gone{{AttentionKind::decoder_self, 0, 0}};
  prune(pruned.model(), gone);
  const ImportanceTable table = measure_importance(pruned, {"sensitivity", "confidence"});
  REQUIRE(table.heads.size() == live_heads(whole.model()).size() - 1);
  const double h = is_double ? 1e-4 : 1e-2;
  for (std::size_t i = 0; i < table.heads.size(); ++i) {
    INFO(table.heads[i].text());
    double sum = 0;
    for (const Seq2SeqBatch& example : pruned.examples()) {
      sum += std::abs(loss_of(pruned.model(), example, table.heads[i], 1 + h) -
                      loss_of(pruned.model(), example, table.heads[i], 1 - h)) /
             (2 * h);
    }
    CHECK(std::abs(table.columns[0].scores[i] - sum / 3) <= (is_double ? 1e-7 : 3e-3));
    CHECK(table.columns[1].scores[i] > 0);
  }
}

TEST_CASE("random scores are the same in every layout, and others for another seed") {
  FixedLearner separate(Layout::separate), fused(Layout::fused);
  const auto draw = [](FixedLearner& learner, std::uint64_t seed) {
    return measure_importance(learner, {"random"}, {.seed = seed}).columns[0].scores;
  };
  const std::vector<double> scores = draw(separate, 1);
  CHECK(scores == draw(fused, 1));
  CHECK(scores != draw(separate, 2));
  for (const double score : scores) CHECK((score >= 0 && score < 1));
  CHECK(measure_importance(separate, {"random"}).forward == 0);
}

TEST_CASE("importance turns scores of which low ones are kept") {
  FixedLearner learner;
  const ImportanceTable table = measure_importance(learner, {"entropy", "confidence"});
  for (std::size_t i = 0; i < table.heads.size(); ++i) {
    CHECK(table.importance("entropy")[i].score == -table.columns[0].scores[i]);
    CHECK(table.importance("confidence")[i].score == table.columns[1].scores[i]);
  }
  CHECK_THROWS_WITH(table.importance("taylor"), Catch::Contains("taylor was not measured"));
}

TEST_CASE(
    "heads that no path leads from have no sensitivity, and a loss without gates is refused") {
  FixedLearner learner;
  std::vector<HeadId> cross = live_heads(learner.model());
  std::erase_if(cross, [](const HeadId& head) { return head.kind != AttentionKind::cross; });
  prune(learner.model(), cross);
  for (const HeadScore& score :
       measure_importance(learner, {"sensitivity"}).importance("sensitivity")) {
    INFO(score.head.text());
    CHECK((score.score == 0) == (score.head.kind == AttentionKind::encoder_self));
  }
  learner.forget_the_probe();
  CHECK_THROWS_WITH(measure_importance(learner, {"sensitivity"}),
                    Catch::Contains("give the probe"));
}

TEST_CASE("measuring importance leaves no gradient in the model, and changes no parameter",
          "[slow]") {
  FixedLearner learner;
  learner.model().train();
  HeadProbe probe;
  sum(logits_of(learner.model(), learner.examples()[0], &probe)).backward();  // old gradients
  std::vector<Array> before;
  for (const NamedParameter& p : parameters(learner.model())) {
    before.push_back(p.tensor.value().clone());
  }
  const auto scores = [&] {
    std::vector<std::vector<double>> all;
    for (const auto& column : measure_importance(learner, names_of_all()).columns) {
      all.push_back(column.scores);
    }
    return all;
  };
  const std::vector<std::vector<double>> first = scores();
  std::size_t next = 0;
  for (const NamedParameter& p : parameters(learner.model())) {
    INFO(p.name);
    CHECK_FALSE(p.tensor.grad().defined());
    CHECK_THAT(p.tensor.value(), test::SameBits(before.at(next++)));
  }
  CHECK(grad_enabled());
  CHECK(learner.model().training());
  CHECK(first == scores());
}

TEST_CASE("the game gives the loss of every subset, with other players present") {
  FixedLearner learner;
  const HeadId first{AttentionKind::encoder_self, 0, 0}, second{AttentionKind::cross, 0, 1};
  HeadGame game(learner, ExampleSet::importance, 100, {first, second});
  CHECK(game.all().bits() == 3);
  const std::vector<HeadSet> subsets{HeadSet(), HeadSet().with(1), game.all()};
  const std::vector<double> values = game.values(subsets);
  CHECK(game.passes() == 3);
  const auto loss_without = [](const std::vector<HeadId>& gone) {
    FixedLearner pruned;
    prune(pruned.model(), gone);
    double sum = 0;
    for (const Seq2SeqBatch& example : pruned.examples()) {
      sum += loss_of(pruned.model(), example, {AttentionKind::decoder_self, 0, 0}, 1);
    }
    return sum / 3;
  };
  const double close = is_double ? 1e-12 : 1e-5;
  CHECK(std::abs(values[0] - loss_without({first, second})) < close);
  CHECK(std::abs(values[1] - loss_without({first})) < close);
  CHECK(std::abs(values[2] - loss_without({})) < close);
  const std::vector<double> losses = game.example_losses(game.all());
  REQUIRE(losses.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(std::abs(losses[i] - loss_of(learner.model(), learner.examples()[i], first, 1)) < close);
  }
  prune(learner.model(), std::vector<HeadId>{second});
  CHECK_THROWS_WITH(HeadGame(learner, ExampleSet::importance, 100, {second}),
                    Catch::Contains("is not alive"));
}

TEST_CASE("a metric of one's own is known by its name") {
  class Ones : public HeadMetric {
   public:
    void begin(const MetricSubject& subject) override { count_ = subject.heads.size(); }
    std::vector<double> scores() const override { return std::vector<double>(count_, 1.0); }

   private:
    std::size_t count_ = 0;
  };
  const auto make = [] { return std::make_unique<Ones>(); };
  const MetricInfo info{.name = "ones", .formula = "1", .source = "this test"};
  FixedLearner learner;
  CHECK_THROWS_AS(measure_importance(learner, {"ones"}), UsageError);
  add_head_metric({info, make});
  CHECK(measure_importance(learner, {"ones"}).columns[0].scores[0] == 1);
  CHECK_THROWS_WITH(add_head_metric({info, make}), Catch::Contains("exists already"));
  CHECK_THROWS_WITH(add_head_metric({{}, make}), Catch::Contains("needs a name"));
  CHECK_THROWS_WITH(add_head_metric({{.name = "twos", .formula = {}, .source = {}}, {}}),
                    Catch::Contains("no function"));
  CHECK_THROWS_WITH(head_metric("sensitivty"), Catch::Contains("sensitivity"));
}

TEST_CASE("scores add up head by head and sort by importance") {
  const HeadId a{AttentionKind::cross, 0, 0}, b{AttentionKind::cross, 0, 1},
      c{AttentionKind::cross, 1, 0};
  const std::vector<HeadScore> sums = added({{a, 1}, {b, 3}, {c, 2}}, {{a, 4}, {b, 0}, {c, 0}});
  CHECK(least_important_first(sums) == std::vector<HeadId>{c, b, a});
  CHECK(least_important_first({{a, 1}, {b, 1}, {c, 0}}) == std::vector<HeadId>{c, a, b});
  CHECK_THROWS_AS(added({{a, 1}}, {{b, 1}}), UsageError);
}

TEST_CASE("the entropy of a subset is that of the predictions of plain forward passes") {
  FixedLearner learner;
  HeadGame game(learner, ExampleSet::importance, 3);
  const Index player = 4;
  const std::vector<HeadSet> subsets{game.all(), game.all().without(player)};
  const std::vector<double> entropies = game.entropies(subsets);
  for (const bool removed : {false, true}) {
    double sum = 0;
    for (std::size_t x = 0; x < 3; ++x) {
      const Array p = softmax(constant(gated_logits(
                                  learner, x, {{at(game.players(), player), removed ? 0 : 1}})))
                          .value();
      for (const Real share : p.span()) sum -= double(share) * std::log(double(share));
    }
    CHECK(std::abs(entropies[removed ? 1 : 0] - sum / 3) < (is_double ? 1e-12 : 1e-5));
  }
  CHECK(std::abs(entropies[0] - entropies[1]) > 1e-4);
}
