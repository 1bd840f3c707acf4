// The examples of a set with what a trained model makes of them, and measures of them with
// intervals.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "headroom/io/fields.hpp"
#include "headroom/statistics/intervals.hpp"
#include "headroom/train/checkpoint.hpp"
#include "headroom/train/learner.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// One example of a set: of a text, one window.
struct ScoredExample {
  std::string input{};
  std::vector<std::string> expected{};  // the accepted outputs, or the label; none of a text
  std::string output{};                 // what the model generates, or its class
  Index length = 0;                     // tokens of the input
  bool right = false;                   // the output is one of `expected`
  double loss = 0;                      // mean cross-entropy per token of the first of `expected`
  using T = ScoredExample;
  using Fields =
      Listed<&T::input, if_any<&T::expected>, if_any<&T::output>, &T::length, &T::right, &T::loss>;

  Tokens tokens{};                                     // of the input
  std::vector<std::pair<std::size_t, double>> sums{};  // what it adds to the Rule's sums
};

/// A measure as a function of sums over examples. Its interval is Wilson's if it is a share of the
/// examples, and by bootstrap otherwise.
struct Rule {
  std::string key, title;
  bool is_share = false;  // of all examples, 0 to 1: sums[part] of sums[whole]
  std::size_t part = 0, whole = 0;
  bool in_percent = false;
  std::function<double(std::span<const double> sums)> value = {};
};

/// A scored set.
struct Scores {
  ModelKind kind = ModelKind::seq2seq;
  std::vector<std::string> classes = {};     // of a classifier
  std::vector<ScoredExample> examples = {};  // in the order of the set
  std::vector<Rule> rules = {};              // the first one decides what is best
  std::size_t sums = 0;                      // how many sums the rules need
};

/// How examples are scored.
struct ScoreOptions {
  Index beam = 1;
  Index window = 64;  // tokens of a text that are one example
};

/// Scores the training, validation or test set of a task, whose vocabularies are the model's; the
/// validation set is the whole one. Outputs may be four tokens longer than the longest that is
/// accepted. Measures of an encoder-decoder: exact_match; per and wer (task g2p), or cer or wer,
/// the edits per token of the nearest accepted output; chrf; loss per token and perplexity e^loss.
/// Of a classifier: accuracy, macro_f1 (the mean of the F1 of the classes that occur), loss. Of a
/// language model: loss per token, perplexity, bits_per_character. Throws UsageError for a set
/// without examples.
Scores score(const SavedModel& saved, const Task& task, ExampleSet set,
             const ScoreOptions& options = {});

/// Bootstrap samples of an interval.
inline constexpr Index bootstrap_samples = 1000;

/// The value of a rule on some of the examples, by their indices, with its 95 % interval: between
/// the 2.5th and the 97.5th percentile of bootstrap samples of these examples (Efron 1979), from a
/// fixed seed; for shares see rate_interval(). Throws UsageError without examples.
Interval measured(const Scores& scores, const Rule& rule, std::span<const std::size_t> examples);
/// The same on all examples.
Interval measured(const Scores& scores, const Rule& rule);

/// Precision, recall and F1 of a class, as rules.
std::vector<Rule> rules_of_class(const Scores& scores, std::size_t which);

/// How often examples of class `row` were given class `column`: [classes][classes].
std::vector<std::vector<Index>> confusions(const Scores& scores);

/// The indices of at most `most` examples: wrong ones first, and of these and of the others those
/// with the highest loss first.
std::vector<std::size_t> worst_examples(const Scores& scores, std::size_t most);

/// The examples in up to four groups of similar length and size, shortest first. Examples of equal
/// length are in one group.
std::vector<std::vector<std::size_t>> by_length(const Scores& scores);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
