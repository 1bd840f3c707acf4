// Reads tables and texts for the models of folders.
#include "headroom_runs/tables/folder_data.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <set>

#include "headroom/base/error.hpp"
#include "headroom/base/names.hpp"
#include "headroom/base/text.hpp"
#include "headroom/base/utf8.hpp"
#include "headroom_foreign/folders/folder_texts.hpp"
#include "headroom_foreign/tokenizers/open_tokenizer.hpp"
#include "headroom_foreign/tokenizers/sentence_piece.hpp"
#include "tables/set_reader.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_of_objectives(const std::vector<FolderObjective>& objectives) {
  std::vector<std::string> names;
  for (const FolderObjective objective : objectives) names.emplace_back(name_of(objective));
  return names;
}

/// Why a text is left out.
constexpr const char* without_tokens = "without tokens";

/// Makes examples of texts.
class FolderReader {
 public:
  FolderReader(const ModelFolder& folder, FolderObjective objective, Index length,
               const std::vector<std::string>& new_classes)
      : folder_(folder),
        tokenizer_(open_tokenizer(folder.path)),
        length_(std::min(length, folder.config.longest)) {
    task.objective = objective;
    task.ids = tokenizer_->special_ids();
    checked(tokenizer_->framed({}));
    const Tokens framed = tokenizer_->framed({marker});
    task.before = std::find(framed.begin(), framed.end(), marker) - framed.begin();
    task.after = std::ssize(framed) - 1 - task.before;
    if (objective == FolderObjective::masked && !task.ids.mask) {
      throw FileError(folder.path.string() + ": the tokenizer has no mask token");
    }
    if (objective == FolderObjective::masked) checked({*task.ids.mask});
    if (objective == FolderObjective::pairs) find_ends();
    if (objective == FolderObjective::classify) find_classes(new_classes);
    if (length_ <= task.before + task.after) {
      throw UsageError(fmt::format("a length of {} tokens has no room for a text", length_),
                       {"length"});
    }
  }

  FolderTask task;

  /// The ids of a text as the model reads them.
  Tokens read(const std::string& text) {
    Tokens ids = checked(tokenizer_->encode(text));
    cut(ids, length_ - task.before - task.after);
    return tokenizer_->framed(std::move(ids));
  }
  /// The ids of a translation, with room for its end.
  Tokens read_target(const std::string& text) {
    Tokens ids = checked(encode_target(text));
    cut(ids, length_ - 1);
    return ids;
  }
  /// The ids of a whole text.
  Tokens read_all(const std::string& text) { return checked(tokenizer_->encode(text)); }
  /// Why a row is no example, or "".
  std::string fault(const TableRow& row) const {
    const bool is_empty =
        tokenizer_->encode(row.cells[0]).empty() ||
        (task.objective == FolderObjective::pairs && encode_target(row.cells[1]).empty());
    return is_empty ? without_tokens : "";
  }
  /// Equal for texts that the model reads alike, because they are cut or in lower case.
  std::string key(const std::string& text) const {
    Tokens ids = tokenizer_->encode(text);
    const Index room = length_ - task.before - task.after;
    if (std::ssize(ids) > room) ids.resize(std::size_t(room));
    return fmt::format("{}", fmt::join(ids, " "));
  }

  /// The number of a label. Throws DataError for an unknown one.
  std::int32_t label(const TableRow& row, const fs::path& path) const {
    const std::string& name = row.cells[1];
    if (const auto found = class_of_.find(name); found != class_of_.end()) return found->second;
    throw DataError(fmt::format("{}:{}: the label \"{}\" is none of the model's classes: {}",
                                table_files(path)[row.file].string(), row.line, printable(name),
                                printable(fmt::format("{}", fmt::join(task.classes, ", ")))));
  }

