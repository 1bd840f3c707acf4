// The direct effect of heads on the correct logits, in every kind of model.
#include "headroom/train/evaluation.hpp"
#include "headroom/train/objectives.hpp"
#include "headroom_measure/importance/head_metric.hpp"
#include "importance/plain_direct.hpp"
#include "support/catch.hpp"
#include "support/measured_learner.hpp"

using namespace headroom;
using namespace headroom::test;

namespace {

/// A learner of one batch of a language model or a classifier.
class OneBatch : public MeasuredLearner {
 public:
  explicit OneBatch(const ModelConfig& config) : rng_(3), model_(make_model(config, rng_)) {
    randomise(*model_, rng_);
    batch = tiny_batch(config, rng_);
  }
  TinyBatch batch;

  Tensor logits(HeadProbe& probe) const {
    if (const auto* text = dynamic_cast<const LanguageModel*>(model_.get())) {
      return (*text)(batch.target, &probe);
    }
    ClassificationBatch classes;
    classes.tokens = batch.source;
    classes.lengths = batch.lengths;
    classes.labels = batch.classes;
    return logits_of(dynamic_cast<const Classifier&>(*model_), classes, &probe);
  }
  Module& model() override { return *model_; }
  void visit(ExampleSet, Index, const std::function<void(const ProbedBatch&)>& see) override {
    const bool text = dynamic_cast<const LanguageModel*>(model_.get()) != nullptr;
    see(probed(text ? batch.labels : batch.classes,
               [this](HeadProbe& probe) { return logits(probe); }));
  }

 private:
  Rng rng_;
  std::unique_ptr<Module> model_;
};

constexpr double direct_rounding = is_double ? 1e-10 : 2e-4;

/// The scores of the metric against its definition, for the live heads of a stack.
void check_direct_effects(OneBatch& learner, const PlainReadout& readout, bool pooled) {
  const EvalMode now(learner.model());
  HeadProbe probe;
  probe.head_out = true;
  const Array predicted = learner.logits(probe).value();
  const Index examples = 4, queries = probe.residual.dim(1);
  const std::vector<double> scores =
      measure_importance(learner, {"direct_effect"}).columns.at(0).scores;
  const std::vector<HeadId> heads = live_heads(learner.model());
  REQUIRE(scores.size() == heads.size());
  // The logits of an example's rows: one for each, or their mean over the rows without padding.
  const auto correct = [&](Index b, const std::function<Row(Index t)>& row) {
    double sum = 0;
    for (Index t = 0; t < queries; ++t) {
      if (pooled && t >= learner.batch.lengths[b]) continue;
      const Row logits =
          readout.logits(readout.normed(row(t), row_of(probe.residual.value(), b, t)));
      sum += pooled ? centred(logits, learner.batch.classes[b]) / learner.batch.lengths[b]
                    : centred(logits, learner.batch.labels[b * queries + t]);
    }
    return sum;
  };
  double expected_whole = 0, whole = 0;
  std::vector<Index> place(2, 0);  // among the live heads of a layer
  for (Index b = 0; b < examples; ++b) {
    whole += correct(b, [&](Index t) { return row_of(probe.residual.value(), b, t); });
    const Index classes = predicted.dim(predicted.rank() - 1);
    for (Index t = 0; t < (pooled ? 1 : queries); ++t) {
      const Real* from = predicted.data() + (pooled ? b : b * queries + t) * classes;
      expected_whole +=
          centred(Row(from, from + classes),
                  pooled ? learner.batch.classes[b] : learner.batch.labels[b * queries + t]);
    }
  }
  CHECK(std::abs(whole - expected_whole) < direct_rounding * examples);
  for (std::size_t h = 0; h < heads.size(); ++h) {
    INFO(heads[h].text());
    const NamedAttention found =
        attention_at(learner.model(), {heads[h].kind, heads[h].layer}, "test");
    const Index live = place[std::size_t(heads[h].layer)]++;
    double fall = 0;
    for (Index b = 0; b < examples; ++b) {
      fall += correct(b, [&](Index t) { return row_of(probe.residual.value(), b, t); }) -
              correct(b, [&](Index t) {
                return without_head(probe, found, heads[h].head, live, b, t);
              });
    }
    CHECK(std::abs(scores[h] - fall / examples) < direct_rounding);
    CHECK(std::abs(scores[h]) > 1e-3);
  }
}

}  // namespace

TEST_CASE("the direct effect is the fall of the correct logits without the head, scales fixed") {
  for (const NormKind kind : {NormKind::layer, NormKind::rms}) {
    ModelConfig config = small_config(ModelKind::language_model, Layout::fused);
    config.block.norm = kind;
    config.tied_output = kind == NormKind::rms;
    OneBatch text(config);
    auto& language = dynamic_cast<LanguageModel&>(text.model());
    prune(text.model(), std::vector<HeadId>{{AttentionKind::decoder_self, 0, 1}});
    const Tensor weight = language.output ? language.output->weight : language.embedding.weight;
    check_direct_effects(text,
                         {*language.decoder.norm, weight.value(),
                          language.output ? language.output->bias.value() : Array()},
                         false);
    OneBatch sequences([&] {
      ModelConfig classes = small_config(ModelKind::classifier, Layout::separate);
      classes.block.norm = kind;
      return classes;
    }());
    auto& classifier = dynamic_cast<Classifier&>(sequences.model());
    check_direct_effects(sequences,
                         {*classifier.encoder.norm, classifier.output.weight.value(),
                          classifier.output.bias.value()},
                         true);
  }
}

TEST_CASE("models without a direct path have no direct effects, and say why") {
  for (const ModelKind kind : {ModelKind::language_model, ModelKind::classifier}) {
    OneBatch learner(small_config(kind, Layout::fused, false));
    const ImportanceTable table =
        measure_importance(learner, {"direct_effect", "self_repair", "output_norm"});
    REQUIRE(table.columns.size() == 1);
    for (const auto& [info, reason] : table.absent) {
      CHECK_THAT(reason, Catch::Contains("in a post-norm model"));
    }
  }
}

TEST_CASE("a head that nothing reads or replaces is repaired by the scale of the norm only") {
  // Without the second layer's attention and feed-forward layers, only the last norm follows the
  // heads of the first layer's cross-attention, if its feed-forward layer is silent, too.
  FixedLearner learner;
  Seq2Seq& model = learner.model();
  std::vector<HeadId> later = live_heads(model);
  std::erase_if(later, [](const HeadId& head) { return head.layer == 0; });
  prune(model, later);
  for (const auto& layer : model.decoder.layers) {
    for (Tensor tensor : {layer->feed_forward.linear2.weight, layer->feed_forward.linear2.bias}) {
      tensor.set_value(zeros(tensor.shape()));
    }
  }
  const auto repaired = [&] {
    double sum = 0;
    for (const HeadScore& score :
         measure_importance(learner, {"self_repair"}).importance("self_repair")) {
      if (score.head.kind == AttentionKind::cross) sum += std::abs(score.score);
    }
    return sum;
  };
  CHECK(repaired() > 0.01);
  // A huge epsilon fixes the scale.
  model.decoder.norm->epsilon = Real(1e8);
  for (Real& value : model.decoder.norm->weight.edit_value().span()) value = Real(1e4);
  CHECK(repaired() < (is_double ? 1e-5 : 1e-3));
}
