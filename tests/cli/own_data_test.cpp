// Training on tables of one's own, by the commands of docs/own-data.md.
#include <fmt/format.h>

#include "cli/runs.hpp"

using Catch::Matchers::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// A short run of a small model.
std::vector<std::string> small(std::vector<std::string> arguments) {
  for (const char* word : {"--steps", "4", "--width", "16", "--heads", "2", "--layers", "1",
                           "--batch", "8", "--out", "run"}) {
    arguments.push_back(word);
  }
  return arguments;
}

std::string plurals() {
  std::string text;
  for (const char* word : {"cat", "dog", "bird", "cow", "hen", "pig", "goat", "duck", "lamb"}) {
    text += std::string(word) + "\t" + word + "s\n";
  }
  return text;
}

/// The program with the output of a shell command as its standard input.
Finished piped(const std::string& command, const std::vector<std::string>& arguments,
               const TemporaryFolder& folder) {
  std::string line = command + " | " + HEADROOM_PROGRAM;
  for (const std::string& word : arguments) line += " '" + word + "'";
  return run_process({"bash", "-c", line}, {"TMPDIR=" + (folder / "temporary").string()},
                     folder.path());
}

bool has_kept_data(const fs::path& run) {
  return std::any_of(fs::directory_iterator(run), fs::directory_iterator(),
                     [](const fs::directory_entry& entry) {
                       return entry.path().filename().string().starts_with("data-");
                     });
}

}  // namespace

TEST_CASE("a model of pairs is trained, translates and loses heads") {
  const TemporaryFolder folder;
  folder.file("plurals.tsv", plurals());
  const Finished run = headroom_program(small({"train", "--task", "pairs", "--data", "plurals.tsv",
                                               "--split", "50:40:10", "--keep", "3"}),
                                        folder);
  INFO(run.err);
  REQUIRE(run.code == 0);
  CHECK_THAT(run.err, Contains("4 examples for training, 4 for validation, 1 for the test\n"
                               "an example: "));
  CHECK_THAT(content(folder / "run/report.html"), Contains("pairs"));
  const json config = json::parse(content(folder / "run/config.json"));
  CHECK(config["task"]["data"] == (folder / "plurals.tsv").string());

  const Finished translated = run_process(
      {"bash", "-c", std::string("echo cat | ") + HEADROOM_PROGRAM + " translate --model run"}, {},
      folder.path());
  CHECK(translated.code == 0);
  const Finished attended =
      headroom_program({"attend", "--model", "run", "--input", "cat", "--out", "seen"}, folder);
  CHECK(attended.code == 0);
}

TEST_CASE("a model of labels is trained on quoted text, and says what it has learned") {
  const TemporaryFolder folder;
  std::string rows = "text,label\n";
  for (int i = 0; i < 30; ++i) {
    rows += "\"good, " + std::to_string(i) + "\",yes\n\"bad, " + std::to_string(i) + "\",no\n";
  }
  folder.file("tone.csv", rows);
  const Finished run = headroom_program(
      small({"train", "--task", "labels", "--data", "tone.csv", "--split", "60:20:20"}), folder);
  INFO(run.err);
  REQUIRE(run.code == 0);
  CHECK_THAT(run.err, Contains("36 examples for training, 12 for validation, 12 for the test\n"));
  CHECK_THAT(run.err, Contains("2 classes"));
  CHECK_THAT(run.out, Contains("accuracy"));
}

