// `train --from`, `--epochs` and `--patience`: runs that begin with another one.
#include "cli/runs.hpp"

using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

std::string nouns(const char* ending) {
  std::string text;
  for (const char* word :
       {"cat", "dog", "bird", "cow", "hen", "pig",  "goat", "duck", "lamb", "bat",
        "ant", "bee", "eel",  "cod", "ape", "bear", "crab", "dodo", "deer", "cub"}) {
    text += std::string(word) + "\t" + word + ending + "\n";
  }
  return text;
}

Finished train_on(const TemporaryFolder& folder, std::vector<std::string> words) {
  words.insert(words.begin(), "train");
  return headroom_program(words, folder);
}

/// Trains a small model of pairs in the folder "first".
void train_first(const TemporaryFolder& folder) {
  folder.file("nouns.tsv", nouns("s"));
  REQUIRE(train_on(folder,
                   {"--task",  "pairs",   "--data", "nouns.tsv", "--split", "50:40:10", "--steps",
                    "6",       "--width", "16",     "--heads",   "2",       "--layers", "1",
                    "--batch", "4",       "--keep", "4",         "--out",   "first"})
              .code == 0);
}

}  // namespace

TEST_CASE("a finished run goes on with its settings, its moments and without its lost heads") {
  const TemporaryFolder folder;
  train_first(folder);
  const Finished run = train_on(folder, {"--from", "first", "--steps", "4", "--out", "second"});
  INFO(run.err);
  REQUIRE(run.code == 0);
  CHECK_THAT(run.err,
             Contains("first/checkpoint.safetensors, with their moments\n") && Contains("4 heads"));
  const json config = json::parse(content(folder / "second/config.json")),
             before = json::parse(content(folder / "first/config.json"));
  CHECK(config["model"] == before["model"]);
  CHECK(config["task"]["data"] == before["task"]["data"]);
  CHECK(config["training"]["batch_size"] == 4);
  CHECK(config["training"]["begin_with"] == (folder / "first").string());
  CHECK(config["training"]["steps"] == 4);
  CHECK(config["pruning"]["remove"] == 0);

  // That run in turn, with half of its heads removed.
  const Finished third =
      train_on(folder, {"--from", "second", "--steps", "6", "--keep", "3", "--out", "third"});
  INFO(third.err);
  REQUIRE(third.code == 0);
  CHECK(json::parse(content(folder / "third/summary.json"))["heads_alive"] == 3);
  CHECK(
      headroom_program({"importance", "--model", "third", "--metric", "magnitude"}, folder).code ==
      0);
  CHECK(headroom_program({"report", "--model", "third"}, folder).code == 0);
}

TEST_CASE("a run is fine-tuned on other data in its vocabulary, and resumes") {
  const TemporaryFolder folder;
  train_first(folder);
  folder.file("other.tsv", nouns("en") + "yak\tyaken\n");
  const Finished run = train_on(
      folder, {"--from", "first", "--data", "other.tsv", "--steps", "4", "--out", "tuned"});
  INFO(run.err);
  REQUIRE(run.code == 0);
  CHECK_THAT(run.err, Contains("first/best.safetensors, without moments\n"));
  const json first = json::parse(content(folder / "first/config.json")),
             tuned = json::parse(content(folder / "tuned/config.json"));
  CHECK(first["model"] == tuned["model"]);
  CHECK(tuned["task"]["vocabulary"]["source"]["tokens"].size() > 4);

  // Again, killed by its own word after two steps.
  REQUIRE(train_on(folder, {"--from", "first", "--data", "other.tsv", "--steps", "4", "--out",
                            "half", "--until", "2"})
              .code == 0);
  std::filesystem::remove_all(folder / "first");  // it is not needed any more
  CHECK(train_on(folder, {"--out", "half", "--resume"}).code == 0);
  CHECK(headroom_program({"evaluate", "--model", "tuned", "--json"}, folder).code == 0);
}

TEST_CASE("epochs are steps, and contradictions about the beginning are one line") {
  const TemporaryFolder folder;
  train_first(folder);
  folder.file("labels.tsv", "a\tx\nb\ty\nc\tx\nd\ty\n");
  const Finished run = train_on(
      folder, {"--from", "first", "--epochs", "1.5", "--accumulate", "2", "--out", "epochs"});
  INFO(run.err);
  REQUIRE(run.code == 0);
  CHECK_THAT(run.err, Contains("1.5 passes through 10 examples in batches of 8 are 2 steps\n"));
  struct Bad {
    std::vector<std::string> arguments;
    int code;
    const char* words;
  };
  const std::vector<Bad> all = {
      {{"--from", "first", "--epochs", "2", "--steps", "3"}, 2, "--epochs and --steps cannot"},
      {{"--from", "first", "--width", "8"}, 2, "--width cannot be given with --from"},
      {{"--from", "nowhere"}, 5, "--from nowhere does not exist"},
      {{"--moments", "keep"}, 2, "--moments needs --from"},
      {{"--from", "first", "--moments", "keep", "--optimizer", "lamb"}, 2, "--moments keep: they"},
      {{"--from", "first", "--branch", "first"}, 2, "--from and --branch cannot be combined"},
      {{"--from", "first", "--task", "labels", "--data", "labels.tsv"}, 2, "needs a classifier"},
      {{"--from", "first", "--config", "first/config.json"},
       2,
       "--from and the config.json of a run cannot"},
      {{"--gates", "hard_concrete", "--keep", "3", "--accumulate", "2"},
       2,
       "--gates and --accumulate cannot be combined"},
      {{"--task", "text", "--data", "labels.tsv", "--epochs", "2", "--length", "2"},
       2,
       "--epochs: the windows of a text"},
  };
  for (const Bad& bad : all) {
    std::vector<std::string> arguments = bad.arguments;
    arguments.insert(arguments.end(), {"--out", "bad"});
    const Finished refused = train_on(folder, arguments);
    INFO(refused.err);
    CHECK(refused.code == bad.code);
    CHECK_THAT(refused.err, Contains(bad.words));
  }
  CHECK_FALSE(std::filesystem::exists(folder / "bad"));
}
