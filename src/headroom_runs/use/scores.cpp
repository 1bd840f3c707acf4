// Scores the examples of a set.
#include "headroom_runs/use/scores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headroom/base/at.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/names.hpp"
#include "headroom/base/nearest.hpp"
#include "headroom/base/utf8.hpp"
#include "headroom/data/batches.hpp"
#include "headroom/ops/reductions.hpp"
#include "headroom/train/evaluation.hpp"
#include "headroom_runs/tables/given_vocabulary.hpp"
#include "headroom_runs/use/chrf.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr Index batch_size = 128;

/// Places of the sums: those of every kind of model, then its own.
namespace sum {
enum Common : std::size_t { count, right, loss, labels, first_own };
enum OfPairs : std::size_t { edits = first_own, reference, chrf, end_of_pairs = chrf + 18 };
constexpr std::size_t characters = first_own;  // code points of a text
}  // namespace sum

Rule loss_rule() {
  return {.key = "loss", .title = "loss per token", .value = [](std::span<const double> sums) {
            return sums[sum::loss] / sums[sum::labels];
          }};
}
Rule perplexity_rule() {
  return {.key = "perplexity", .title = "perplexity", .value = [](std::span<const double> sums) {
            return std::exp(sums[sum::loss] / sums[sum::labels]);
          }};
}
Rule share_rule(std::string key, std::string title, std::size_t part, std::size_t whole) {
  return {.key = std::move(key),
          .title = std::move(title),
          .is_share = true,
          .part = part,
          .whole = whole,
          .in_percent = true,
          .value = [part, whole](std::span<const double> sums) {
            return sums[whole] == 0 ? 0 : sums[part] / sums[whole];
          }};
}
Rule edit_rule(std::string key, std::string title) {
  return {.key = std::move(key),
          .title = std::move(title),
          .in_percent = true,
          .value = [](std::span<const double> sums) {
            return sums[sum::edits] / sums[sum::reference];
          }};
}

double chrf_of(std::span<const double> sums) {
  ChrfCounts counts;
  for (std::size_t i = 0; i < ChrfCounts::orders; ++i) {
    counts.output[i] = sums[sum::chrf + 3 * i];
    counts.reference[i] = sums[sum::chrf + 3 * i + 1];
    counts.matches[i] = sums[sum::chrf + 3 * i + 2];
  }
  return chrf(counts);
}

std::vector<Rule> rules_of_pairs(const Seq2SeqTask& task) {
  std::vector<Rule> rules{share_rule("exact_match", "exact match", sum::right, sum::count)};
  if (task.name == "g2p") {
    rules.push_back(edit_rule("per", "phoneme error rate"));
    rules.push_back({.key = "wer",
                     .title = "word error rate (wrong words)",
                     .in_percent = true,
                     .value = [](std::span<const double> sums) {
                       return 1 - sums[sum::right] / sums[sum::count];
                     }});
  } else if (task.target.kind() == TokenKind::words) {
    rules.push_back(edit_rule("wer", "word error rate (edits per word)"));
  } else {
    const bool is_bytes = task.target.kind() == TokenKind::bytes;
    rules.push_back(edit_rule("cer", is_bytes ? "byte error rate" : "character error rate"));
  }
  rules.push_back({.key = "chrf", .title = "chrF", .in_percent = true, .value = chrf_of});
  rules.push_back(loss_rule());
  rules.push_back(perplexity_rule());
  return rules;
}

/// Sums of a class, by its index: examples of it, examples given it, and both.
struct OfClass {
  explicit OfClass(std::size_t which)
      : actual(sum::first_own + 3 * which), given(actual + 1), both(actual + 2) {}
  std::size_t actual, given, both;
  double f1(std::span<const double> sums) const {
    const double all = sums[actual] + sums[given];
    return all == 0 ? 0 : 2 * sums[both] / all;
  }
};

std::vector<Rule> rules_of_labels(std::size_t classes) {
  Rule f1{.key = "macro_f1",
          .title = "macro F1",
          .in_percent = true,
          .value = [classes](std::span<const double> sums) {
            double sum = 0, occurring = 0;
            for (std::size_t c = 0; c < classes; ++c) {
              const OfClass of(c);
              if (sums[of.actual] == 0) continue;
              sum += of.f1(sums);
              ++occurring;
            }
            return sum / occurring;
          }};
  Rule loss = loss_rule();
  loss.title = "loss";
  return {share_rule("accuracy", "accuracy", sum::right, sum::count), std::move(f1),
          std::move(loss)};
}

