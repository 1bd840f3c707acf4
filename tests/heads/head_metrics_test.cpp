// Metrics of importance, each against an independent computation on single examples.
#include <algorithm>
#include <cmath>
#include <map>

#include "headroom/autograd/tape.hpp"
#include "headroom/base/error.hpp"
#include "headroom/heads/head_metric.hpp"
#include "headroom/nn/models.hpp"
#include "headroom/ops/losses.hpp"
#include "headroom/ops/reductions.hpp"
#include "headroom/train/objectives.hpp"
#include "support/catch.hpp"
#include "support/close.hpp"
#include "support/nn_support.hpp"

using namespace headroom;

namespace {

constexpr Index lengths_of_examples[] = {3, 6, 4};

/// A learner of fixed examples: an encoder-decoder whose sources have different lengths.
class FixedLearner : public Learner {
 public:
  explicit FixedLearner(Layout layout = Layout::fused) : rng_(5), model_(config(layout), rng_) {
    for (const Index length : lengths_of_examples) {
      Seq2SeqBatch one;
      one.source = Ids({1, length}, 0);
      for (Index i = 0; i < length; ++i) one.source[i] = std::int32_t(4 + (i * i + length) % 5);
      one.source_lengths = Ids({1}, std::int32_t(length));
      one.target_in = Ids({1, 3}, {1, 5, std::int32_t(4 + length)});
      one.target_lengths = Ids({1}, 3);
      one.labels = Ids({1, 3}, {5, std::int32_t(4 + length), 2});
      examples_.push_back(one);
    }
  }
  static ModelConfig config(Layout layout) {
    ModelConfig config = test::small_config(ModelKind::seq2seq, layout);
    config.block.activation = Activation::gelu;  // smooth, for finite differences
    config.source_vocabulary = config.target_vocabulary = 11;
    return config;
  }

  Seq2Seq& model() override { return model_; }
  const std::vector<Seq2SeqBatch>& examples() const { return examples_; }
  /// The examples 0 and 1 in one batch, padded; then example 2.
  void visit(ExampleSet, Index, const std::function<void(const ProbedBatch&)>& see) override {
    Seq2SeqBatch pair;
    pair.source = Ids({2, 6}, 0);
    for (Index row = 0; row < 2; ++row) {
      const Ids& source = examples_[std::size_t(row)].source;
      std::copy_n(source.data(), source.size(), pair.source.data() + row * 6);
    }
    pair.source_lengths = Ids({2}, {3, 6});
    pair.target_in = rows(&Seq2SeqBatch::target_in);
    pair.target_lengths = Ids({2}, {3, 3});
    pair.labels = rows(&Seq2SeqBatch::labels);
    for (const Seq2SeqBatch& batch : {pair, examples_[2]}) {
      see(probed(batch.labels, [&](HeadProbe& probe) {
        return logits_of(model_, batch, ask_ ? &probe : nullptr);
      }));
    }
  }
  void forget_the_probe() { ask_ = false; }

  Index next_batch() override { return 0; }
  Tensor loss(HeadProbe*) override { return {}; }
  Record evaluate() override { return {}; }
  Record test() override { return {}; }
  const char* measure() const override { return ""; }
  BestSoFar::Better better() const override { return BestSoFar::Better::lower; }
  Stateful& position() override { throw UsageError("no position"); }
  Record about() const override { return {}; }

 private:
  Ids rows(Ids Seq2SeqBatch::*member) const {
    Ids both({2, 3});
    for (Index row = 0; row < 2; ++row) {
      std::copy_n((examples_[std::size_t(row)].*member).data(), 3, both.data() + row * 3);
    }
    return both;
  }

