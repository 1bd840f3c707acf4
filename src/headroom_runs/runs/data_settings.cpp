// The rows of the settings of data and tables.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "headroom/base/error.hpp"
#include "runs/setting_rows.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

using namespace setting_rows;

namespace {

std::vector<std::string> names_of_tasks() {
  add_table_tasks();
  std::vector<std::string> names;
  for (const TaskInfo& info : task_list()) names.push_back(info.name);
  return names;
}

/// The rule by which examples of a file are divided: a WordSplit or Shares.
Setting split_row() {
  Setting made{.name = "split",
               .path = "task.split",
               .help =
                   "how the data file is divided: for g2p letters (a hash, 90 : 5 : 5) or "
                   "cmusphinx (every 20th words of the file, as in published results); for others "
                   "shares of training, validation and test (default: 90:5:5)",
               .type = SettingType::text,
               .value = "RULE"};
  made.get = [](const RunSettings& s) -> Record {
    const Shares& shares = s.training.table.shares;
    return shares == Shares() ? name_of(s.training.data.split) : shares.text();
  };
  made.set = [](RunSettings& s, const Record& value, const std::string& shown) {
    const auto rule = Value<std::string>::read(value, shown);
    const std::string& task = s.training.task;
    const bool shares = rule.find(':') != rule.npos;
    if (shares != (is_table_task(task) || !s.training.folder.empty())) {
      throw UsageError(fmt::format("{} {} does not fit task {}: {}", shown, rule, task,
                                   shares
                                       ? "only tables and model folders take shares, such as 90:5:5"
                                       : "it takes shares, such as 90:5:5"));
    }
    if (shares) {
      s.training.table.shares = shares_from(rule, shown, s.training.folder.empty() ? 1 : 0);
    } else {
      s.training.data.split = from_name<WordSplit>(shown.c_str(), rule);
    }
  };
  return made;
}

/// The vocabulary of the model that a run begins with.
Setting vocabulary_row() {
  Setting made{.name = "vocabulary",
               .path = "task.vocabulary",
               .help = "vocabulary of the model that the run begins with",
               .type = SettingType::text};
  made.get = [](const RunSettings& s) { return s.training.vocabulary; };
  made.set = [](RunSettings& s, const Record& value, const std::string& shown) {
    if (!value.is_object() && !value.is_null()) setting_values::must_be(shown, "an object", value);
    s.training.vocabulary = value;
  };
  return rare(only_in_files(std::move(made)));
}

}  // namespace

std::vector<Setting> data_settings() {
  return {
      first(row("task", "task.name", in(&R::training, &T::task),
                fmt::format("task to learn: {} (default: {})", fmt::join(names_of_tasks(), ", "),
                            TrainingSettings().task))),
      first(row("data", "task.data", in(&R::training, &T::data, &TaskOptions::data),
                "path of the data file (tasks g2p and text), or of the table (tasks pairs and "
                "labels): .tsv, .csv or .jsonl, or a folder of such; - is standard input")),
      rare(only_in_files(row("train", "task.train", in(&R::training, &T::data, &TaskOptions::train),
                             "examples for training (tasks that make their own)",
                             count(0, most_examples)))),
      rare(row("validation", "task.validation",
               in(&R::training, &T::data, &TaskOptions::validation),
               "examples to hold out for validation and for measuring heads (tasks that make their "
               "own)",
               count(1, most_examples))),
      rare(only_in_files(row("test", "task.test", in(&R::training, &T::data, &TaskOptions::test),
                             "examples for the test (tasks that make their own)",
                             count(0, most_examples)))),
      rare(row("fold", "task.fold", in(&R::training, &T::fold),
               "cross-validation: test on part K of N of the examples for training and test, and "
               "train on the others (not text)")),
      first(row("seed", "task.seed", in(&R::training, &T::data, &TaskOptions::seed),
                "seed of all random numbers", [](double v) { return v < 0 ? "is negative" : ""; })),
      row("skip_bad_lines", "task.skip_bad_lines",
          in(&R::training, &T::data, &TaskOptions::skip_bad_lines),
          "skip malformed lines of the data file"),
      row("stress", "task.stress", in(&R::training, &T::data, &TaskOptions::stress),
          "learn stress marks, too (task g2p)"),
      rare(only_in_files(row("folder", "task.folder", in(&R::training, &T::folder),
                             "model folder of Transformers that the run begins with"))),
      rare(split_row()),
      vocabulary_row(),
  };
}

std::vector<Setting> table_settings() {
  const auto table = [](std::string name, auto member, std::string help, Fault fault = {}) {
    Setting made = rare(row(name, "task." + name, in(&R::training, &T::table, member),
                            std::move(help), std::move(fault)));
    made.tasks = {"pairs", "labels"};
    return made;
  };
  const auto also_of_folders = [](Setting made) {
    for (const char* task : folder_tasks) made.tasks.emplace_back(task);
    return made;
  };
  const auto of_pairs = [](Setting made) {
    made.tasks = {"pairs"};
    return made;
  };
  using B = TableOptions;
  return {
      also_of_folders(called(
          "A,B", table("columns", &B::columns,
                       "columns of the table, by names or numbers (default: source,target for "
                       "pairs and text,label for labels; if its first line has no such names, "
                       "the only two)"))),
      also_of_folders(table("validation_data", &B::validation,
                            "table for validation (default: a share of {data})")),
      also_of_folders(
          table("test_data", &B::test, "table for the test (default: a share of {data})")),
      first(table("symbols", &B::symbols,
                  "symbols of the table's sources: " + names_of<TokenKind>())),
      of_pairs(table("target_symbols", &B::target_symbols,
                     "symbols of the table's targets: " + names_of<TokenKind>())),
      table("least_count", &B::least_count, "symbols that occur less often in training are unknown",
            count(1, most_examples)),
      table("longest", &B::longest, "leave out longer sources and targets of the table, in symbols",
            count(1, most_tokens)),
  };
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