TEST_CASE("data come from standard input, and go with their run") {
  const TemporaryFolder folder;
  fs::create_directories(folder / "temporary");
  folder.file("a.tsv", plurals());
  const std::vector<std::string> words{"train",    "--task", "pairs", "--split",
                                       "50:40:10", "--data", "-"};
  const auto with = [&](std::initializer_list<const char*> more) {
    std::vector<std::string> all = words;
    all.insert(all.end(), more.begin(), more.end());
    return small(all);
  };
  const Finished half = piped("cat a.tsv", with({"--until", "2"}), folder);
  INFO(half.err);
  REQUIRE(half.code == 0);
  const fs::path kept =
      json::parse(content(folder / "run/config.json"))["task"]["data"].get<std::string>();
  CHECK(kept.parent_path() == folder / "run");
  CHECK(content(kept) == plurals());
  fs::rename(folder / "run", folder / "moved");
  const Finished resumed = headroom_program({"train", "--resume", "--out", "moved"}, folder);
  INFO(resumed.err);
  CHECK(resumed.code == 0);
  CHECK(headroom_program({"importance", "--model", "moved", "--examples", "3"}, folder).code == 0);
  const Finished evaluated =
      piped("cat a.tsv", {"evaluate", "--model", "moved", "--data", "-", "--json"}, folder);
  INFO(evaluated.err);
  REQUIRE(evaluated.code == 0);
  CHECK(json::parse(evaluated.out)["data"] == "standard input");
  CHECK(headroom_program({"runs", "remove", "moved", "--yes"}, folder).code == 0);
  CHECK_FALSE(fs::exists(folder / "moved"));

  // Objects after a byte order mark; a table that begins with a brace.
  const char* const lines =
      R"(printf '\xEF\xBB\xBF'
         for i in 1 2 3 4; do echo "{ \"source\": \"a$i\", \"target\": \"b\"}"; done)";
  const Finished objects = piped(fmt::format("{{ {}; }}", lines), with({}), folder);
  INFO(objects.err);
  REQUIRE(objects.code == 0);
  const Finished table =
      piped(R"(printf '{\tbrace\n[\tbracket\n(\tparenthesis\n')", with({"--force"}), folder);
  INFO(table.err);
  CHECK(table.code == 0);
  CHECK(has_kept_data(folder / "run"));
  CHECK(piped("printf 'a,b\\nc,\"d, e\"\\nf,g\\n'", with({"--force"}), folder).code == 0);
  REQUIRE(headroom_program(small({"train", "--task", "sort", "--force"}), folder).code == 0);
  CHECK_FALSE(has_kept_data(folder / "run"));
  folder.file("run/data-mine.tsv", "mine");
  REQUIRE(headroom_program(small({"train", "--task", "sort", "--force"}), folder).code == 0);
  CHECK(fs::exists(folder / "run/data-mine.tsv"));

  const struct {
    std::string input;
    std::vector<std::string> words;
    int code;
    const char* says;
  } bad[] = {
      {"true", with({}), 4, "standard input is empty"},
      {"echo one", with({}), 4, "error: standard input:1: 1 column, 2 are needed"},
      {"printf 'a\\tb\\n' | iconv -t UTF-16", with({}), 4,
       "error: standard input:1: the file is in UTF-16, UTF-8 is needed: iconv -f UTF-16 -t UTF-8 "
       "-\n"},
      {"cat a.tsv", with({"--test-data", "-"}), 2, "only --data reads standard input"},
      {"cat a.tsv", with({"--branch", "run"}), 2, "a branch has the data of its trunk"},
      {"cat a.tsv", {"train", "--resume", "--out", "run", "--data", "-"}, 2, "from files"},
      {"echo one", {"evaluate", "--model", "run", "--data", "-"}, 4, "error: standard input:1: "},
  };
  for (const auto& [input, arguments, code, says] : bad) {
    const Finished run = piped(input, arguments, folder);
    INFO(run.err);
    CHECK(run.code == code);
    CHECK_THAT(run.err, Contains(says));
  }
  CHECK(fs::is_empty(folder / "temporary"));
}

