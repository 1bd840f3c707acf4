// Examples of one's own: every format of a table, its division, and what is said about bad ones.
#include "headroom_runs/tables/table_tasks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "headroom/base/error.hpp"
#include "headroom_runs/runs/setting.hpp"
#include "headroom_runs/tables/table.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;
using Catch::Contains;
using Catch::EndsWith;

namespace {

/// The cells of a file, as "a|b c|d".
std::string cells_of(const std::filesystem::path& file, const std::string& columns = "",
                     bool skip_bad_lines = false) {
  SkippedLines skipped;
  std::string text;
  for (const TableRow& row :
       read_table(file, columns, {"source", "target"}, skip_bad_lines, skipped)) {
    text += fmt::format("{}{}|{}", text.empty() ? "" : " ", row.cells[0], row.cells[1]);
  }
  return text;
}

/// 200 rows "wordN<tab>N".
std::string many_rows() {
  std::string text;
  for (int i = 0; i < 200; ++i) text += fmt::format("word{}\t{}\n", i, i % 3);
  return text;
}

Seq2SeqTask pairs_of(const std::filesystem::path& file, const TableOptions& table = {}) {
  return std::get<Seq2SeqTask>(make_table_task("pairs", {.data = file}, table));
}

std::set<std::string> sources_of(const Seq2SeqTask& task,
                                 const std::vector<Seq2SeqQuestion>& questions) {
  std::set<std::string> sources;
  for (const auto& question : questions) sources.insert(task.source.decode(question.source));
  return sources;
}

}  // namespace

TEST_CASE("read_table() reads tabs, commas and JSON", "[tables]") {
  const TemporaryFolder folder;
  CHECK(cells_of(folder.file("a.tsv", "a b\tc\r\n\n d \te\n")) == "a b|c d|e");
  CHECK(cells_of(folder.file("named.tsv", "id\ttarget\tsource\n1\tb\ta\n")) == "a|b");
  CHECK(cells_of(folder.file("three.tsv", "a\tb\tc\nd\te\tf\n"), "3,1") == "c|a f|d");
  CHECK(cells_of(folder.file("own.tsv", "en\tnote\tfr\nyes\t\toui\n"), "en,fr") == "yes|oui");
  CHECK(cells_of(folder.file("a.csv", "source,target\n\"a, \"\"b\"\"\nc\" , d\ne,\"f\"\n")) ==
        "a, \"b\"\nc|d e|f");
  CHECK(cells_of(folder.file("a.jsonl",
                             "{\"target\": 1, \"source\": \"\\u00e9\"}\n\n"
                             "{\"source\": \"x\", \"target\": true}\n")) == "é|1 x|true");
  CHECK(cells_of(folder.file("b.jsonl", "{\"q\": \"a\", \"r\": \"b\"}\n"), "q,r") == "a|b");
}

TEST_CASE("A bad table is named with its line and the rule", "[tables]") {
  const TemporaryFolder folder;
  struct Bad {
    const char* name;
    std::string text;
    const char* columns;
    const char* says;
  };
  const std::vector<Bad> all = {
      {"empty.tsv", "", "", "empty.tsv: the file has no text"},
      {"one.tsv", "a\tb\nc\n", "",
       "one.tsv:2: 1 column, 2 are needed; 1 bad line of 2; correct or "
       "skip it"},
      {"three.tsv", "a\tb\tc\n", "", "three.tsv:1: 3 columns; name the two that are meant"},
      {"cell.tsv", "a\tb\n \tb\n", "", "cell.tsv:2: nothing in the column source"},
      {"latin.tsv", "a\tb\nc\t\xE9\n", "", "latin.tsv:2: the line is not valid UTF-8"},
      {"wide.tsv",
       std::string("\xFF\xFE"
                   "a\0\t\0",
                   6),
       "", "the file is in UTF-16"},
      {"nul.tsv", std::string("a\tb\n\0\tc\n", 8), "", "nul.tsv:2: NUL byte"},
      {"quote.csv", "a,b\n\"c,d\ne,f\n", "",
       "quote.csv:2: the quote that begins here does not end"},
      {"after.csv", "a,b\n\"c\"d,e\n", "", "after.csv:2: text after the end of a quote"},
      {"names.csv", "a,b\nc,d\n", "a,x",
       "names.csv:1: no column is called \"x\"; the first line "
       "has \"a\", \"b\""},
      {"number.csv", "a,b\n", "1,3", "number.csv:1: 2 columns, 3 are needed"},
      {"list.jsonl", "[1, 2]\n", "", "list.jsonl:1: the line is not a JSON object"},
      {"key.jsonl", "{\"source\": \"a\"}\n", "", "key.jsonl:1: no key \"target\""},
      {"broken.jsonl", "{\"source\": \n", "", "broken.jsonl:1:"},
      {"quotes.csv", "\"\"\n", "", "quotes.csv: the file has no rows"},
      {"header.tsv", "source\ttarget\n", "", "header.tsv: the file has no rows"},
  };
  for (const Bad& bad : all) {
    CAPTURE(bad.name);
    CHECK_THROWS_WITH(cells_of(folder.file(bad.name, bad.text), bad.columns), Contains(bad.says));
  }
  CHECK(cells_of(folder / "one.tsv", "", true) == "a|b");
  CHECK_THROWS_WITH(cells_of(folder / "one.tsv", "source"),
                    Contains("two different names or numbers"));
  CHECK_THROWS_AS(cells_of(folder / "nowhere.tsv"), FileError);
}