  /// Takes labels for the numbers of classes if all are such, and not all are names of classes.
  /// Throws FileError for names if two classes share one.
  void look_at(const Sets& sets) {
    std::map<std::string, std::int32_t> numbers;
    for (std::size_t i = 0; i < task.classes.size(); ++i) numbers[std::to_string(i)] = int(i);
    const auto all_in = [&](const std::map<std::string, std::int32_t>& known) {
      return std::ranges::all_of(
          std::array{&sets.train, &sets.validation, &sets.test}, [&](const TableRows* rows) {
            return std::ranges::all_of(
                *rows, [&](const TableRow& row) { return known.contains(row.cells[1]); });
          });
    };
    are_numbers_ = !all_in(class_of_) && all_in(numbers);
    if (are_numbers_) {
      class_of_ = numbers;
    } else if (std::ssize(class_of_) < std::ssize(task.classes)) {
      throw FileError(
          fmt::format("{}: \"id2label\" has the same name for two classes; give labels as numbers",
                      (folder_.path / "config.json").string()));
    }
  }

  Index window() const { return length_; }
  std::string text() const {
    std::string text;
    if (are_numbers_) {
      text += fmt::format("labels are the numbers of the classes: 0 is {}\n",
                          printable(task.classes.front()));
    }
    if (cut_ == 0) return text;
    return text + fmt::format("{} {} cut to {} tokens\n", with_commas(cut_),
                              cut_ == 1 ? "text is" : "texts are", length_);
  }
  /// Tokens between bars, for an example.
  std::string shown(const Tokens& ids) const {
    constexpr Index most = 16;
    std::vector<std::string> tokens;
    for (const std::int32_t id : ids) {
      if (std::ssize(tokens) == most) break;
      tokens.push_back(printable(tokenizer_->token(id)));
    }
    return fmt::format("{}{}", fmt::join(tokens, " "), std::ssize(ids) > most ? " ..." : "");
  }

 private:
  static constexpr std::int32_t marker = -1;

  Tokens encode_target(const std::string& text) const {
    const auto* pieces = dynamic_cast<const SentencePieceTokenizer*>(tokenizer_.get());
    return pieces != nullptr ? pieces->encode_target(text) : tokenizer_->encode(text);
  }
  /// Throws FileError for a token without an embedding.
  Tokens checked(Tokens ids) const {
    const ModelConfig& config = folder_.config;
    const Index known = config.kind == ModelKind::classifier
                            ? config.source_vocabulary
                            : std::min(config.source_vocabulary, config.target_vocabulary);
    for (const std::int32_t id : ids) {
      if (id < known) continue;
      throw FileError(
          fmt::format("{}: the tokenizer has the id {}, but the model has {} embeddings",
                      folder_.path.string(), id, with_commas(known)));
    }
    return ids;
  }
  void cut(Tokens& ids, Index most) {
    if (std::ssize(ids) <= most) return;
    ids.resize(std::size_t(most));
    ++cut_;
  }
  void find_ends() {
    const DecodingLimits limits = folder_limits(folder_.path, folder_.config);
    if (limits.end < 0) {
      throw FileError(folder_.path.string() + ": config.json names no eos_token_id");
    }
    task.ids.begin = limits.begin;
    task.ids.end = limits.end;
  }
  void find_classes(const std::vector<std::string>& new_classes) {
    const Index count = folder_.config.target_vocabulary;
    if (count < 2) {
      throw UsageError(fmt::format("{}: the model has one output, a number; classify needs classes",
                                   folder_.path.string()));
    }
    task.classes = folder_.new_head ? new_classes : folder_classes(folder_.path, count);
    for (std::size_t i = 0; i < task.classes.size(); ++i) class_of_[task.classes[i]] = int(i);
  }

  const ModelFolder& folder_;
  std::unique_ptr<ForeignTokenizer> tokenizer_;
  Index length_, cut_ = 0;
  bool are_numbers_ = false;                      // the labels of the data
  std::map<std::string, std::int32_t> class_of_;  // by the labels of the data
};