  Rng rng_;
  Seq2Seq model_;
  std::vector<Seq2SeqBatch> examples_;
  bool ask_ = true;
};

/// The loss of one example with one gate set.
double loss_of(const Seq2Seq& model, const Seq2SeqBatch& example, const HeadId& head, double gate) {
  const NoGrad quiet;
  HeadProbe probe;
  Array gates = ones({model.config.block.heads});
  gates[head.head] = Real(gate);
  probe.gates[{head.kind, head.layer}] = constant(gates);
  return double(cross_entropy(logits_of(model, example, &probe), example.labels,
                              {.reduction = Reduction::sum})
                    .item());
}

/// The mean over the examples of f(dL/dg), by central differences.
double by_differences(FixedLearner& learner, const HeadId& head,
                      const std::function<double(double)>& f) {
  const double h = is_double ? 1e-4 : 1e-2;
  double sum = 0;
  for (const Seq2SeqBatch& example : learner.examples()) {
    sum += f((loss_of(learner.model(), example, head, 1 + h) -
              loss_of(learner.model(), example, head, 1 - h)) /
             (2 * h));
  }
  return sum / 3;
}

/// The mean of f over the rows of a head's maps, one example at a time, so without padding. f is
/// given the weights that are allowed: all, or the first i + 1 in the decoder.
double by_rows(FixedLearner& learner, const HeadId& head,
               const std::function<double(const std::vector<double>&)>& f) {
  double sum = 0, count = 0;
  for (const Seq2SeqBatch& example : learner.examples()) {
    const NoGrad quiet;
    HeadProbe probe;
    probe.maps = true;
    logits_of(learner.model(), example, &probe);
    const Array& maps = probe.seen.at({head.kind, head.layer}).maps.value();
    const Index queries = maps.dim(2), keys = maps.dim(3);
    for (Index i = 0; i < queries; ++i) {
      std::vector<double> weights;
      const Index allowed = head.kind == AttentionKind::decoder_self ? i + 1 : keys;
      for (Index j = 0; j < allowed; ++j) {
        weights.push_back(double(maps[(head.head * queries + i) * keys + j]));
      }
      sum += f(weights);
      ++count;
    }
  }
  return sum / count;
}

double squares_of(const std::vector<double>& weights) {
  double sum = 0;
  for (const double weight : weights) sum += weight * weight;
  return sum;
}

double variance_of(const std::vector<double>& weights) {
  const auto count = double(weights.size());
  double sum = 0;
  for (const double weight : weights) sum += (weight - 1 / count) * (weight - 1 / count);
  return sum / count;
}

double entropy_of(const std::vector<double>& weights) {
  if (weights.size() == 1) return 0;
  double sum = 0;
  for (const double weight : weights) sum -= weight * std::log(weight);
  return sum / std::log(double(weights.size()));
}

double weights_of(FixedLearner& learner, const HeadId& head) {
  double squares = 0;
  for (const NamedAttention& found : attentions(learner.model())) {
    if (found.location() != AttentionLocation{head.kind, head.layer}) continue;
    for (const auto& [name, tensor] : parameters(*found.attention)) {
      const bool of_head = name == "query." + std::to_string(head.head) + ".weight" ||
                           name == "key." + std::to_string(head.head) + ".weight" ||
                           name == "value." + std::to_string(head.head) + ".weight";
      const Index d = found.attention->config().head_dim;
      for (Index i = 0; i < tensor.size(); ++i) {
        const bool column = name == "out.weight" && i % tensor.dim(1) / d == head.head;
        if (of_head || column) squares += double(tensor.value()[i]) * double(tensor.value()[i]);
      }
    }
  }
  return std::sqrt(squares);
}

double removal_cost(FixedLearner& learner, const HeadId& head) {
  double rise = 0;
  FixedLearner pruned(Layout::separate);
  prune(pruned.model(), std::vector<HeadId>{head});
  for (const Seq2SeqBatch& example : learner.examples()) {
    rise += loss_of(pruned.model(), example, {AttentionKind::cross, 0, head.head == 0 ? 1 : 0}, 1) -
            loss_of(learner.model(), example, head, 1);
  }
  return rise / 3;
}

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
    {"entropy", [](FixedLearner& l, const HeadId& h) { return by_rows(l, h, entropy_of); }},
    {"confidence",
     [](FixedLearner& l, const HeadId& h) {
       return by_rows(l, h, [](const auto& w) { return *std::max_element(w.begin(), w.end()); });
     }},
    {"sensitivity",
     [](FixedLearner& l, const HeadId& h) {
       return by_differences(l, h, [](double g) { return std::abs(g); });
     }},
    {"taylor", [](FixedLearner& l,
                  const HeadId& h) { return by_differences(l, h, [](double g) { return -g; }); }},
    {"fisher",
     [](FixedLearner& l, const HeadId& h) {
       return by_differences(l, h, [](double g) { return g * g; });
     }},
    {"leave_one_out", removal_cost},
};

std::vector<std::string> names_of_all() {
  std::vector<std::string> names;
  for (const MetricEntry& entry : head_metrics()) names.push_back(entry.info.name);
  return names;
}

}  // namespace

TEST_CASE("every metric gives the scores of its formula, in one pass with all others") {
  FixedLearner learner(Layout::separate);
  const std::vector<std::string> names = names_of_all();
  const ImportanceTable table = measure_importance(learner, names);
  REQUIRE(table.heads == live_heads(learner.model()));
  const auto heads = Index(table.heads.size());
  CHECK(table.forward == 1 + 1 + heads);  // the batches, and leave_one_out
  CHECK(table.backward == 1);
  for (const ImportanceTable::Column& column : table.columns) {
    INFO(column.info.name);
    CHECK_FALSE(column.info.formula.empty());
    CHECK_FALSE(column.info.source.empty());
    REQUIRE(Index(column.scores.size()) == heads);
    const auto expected = expectations.find(column.info.name);
    if (expected == expectations.end()) {
      CHECK(column.info.name == "random");
      continue;
    }
    for (std::size_t i = 0; i < table.heads.size(); ++i) {
      INFO(table.heads[i].text());
      const double wanted = expected->second(learner, table.heads[i]);
      CHECK(std::abs(column.scores[i] - wanted) <=
            (is_double ? 1e-7 : 3e-3) * std::max(1.0, std::abs(wanted)));
    }
    // The others do not change it, but for the rounding of maps that are kept.
    const ImportanceTable alone = measure_importance(learner, {column.info.name});
    for (std::size_t i = 0; i < table.heads.size(); ++i) {
      CHECK(std::abs(alone.columns[0].scores[i] - column.scores[i]) < (is_double ? 1e-12 : 1e-5));
    }
  }
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

TEST_CASE("measuring importance leaves no gradient in the model, and changes no parameter") {
  FixedLearner learner;
  learner.model().train();
  HeadProbe probe;
  sum(logits_of(learner.model(), learner.examples()[0], &probe)).backward();  // old gradients
  std::vector<Array> before;
  for (const NamedParameter& p : parameters(learner.model())) {
    before.push_back(p.tensor.value().clone());
  }
  const auto scores = [&] { return measure_importance(learner, names_of_all()).columns[8].scores; };
  const std::vector<double> first = scores();
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
  CHECK_THROWS_WITH(add_head_metric({info, make}), Catch::Contains("the name of another metric"));
  CHECK_THROWS_WITH(add_head_metric({{}, make}), Catch::Contains("no name"));
  CHECK_THROWS_WITH(add_head_metric({{.name = "twos", .formula = {}, .source = {}}, {}}),
                    Catch::Contains("without a function"));
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