TEST_CASE("bytes that are no UTF-8 are said in every output") {
  const TemporaryFolder folder;
  fs::create_directories(folder / "temporary");
  folder.file("accents.tsv",
              "caf\u00e9\t\u00e9\u00ea\nna\u00efve\t\u00ef\n\u00e9t\u00e9\t\u00e9\nso\t\u00e8\n");
  const Finished run =
      headroom_program(small({"train", "--task", "pairs", "--data", "accents.tsv", "--split",
                              "50:25:25", "--symbols", "bytes", "--target-symbols", "bytes"}),
                       folder);
  INFO(run.err);
  REQUIRE(run.code == 0);
  CHECK_THAT(run.err, Contains("different bytes in sources"));
  folder.file("in.txt", "caf\u00e9\n");
  // The targets begin with the same byte, which alone is no text.
  const char* const outputs[] = {"predict --model run in.txt", "predict --model run in.txt --json",
                                 "translate --model run <in.txt", "evaluate --model run --json",
                                 "attend --model run --input caf\u00e9 --json --out page"};
  for (const std::string words : outputs) {
    const Finished said =
        run_process({"bash", "-c", std::string(HEADROOM_PROGRAM) + " " + words}, {}, folder.path());
    INFO(words << ": " << said.err);
    CHECK(said.code == 0);
    CHECK_THAT(said.out, Contains("\uFFFD"));
  }
  const std::string page = content(folder / "page/report.html");
  CHECK_THAT(page, Contains(R"("\\xC3")") && !Contains("\u01c3"));
}

TEST_CASE("data that changed after a run are not measured as if they were its own") {
  const TemporaryFolder folder;
  folder.file("a.tsv", plurals());
  REQUIRE(headroom_program(
              small({"train", "--task", "pairs", "--data", "a.tsv", "--split", "50:40:10"}), folder)
              .code == 0);
  CHECK(headroom_program({"evaluate", "--model", "run", "--json"}, folder).code == 0);
  folder.file("a.tsv", plurals() + "cat\tdogs\n");
  const std::vector<std::vector<std::string>> commands{
      {"evaluate"}, {"importance", "--examples", "3"}, {"prune", "--keep", "5", "--examples", "3"}};
  for (std::vector<std::string> words : commands) {
    words.insert(words.end(), {"--model", "run"});
    const Finished refused = headroom_program(words, folder);
    INFO(refused.err);
    CHECK(refused.code == 5);
    CHECK_THAT(refused.err, Contains("a.tsv: is not the data that the run was trained with") &&
                                Contains("restore the file"));
  }
}

