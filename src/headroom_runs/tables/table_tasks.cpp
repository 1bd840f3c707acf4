// Makes tasks of tables.
#include "headroom_runs/tables/table_tasks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <mutex>
#include <set>

#include "headroom/base/error.hpp"
#include "headroom/base/names.hpp"
#include "headroom/base/record_json.hpp"
#include "headroom/base/rng.hpp"
#include "headroom/base/text.hpp"
#include "headroom/base/utf8.hpp"
#include "headroom/data/file_tasks.hpp"
#include "headroom/io/json.hpp"
#include "headroom_runs/tables/table.hpp"
#include "tables/set_reader.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

Index length_of(TokenKind kind, const std::string& text) {
  return std::ssize(Vocabulary(kind, Specials::none, {}).tokens_in(text));
}

/// The reader of the sets of `pairs` or `labels`, which leaves out what is too long.
SetReader reader_of(const TaskOptions& data, const TableOptions& table, bool is_pairs) {
  const std::vector<std::string> columns = is_pairs ? std::vector<std::string>{"source", "target"}
                                                    : std::vector<std::string>{"text", "label"};
  return {data, table, columns, [table, is_pairs](const TableRow& row) {
            const bool is_long =
                length_of(table.symbols, row.cells[0]) > table.longest ||
                (is_pairs && length_of(table.target_symbols, row.cells[1]) > table.longest);
            return is_long ? fmt::format("longer than {}", table.longest) : "";
          }};
}

/// The symbols of a column of the rows that occur often enough.
Vocabulary vocabulary_of(const TableRows& rows, std::size_t column, TokenKind kind,
                         Index least_count) {
  const Vocabulary splits(kind, Specials::none, {});
  std::map<std::string, Index> counts;
  for (const TableRow& row : rows) {
    for (const std::string& token : splits.tokens_in(row.cells[column])) ++counts[token];
  }
  std::vector<std::string> tokens;
  for (const auto& [token, count] : counts) {
    if (count >= least_count) tokens.push_back(token);
  }
  return Vocabulary(kind, Specials::all, std::move(tokens));
}

/// The rows of a set as questions, in the order of their first rows.
std::vector<Seq2SeqQuestion> questions_of(const TableRows& rows, const Vocabulary& source,
                                          const Vocabulary& target) {
  std::vector<Seq2SeqQuestion> questions;
  std::map<std::string, std::size_t> places;
  for (const TableRow& row : rows) {
    const auto [place, is_new] = places.emplace(row.cells[0], questions.size());
    if (is_new) questions.push_back({source.encode(row.cells[0]), {}});
    std::vector<Tokens>& answers = questions[place->second].answers;
    const Tokens answer = target.encode(row.cells[1]);
    if (std::find(answers.begin(), answers.end(), answer) == answers.end()) {
      answers.push_back(answer);
    }
  }
  return questions;
}

Seq2SeqTask make_pairs(const TaskOptions& data, const TableOptions& table) {
  SetReader reader = reader_of(data, table, true);
  const Sets sets = reader.read();
  Seq2SeqTask task{.name = "pairs",
                   .source = vocabulary_of(sets.train, 0, table.symbols, table.least_count),
                   .target = vocabulary_of(sets.train, 1, table.target_symbols, table.least_count),
                   .train = {},
                   .validation = {},
                   .test = {},
                   .skipped = reader.skipped()};
  for (const TableRow& row : sets.train) {
    task.train.push_back({task.source.encode(row.cells[0]), task.target.encode(row.cells[1])});
  }
  task.validation = questions_of(sets.validation, task.source, task.target);
  task.test = questions_of(sets.test, task.source, task.target);
  return task;
}

std::vector<std::string> labels_of(const Sets& sets) {
  std::set<std::string> labels;
  for (const TableRows* rows : {&sets.train, &sets.validation, &sets.test}) {
    for (const TableRow& row : *rows) labels.insert(row.cells[1]);
  }
  return {labels.begin(), labels.end()};
}

/// The rows of a set as examples of known classes.
std::vector<LabelledExample> examples_of(const TableRows& rows, const ClassificationTask& task) {
  std::vector<LabelledExample> examples;
  for (const TableRow& row : rows) {
    const auto label = std::find(task.classes.begin(), task.classes.end(), row.cells[1]);
    examples.push_back({task.tokens.encode(row.cells[0]),
                        static_cast<std::int32_t>(label - task.classes.begin())});
  }
  return examples;
}

/// Throws DataError if a file of its own has a label that the training file does not have.
void require_known(const TableRows& rows, const std::vector<std::string>& classes,
                   const fs::path& path) {
  for (const TableRow& row : rows) {
    if (std::find(classes.begin(), classes.end(), row.cells[1]) != classes.end()) continue;
    throw DataError(
        fmt::format("{}:{}: the label \"{}\" does not occur in the training data; "
                    "correct it, or add such rows there",
                    table_files(path)[row.file].string(), row.line, printable(row.cells[1])));
  }
}

ClassificationTask make_labels(const TaskOptions& data, const TableOptions& table) {
  SetReader reader = reader_of(data, table, false);
  const Sets sets = reader.read();
  Sets of_data_file = sets;
  if (!table.validation.empty()) of_data_file.validation.clear();
  if (!table.test.empty()) of_data_file.test.clear();
  ClassificationTask task{.name = "labels",
                          .tokens = vocabulary_of(sets.train, 0, table.symbols, table.least_count),
                          .classes = labels_of(of_data_file),
                          .train = {},
                          .validation = {},
                          .test = {},
                          .skipped = reader.skipped()};
  if (task.classes.size() < 2) {
    throw DataError(fmt::format("{}: all rows have the label \"{}\"; a classifier needs two",
                                data.data.string(), printable(task.classes[0])));
  }
  require_known(sets.validation, task.classes, table.validation);
  require_known(sets.test, task.classes, table.test);
  task.train = examples_of(sets.train, task);
  task.validation = examples_of(sets.validation, task);
  task.test = examples_of(sets.test, task);
  return task;
}

}  // namespace

