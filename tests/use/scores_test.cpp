// Scores of examples against what the rest of the library measures, and their intervals.
#include "headroom_runs/use/scores.hpp"

#include <cmath>
#include <numeric>

#include "headroom/base/error.hpp"
#include "headroom/data/batches.hpp"
#include "headroom/train/evaluation.hpp"
#include "support/catch.hpp"
#include "support/small_saved_model.hpp"

using namespace headroom;

namespace {

SavedModel random_model(ModelKind kind) {
  return test::small_saved_model(test::small_config(kind, Layout::fused));
}

double value_of(const Scores& scores, const std::string& key) {
  for (const Rule& rule : scores.rules) {
    if (rule.key == key) return measured(scores, rule).value;
  }
  FAIL("no measure " << key);
  return 0;
}

/// Inputs of different lengths and what `answer` makes of them.
Seq2SeqTask letters(const SavedModel& saved, Seq2Seq& model) {
  Seq2SeqTask task{.name = "letters",
                   .source = saved.vocabulary("source"),
                   .target = saved.vocabulary("target"),
                   .train = {},
                   .validation = {},
                   .test = {},
                   .skipped = {}};
  for (const char* text : {"a", "ab", "abc", "dcba", "bbbbb", "cad", "dd", "caba"}) {
    const Tokens source = task.source.encode(text);
    const Tokens output =
        outputs_for(model, {&source, 1}, task.source, task.target, 100).front().front().ids;
    Tokens wrong = task.target.encode("zyx");
    if (wrong == output) wrong.push_back(4);
    // Every second one is answered rightly, by its second accepted answer.
    if (task.test.size() % 2 == 0) task.test.push_back({source, {wrong, output}});
    if (task.test.size() % 2 == 1) task.test.push_back({source, {wrong}});
  }
  return task;
}

}  // namespace

TEST_CASE("the scores of an encoder-decoder are those of score_greedily() and mean_loss()") {
  const SavedModel saved = random_model(ModelKind::seq2seq);
  Seq2Seq& model = saved.seq2seq();
  const Seq2SeqTask task = letters(saved, model);
  const Scores scores = score(saved, task, ExampleSet::test);
  const SequenceScore right = score_greedily(model, task.test, task.source, task.target);
  CHECK(value_of(scores, "exact_match") == right.exact_match());
  CHECK(value_of(scores, "cer") == right.token_error_rate());
  const auto batches = evaluation_batches(first_answers(task.test), 3, task.source, task.target);
  const double loss = mean_loss(model, batches);
  CHECK(std::abs(value_of(scores, "loss") - loss) < 1e-5);
  CHECK(std::abs(value_of(scores, "perplexity") - std::exp(loss)) < 1e-5);
  Index wrong = 0;
  for (const ScoredExample& one : scores.examples) wrong += one.right ? 0 : 1;
  CHECK(double(wrong) == double(scores.examples.size()) * (1 - right.exact_match()));
  CHECK(wrong > 0);
  CHECK(right.exact > 0);
}

TEST_CASE("the scores of a classifier are accuracy and the sums of its confusions") {
  const SavedModel saved = random_model(ModelKind::classifier);
  ClassificationTask task{.name = "letters",
                          .tokens = saved.vocabulary("tokens"),
                          .classes = {"no", "yes", "perhaps"},
                          .train = {},
                          .validation = {},
                          .test = {}};
  for (const char* text : {"a", "ab", "abc", "dcba", "bbbbb", "cad", "dd", "caba", "bd"}) {
    task.test.push_back(
        {task.tokens.encode(text), static_cast<std::int32_t>(task.test.size() % 3)});
  }
  const Scores scores = score(saved, task, ExampleSet::test);
  const auto batches = evaluation_batches(task.test, 4, task.tokens);
  CHECK(value_of(scores, "accuracy") == accuracy(saved.classifier(), batches));
  CHECK(std::abs(value_of(scores, "loss") - mean_loss(saved.classifier(), batches)) < 1e-5);

  const auto matrix = confusions(scores);
  double f1 = 0;
  for (std::size_t c = 0; c < 3; ++c) {
    Index given = 0;
    for (std::size_t r = 0; r < 3; ++r) given += matrix[r][c];
    const Index actual = std::accumulate(matrix[c].begin(), matrix[c].end(), Index(0));
    CHECK(actual == 3);
    const auto rules = rules_of_class(scores, c);
    const double both = double(matrix[c][c]);
    CHECK(measured(scores, rules[0]).value == (given == 0 ? 0 : both / double(given)));
    CHECK(measured(scores, rules[1]).value == both / double(actual));
    f1 += 2 * both / double(given + actual) / 3;
  }
  CHECK(std::abs(value_of(scores, "macro_f1") - f1) < 1e-12);
}