TEST_CASE("data come from all tables of a folder") {
  const TemporaryFolder folder;
  folder.file("parts/a.tsv", plurals().substr(0, plurals().find("cow")));
  folder.file("parts/b.csv", "source,target\ncow,cows\nhen,hens\npig,pigs\ngoat,goats\n");
  folder.file("parts/notes.md", "no table");
  folder.file("parts/._a.tsv", "hidden");
  fs::create_directories(folder / "parts/folder.csv");
  const std::vector<std::string> words{"train", "--task", "pairs", "--split", "50:40:10", "--data"};
  const auto with = [&](std::initializer_list<const char*> more) {
    std::vector<std::string> all = words;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const Finished all = headroom_program(small(with({"parts"})), folder);
  INFO(all.err);
  REQUIRE(all.code == 0);
  CHECK_THAT(all.err, Contains("3 examples for training, 3 for validation, 1 for the test"));

  folder.file("parts/b.csv", "cow,cows,1\n");
  CHECK_THAT(headroom_program(small(with({"parts", "--skip-bad-lines", "--force"})), folder).err,
             Contains("parts/b.csv: the file has no good rows; skipped: 1"));

  folder.file("labels/a.tsv", "good\tyes\nbad\tno\nfine\tyes\n");
  folder.file("tests/a.tsv", "good\tyes\n");
  folder.file("tests/b.tsv", "good\tyes\nso\tperhaps\n");
  CHECK_THAT(headroom_program(small({"train", "--task", "labels", "--data", "labels", "--split",
                                     "70:30:0", "--test-data", "tests", "--force"}),
                              folder)
                 .err,
             Contains("/tests/b.tsv:2: the label \"perhaps\""));
  fs::create_directories(folder / "none");
  CHECK_THAT(headroom_program(small(with({"none", "--force"})), folder).err,
             Contains("none: the folder has no file that ends in"));
}

TEST_CASE("a run goes on with tables that were moved") {
  const TemporaryFolder folder;
  folder.file("a.tsv", plurals());
  folder.file("b.tsv", "ox\toxes\n");
  REQUIRE(headroom_program(small({"train", "--task", "pairs", "--data", "a.tsv", "--test-data",
                                  "b.tsv", "--until", "2"}),
                           folder)
              .code == 0);
  fs::rename(folder / "b.tsv", folder / "moved.tsv");
  const Finished lost = headroom_program({"train", "--resume", "--out", "run"}, folder);
  CHECK(lost.code == 5);
  CHECK_THAT(lost.err, Contains("b.tsv: the run's data file does not exist") &&
                           Contains("add --test-data PATH"));
  const Finished found =
      headroom_program({"train", "--resume", "--out", "run", "--test-data", "moved.tsv"}, folder);
  INFO(found.err);
  CHECK(found.code == 0);
  CHECK(json::parse(content(folder / "run/config.json"))["task"]["test_data"] ==
        (folder / "moved.tsv").string());
}

TEST_CASE("what is wrong with a table is one line with an exit code and a remedy, and no folder") {
  const TemporaryFolder folder;
  folder.file("one.tsv", "a\tb\nc\n");
  folder.file("named.csv", "question,answer\na,b\nc,d\ne,f\n");
  folder.file("three.tsv", "a\tb\nc\td\ne\tf\n");
  struct Bad {
    std::vector<std::string> arguments;
    int code;
    const char* words;
  };
  const std::vector<Bad> all = {
      {{"--task", "pairs"}, 2, "task pairs needs a data file"},
      {{"--task", "pairs", "--data", "one.tsv"},
       4,
       "one.tsv:2: 1 column, 2 are needed; 1 bad line "
       "of 2; correct or skip it (see "
       "--skip-bad-lines)"},
      {{"--task", "pairs", "--data", "nowhere.tsv"}, 5, "nowhere.tsv"},
      {{"--task", "pairs", "--data", "named.csv", "--columns", "question,reply"},
       4,
       "no column is called \"reply\"; the first line has \"question\", \"answer\" (see "
       "--columns)"},
      {{"--task", "pairs", "--data", "three.tsv", "--columns", "1"},
       2,
       "two different names or numbers"},
      {{"--task", "pairs", "--data", "three.tsv", "--split", "90:10"}, 2, "--split 90:10 must be"},
      {{"--task", "pairs", "--data", "three.tsv", "--longest", "0"}, 2, "--longest"},
      {{"--task", "dates", "--symbols", "words"}, 2, "--symbols needs --task pairs or labels"},
      {{"--task", "labels", "--data", "three.tsv", "--target-symbols", "words"},
       2,
       "--target-symbols needs --task pairs"},
  };
  for (const Bad& bad : all) {
    std::vector<std::string> arguments{"train"};
    arguments.insert(arguments.end(), bad.arguments.begin(), bad.arguments.end());
    const Finished run = headroom_program(small(arguments), folder);
    INFO(run.err);
    CHECK(run.code == bad.code);
    CHECK_THAT(run.err, Contains(bad.words));
    CHECK(std::count(run.err.begin(), run.err.end(), '\n') == 1);
  }
  CHECK_FALSE(fs::exists(folder / "run"));
}

TEST_CASE("a run of a table does not resume with another test table") {
  const TemporaryFolder folder;
  folder.file("plurals.tsv", plurals());
  folder.file("test.tsv", "fox\tfoxes\n");
  REQUIRE(headroom_program(small({"train", "--task", "pairs", "--data", "plurals.tsv",
                                  "--test-data", "test.tsv"}),
                           folder)
              .code == 0);
  const json config = json::parse(content(folder / "run/config.json"));
  CHECK(config["task"]["test_data"] == (folder / "test.tsv").string());
  folder.file("test.tsv", "fox\tfox\n");
  const Finished resumed = headroom_program({"train", "--out", "run", "--resume"}, folder);
  INFO(resumed.err);
  CHECK(resumed.code == 5);
}