std::string Shares::text() const { return fmt::format("{}:{}:{}", train, validation, test); }

Shares shares_from(const std::string& text, const std::string& where, Index least_train) {
  std::array<Index, 3> shares{};
  const char* at = text.data();
  const char* const end = at + text.size();
  bool right = true;
  for (std::size_t i = 0; i < 3 && right; ++i) {
    const auto number = std::from_chars(at, end, shares[i]);
    right = number.ec == std::errc() && shares[i] >= 0 && shares[i] <= 1'000'000 &&
            (i < 2 ? number.ptr != end && *number.ptr == ':' : number.ptr == end);
    at = number.ptr + 1;
  }
  if (!right || shares[0] < least_train || shares[0] + shares[1] + shares[2] == 0) {
    throw UsageError(
        fmt::format("{} {} must be three shares, for training, validation and test, such as 90:5:5",
                    where, text));
  }
  return {shares[0], shares[1], shares[2]};
}

bool is_table_task(const std::string& task) {
  return task == "pairs" || task == "labels" || is_folder_task(task);
}

bool is_folder_task(const std::string& task) {
  return std::find(folder_tasks.begin(), folder_tasks.end(), task) != folder_tasks.end();
}

bool reads_single_texts(const std::string& task) {
  return task == "text" || task == "masked" || task == "keep";
}

const char* loss_unit(const std::string& task) {
  return task == "keep" ? "units of the cosine" : "nats";
}

void add_table_tasks() {
  static std::once_flag added;
  std::call_once(added, [] {
    add_task({"pairs", "one text -> another, from a table of your own", true},
             [](const TaskOptions& options) { return make_table_task("pairs", options, {}); });
    add_task({"labels", "text -> one of several labels, from a table of your own", true},
             [](const TaskOptions& options) { return make_table_task("labels", options, {}); });
    for (const auto& [name, summary] :
         {std::pair("masked", "masked tokens -> tokens, with a model folder"),
          {"classify", "text -> one of several labels, with a model folder"},
          {"keep", "text -> the embedding that it had, with a model folder"}}) {
      add_task({name, summary, true}, [task = std::string(name)](const TaskOptions& options) {
        return make_table_task(task, options, {});
      });
    }
  });
}

std::vector<std::string> classes_of(const SavedModel& saved) {
  const Record& about = saved.about;
  std::vector<std::string> names;
  for (Index i = 0; i < saved.config.target_vocabulary; ++i) {
    const Record::json_pointer place(fmt::format("/classes/{}", i));
    const bool named = about.contains(place) && about[place].is_string();
    names.push_back(named ? about[place].get<std::string>() : fmt::format("class {}", i));
  }
  return names;
}

Task make_test_task(const SavedModel& saved, const TaskOptions& data, TableOptions table) {
  const auto name = json_text(saved.about, "name", saved.origin);
  if (saved.config.kind == ModelKind::language_model) {
    const Vocabulary tokens = saved.vocabulary("tokens");
    const std::string text = read_text(data.data);
    for (const std::string& token : tokens.tokens_in(text)) {
      if (tokens.knows(token)) continue;
      throw DataError(fmt::format("{}: the model does not know \"{}\"; it knows {} {}",
                                  data.data.string(), printable(token),
                                  with_commas(tokens.plain_size()), name_of(tokens.kind())));
    }
    return TextCorpus{name, tokens, {}, tokens.encode(text)};
  }
  if (saved.config.kind == ModelKind::classifier) {
    ClassificationTask task{.name = name,
                            .tokens = saved.vocabulary("tokens"),
                            .classes = classes_of(saved),
                            .train = {},
                            .validation = {},
                            .test = {}};
    table.symbols = task.tokens.kind();
    table.longest = saved.config.longest;
    SetReader reader = reader_of(data, table, false);
    const TableRows rows = reader.rows_of(data.data);
    require_known(rows, task.classes, data.data);
    task.test = examples_of(rows, task);
    task.skipped = reader.skipped();
    return task;
  }
  Seq2SeqTask task{.name = name,
                   .source = saved.vocabulary("source"),
                   .target = saved.vocabulary("target"),
                   .train = {},
                   .validation = {},
                   .test = {},
                   .skipped = {}};
  table.symbols = task.source.kind();
  table.target_symbols = task.target.kind();
  table.longest = saved.config.longest - 1;  // <bos> has a position, too
  SetReader reader = reader_of(data, table, true);
  task.test = questions_of(reader.rows_of(data.data), task.source, task.target);
  task.skipped = reader.skipped();
  return task;
}

Task make_table_task(const std::string& task, const TaskOptions& data, const TableOptions& table) {
  if (is_folder_task(task)) {
    throw UsageError(
        fmt::format("task {} needs a model folder of Transformers{}", task,
                    task == "classify" ? " (task labels trains a model of its own)" : ""),
        {"from"});
  }
  if (data.data.empty()) throw UsageError(fmt::format("task {} needs a data file", task), {"data"});
  if (data.train + data.validation + data.test > 0) {
    throw UsageError(
        fmt::format("task {} reads its examples from a table and divides them by shares", task),
        {"split"});
  }
  if (task == "labels") return make_labels(data, table);
  return make_pairs(data, table);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
