// Predictions in batches are those of single texts, in the order of the texts.
#include "headroom_runs/use/predictor.hpp"

#include <cmath>

#include "headroom/base/error.hpp"
#include "headroom_runs/records/attention_record.hpp"
#include "support/catch.hpp"
#include "support/small_saved_model.hpp"

using namespace headroom;
using Catch::Matchers::Contains;

namespace {

const std::vector<std::string> texts{"abca", "d", "bb", "abcdabcd", "cab", "dd", "bca"};

SavedModel model_of(ModelKind kind) {
  const std::vector<HeadId> removed{{kind == ModelKind::language_model
                                         ? AttentionKind::decoder_self
                                         : AttentionKind::encoder_self,
                                     0, 1}};
  return test::small_saved_model(test::small_config(kind, Layout::fused), removed);
}

constexpr double rounding_error = is_double ? 1e-10 : 1e-4;

}  // namespace

TEST_CASE("a batch has the predictions of single texts, in their order, for every kind of model") {
  const auto kind = GENERATE(ModelKind::seq2seq, ModelKind::classifier, ModelKind::language_model);
  INFO(name_of(kind));
  const SavedModel saved = model_of(kind);
  PredictOptions options{.length = 5};
  if (kind == ModelKind::seq2seq) options.beam = options.candidates = 3;
  if (kind == ModelKind::classifier) options.candidates = 3;
  const Predictor predictor(saved, options);
  const std::vector<Prediction> together = predictor.predict(texts);
  REQUIRE(together.size() == texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const Prediction alone = predictor.predict({&texts[i], 1}).front();
    REQUIRE(alone.candidates.size() == together[i].candidates.size());
    REQUIRE(!alone.candidates.empty());
    for (std::size_t c = 0; c < alone.candidates.size(); ++c) {
      CHECK(alone.candidates[c].text == together[i].candidates[c].text);
      CHECK(std::abs(alone.candidates[c].log_probability -
                     together[i].candidates[c].log_probability) < rounding_error);
    }
  }
}

TEST_CASE("predictions are those of attention_record(), which decodes by itself") {
  const auto kind = GENERATE(ModelKind::seq2seq, ModelKind::classifier, ModelKind::language_model);
  INFO(name_of(kind));
  const SavedModel saved = model_of(kind);
  const auto predictions = Predictor(saved, {.length = 4}).predict(texts);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const Answer answer = attention_record(saved, {.input = texts[i], .write = 4}).answer;
    const Candidate& mine = predictions[i].candidates.front();
    CHECK(mine.text == answer.text);
    CHECK(std::abs(std::exp(mine.log_probability) - answer.probability) < rounding_error);
  }
}

TEST_CASE("a text that cannot be read has a problem, and the others their predictions") {
  const std::vector<std::string> some{"ab", "", "a\xFF", "aq", std::string(40, 'a'), "ba"};
  const auto of = [&](ModelKind kind) {
    const SavedModel saved = model_of(kind);
    return Predictor(saved, {.length = 2}).predict(some);
  };
  const auto pairs = of(ModelKind::seq2seq), text = of(ModelKind::language_model);
  CHECK(pairs[0].candidates.size() == 1);
  CHECK(pairs[1].problem == "the text is empty");
  CHECK(pairs[2].problem == "the text is not valid UTF-8");
  CHECK(pairs[3].unknown == std::vector<std::string>{"q"});
  CHECK(pairs[3].candidates.size() == 1);
  CHECK_THAT(pairs[4].problem, Contains("40 tokens; the model reads at most"));
  CHECK(pairs[5].candidates.size() == 1);
  CHECK(text[3].problem == "the model does not know \"q\"");
  CHECK(text[4].candidates.size() == 1);  // it reads the end
}

TEST_CASE("options that a kind of model does not have are refused") {
  const SavedModel pairs = model_of(ModelKind::seq2seq), labels = model_of(ModelKind::classifier),
                   text = model_of(ModelKind::language_model);
  CHECK_THROWS_WITH(Predictor(pairs, {.candidates = 2}), Contains("need a beam of 2"));
  CHECK_THROWS_WITH(Predictor(labels, {.beam = 2}), Contains("a classifier has no beam search"));
  CHECK_THROWS_WITH(Predictor(text, {.candidates = 2}), Contains("one continuation"));
}