/// The windows of a text, without overlap, each with the token after it; the sets in their order.
void read_windows(FolderReader& reader, const fs::path& path, const Shares& shares) {
  const Tokens ids = reader.read_all(read_text(path));
  std::vector<FolderExample> windows;
  const Index length = reader.window(), all = std::ssize(ids);
  for (Index first = 0; first + 1 < all; first += length) {
    const auto end = ids.begin() + std::min(first + length + 1, all);
    windows.push_back({Tokens(ids.begin() + first, end)});
  }
  const Index count = std::ssize(windows), sum = shares.train + shares.validation + shares.test;
  const auto end_of = [&](Index before) { return windows.begin() + before * count / sum; };
  const auto train = end_of(shares.train), held = end_of(shares.train + shares.validation);
  FolderTask& task = reader.task;
  task.train.assign(windows.begin(), train);
  task.validation.assign(train, held);
  task.test.assign(held, windows.end());
}

/// Divides what is kept back into importance, selection and, for training, validation.
void hold_back(FolderTask& task, bool trains) {
  std::vector<std::uint64_t> hashes;
  for (const FolderExample& example : task.validation) hashes.push_back(hash_of(example));
  const std::vector<ExampleSet> set_of =
      trains ? held_out_sets(hashes) : held_out_sets(hashes, 0.5);
  std::vector<FolderExample> others;
  for (std::size_t i = 0; i < set_of.size(); ++i) {
    FolderExample& example = task.validation[i];
    const bool selects =
        set_of[i] == ExampleSet::selection || (!trains && set_of[i] == ExampleSet::validation);
    (set_of[i] == ExampleSet::importance ? task.importance
     : selects                           ? task.selection
                                         : others)
        .push_back(std::move(example));
  }
  task.validation = std::move(others);
}

std::string examples_text(const FolderTask& task, bool trains) {
  const auto count = [](const std::vector<FolderExample>& set) {
    return with_commas(std::ssize(set));
  };
  if (!trains) {
    return fmt::format("{} examples to measure heads, {} to choose, {} for the test\n",
                       count(task.importance), count(task.selection), count(task.test));
  }
  const Index held =
      std::ssize(task.importance) + std::ssize(task.selection) + std::ssize(task.validation);
  return fmt::format("{} examples for training, {} for validation, {} for the test\n",
                     count(task.train), with_commas(held), count(task.test));
}

void require_sets(const FolderTask& task, bool trains, const fs::path& path) {
  const auto require = [&](const std::vector<FolderExample>& set, const char* what) {
    if (!set.empty()) return;
    throw DataError(
        fmt::format("{}: too little data: no example is left for {}", path.string(), what),
        {"data", "split"});
  };
  if (trains) require(task.train, "training");
  require(trains ? task.validation : task.importance, trains ? "validation" : "measuring heads");
  require(task.test, "the test");
}

}  // namespace

std::optional<FolderObjective> folder_objective(const std::string& task) {
  if (task == "labels") return FolderObjective::classify;
  for (const FolderObjective objective : all_of<FolderObjective>()) {
    if (task == name_of(objective)) return objective;
  }
  return {};
}

std::string usual_folder_task(ModelKind kind) { return name_of(objectives_of(kind).front()); }

bool needs_new_classifier(const fs::path& path) {
  return open_model_folder(path).config.kind != ModelKind::classifier;
}

std::vector<std::string> labels_of_table(const TaskOptions& data, const TableOptions& table,
                                         const fs::path& folder) {
  const std::unique_ptr<ForeignTokenizer> tokenizer = open_tokenizer(folder);
  SetReader reader(data, table, {"text", "label"}, [&](const TableRow& row) {
    return tokenizer->encode(row.cells[0]).empty() ? without_tokens : "";
  });
  std::set<std::string> labels;
  for (const TableRow& row : reader.rows_of(data.data)) labels.insert(row.cells[1]);
  if (labels.size() < 2) {
    throw DataError(fmt::format("{}: all rows have the label \"{}\"; a classifier needs two",
                                data.data.string(), printable(*labels.begin())));
  }
  std::vector<std::string> sorted(labels.begin(), labels.end());
  const auto number_in = [](const std::string& text) -> std::optional<std::int64_t> {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    return whole ? std::optional(number) : std::nullopt;
  };
  if (std::ranges::all_of(sorted,
                          [&](const auto& label) { return number_in(label).has_value(); })) {
    std::ranges::stable_sort(sorted, {}, number_in);
  }
  return sorted;
}

