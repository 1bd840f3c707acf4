// `predict` and `evaluate`: models of one's own data in use.
#include <cmath>

#include "cli/runs.hpp"

using Catch::Matchers::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// Trains a small model in the folder "run".
void train_small(const TemporaryFolder& folder, std::vector<std::string> task) {
  std::vector<std::string> arguments{"train"};
  arguments.insert(arguments.end(), task.begin(), task.end());
  for (const char* word : {"--steps", "4", "--width", "16", "--heads", "2", "--layers", "1",
                           "--batch", "8", "--out", "run"}) {
    arguments.push_back(word);
  }
  const Finished run = headroom_program(arguments, folder);
  INFO(run.err);
  REQUIRE(run.code == 0);
}

std::string words_with_plurals() {
  std::string text = "word\tplural\n";
  for (const char* word : {"cat", "dog", "bird", "cow", "hen", "pig", "goat", "duck", "lamb"}) {
    text += std::string(word) + "\t" + word + "s\n";
  }
  return text;
}

std::vector<json> printed_objects(const std::string& text) {
  std::vector<json> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(json::parse(line));
  return lines;
}

void train_plurals(const TemporaryFolder& folder) {
  folder.file("plurals.tsv", words_with_plurals());
  train_small(folder, {"--task", "pairs", "--data", "plurals.tsv", "--columns", "word,plural",
                       "--split", "50:25:25"});
}

}  // namespace

TEST_CASE("predict keeps the order of a file's lines and says what it could not read") {
  const TemporaryFolder folder;
  train_plurals(folder);
  folder.file("words.txt",
              "\xEF\xBB\xBF"
              "cat\r\n\ngoat\nx\xC3\xA9\n");
  const Finished said = headroom_program({"predict", "--model", "run", "words.txt"}, folder);
  CHECK(said.code == 4);
  CHECK(std::count(said.out.begin(), said.out.end(), '\n') == 4);
  CHECK_THAT(said.err, Contains("line 2: the text is empty\n") &&
                           Contains("lines have symbols that the model does not know") &&
                           Contains("error: 1 of 4 lines could not be read by this model\n"));
  const Finished recorded =
      headroom_program({"predict", "--model", "run", "--json", "words.txt"}, folder);
  const std::vector<json> lines = printed_objects(recorded.out);
  REQUIRE(lines.size() == 4);
  CHECK(lines[0]["input"] == "cat");
  CHECK(lines[0]["log_probability"].get<double>() < 0);
  CHECK(lines[1]["problem"] == "the text is empty");
  CHECK(lines[2]["input"] == "goat");
  CHECK(lines[3]["unknown"].size() >= 1);

  // The column of the table that the model was trained on, and another one.
  const Finished table =
      headroom_program({"predict", "--model", "run", "--json", "plurals.tsv"}, folder);
  CHECK(table.code == 0);
  CHECK(printed_objects(table.out).size() == 9);
  CHECK(printed_objects(table.out)[1]["input"] == "dog");
  const Finished other = headroom_program(
      {"predict", "--model", "run", "--json", "--column", "plural", "plurals.tsv"}, folder);
  CHECK(printed_objects(other.out)[1]["input"] == "dogs");
}

TEST_CASE("predict and translate have the same outputs") {
  const TemporaryFolder folder;
  train_plurals(folder);
  folder.file("words.txt", "cat\ngoat\ncat\n");
  const std::string program = HEADROOM_PROGRAM;
  for (const std::string options : {"", " --beam 3 --candidates 2"}) {
    const auto piped = [&](const std::string& command) {
      return run_process(
          {"bash", "-c", program + command + " --model run" + options + " < words.txt"}, {},
          folder.path());
    };
    const Finished predicted = piped(" predict"), translated = piped(" translate");
    CHECK(predicted.code == 0);
    CHECK(predicted.out == translated.out);
    CHECK(predicted.out.size() > 3);
  }
}

TEST_CASE("predict ranks classes, whose probabilities sum to 1") {
  const TemporaryFolder folder;
  std::string rows = "text,label\n";
  for (int i = 0; i < 30; ++i) {
    rows += "\"good, " + std::to_string(i) + "\",yes\n\"bad, " + std::to_string(i) + "\",no\n";
  }
  folder.file("tone.csv", rows);
  train_small(folder, {"--task", "labels", "--data", "tone.csv"});
  const Finished said = headroom_program({"predict", "--model", "run", "tone.csv"}, folder);
  CHECK(said.code == 0);
  CHECK(std::count(said.out.begin(), said.out.end(), '\n') == 60);
  const json first = printed_objects(
      headroom_program({"predict", "--model", "run", "--json", "tone.csv"}, folder).out)[0];
  CHECK(first["input"] == "good, 0");
  REQUIRE(first["classes"].size() == 2);
  const double sum = first["classes"][0]["probability"].get<double>() +
                     first["classes"][1]["probability"].get<double>();
  CHECK(std::abs(sum - 1) < 1e-6);
  CHECK(first["class"] == first["classes"][0]["class"]);
}

