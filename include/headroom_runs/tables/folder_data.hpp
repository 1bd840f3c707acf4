// Data of one's own for a model of a folder.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "headroom/data/task.hpp"
#include "headroom_foreign/folders/model_folder.hpp"
#include "headroom_foreign/learning/folder_task.hpp"
#include "headroom_runs/tables/table_tasks.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The objective that a task's name means for a model of a folder, or nothing: `labels` is
/// `classify`.
std::optional<FolderObjective> folder_objective(const std::string& task);
/// The name of the task that a model of this kind usually has.
std::string usual_folder_task(ModelKind kind);

/// Opens a folder for an objective: for `keep` a BERT without head and pooler, for `text` a GPT-2
/// with its logits, for `classify` a BERT without a classifier with a new one for these classes.
/// Throws what open_model_folder() throws, and UsageError, naming the tasks that fit, if the model
/// cannot have the objective.
ModelFolder open_folder_for(const std::filesystem::path& path, FolderObjective objective,
                            const std::vector<std::string>& classes = {});
/// Whether `classify` would need a new head.
bool needs_new_classifier(const std::filesystem::path& path);
/// The labels of a table for a new head of a folder's model: in the order of numbers if all are
/// whole numbers, else in byte order. Rows whose text has no tokens do not count. Throws what
/// read_table() and open_tokenizer() throw, DataError for fewer than two.
std::vector<std::string> labels_of_table(const TaskOptions& data, const TableOptions& table,
                                         const std::filesystem::path& folder);

/// Examples with lines about them for people.
struct FolderData {
  FolderTask task;
  std::string text;
};

/// Reads the examples of a model of a folder, with its own tokenizer:
///
/// * text: a text file, in windows of `length` tokens. The sets are parts of it, in this order:
///   training, what is kept back, test.
/// * masked, keep: the lines of a text file, or the column "text" of a table.
/// * classify: the columns "text" and "label" of a table. The labels are the classes that
///   config.json names or, unless all of them are such names, their numbers. A new head has
///   `classes`.
/// * pairs: the columns "source" and "target" of a table.
///
/// Texts are divided by a hash, and those with equal tokens are in one set. Texts without tokens
/// are left out. Of what is kept back for
/// validation a quarter each is for importance and selection; half each if nothing is trained, as
/// in shares_to_measure. What has more than `length` tokens, special ones included, is cut, as
/// Transformers does. Throws what read_table() and open_tokenizer() throw; DataError for a set
/// without examples and for unknown labels; FileError for a tokenizer with ids that the model does
/// not have.
FolderData read_folder_data(const ModelFolder& folder, FolderObjective objective,
                            const TaskOptions& data, const TableOptions& table, Index length,
                            const std::vector<std::string>& classes = {});

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
