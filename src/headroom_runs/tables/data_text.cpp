// Lines about the data of a task.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "headroom/base/names.hpp"
#include "headroom/base/text.hpp"
#include "headroom/base/utf8.hpp"
#include "headroom_runs/tables/given_vocabulary.hpp"
#include "headroom_runs/tables/table_tasks.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

std::string sizes_text(std::size_t train, std::size_t validation, std::size_t test) {
  return fmt::format("{} examples for training, {} for validation, {} for the test\n",
                     with_commas(Index(train)), with_commas(Index(validation)),
                     with_commas(Index(test)));
}

/// "3 sources of the test are also in training: their results say less", or "". Sources with
/// unknown symbols are not compared: different ones may have the same tokens.
template <class Example, class Question, class Source>
std::string known_text(const std::vector<Example>& train, const std::vector<Question>& test,
                       Source Example::*of_train, Source Question::*of_test,
                       const Vocabulary& vocabulary) {
  std::set<Tokens> known;
  for (const Example& example : train) {
    const Tokens& source = example.*of_train;
    const bool is_whole = std::find(source.begin(), source.end(), vocabulary.unk()) == source.end();
    if (is_whole) known.insert(source);
  }
  const auto count = std::count_if(test.begin(), test.end(), [&](const Question& question) {
    return known.contains(question.*of_test);
  });
  if (count == 0) return "";
  return fmt::format(
      "{} of the test's {} sources are also in training; the test measures how well "
      "they are remembered, too\n",
      with_commas(count), with_commas(std::ssize(test)));
}

/// "3 of 200 sources have symbols that the vocabulary lacks", or "".
template <class Example, class Question, class Source>
std::string unknown_text(const std::vector<Example>& train,
                         std::initializer_list<const std::vector<Question>*> others,
                         Source Example::*of_train, Source Question::*of_others,
                         const Vocabulary& vocabulary) {
  Index all = 0, unknown = 0;
  const auto count = [&](const Tokens& tokens) {
    ++all;
    unknown += std::count(tokens.begin(), tokens.end(), vocabulary.unk()) > 0 ? 1 : 0;
  };
  for (const Example& example : train) count(example.*of_train);
  for (const auto* set : others) {
    for (const Question& question : *set) count(question.*of_others);
  }
  if (unknown == 0) return "";
  return fmt::format("{} of {} sources have symbols that the vocabulary lacks\n",
                     with_commas(unknown), with_commas(all));
}

std::string skipped_text(const SkippedLines& skipped) {
  return skipped.total() > 0 ? skipped.text() + "\n" : "";
}

std::string text_of(const Seq2SeqTask& task) {
  std::string text = sizes_text(task.train.size(), task.validation.size(), task.test.size());
  if (!task.train.empty()) {
    const Seq2SeqExample& first = task.train.front();
    text += fmt::format("an example: {} -> {}\n",
                        printable(text_with_unknown(task.source, first.source)),
                        printable(text_with_unknown(task.target, first.target)));
  }
  text += fmt::format("{} different {} in sources, {} {} in targets\n",
                      with_commas(task.source.plain_size()), name_of(task.source.kind()),
                      with_commas(task.target.plain_size()), name_of(task.target.kind()));
  return text + skipped_text(task.skipped) +
         unknown_text(task.train, {&task.validation, &task.test}, &Seq2SeqExample::source,
                      &Seq2SeqQuestion::source, task.source) +
         known_text(task.train, task.test, &Seq2SeqExample::source, &Seq2SeqQuestion::source,
                    task.source);
}

std::string text_of(const ClassificationTask& task) {
  std::string text = sizes_text(task.train.size(), task.validation.size(), task.test.size());
  if (!task.train.empty()) {
    const LabelledExample& first = task.train.front();
    text += fmt::format("an example: {} -> {}\n",
                        printable(text_with_unknown(task.tokens, first.tokens)),
                        task.classes[std::size_t(first.label)]);
  }
  text += fmt::format("{} different {}, {} classes\n", with_commas(task.tokens.plain_size()),
                      name_of(task.tokens.kind()), task.classes.size());
  return text + skipped_text(task.skipped) +
         unknown_text(task.train, {&task.validation, &task.test}, &LabelledExample::tokens,
                      &LabelledExample::tokens, task.tokens) +
         known_text(task.train, task.test, &LabelledExample::tokens, &LabelledExample::tokens,
                    task.tokens);
}

std::string text_of(const TextCorpus& text) {
  return fmt::format("{} {} for training, {} for validation\n{} different {}\n",
                     with_commas(std::ssize(text.train)), name_of(text.vocabulary.kind()),
                     with_commas(std::ssize(text.validation)),
                     with_commas(text.vocabulary.plain_size()), name_of(text.vocabulary.kind()));
}

}  // namespace

std::string text_of_data(const Task& task) {
  return std::visit([](const auto& one) { return text_of(one); }, task);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
