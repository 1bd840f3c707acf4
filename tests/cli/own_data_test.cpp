// Training on tables of one's own, by the commands of docs/own-data.md.
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

TEST_CASE("data come from standard input, from all tables of a folder, and as bytes") {
  const TemporaryFolder folder;
  const auto shell = [&](const std::string& before, std::vector<std::string> arguments) {
    std::string command = before + " | " + HEADROOM_PROGRAM;
    for (const std::string& word : small(std::move(arguments))) command += " " + word;
    return run_process({"bash", "-c", command}, {}, folder.path());
  };
  folder.file("parts/a.tsv", plurals().substr(0, plurals().find("cow")));
  folder.file("parts/b.csv", "source,target\ncow,cows\nhen,hens\npig,pigs\ngoat,goats\n");
  folder.file("parts/notes.md", "no table");
  const std::vector<std::string> words{"train", "--task", "pairs", "--split", "50:40:10", "--data"};
  const auto with = [&](std::initializer_list<const char*> more) {
    std::vector<std::string> all = words;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const Finished piped = shell("cat parts/a.tsv", with({"-", "--until", "2"}));
  INFO(piped.err);
  REQUIRE(piped.code == 0);
  const fs::path kept =
      json::parse(content(folder / "run/config.json"))["task"]["data"].get<std::string>();
  CHECK(kept.parent_path() == folder / "run");
  CHECK(content(kept) == content(folder / "parts/a.tsv"));
  CHECK(headroom_program({"train", "--resume", "--out", "run"}, folder).code == 0);

  const Finished all = headroom_program(small(with({"parts", "--force"})), folder);
  INFO(all.err);
  REQUIRE(all.code == 0);
  CHECK_THAT(all.err, Contains("3 examples for training, 3 for validation, 1 for the test"));

  folder.file("accents.tsv", "caf\u00e9\tb\nna\u00efve\tc\n\u00e9t\u00e9\td\n");
  const Finished bytes =
      headroom_program(small(with({"accents.tsv", "--symbols", "bytes", "--force"})), folder);
  INFO(bytes.err);
  REQUIRE(bytes.code == 0);
  CHECK_THAT(bytes.err, Contains("different bytes in sources"));
  folder.file("in.txt", "\u00e9\n");
  CHECK(headroom_program({"predict", "--model", "run", "in.txt"}, folder).code == 0);

  const Finished nothing = shell("true", with({"-", "--force"}));
  CHECK(nothing.code == 4);
  CHECK_THAT(nothing.err, Contains("standard input is empty"));
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
      {{"--task", "pairs", "--data", "three.tsv", "--columns", "1"}, 2, "two names or numbers"},
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
