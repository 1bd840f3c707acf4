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

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

using TableRows = std::vector<TableRow>;

/// The rows of the three sets.
struct Sets {
  TableRows train, validation, test;
};

/// The end of a set among the sources, which begins at `begin`: where its share of them ends, but
/// after at least one source. `before` are the shares of the sets before it.
std::size_t end_of_set(Index before, Index share, Index all, std::size_t sources,
                       std::size_t begin) {
  if (share == 0) return begin;
  const auto place = std::size_t(double(before + share) / double(all) * double(sources) + 0.5);
  return std::min(std::max(place, begin + 1), sources);
}

/// Divides rows by their sources, in the order of a hash.
Sets divided(TableRows rows, const Shares& shares, const fs::path& path) {
  // The hash alone has similar numbers for texts that begin alike, which would be in one set then.
  std::set<std::pair<std::uint32_t, std::string>> sources;
  for (const TableRow& row : rows) {
    sources.emplace(Rng(0, row.cells[0]).word(), row.cells[0]);
  }
  const Index all = shares.train + shares.validation + shares.test;
  const Index wanted = 1 + Index(shares.validation > 0) + Index(shares.test > 0);
  if (std::ssize(sources) < wanted) {
    throw DataError(
        fmt::format("{}: {} different source{} cannot be divided into {} sets", path.string(),
                    sources.size(), sources.size() == 1 ? "" : "s", wanted),
        {"split"});
  }
  const std::size_t count = sources.size();
  const std::size_t test = end_of_set(0, shares.test, all, count, 0);
  const std::size_t held = end_of_set(shares.test, shares.validation, all, count, test);
  std::map<std::string, Split> set_of;
  std::size_t place = 0;
  for (const auto& [hash, source] : sources) {
    set_of[source] = place < test ? Split::test : place < held ? Split::validation : Split::train;
    ++place;
  }
  Sets sets;
  for (TableRow& row : rows) {
    switch (set_of.at(row.cells[0])) {
      case Split::train: sets.train.push_back(std::move(row)); break;
      case Split::validation: sets.validation.push_back(std::move(row)); break;
      case Split::test: sets.test.push_back(std::move(row)); break;
    }
  }
  return sets;
}

Index length_of(TokenKind kind, const std::string& text) {
  return std::ssize(Vocabulary(kind, Specials::none, {}).tokens_in(text));
}

std::vector<std::string> usual_columns(bool is_pairs) {
  if (is_pairs) return {"source", "target"};
  return {"text", "label"};
}

/// Reads the files of a task and leaves out what is too long.
class SetReader {
 public:
  SetReader(const TaskOptions& data, const TableOptions& table, bool is_pairs)
      : data_(data), table_(table), is_pairs_(is_pairs) {}

  Sets read() {
    Shares shares = table_.shares;
    if (!table_.validation.empty()) shares.validation = 0;
    if (!table_.test.empty()) shares.test = 0;
    Sets sets = divided(rows_of(data_.data), shares, data_.data);
    if (!table_.validation.empty()) sets.validation = rows_of(table_.validation);
    if (!table_.test.empty()) sets.test = rows_of(table_.test);
    return sets;
  }
  const SkippedLines& skipped() const { return skipped_; }

  TableRows rows_of(const fs::path& path) {
    TableRows rows;
    const std::vector<fs::path> files = table_files(path);
    for (std::size_t i = 0; i < files.size(); ++i) {
      for (TableRow& row : read_table(files[i], table_.columns, usual_columns(is_pairs_),
                                      data_.skip_bad_lines, skipped_)) {
        rows.push_back(std::move(row));
        rows.back().file = i;
      }
    }
    std::erase_if(rows, [&](const TableRow& row) {
      const bool is_long =
          length_of(table_.symbols, row.cells[0]) > table_.longest ||
          (is_pairs_ && length_of(table_.target_symbols, row.cells[1]) > table_.longest);
      if (is_long) ++skipped_.count_by_reason[fmt::format("longer than {}", table_.longest)];
      return is_long;
    });
    if (rows.empty()) {
      throw DataError(
          fmt::format("{}: all rows are longer than {} symbols", path.string(), table_.longest),
          {"longest"});
    }
    return rows;
  }

 private:
  const TaskOptions& data_;
  const TableOptions& table_;
  bool is_pairs_;
  SkippedLines skipped_;
};

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
  SetReader reader(data, table, true);
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
  SetReader reader(data, table, false);
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

Shares shares_from(const std::string& text, const std::string& where) {
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
  if (!right || shares[0] == 0) {
    throw UsageError(
        fmt::format("{} {} must be three shares, for training, validation and test, such as 90:5:5",
                    where, text));
  }
  return {shares[0], shares[1], shares[2]};
}

bool is_table_task(const std::string& task) { return task == "pairs" || task == "labels"; }

void add_table_tasks() {
  static std::once_flag added;
  std::call_once(added, [] {
    add_task({"pairs", "one text -> another, from a table of your own", true},
             [](const TaskOptions& options) { return make_table_task("pairs", options, {}); });
    add_task({"labels", "text -> one of several labels, from a table of your own", true},
             [](const TaskOptions& options) { return make_table_task("labels", options, {}); });
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
    SetReader reader(data, table, false);
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
  SetReader reader(data, table, true);
  task.test = questions_of(reader.rows_of(data.data), task.source, task.target);
  task.skipped = reader.skipped();
  return task;
}

Task make_table_task(const std::string& task, const TaskOptions& data, const TableOptions& table) {
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
