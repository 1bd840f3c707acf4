// What a model can be trained on: tasks with their vocabularies and disjoint sets of examples.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "headroom/data/text_lines.hpp"
#include "headroom/data/vocabulary.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A source and what it becomes. Neither holds <bos> or <eos>.
struct Seq2SeqExample {
  Tokens source, target;
};

/// A source and every answer that counts as right; the first one is the usual one.
struct Seq2SeqQuestion {
  Tokens source;
  std::vector<Tokens> answers;
};

/// One sequence becomes another. No source of one set occurs in another set.
struct Seq2SeqTask {
  std::string name;
  Vocabulary source, target;
  std::vector<Seq2SeqExample> train;
  std::vector<Seq2SeqQuestion> validation, test;
  SkippedLines skipped;  // of the data file, if there is one

  /// Longest source and target of all sets, without <bos> and <eos>: what positions must reach.
  Index longest_source() const;
  Index longest_target() const;
};

/// Questions as pairs with their first answers, in the same order: for a loss.
std::vector<Seq2SeqExample> first_answers(const std::vector<Seq2SeqQuestion>& questions);

/// A sequence and the number of its class.
struct LabelledExample {
  Tokens tokens;
  std::int32_t label = 0;
};

/// A sequence belongs to a class. No input of one set occurs in another set.
struct ClassificationTask {
  std::string name;
  Vocabulary tokens;
  std::vector<std::string> classes;
  std::vector<LabelledExample> train, validation, test;

  Index longest() const;
};

/// One long text; its last tenth, uncut, is for validation.
struct TextCorpus {
  std::string name;
  Vocabulary vocabulary;
  Tokens train, validation;
};

using Task = std::variant<Seq2SeqTask, ClassificationTask, TextCorpus>;

/// How a task is made. Zero sizes mean the task's own.
struct TaskOptions {
  std::uint64_t seed = 1;
  Index train = 0, validation = 0, test = 0;  // examples, for generated tasks
  std::filesystem::path data{};               // file, for tasks that need one
  bool skip_bad_lines = false;
  Index window = 0;     // text: what is trained on must be longer; 0: no matter
  bool stress = false;  // g2p: keep the stress marks of vowels (AH0, AH1, AH2)
};

/// A task's line in a list.
struct TaskInfo {
  std::string name;
  std::string summary;  // "written dates -> ISO dates"
  bool needs_data = false;
};

/// All tasks: those of headroom, then those that were added.
std::vector<TaskInfo> task_list();

/// Registers a task of your own: make_task() and task_list() know it from now on. `make` throws the
/// exceptions of make_task(). Do it before threads start. Throws UsageError for a name that is
/// empty or taken, and without a function.
using TaskFactory = std::function<Task(const TaskOptions&)>;
void add_task(TaskInfo info, TaskFactory make);

/// Makes a task by name. Throws UsageError for an unknown name (with the list and the nearest), for
/// a missing or superfluous data path, and for sizes that the task cannot provide; DataError and
/// FileError for bad data.
Task make_task(const std::string& name, const TaskOptions& options = {});

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
