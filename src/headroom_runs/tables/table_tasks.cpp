// Makes tasks of tables.
#include "headroom_runs/tables/table_tasks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <map>
#include <mutex>
#include <set>

#include "headroom/base/error.hpp"
#include "headroom/base/names.hpp"
#include "headroom/base/rng.hpp"
#include "headroom/base/text.hpp"
#include "headroom/base/utf8.hpp"
#include "headroom/data/file_tasks.hpp"
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

/// Reads the files of a task and leaves out what is too long.
class SetReader {
 public:
  SetReader(const TaskOptions& data, const TableOptions& table, std::array<std::string, 2> usual,
            bool is_pairs)
      : data_(data), table_(table), usual_(std::move(usual)), is_pairs_(is_pairs) {}

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

 private:
  TableRows rows_of(const fs::path& path) {
    TableRows rows = read_table(path, table_.columns, usual_, data_.skip_bad_lines, skipped_);
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

  const TaskOptions& data_;
  const TableOptions& table_;
  std::array<std::string, 2> usual_;
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
  SetReader reader(data, table, {"source", "target"}, true);
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

/// Throws DataError if a file of its own has a label that the training file does not have.
void require_known(const TableRows& rows, const std::vector<std::string>& classes,
                   const fs::path& path) {
  for (const TableRow& row : rows) {
    if (std::binary_search(classes.begin(), classes.end(), row.cells[1])) continue;
    throw DataError(fmt::format("{}:{}: the label \"{}\" does not occur in the training data",
                                path.string(), row.line, printable(row.cells[1])));
  }
}

ClassificationTask make_labels(const TaskOptions& data, const TableOptions& table) {
  SetReader reader(data, table, {"text", "label"}, false);
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
  const auto fill = [&](std::vector<LabelledExample>& set, const TableRows& rows) {
    for (const TableRow& row : rows) {
      const auto label = std::lower_bound(task.classes.begin(), task.classes.end(), row.cells[1]);
      set.push_back({task.tokens.encode(row.cells[0]),
                     static_cast<std::int32_t>(label - task.classes.begin())});
    }
  };
  fill(task.train, sets.train);
  fill(task.validation, sets.validation);
  fill(task.test, sets.test);
  return task;
}

std::string sizes_text(std::size_t train, std::size_t validation, std::size_t test) {
  return fmt::format("{} examples for training, {} for validation, {} for the test\n",
                     with_commas(Index(train)), with_commas(Index(validation)),
                     with_commas(Index(test)));
}

/// "3 sources of the test are also in training: their results say less", or "".
template <class Example, class Question, class Source>
std::string known_text(const std::vector<Example>& train, const std::vector<Question>& test,
                       Source Example::*of_train, Source Question::*of_test) {
  std::set<Tokens> known;
  for (const Example& example : train) known.insert(example.*of_train);
  const auto count = std::count_if(test.begin(), test.end(), [&](const Question& question) {
    return known.contains(question.*of_test);
  });
  if (count == 0) return "";
  return fmt::format(
      "{} of the test's {} sources are also in training; the test measures how well "
      "they are remembered, too\n",
      with_commas(count), with_commas(std::ssize(test)));
}

std::string skipped_text(const SkippedLines& skipped) {
  return skipped.total() > 0 ? skipped.text() + "\n" : "";
}

std::string text_of(const Seq2SeqTask& task) {
  std::string text = sizes_text(task.train.size(), task.validation.size(), task.test.size());
  if (!task.train.empty()) {
    const Seq2SeqExample& first = task.train.front();
    text += fmt::format("an example: {} -> {}\n", printable(task.source.decode(first.source)),
                        printable(task.target.decode(first.target)));
  }
  text += fmt::format("{} different {} in sources, {} {} in targets\n",
                      with_commas(task.source.plain_size()), name_of(task.source.kind()),
                      with_commas(task.target.plain_size()), name_of(task.target.kind()));
  return text + skipped_text(task.skipped) +
         known_text(task.train, task.test, &Seq2SeqExample::source, &Seq2SeqQuestion::source);
}

std::string text_of(const ClassificationTask& task) {
  std::string text = sizes_text(task.train.size(), task.validation.size(), task.test.size());
  if (!task.train.empty()) {
    const LabelledExample& first = task.train.front();
    text += fmt::format("an example: {} -> {}\n", printable(task.tokens.decode(first.tokens)),
                        task.classes[std::size_t(first.label)]);
  }
  text += fmt::format("{} different {}, {} classes\n", with_commas(task.tokens.plain_size()),
                      name_of(task.tokens.kind()), task.classes.size());
  return text + skipped_text(task.skipped) +
         known_text(task.train, task.test, &LabelledExample::tokens, &LabelledExample::tokens);
}

std::string text_of(const TextCorpus& text) {
  return fmt::format("{} {} for training, {} for validation\n{} different {}\n",
                     with_commas(std::ssize(text.train)), name_of(text.vocabulary.kind()),
                     with_commas(std::ssize(text.validation)),
                     with_commas(text.vocabulary.plain_size()), name_of(text.vocabulary.kind()));
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

std::string text_of_data(const Task& task) {
  return std::visit([](const auto& one) { return text_of(one); }, task);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
