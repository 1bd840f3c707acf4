// Training tasks: vocabularies and disjoint sets of examples.
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

/// A source and its target, both without <bos> and <eos>.
struct Seq2SeqExample {
  Tokens source, target;
};

/// A source and its accepted answers; the first one is the training target.
struct Seq2SeqQuestion {
  Tokens source;
  std::vector<Tokens> answers;
};

/// Maps one sequence to another. No source of one set occurs in another set.
struct Seq2SeqTask {
  std::string name;
  Vocabulary source, target;
  std::vector<Seq2SeqExample> train;
  std::vector<Seq2SeqQuestion> validation, test;
  SkippedLines skipped;  // of the data file, if there is one

  /// Maximum length of the sources and targets of all sets, without <bos> and <eos>.
  Index longest_source() const;
  Index longest_target() const;
};

/// Pairs each question with its first answer, in the same order: for a loss.
std::vector<Seq2SeqExample> first_answers(const std::vector<Seq2SeqQuestion>& questions);

/// A sequence and the index of its class.
struct LabelledExample {
  Tokens tokens;
  std::int32_t label = 0;
};

/// Assigns a class to a sequence. No input of one set occurs in another set.
struct ClassificationTask {
  std::string name;
  Vocabulary tokens;
  std::vector<std::string> classes;
  std::vector<LabelledExample> train, validation, test;
  SkippedLines skipped = {};  // of the data file, if there is one

  /// The number of tokens of the longest sequence in any set.
  Index longest() const;
};

/// One long text. Its last 10 % is for validation.
struct TextCorpus {
  std::string name;
  Vocabulary vocabulary;
  Tokens train, validation;
};

using Task = std::variant<Seq2SeqTask, ClassificationTask, TextCorpus>;

/// Rule that assigns the words of a dictionary to the sets: `letters` by a hash of the letters,
/// 90 : 5 : 5; `cmusphinx` by the index of the word in the file, from 0, modulo 20: 17 and 18 for
/// the test, 19 for validation, as results on CMUdict are published (CMUSphinx g2p-seq2seq).
enum class WordSplit { letters, cmusphinx };

/// Options of make_task(). A size of 0 selects the task's default.
struct TaskOptions {
  std::uint64_t seed = 1;
  Index train = 0, validation = 0, test = 0;  // examples, for generated tasks
  std::filesystem::path data{};               // file, for tasks that need one
  bool skip_bad_lines = false;
  Index window = 0;                      // text: the training part must be longer; 0: not checked
  bool stress = false;                   // g2p: keep the stress marks of vowels (AH0, AH1, AH2)
  WordSplit split = WordSplit::letters;  // g2p
};

/// Entry of task_list().
struct TaskInfo {
  std::string name;
  std::string summary;  // "written dates -> ISO dates"
  bool needs_data = false;
};

/// All tasks: those of headroom, then those that were added.
std::vector<TaskInfo> task_list();

/// Registers a user-defined task for make_task() and task_list(). `make` throws the exceptions of
/// make_task(). Call it before any thread starts. Throws UsageError for a name that is empty or
/// taken, and for an empty function.
using TaskFactory = std::function<Task(const TaskOptions&)>;
void add_task(TaskInfo info, TaskFactory make);

/// Makes a task by name. Throws UsageError for an unknown name (lists the names and suggests the
/// nearest), for a missing or superfluous data path, and for sizes that the task cannot provide.
/// Throws DataError and FileError for bad data.
Task make_task(const std::string& name, const TaskOptions& options = {});

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