std::vector<Rule> rules_of_text() {
  Rule bits{.key = "bits_per_character",
            .title = "bits per character",
            .value = [](std::span<const double> sums) {
              return sums[sum::loss] / std::log(2) / sums[sum::characters];
            }};
  return {loss_rule(), perplexity_rule(), std::move(bits)};
}

/// Fills the parts of an example that all kinds of models have.
void add_common(ScoredExample& example, double loss, Index label_count) {
  example.loss = loss / double(label_count);
  example.sums.insert(example.sums.end(), {{sum::count, 1},
                                           {sum::right, example.right ? 1 : 0},
                                           {sum::loss, loss},
                                           {sum::labels, double(label_count)}});
}

/// Calls add_common() for the examples of batches that the model is run on.
template <class Model, class Batch>
void add_losses(std::vector<ScoredExample>& examples, Model& model,
                const std::vector<Batch>& batches) {
  const Evaluating now(model);
  std::size_t next = 0;
  for (const Batch& batch : batches) {
    const Tensor logits = logits_of(model, batch, nullptr);
    const Array losses = example_losses(logits, batch.labels).value();
    const Index per_row = batch.labels.size() / losses.size();
    for (Index row = 0; row < losses.size(); ++row, ++next) {
      Index counted = 0;
      for (Index t = 0; t < per_row; ++t) {
        counted += batch.labels[row * per_row + t] == ignored_label ? 0 : 1;
      }
      std::size_t place = next;
      if constexpr (requires { batch.examples; }) place = std::size_t(at(batch.examples, row));
      add_common(examples[place], double(losses[row]), counted);
    }
  }
}

/// The accepted output with the highest chrF.
ChrfCounts best_counts(const std::string& output, const std::vector<std::string>& expected) {
  ChrfCounts best;
  double best_score = -1;
  for (const std::string& reference : expected) {
    const ChrfCounts counts = chrf_counts(output, reference);
    if (const double value = chrf(counts); value > best_score) {
      best_score = value;
      best = counts;
    }
  }
  return best;
}

std::vector<ScoredExample> scored(const SavedModel& saved, const Seq2SeqTask& task,
                                  const std::vector<Seq2SeqQuestion>& questions, Index beam) {
  Seq2Seq& model = saved.seq2seq();
  std::vector<Tokens> sources;
  std::size_t longest = 0;
  for (const Seq2SeqQuestion& question : questions) {
    sources.push_back(question.source);
    for (const Tokens& answer : question.answers) longest = std::max(longest, answer.size());
  }
  const auto outputs =
      outputs_for(model, sources, task.source, task.target, Index(longest) + 4, beam, batch_size);
  std::vector<ScoredExample> examples;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const Tokens& written = outputs[i].front().ids;
    ScoredExample example{.input = text_with_unknown(task.source, sources[i]),
                          .output = task.target.decode(written),
                          .length = std::ssize(sources[i]),
                          .tokens = sources[i]};
    for (const Tokens& answer : questions[i].answers) {
      example.expected.push_back(text_with_unknown(task.target, answer));
    }
    SequenceScore score;
    score.add(written, questions[i].answers);
    example.right = score.exact == 1;
    example.sums = {{sum::edits, double(score.edits)},
                    {sum::reference, double(score.reference_length)}};
    const ChrfCounts counts = best_counts(example.output, example.expected);
    for (std::size_t order = 0; order < ChrfCounts::orders; ++order) {
      const std::size_t first = sum::chrf + 3 * order;
      example.sums.insert(example.sums.end(), {{first, counts.output[order]},
                                               {first + 1, counts.reference[order]},
                                               {first + 2, counts.matches[order]}});
    }
    examples.push_back(std::move(example));
  }
  add_losses(examples, model,
             evaluation_batches(first_answers(questions), batch_size, task.source, task.target));
  return examples;
}