TEST_CASE("Every source of a table is in one set, whatever the order", "[tables]") {
  const TemporaryFolder folder;
  const Seq2SeqTask task = pairs_of(folder.file("a.tsv", many_rows() + "word7\tmore\n"));
  CHECK(task.train.size() + task.validation.size() + task.test.size() >= 200);
  CHECK(task.validation.size() == 10);
  CHECK(task.test.size() == 10);
  std::string turned = "word7\tmore\n";
  for (int i = 199; i >= 0; --i) turned += fmt::format("word{}\t{}\n", i, i % 3);
  const Seq2SeqTask same = pairs_of(folder.file("b.tsv", turned));
  CHECK(sources_of(task, task.test) == sources_of(same, same.test));
  CHECK(sources_of(task, task.validation) == sources_of(same, same.validation));

  const Seq2SeqTask three = pairs_of(folder.file("three.tsv", "a\tx\nb\ty\nc\tz\n"));
  CHECK(three.train.size() == 1);
  CHECK(three.validation.size() == 1);
  CHECK(three.test.size() == 1);
  CHECK_THROWS_WITH(pairs_of(folder.file("two.tsv", "a\tx\nb\ty\n")),
                    Contains("2 different sources cannot be divided into 3 sets"));
  const TableOptions half{.shares = shares_from("50:25:25", "")};
  CHECK(pairs_of(folder / "a.tsv", half).validation.size() == 50);
  for (const char* bad : {"", "90", "90:5", "90:5:5:", "0:5:5", "-1:5:5", "a:b:c", "90:5:5 "}) {
    CHECK_THROWS_WITH(shares_from(bad, "--split"), Contains("such as 90:5:5"));
  }
  CHECK_THROWS_WITH(shares_from("0:0:0", "--split", 0), Contains("such as 90:5:5"));
  CHECK(shares_from("0:0:1", "--split", 0).test == 1);
}

TEST_CASE("Validation and test may be files of their own", "[tables]") {
  const TemporaryFolder folder;
  folder.file("a.tsv", many_rows());
  folder.file("test.tsv", "word1\t1\nword1\tone\nnew?\t2\n");
  const Seq2SeqTask task = pairs_of(folder / "a.tsv", {.test = folder / "test.tsv"});
  CHECK(task.train.size() + task.validation.size() == 200);
  REQUIRE(task.test.size() == 2);
  CHECK(task.test[0].answers.size() == 2);
  CHECK(task.test[1].source.back() == task.source.unk());
  CHECK_THAT(text_of_data(task), Contains("1 of the test's 2 sources are also in training"));
  CHECK_THAT(text_of_data(pairs_of(folder / "a.tsv")), !Contains("are also in training"));
}

