// The list of tasks and the factory.
#include "headroom/data/task.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headroom/base/error.hpp"
#include "headroom/base/registry.hpp"
#include "headroom/data/embedded_tasks.hpp"
#include "headroom/data/file_tasks.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

struct Entry {
  TaskInfo info;
  TaskFactory make;
};

template <auto make>
Task any(const TaskOptions& options) {
  return make(options);
}

Registry<Entry>& registry() {
  static Registry<Entry> all(
      "task",
      {
          {{"reverse", "letters backwards", false}, any<make_reverse_task>},
          {{"sort", "digits in rising order", false}, any<make_sort_task>},
          {{"brackets", "is a sequence of brackets balanced?", false}, any<make_brackets_task>},
          {{"numbers", "number words -> digits", false}, any<make_numbers_task>},
          {{"spelling", "digits -> number words", false}, any<make_spelling_task>},
          {{"dates", "written dates -> ISO dates", false}, any<make_dates_task>},
          {{"g2p", "letters -> phonemes, from a dictionary like CMUdict", true},
           any<read_g2p_task>},
          {{"text", "the next character of a text", true}, any<read_text_corpus>},
      });
  return all;
}

}  // namespace

Index Seq2SeqTask::longest_source() const {
  Index longest = 0;
  for (const auto& example : train) longest = std::max(longest, std::ssize(example.source));
  for (const auto* set : {&validation, &test}) {
    for (const auto& question : *set) longest = std::max(longest, std::ssize(question.source));
  }
  return longest;
}

Index Seq2SeqTask::longest_target() const {
  Index longest = 0;
  for (const auto& example : train) longest = std::max(longest, std::ssize(example.target));
  for (const auto* set : {&validation, &test}) {
    for (const auto& question : *set) {
      for (const Tokens& answer : question.answers) longest = std::max(longest, std::ssize(answer));
    }
  }
  return longest;
}

Index ClassificationTask::longest() const {
  Index longest = 0;
  for (const auto* set : {&train, &validation, &test}) {
    for (const auto& example : *set) longest = std::max(longest, std::ssize(example.tokens));
  }
  return longest;
}

std::vector<Seq2SeqExample> first_answers(const std::vector<Seq2SeqQuestion>& questions) {
  std::vector<Seq2SeqExample> pairs;
  for (const Seq2SeqQuestion& question : questions) {
    pairs.push_back({question.source, question.answers.front()});
  }
  return pairs;
}

std::vector<TaskInfo> task_list() {
  std::vector<TaskInfo> infos;
  for (const Entry& entry : registry().all()) infos.push_back(entry.info);
  return infos;
}

void add_task(TaskInfo info, TaskFactory make) {
  registry().add({std::move(info), std::move(make)});
}

Task make_task(const std::string& name, const TaskOptions& options) {
  const Entry& entry = registry().at(name, "task");
  const bool needs_data = entry.info.needs_data;
  if (needs_data && options.data.empty()) {
    throw UsageError(fmt::format("task {} needs a data file", name), {"data"});
  }
  if (!needs_data && !options.data.empty()) {
    throw UsageError(fmt::format("task {} generates its examples and takes no data file", name),
                     {"data"});
  }
  if (needs_data && options.train + options.validation + options.test > 0) {
    throw UsageError(fmt::format(
        "task {} reads its examples from a file, which decides how many are kept back", name));
  }
  return entry.make(options);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