std::vector<ScoredExample> scored(const SavedModel& saved, const ClassificationTask& task,
                                  const std::vector<LabelledExample>& set) {
  Classifier& model = saved.classifier();
  std::vector<ScoredExample> examples(set.size());
  const auto batches = evaluation_batches(set, batch_size, task.tokens);
  {
    const Evaluating now(model);
    for (const ClassificationBatch& batch : batches) {
      const Ids given = argmax(model(batch.tokens, batch.lengths).value());
      for (Index row = 0; row < given.size(); ++row) {
        const auto place = std::size_t(at(batch.examples, row));
        const LabelledExample& one = set[place];
        examples[place] = {.input = text_with_unknown(task.tokens, one.tokens),
                           .expected = {at(task.classes, one.label)},
                           .output = at(task.classes, given[row]),
                           .length = std::ssize(one.tokens),
                           .right = given[row] == one.label,
                           .tokens = one.tokens};
        const OfClass actual{std::size_t(one.label)}, chosen{std::size_t(given[row])};
        examples[place].sums = {
            {actual.actual, 1}, {chosen.given, 1}, {actual.both, examples[place].right ? 1 : 0}};
      }
    }
  }
  add_losses(examples, model, batches);
  return examples;
}

std::vector<ScoredExample> scored(const SavedModel& saved, const TextCorpus& text,
                                  const Tokens& tokens, Index window) {
  LanguageModel& model = saved.language_model();
  const std::vector<TextBatch> windows =
      evaluation_windows(tokens, 1, std::min(window, model.config.longest));
  std::vector<ScoredExample> examples;
  for (const TextBatch& one : windows) {
    Tokens read{one.inputs.span().front()};  // and what is predicted after each
    for (const std::int32_t label : one.labels.span()) {
      if (label != ignored_label) read.push_back(label);
    }
    ScoredExample example{.input = text_with_unknown(text.vocabulary, read),
                          .length = std::ssize(read) - 1};
    double predicted = 0;
    for (const std::int32_t label : std::span(read).subspan(1)) {
      const std::string& token = text.vocabulary.token(label);
      if (!text.vocabulary.knows(token)) continue;
      predicted += double(code_points(token).size());
      predicted += text.vocabulary.kind() == TokenKind::words ? 1 : 0;  // a space
    }
    example.sums = {{sum::characters, predicted}};
    example.tokens = std::move(read);
    examples.push_back(std::move(example));
  }
  add_losses(examples, model, windows);
  return examples;
}

template <class Set>
const Set& set_of(ExampleSet which, const Set& validation, const Set& test) {
  if (which == ExampleSet::validation) return validation;
  if (which == ExampleSet::test) return test;
  throw UsageError(fmt::format("the {} set cannot be scored", name_of(which)), {"set"});
}

}  // namespace

Scores score(const SavedModel& saved, const Task& task, ExampleSet set,
             const ScoreOptions& options) {
  Scores scores;
  scores.kind = saved.config.kind;
  if (const auto* pairs = std::get_if<Seq2SeqTask>(&task)) {
    std::vector<Seq2SeqQuestion> learned;
    if (set == ExampleSet::train) {
      for (const Seq2SeqExample& one : pairs->train) learned.push_back({one.source, {one.target}});
    }
    scores.examples =
        scored(saved, *pairs,
               set == ExampleSet::train ? learned : set_of(set, pairs->validation, pairs->test),
               options.beam);
    scores.rules = rules_of_pairs(*pairs);
    scores.sums = sum::end_of_pairs;
  } else if (const auto* labelled = std::get_if<ClassificationTask>(&task)) {
    scores.classes = labelled->classes;
    scores.examples =
        scored(saved, *labelled,
               set == ExampleSet::train ? labelled->train
                                        : set_of(set, labelled->validation, labelled->test));
    scores.rules = rules_of_labels(labelled->classes.size());
    scores.sums = sum::first_own + 3 * labelled->classes.size();
  } else {
    const auto& text = std::get<TextCorpus>(task);
    scores.examples = scored(saved, text, set == ExampleSet::train ? text.train : text.validation,
                             options.window);
    scores.rules = rules_of_text();
    scores.sums = sum::characters + 1;
  }
  if (scores.examples.empty()) {
    throw UsageError(fmt::format("the {} set is empty", name_of(set)), {"set"});
  }
  return scores;
}

std::vector<Rule> rules_of_class(const Scores& scores, std::size_t which) {
  const OfClass of(which);
  if (which >= scores.classes.size()) {
    throw UsageError(fmt::format("class {} of {}", which, scores.classes.size()));
  }
  return {
      share_rule("precision", "precision", of.both, of.given),
      share_rule("recall", "recall", of.both, of.actual),
      {.key = "f1", .title = "F1", .in_percent = true, .value = [of](std::span<const double> sums) {
         return of.f1(sums);
       }}};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
