// The tasks `pairs` and `labels`: examples of one's own from a table.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "headroom/data/task.hpp"
#include "headroom/train/checkpoint.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// How many of a table's different sources are for training, validation and test, as a ratio.
struct Shares {
  Index train = 90, validation = 5, test = 5;
  bool operator==(const Shares&) const = default;
  std::string text() const;  // "90:5:5"
};

/// For a model that is measured and not trained: examples to measure heads and to choose, and the
/// test.
inline constexpr Shares shares_to_measure{0, 3, 1};

/// The shares of "90:5:5". Throws UsageError, naming `where`, unless the text is three whole
/// numbers of which the first is at least `least_train`.
Shares shares_from(const std::string& text, const std::string& where, Index least_train = 1);

/// Options of the tasks of a table, besides TaskOptions.
struct TableOptions {
  std::string columns = {};  // read_table()
  TokenKind symbols = TokenKind::characters;
  TokenKind target_symbols = TokenKind::characters;  // pairs
  Index least_count = 1;  // symbols that occur less often in training are <unk>
  Index longest = 100;    // symbols of a source or a target; longer ones are left out
  Shares shares = {};     // of the sets that have no file of their own
  std::filesystem::path validation = {}, test = {};
};

/// A task whose data are a table: "pairs", "labels", or one of a model folder.
bool is_table_task(const std::string& task);
/// The tasks that only a model folder of Transformers has.
inline constexpr std::array folder_tasks{"masked", "classify", "keep"};
/// Whether a task is one of them.
bool is_folder_task(const std::string& task);
/// Whether an example of a task is one text, so that data without columns are lines of text.
bool reads_single_texts(const std::string& task);
/// The unit of a task's losses: "nats", or "units of the cosine" for "keep", whose loss is 1 minus
/// a cosine.
const char* loss_unit(const std::string& task);

/// Adds these tasks to task_list(), once. With make_task() they have the default TableOptions, and
/// those of a model folder throw UsageError.
void add_table_tasks();

/// The task of a table:
///
/// * pairs: columns "source" and "target". All targets of a source are in one set: as pairs in
///   training, as accepted answers elsewhere.
/// * labels: columns "text" and "label". The classes are the labels of `data.data`, in byte order.
///
/// Sources are divided by a hash of their text, whatever their order; each set that gets a share
/// has at least one. A set with a file of its own is that file. The vocabulary is that of the
/// training examples. What is too long is left out and counted in Task::skipped. Throws what
/// read_table() throws; DataError for a set without examples, for fewer than two classes and for
/// unknown labels in a file of its own.
Task make_table_task(const std::string& task, const TaskOptions& data, const TableOptions& table);

/// The examples of a file for a model that was trained: its task, with its vocabularies and
/// classes, whose test set is the file and whose other sets are empty (of a language model, whose
/// task has no test set, the validation part is the file). The file is a table with the columns of
/// `table`, or a text. Unknown symbols are <unk>. Examples that are too long for the model are left
/// out and counted in Task::skipped. Throws as make_table_task(), and DataError for a symbol that a
/// language model does not know.
Task make_test_task(const SavedModel& saved, const TaskOptions& data, TableOptions table);

/// The classes of a classifier, in the order of its logits: "class 3" where its checkpoint has no
/// name.
std::vector<std::string> classes_of(const SavedModel& saved);

/// Lines about the data of any task, for people: the sizes of the sets, an example, the size of the
/// vocabulary, what was left out, sources of the test that are also in training.
std::string text_of_data(const Task& task);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