TEST_CASE("an unknown symbol is never right, and is not the same as another one") {
  const TemporaryFolder folder;
  std::string rows;
  for (char a = 'a'; a <= 'z'; ++a) {
    for (char b = 'a'; b <= 'e'; ++b) {
      rows += std::string("my name is ") + a + b + "x\t" + a + b + "y hello\n";
    }
  }
  folder.file("names.tsv", rows);
  const Finished trained =
      headroom_program({"train",     "--task",        "pairs",    "--data",
                        "names.tsv", "--symbols",     "words",    "--target-symbols",
                        "words",     "--least-count", "2",        "--steps",
                        "60",        "--width",       "16",       "--heads",
                        "2",         "--layers",      "1",        "--batch",
                        "16",        "--split",       "60:20:20", "--lr",
                        "0.01",      "--out",         "run"},
                       folder);
  INFO(trained.err);
  REQUIRE(trained.code == 0);
  CHECK_THAT(trained.err, Contains("an example: my name is <unk> -> <unk> hello\n"));
  CHECK_THAT(trained.err, !Contains("are also in training"));
  const json test = json::parse(content(folder / "run/summary.json"))["test"];
  CHECK(test["exact_match"] == 0);
  CHECK(test["wer"].get<double>() >= 0.5);
  CHECK_FALSE(test.contains("per"));
  const Finished said = headroom_program({"evaluate", "--model", "run", "--json"}, folder);
  INFO(said.err);
  const json measures = json::parse(said.out)["measures"];
  CHECK(measures["exact_match"]["value"] == 0);
  CHECK(measures["wer"]["value"] == test["wer"]);
  CHECK_THAT(json::parse(said.out)["notes"].get<std::string>(),
             Contains("26 of 26 outputs are wrong in any case"));
  CHECK_THAT(headroom_program({"predict", "--model", "run", "--json", "names.tsv"}, folder).out,
             !Contains("<unk>"));
}

TEST_CASE("predict reads the table of the training, with or without names of columns") {
  const TemporaryFolder folder;
  const std::string rows = "cat\tcats\ndog\tdogs\nhen\thens\npig\tpigs\ncow\tcows\n";
  folder.file("rows.tsv", rows);
  train_small(folder, {"--task", "pairs", "--data", "rows.tsv", "--split", "50:25:25"});
  const Finished said = headroom_program({"predict", "--model", "run", "rows.tsv"}, folder);
  INFO(said.err);
  CHECK(said.code == 0);
  CHECK(std::count(said.out.begin(), said.out.end(), '\n') == 5);
  folder.file("named.CSV", "source,target\ncat,cats\n");
  const Finished one = headroom_program({"predict", "--model", "run", "named.CSV"}, folder);
  CHECK(one.code == 0);
  CHECK(std::count(one.out.begin(), one.out.end(), '\n') == 1);
  folder.file("twice.csv", "source,source\ncat,cats\n");
  CHECK_THAT(headroom_program({"predict", "--model", "run", "twice.csv"}, folder).err,
             Contains("twice.csv:1: two columns are called \"source\""));
}

TEST_CASE("translate --json has the outputs of the good lines, too") {
  const TemporaryFolder folder;
  train_plurals(folder);
  const Finished said =
      headroom_program({"translate", "--model", "run", "--json", "cat", ""}, folder);
  CHECK(said.code == 4);
  const json lines = json::parse(said.out);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0]["outputs"].size() == 1);
  CHECK(lines[1].contains("problem"));
}

TEST_CASE("evaluate has the measures of the run's summary, and those of another file") {
  const TemporaryFolder folder;
  train_plurals(folder);
  const json summary = json::parse(content(folder / "run/summary.json"));
  const Finished said = headroom_program({"evaluate", "--model", "run", "--json"}, folder);
  INFO(said.err);
  REQUIRE(said.code == 0);
  const json record = json::parse(said.out);
  CHECK(record["measures"]["exact_match"]["value"] == summary["test"]["exact_match"]);
  const double loss = record["measures"]["loss"]["value"], trained = summary["test"]["test_loss"];
  CHECK(std::abs(loss - trained) < 1e-5);
  CHECK_FALSE(fs::exists(folder / "runs"));  // --json writes no page

  folder.file("new.tsv", "zebra\tzebras\ncat\tcats\nhippopotamusses\thippopotami\n");
  const Finished other = headroom_program(
      {"evaluate", "--model", "run", "--data", "new.tsv", "--columns", "1,2", "--out", "page"},
      folder);
  CHECK(other.code == 0);
  CHECK_THAT(other.out, Contains("2 examples of new.tsv\n") &&
                            Contains("1 line skipped: 1 longer than ") &&
                            Contains("1 of 2 inputs have symbols that the model does not know") &&
                            Contains("The page: page/report.html"));
  CHECK_THAT(content(folder / "page/report.html"), Contains("ebras"));
}

TEST_CASE("what cannot be predicted or evaluated is one line with a remedy") {
  const TemporaryFolder folder;
  train_plurals(folder);
  folder.file("words.txt", "cat\n");
  folder.file("new.csv", "a,b\nc,d\n");
  struct Bad {
    std::vector<std::string> arguments;
    int code;
    const char* words;
  };
  const std::vector<Bad> all = {
      {{"predict", "--model", "run", "nowhere.txt"}, 5, "nowhere.txt: cannot be opened"},
      {{"predict", "--model", "run", "--column", "a", "words.txt"}, 2, "--column a needs a table"},
      {{"predict", "--model", "run", "new.csv"}, 4, "no column is called \"word\""},
      {{"predict", "--model", "run", "--candidates", "2", "words.txt"}, 2, "--beam"},
      {{"predict", "--model", "nowhere", "words.txt"}, 5, "--model nowhere does not exist"},
      {{"evaluate", "--model", "run", "--data", "new.csv"}, 4, "(see --columns)"},
      {{"evaluate", "--model", "run", "--data", "nowhere.csv"}, 5, "nowhere.csv"},
      {{"evaluate", "--model", "run", "--set", "importance"}, 2, "is not one of"},
      {{"evaluate", "--model", "run/best.safetensors", "--out", "run"}, 2, "holds a trained model"},
  };
  for (const Bad& bad : all) {
    const Finished run = headroom_program(bad.arguments, folder);
    INFO(run.err);
    CHECK(run.code == bad.code);
    CHECK_THAT(run.err, Contains(bad.words));
    CHECK(std::count(run.err.begin(), run.err.end(), '\n') == 1);
  }
}