ModelFolder open_folder_for(const fs::path& path, FolderObjective objective,
                            const std::vector<std::string>& classes) {
  ModelFolder folder = open_model_folder(path);
  const std::vector<FolderObjective> fitting = objectives_of(folder.config.kind);
  if (std::find(fitting.begin(), fitting.end(), objective) == fitting.end()) {
    throw UsageError(fmt::format("{}: a {} cannot be trained or measured for {}, only for {}",
                                 path.string(), folder.architecture, name_of(objective),
                                 fmt::join(names_of_objectives(fitting), " and ")),
                     {"task"});
  }
  if (objective == FolderObjective::keep) {
    if (folder.architecture != "BertModel") folder = open_model_folder(path, "BertModel");
    folder.config.variant.pooling = Pooling::mean;  // a pooler has no part in the embedding
    return folder;
  }
  if (objective == FolderObjective::classify && folder.config.kind != ModelKind::classifier) {
    return with_new_classifier(open_model_folder(path, "BertModel"), classes);
  }
  if (folder.architecture == "GPT2Model") return open_model_folder(path, "GPT2LMHeadModel");
  return folder;
}

FolderData read_folder_data(const ModelFolder& folder, FolderObjective objective,
                            const TaskOptions& data, const TableOptions& table, Index length,
                            const std::vector<std::string>& classes) {
  const std::string name = name_of(objective);
  if (data.data.empty()) {
    throw UsageError(fmt::format("{} of a model folder needs a data file", name), {"data"});
  }
  const bool trains = table.shares.train > 0;
  FolderReader reader(folder, objective, length, classes);
  FolderTask& task = reader.task;
  std::string example;
  SkippedLines skipped;
  if (objective == FolderObjective::text) {
    read_windows(reader, data.data, table.shares);
  } else {
    const std::map<FolderObjective, std::vector<std::string>> columns{
        {FolderObjective::masked, {"text"}},
        {FolderObjective::keep, {"text"}},
        {FolderObjective::classify, {"text", "label"}},
        {FolderObjective::pairs, {"source", "target"}}};
    SetReader rows(
        data, table, columns.at(objective), [&](const TableRow& row) { return reader.fault(row); },
        [&](const TableRow& row) { return reader.key(row.cells[0]); });
    const Sets sets = rows.read();
    skipped = rows.skipped();
    if (objective == FolderObjective::classify) reader.look_at(sets);
    const auto examples = [&](const TableRows& of, const fs::path& path) {
      std::vector<FolderExample> made;
      for (const TableRow& row : of) {
        FolderExample& one = made.emplace_back(FolderExample{reader.read(row.cells[0])});
        if (objective == FolderObjective::pairs) one.target = reader.read_target(row.cells[1]);
        if (objective == FolderObjective::classify) one.label = reader.label(row, path);
      }
      return made;
    };
    task.train = examples(sets.train, data.data);
    task.validation =
        examples(sets.validation, table.validation.empty() ? data.data : table.validation);
    task.test = examples(sets.test, table.test.empty() ? data.data : table.test);
  }
  const auto& first = task.train.empty() ? task.validation : task.train;
  if (!first.empty()) example = fmt::format("an example: {}\n", reader.shown(first[0].tokens));
  hold_back(task, trains);
  require_sets(task, trains, data.data);
  task.about = {{"name", name},
                {"kind", name_of(folder.config.kind)},
                {"folder", fs::absolute(folder.path).lexically_normal().string()},
                {"architecture", folder.architecture}};
  if (!task.classes.empty()) task.about["classes"] = task.classes;
  std::string text = examples_text(task, trains) + example + reader.text();
  if (skipped.total() > 0) text += skipped.text() + "\n";
  return {std::move(task), std::move(text)};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