TEST_CASE("Symbols that are rare are unknown, and what is long is left out", "[tables]") {
  const TemporaryFolder folder;
  std::string rows = "a b c d e f\tx\n";
  for (int i = 0; i < 20; ++i) rows += fmt::format("a b{}\tx\n", i);
  folder.file("a.tsv", rows);
  const TableOptions table{.symbols = TokenKind::words, .least_count = 2, .longest = 5};
  const Seq2SeqTask task = pairs_of(folder / "a.tsv", table);
  CHECK(task.source.plain_size() == 1);
  CHECK(task.source.knows("a"));
  CHECK(task.target.kind() == TokenKind::characters);
  CHECK(task.skipped.text() == "1 line skipped: 1 longer than 5");
  CHECK_THAT(text_of_data(task), Contains("18 examples for training, 1 for validation, 1 for the "
                                          "test\nan example: a"));
  CHECK_THROWS_WITH(pairs_of(folder / "a.tsv", {.longest = 0}), Contains("all rows are longer"));
}

TEST_CASE("The task labels has the classes of its training data", "[tables]") {
  const TemporaryFolder folder;
  folder.file("a.csv", "text,label\ngood,1\nbad,0\nfine,1\nworse,0\nbest,1\nugly,0\n");
  const TaskOptions data{.data = folder / "a.csv"};
  const auto task = std::get<ClassificationTask>(make_table_task("labels", data, {}));
  CHECK(task.classes == std::vector<std::string>{"0", "1"});
  CHECK(task.train.size() + task.validation.size() + task.test.size() == 6);
  CHECK_THAT(text_of_data(task), Contains("2 classes"));

  std::string rows;
  for (int i = 0; i < 200; ++i) rows += fmt::format("good{0},1\nbad{0},0\n", i);
  const auto many = std::get<ClassificationTask>(
      make_table_task("labels", {.data = folder.file("many.csv", rows)},
                      {.shares = {.train = 80, .validation = 10, .test = 10}}));
  for (const auto* set : {&many.validation, &many.test}) {  // texts that begin alike are divided
    const auto ones = std::count_if(set->begin(), set->end(), [](const LabelledExample& example) {
      return example.label == 1;
    });
    CHECK(set->size() == 40);
    CHECK(ones > 10);
    CHECK(ones < 30);
  }

  folder.file("other.csv", "text,label\nnice,1\nodd,2\n");
  CHECK_THROWS_WITH(
      make_table_task("labels", data, {.test = folder / "other.csv"}),
      EndsWith("other.csv:3: the label \"2\" does not occur in the training data; correct "
               "it, or add such rows there"));
  CHECK_THROWS_WITH(
      make_table_task("labels", {.data = folder.file("one.csv", "a,x\nb,x\nc,x\n")}, {}),
      Contains("all rows have the label \"x\"; a classifier needs two"));
}

TEST_CASE("The settings of a table are those of the tasks that read one", "[tables]") {
  const RunSettings settings =
      settings_of({{"task", "pairs"}, {"data", "a.tsv"}, {"split", "80:10:10"}, {"columns", "1,3"}},
                  option_text);
  CHECK(settings.training.table.shares == Shares{80, 10, 10});
  const Record record = settings.to_record();
  CHECK(record["task"]["split"] == "80:10:10");
  CHECK(RunSettings::from_record(record, "config").to_record() == record);
  CHECK_FALSE(
      settings_of({{"task", "dates"}}, option_text).to_record()["task"].contains("columns"));
  CHECK_THROWS_WITH(settings_of({{"task", "dates"}, {"columns", "1,2"}}, option_text),
                    Contains("needs --task pairs, labels, masked, classify or keep, not dates"));
  CHECK_THROWS_WITH(settings_of({{"task", "dates"}, {"symbols", "words"}}, option_text),
                    Contains("--symbols needs --task pairs or labels, not dates"));
  CHECK_THROWS_WITH(settings_of({{"task", "g2p"}, {"split", "80:10:10"}}, option_text),
                    Contains("--split 80:10:10 does not fit task g2p"));
  CHECK_THROWS_WITH(settings_of({{"task", "labels"}, {"split", "letters"}}, option_text),
                    Contains("--split letters does not fit task labels: it takes shares"));
  CHECK_THROWS_WITH(make_table_task("pairs", {.validation = 5, .data = "x"}, {}),
                    Contains("divides them by shares"));
  CHECK_THROWS_WITH(settings_of({{"task", "pairs"}, {"symbols", "letters"}}, option_text),
                    Contains("characters, words"));
}