TEST_CASE("the scores of a text count every token but the first once") {
  const SavedModel saved = random_model(ModelKind::language_model);
  const Vocabulary tokens = saved.vocabulary("tokens");
  const TextCorpus text{"letters", tokens, {}, tokens.encode("abcdabcdbbacdabcabdcabdabcabd")};
  const Scores scores = score(saved, text, ExampleSet::validation, {.window = 6});
  double predicted = 0;
  std::string joined = "a";
  for (const ScoredExample& one : scores.examples) {
    predicted += double(one.length);
    joined += one.input.substr(1);  // a window begins with the last token of the one before
  }
  CHECK(predicted == 28);
  CHECK(joined == "abcdabcdbbacdabcabdcabdabcabd");
  const double loss = mean_loss(saved.language_model(), evaluation_windows(text.validation, 1, 6));
  CHECK(std::abs(value_of(scores, "loss") - loss) < 1e-5);
  CHECK(std::abs(value_of(scores, "bits_per_character") - loss / std::log(2)) < 1e-5);
}

TEST_CASE("an interval of a mean is about 1.96 standard errors wide on each side") {
  Scores scores;
  scores.sums = 2;
  double square = 0, sum = 0;
  for (int i = 0; i < 400; ++i) {
    const double value = std::sin(double(i));
    ScoredExample one;
    one.sums = {{0, 1}, {1, value}};
    scores.examples.push_back(one);
    sum += value;
    square += value * value;
  }
  const Rule mean{.key = "mean", .title = "mean", .value = [](std::span<const double> sums) {
                    return sums[1] / sums[0];
                  }};
  const Interval interval = measured(scores, mean);
  const double error = std::sqrt((square / 400 - sum * sum / 160000) / 400);
  CHECK(std::abs(interval.value - sum / 400) < 1e-12);
  CHECK(std::abs(interval.high - interval.value - 1.96 * error) < 0.2 * error);
  CHECK(std::abs(interval.value - interval.low - 1.96 * error) < 0.2 * error);
  CHECK(measured(scores, mean).low == interval.low);  // from a fixed seed
  CHECK_THROWS_AS(measured(scores, mean, std::span<const std::size_t>()), UsageError);
}

TEST_CASE("a share has Wilson's interval, which says that all right is not certain") {
  Scores scores;
  scores.sums = 2;
  for (int i = 0; i < 20; ++i) {
    ScoredExample one;
    one.sums = {{0, 1}, {1, 1}};
    scores.examples.push_back(one);
  }
  Rule share{
      .key = "s", .title = "s", .is_share = true, .part = 1, .whole = 0, .value = [](auto s) {
        return s[1] / s[0];
      }};
  const Interval interval = measured(scores, share);
  CHECK(interval.value == 1);
  CHECK(interval.low == rate_interval(20, 20).low);
}

TEST_CASE("the worst examples are the wrong ones, then those with the highest loss") {
  Scores scores;
  for (const auto& [right, loss] : std::vector<std::pair<bool, double>>{
           {true, 3}, {false, 1}, {true, 4}, {false, 2}, {true, 0.5}}) {
    ScoredExample one;
    one.right = right;
    one.loss = loss;
    scores.examples.push_back(one);
  }
  CHECK(worst_examples(scores, 4) == std::vector<std::size_t>{3, 1, 2, 0});
  CHECK(worst_examples(scores, 50).size() == 5);
}

TEST_CASE("groups by length have about a quarter of the examples each, and no length twice") {
  Scores scores;
  for (const Index length : {1, 1, 1, 1, 1, 2, 3, 3, 4, 5, 6, 7}) {
    ScoredExample one;
    one.length = length;
    scores.examples.push_back(one);
  }
  std::string groups;
  for (const auto& group : by_length(scores)) {
    for (const std::size_t i : group) groups += std::to_string(scores.examples[i].length);
    groups += " ";
  }
  CHECK(groups == "11111 2 334 567 ");
  scores.examples.resize(1);
  CHECK(by_length(scores).size() == 1);
}
