// demo, train, translate and sample as a user runs them: the files they write, the errors they
// report, how they stop and resume.
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <numeric>

#include "cli/runs.hpp"
#include "headroom/io/file_lock.hpp"
#include "support/browser.hpp"

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using nlohmann::json;

namespace {

void require_refused(const Finished& finished, int code, const std::string& words) {
  CHECK(finished.code == code);
  CHECK_THAT(finished.err, StartsWith("error: ") && Contains(words));
  CHECK(std::count(finished.err.begin(), finished.err.end(), '\n') == 1);
}

}  // namespace

TEST_CASE("only one process trains in a folder") {
  const TemporaryFolder folder;
  REQUIRE(headroom_program(small_run("run"), folder).code == 0);
  CHECK_FALSE(std::filesystem::exists(folder / "run/.lock"));
  const auto lock = headroom::FileLock::if_free(folder / "run/.lock");
  const std::string holder = "process " + std::to_string(getpid()) + " is training";
  for (const auto& arguments : {std::vector<std::string>{"train", "--out", "run", "--resume"},
                                small_run("run", {"--force"})}) {
    require_refused(headroom_program(arguments, folder), 2, holder);
  }
  CHECK(std::filesystem::exists(folder / "run/checkpoint.safetensors"));
}

TEST_CASE("a training run leaves everything behind that later commands need") {
  const TemporaryFolder folder;
  const Finished run = headroom_program(small_run("run", {"--dropout", "0.1"}), folder);
  INFO(run.err);
  REQUIRE(run.code == 0);
  for (const char* file : {"config.json", "metrics.jsonl", "checkpoint.safetensors",
                           "best.safetensors", "summary.json"}) {
    INFO(file);
    CHECK(std::filesystem::exists(folder / "run" / file));
  }
  const json summary = json::parse(content(folder / "run/summary.json"));
  CHECK(summary["task"] == "reverse");
  CHECK(summary["steps"] == 30);
  CHECK(summary["test"].contains("exact_match"));
  CHECK(json::parse(content(folder / "run/config.json"))["model"]["width"] == 16);
  CHECK(steps_with_heads(folder / "run/metrics.jsonl") == std::vector<int>{10, 20, 30});

  SECTION("importance scores every live head by every metric, on examples that are kept for it") {
    const Finished scored =
        headroom_program({"importance", "--model", "run", "--examples", "10", "--json"}, folder);
    INFO(scored.err);
    REQUIRE(scored.code == 0);
    const json table = json::parse(scored.out);
    const std::size_t heads = table["heads"].size();
    CHECK(heads == summary["heads_alive"]);
    CHECK(table["backward_passes"] == 5);  // four of logit_jacobian
    CHECK(table["forward_passes"] == 2 + heads);
    std::vector<std::string> absent;  // the run recorded movement and running_sensitivity
    for (const json& metric : table["absent"]) absent.push_back(metric["name"]);
    CHECK(absent == std::vector<std::string>{"hard_concrete", "subset", "frozen_gates"});
    CHECK(table["constant"] == json::parse(R"(["attention_l1"])"));
    const json same = json::parse(R"(["sensitivity_per_batch", "value_path"])");
    CHECK(std::count(table["same_order"].begin(), table["same_order"].end(), same) == 1);
    for (const json& metric : table["metrics"]) {
      INFO(metric["name"]);
      CHECK(metric["scores"].size() == heads);
      if (metric["name"] != "attention_l1") continue;
      for (const json& score : metric["scores"]) {
        CHECK(std::abs(score.get<double>() - 1) < 1e-5);
      }
    }
    const Finished exact = headroom_program(
        {"importance", "--model", "run", "--examples", "4", "--oracle", "--json"}, folder);
    REQUIRE(exact.code == 0);
    std::size_t players = 0;
    const json whole = json::parse(exact.out), games = whole["games"];
    CHECK(whole["oracle"]["chosen_on"] == "importance");
    CHECK(whole["oracle"]["measured_on"] == "selection");
    CHECK(whole["oracle"]["examples"] == 4);
    if (heads > 12) CHECK(whole["sampled_shapley"]["errors"].size() == heads);
    for (const json& game : games) {
      const std::vector<double> values = game["values"], shapley = game["shapley"];
      CHECK(values.size() == std::size_t{1} << shapley.size());
      CHECK(std::abs(std::accumulate(shapley.begin(), shapley.end(), 0.0) - values.front() +
                     values.back()) < 1e-9);
      CHECK(game["best_subsets"].size() == shapley.size() + 1);
      for (const char* name : {"leave_one_out", "fisher", "greedy", "pairwise", "quadratic"}) {
        for (const char* table : {"regret", "regret_error", "regret_nats", "regret_nats_error"}) {
          CHECK(game[table][name].size() == shapley.size() + 1);
        }
      }
      CHECK(game["interactions"].size() == shapley.size());
      CHECK(game["dividends"].size() == shapley.size());
      const std::size_t n = shapley.size(), triples = n * (n - 1) * (n - 2) / 6;
      CHECK(game["triple_dividends"]["loss"].size() == triples);
      CHECK(game["triple_dividends"]["entropy"].size() == triples);
      CHECK(game["twin_error"].get<double>() < 1e-9);
      CHECK(game["sampled"]["cases"] == 20 * shapley.size());
      players += shapley.size();
    }
    CHECK(players == heads);
    const Finished shown = headroom_program(
        {"importance", "--model", "run", "--examples", "4", "--metric", "fisher", "--oracle"},
        folder);
    REQUIRE(shown.code == 0);
    CHECK_THAT(shown.out, Contains("The model has not learned the task") &&
                              !Contains("Metrics and choosers choose"));
    const Finished ranking =
        headroom_program({"importance", "--model", "run", "--metric", "depth"}, folder);
    CHECK(ranking.code == 0);
    CHECK_THAT(ranking.out, Contains("encoder 0.0"));
    const Finished cheap = headroom_program(
        {"importance", "--model", "run", "--metric", "cheap", "--examples", "10"}, folder);
    CHECK(cheap.code == 0);
    CHECK_THAT(cheap.out, Contains("1 forward and 5 backward passes"));
    const Finished three = headroom_program(
        {"importance", "--model", "run", "--metric", "movement,depth,fisher", "--json"}, folder);
    REQUIRE(three.code == 0);
    CHECK(json::parse(three.out)["metrics"][2]["cost"] == "B");
    require_refused(
        headroom_program({"importance", "--model", "run", "--metric", "depth,depth"}, folder), 2,
        "given twice");
    require_refused(headroom_program({"importance", "--model", "run", "--metric", "dept"}, folder),
                    2, "did you mean depth");
    std::ofstream(folder / "run/config.json") << "{}";
    require_refused(headroom_program({"importance", "--model", "run"}, folder), 5,
                    "it names no task");
  }
  SECTION("translate answers, and keeps answers beside their lines") {
    const Finished answer =
        headroom_program({"translate", "--model", "run", "abc", "hello"}, folder);
    CHECK(answer.code == 0);
    CHECK(std::count(answer.out.begin(), answer.out.end(), '\n') == 2);
    const Finished beam = headroom_program(
        {"translate", "--model", "run", "--beam", "3", "--candidates", "2", "abc"}, folder);
    CHECK(beam.code == 0);
    CHECK(std::count(beam.out.begin(), beam.out.end(), '\t') == 2);
    const Finished unknown =
        headroom_program({"translate", "--model", "run", "a#c", "abc"}, folder);
    CHECK(unknown.code == 4);
    CHECK(std::count(unknown.out.begin(), unknown.out.end(), '\n') == 2);
    CHECK_THAT(unknown.err,
               Contains("line 1: \"#\" in \"a#c\" is not in the model's vocabulary\n") &&
                   Contains("1 of 2 lines"));
    const Finished empty = headroom_program({"translate", "--model", "run", "abc", ""}, folder);
    CHECK(empty.code == 4);
    CHECK(std::count(empty.out.begin(), empty.out.end(), '\n') == 2);
    CHECK_THAT(empty.err, Contains("line 2: the text is empty\n"));
  }
  SECTION(
      "attend shows what heads look at, and writes a page that computes what the program does") {
    const Finished shown = headroom_program(
        {"attend", "--model", "run", "--input", "abc", "--kind", "cross", "--layer", "1"}, folder);
    INFO(shown.err);
    REQUIRE(shown.code == 0);
    CHECK_THAT(shown.out, Contains("  input   abc\n  output  ") && Contains("head 3") &&
                              Contains("a b c") && !Contains("layer 0") && !Contains("encoder"));
    CHECK_THAT(shown.out, Contains("The page: runs/attend-1/report.html"));
    if (can_open_pages()) {
      const OpenedPage page =
          open_page(folder / "runs/attend-1/report.html", folder / "profile", 900, false);
      CHECK(page.complaints == "");
      CHECK(page.attribute("maps") == "8");
      CHECK(std::stod(page.attribute("difference")) <= 1e-4);
    }
    const Finished record = headroom_program(
        {"attend", "--model", "run", "--input", "abc", "--output", "cb", "--json"}, folder);
    CHECK(json::parse(record.out)["answer"]["text"] == "cb");
    const auto refused = [&](std::vector<std::string> more, const char* words) {
      std::vector<std::string> arguments{"attend", "--model", "run"};
      arguments.insert(arguments.end(), more.begin(), more.end());
      require_refused(headroom_program(arguments, folder), 2, words);
    };
    refused({"--input", "a#c"}, "\"#\" is not one of the 26 tokens in the model's vocabulary");
    refused({"--input", ""}, "the input is empty");
    refused({"--input", "abc", "--output", "c#"}, "output \"c#\"");
    refused({"--input", "abc", "--layer", "7"}, "layer 7: there are layers 0 to 1");
    refused({"--input", "abc", "--kind", "cross", "--head", "4"}, "there are heads 0 to 3");
    refused({"--input", "abc", "--out", "run"}, "run: holds a trained model");
    refused({"--input", "abc", "--out", "run", "--force"}, "run: holds a trained model");
    CHECK(std::filesystem::exists(folder / "run/checkpoint.safetensors"));
    CHECK(!std::filesystem::exists(folder / "runs/attend-2"));
  }
  SECTION("a second run does not touch it without --force") {
    const std::string before = content(folder / "run/checkpoint.safetensors");
    require_refused(headroom_program(small_run("run"), folder), 2, "run");
    CHECK(content(folder / "run/checkpoint.safetensors") == before);
    CHECK(headroom_program(small_run("run", {"--force", "--seed", "2"}), folder).code == 0);
    CHECK(content(folder / "run/checkpoint.safetensors") != before);
  }
  SECTION("a wrong kind of model is refused") {
    require_refused(headroom_program({"sample", "--model", "run"}, folder), 2, "seq2seq");
  }
}

TEST_CASE("a stopped demo keeps its measurements, and a page can be made of them") {
  const TemporaryFolder folder;
  const Finished stopped = run_process(
      {"sh", "-c",
       HEADROOM_PROGRAM
       " demo --out run --telemetry 2 & run=$!; until grep -q heads run/metrics.jsonl || "
       "! kill -0 $run; do sleep 0.05; done; kill -INT $run; wait $run"},
      {}, folder.path());
  REQUIRE(stopped.code == 130);
  CHECK_THAT(stopped.err,
             Contains("stopped; the models and the measurements up to here are in run"));
  CHECK(std::filesystem::exists(folder / "run/checkpoint.safetensors"));
  CHECK(steps_with_heads(folder / "run/metrics.jsonl").front() == 2);
  CHECK(measurements(folder / "run/metrics.jsonl").front()["exact_match"].is_number());
  if (!can_open_pages()) return;
  const Finished report = headroom_program({"report", "--model", "run"}, folder);
  INFO(report.err);
  CHECK(report.code == 0);
  CHECK_THAT(content(folder / "run/report.html"), Contains("\"Exact match ends at "));
}

TEST_CASE("a text model trains, samples, and repeats itself for the same seed") {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 200; ++i) text += "the quick brown fox jumps over the lazy dog\n";
  folder.file("text.txt", text);
  const Finished run = headroom_program(
      {"train", "--task", "text", "--data", "text.txt", "--steps", "20", "--width", "16", "--heads",
       "2", "--layers", "1", "--length", "16", "--out", "run", "--threads", "1"},
      folder);
  INFO(run.err);
  REQUIRE(run.code == 0);
  const auto sampled = [&](const char* seed) {
    return headroom_program(
               {"sample", "--model", "run", "--prompt", "the", "--length", "60", "--seed", seed},
               folder)
        .out;
  };
  CHECK(sampled("1").size() == 3 + 60 + 1);
  CHECK(sampled("1") == sampled("1"));
  CHECK(sampled("1") != sampled("2"));
  const Finished looked = headroom_program(
      {"attend", "--model", "run", "--input", "the", "--length", "4", "--json"}, folder);
  CHECK(json::parse(looked.out)["example"]["target"].size() == 6);
  require_refused(
      headroom_program({"attend", "--model", "run", "--input", "the", "--kind", "cross"}, folder),
      2, "kind cross: this language_model has only decoder");
  require_refused(headroom_program({"translate", "--model", "run", "abc"}, folder), 2,
                  "language_model");
  require_refused(headroom_program({"sample", "--model", "run", "--prompt", "the#"}, folder), 4,
                  "#");
}

TEST_CASE("without telemetry nothing is written about heads, and the model is the same") {
  const TemporaryFolder folder;
  REQUIRE(headroom_program(small_run("with"), folder).code == 0);
  REQUIRE(headroom_program(small_run("without", {"--telemetry", "0"}), folder).code == 0);
  CHECK(steps_with_heads(folder / "without/metrics.jsonl").empty());
  CHECK(saved_state(folder / "without/checkpoint.safetensors") ==
        saved_state(folder / "with/checkpoint.safetensors"));
}

TEST_CASE("the accuracy of a classifier is reported") {
  const TemporaryFolder folder;
  const Finished run = headroom_program({"train", "--task", "brackets", "--steps", "10", "--width",
                                         "16", "--out", "run", "--threads", "1"},
                                        folder);
  INFO(run.err);
  CHECK(run.code == 0);
  CHECK_THAT(run.out, Contains("accuracy"));
  if (!can_open_pages()) return;
  CHECK_THAT(content(folder / "run/report.html"), Contains("\"Accuracy ends at "));
}

TEST_CASE("what cannot be trained is refused in one line, and leaves no folder behind") {
  const TemporaryFolder folder;
  folder.file("bad.dict", "good G UH1 D\nABSALOM\n");
  folder.file("empty.txt", "");
  folder.file("three.txt", "abc");
  folder.file("twenty.txt", "abcdefghijklmnopqrst");
  std::filesystem::create_directories(folder / "taken");
  folder.file("taken/precious", "x");
  struct Bad {
    std::vector<std::string> arguments;
    int code;
    const char* words;
  };
  const std::vector<Bad> all = {
      {{"train", "--task", "reverze"}, 2, "reverse"},
      {{"train", "--task", "g2p"}, 2, "--data"},
      {{"train", "--task", "reverse", "--data", "bad.dict"}, 2, "data"},
      {{"train", "--task", "g2p", "--data", "bad.dict"},
       4,
       "bad.dict:2: no phonemes after \"ABSALOM\""},
      {{"train", "--task", "g2p", "--data", "nowhere.dict"}, 5, "nowhere.dict"},
      {{"train", "--task", "text", "--data", "empty.txt"}, 4, "empty.txt"},
      {{"train", "--task", "text", "--data", "three.txt", "--length", "1"},
       4,
       "three.txt: the text is too short"},
      {{"train", "--task", "text", "--data", "three.txt", "--length", "64"},
       4,
       "three.txt: the text is too short"},
      {{"train", "--task", "text", "--data", "twenty.txt"},
       4,
       "windows of at most 17 fit (see --length)"},
      {{"train", "--task", "text", "--data", "."}, 5, "."},
      {{"train", "--heads", "5"}, 2, "--heads 5 must divide --width 64 (try 4 or 8)"},
      {{"train", "--heads", "0"}, 2, "--heads 0 is less than 1"},
      {{"train", "--steps", "0"}, 2, "--steps 0 is less than 1"},
      {{"train", "--steps", "many"}, 2, "--steps"},
      {{"train", "--dropout", "1"}, 2, "--dropout 1 is not in [0, 1)"},
      {{"train", "--dropout", "nan"}, 2, "--dropout"},
      {{"train", "--label-smoothing", "-0.1"}, 2, "--label-smoothing"},
      {{"train", "--learning-rate", "0"}, 2, "--learning-rate 0 is not a positive number"},
      {{"train", "--rate", "inf"}, 2, "--learning-rate inf"},
      {{"train", "--layout", "fussed"}, 2, "separate, fused, shared"},
      {{"train", "--activation", "rellu"}, 2, "--activation: \"rellu\" is not one of relu"},
      {{"train", "--schedule", "cosin"}, 2, "cosine"},
      {{"train", "--seed", "-1"}, 2, "--seed -1 is negative"},
      {{"train", "--telemetry", "-1"}, 2, "--telemetry -1 is negative"},
      {{"train", "--task", "dates", "--validation", "50000"}, 2, "at most half of all 73049"},
      {{"train", "--task", "text", "--data", "text.txt", "--validation", "9"},
       2,
       "task text reads its examples from a file"},
      {{"train", "--steps", "9", "--snapshots", "3,10"},
       2,
       "--snapshots 10 must be a step from 1 to --steps 9"},
      {{"train", "--prune", "25"},
       2,
       "--prune 25: at most 21 of 24 heads can be removed (--at-least 0 in each attention, "
       "--at-least-of-kind 1 of each kind)"},
      {{"train", "--keep", "2"}, 2, "--keep 2: at most 21 of 24 heads can be removed"},
      {{"train", "--keep", "24"}, 2, "--keep 24: the model has 24 heads; leave out --keep"},
      {{"train", "--keep", "-1"}, 2, "--keep -1 is negative"},
      {{"train", "--keep", "auto"}, 2, "--keep: \"auto\" is not a whole number"},
      {{"train", "--keep", "9", "--at-least", "2"}, 2, "--keep 9: at most 12 of 24 heads"},
      {{"train", "--prune", "4", "--keep", "2"},
       2,
       "give one of --keep 2 and --prune 4: --keep is the number of heads to keep in all; "
       "--at-least 2 keeps so many in every attention"},
      {{"train", "--remove", "cross 1.3", "--keep", "2"}, 2, "give one of --keep 2 and --remove"},
      {{"train", "--prune", "25", "--at-least-of-kind", "0"}, 2, "at most 24 of 24 heads"},
      {{"train", "--prune", "2", "--prune-from", "990", "--prune-over", "50"},
       2,
       "--prune-over 50"},
      {{"train", "--gates", "subset"}, 2, "--gates subset needs --prune N"},
      {{"train", "--metric", "fisher"}, 2, "--metric fisher needs --prune N"},
      {{"train", "--prune", "2", "--metric", "fishers"}, 2, "did you mean fisher?"},
      {{"train", "--prune", "2", "--prune-schedule", "gradually"}, 2, "did you mean gradual?"},
      {{"train", "--prune", "2", "--prune-from", "0.7", "--prune-to", "0.3"},
       2,
       "--prune-from 700 and --prune-to 300"},
      {{"train", "--prune", "2", "--prune-from", "1.5"}, 2, "--prune-from 1.5 is neither"},
      {{"train", "--prune", "2", "--prune-from", "0.3x"}, 2, "--prune-from 0.3x is neither"},
      {{"train", "--prune", "2", "--prune-to", "0.9", "--prune-over", "5"},
       2,
       "--prune-to 0.9 and --prune-over 5 contradict each other"},
      {{"train", "--prune", "2", "--prune-schedule", "one_shot", "--prune-to", "0.9"},
       2,
       "leave out --prune-to"},
      {{"train", "--prune", "2", "--prune-rounds", "3"}, 2, "needs --prune-schedule iterative"},
      {{"train", "--prune", "2", "--rescore", "running", "--metric", "fisher"},
       2,
       "(running_sensitivity, movement), not --metric fisher"},
      {{"train", "--prune", "2", "--rescore", "sometimes"}, 2, "each_event"},
      {{"train", "--prune", "2", "--budget", "per_head"}, 2, "per_layer"},
      {{"train", "--prune", "2", "--at-least", "-1"}, 2, "--at-least -1 is negative"},
      {{"train", "--keep", "20", "--metric", "foo"},
       2,
       "--metric \"foo\" is neither a chooser (greedy, pairwise, quadratic, random_search, "
       "sparse_pairs, worst_first) nor one of the metrics that "},
      {{"train", "--prune", "2", "--gates", "subset", "--prune-schedule", "one_shot"},
       2,
       "--prune-schedule one_shot and --gates subset contradict each other"},
      {{"train", "--prune", "2", "--gates", "subset", "--rescore", "running"},
       2,
       "--rescore running and --gates subset contradict each other"},
      {{"train", "--prune", "2", "--compensate", "average"}, 2, "not one of none, mean"},
      {{"train", "--prune", "2", "--gates", "subset", "--compensate", "mean"},
       2,
       "--compensate mean and --gates subset contradict each other"},
      {{"train", "--regrow", "0.3"}, 2, "--regrow 0.3 needs --prune N"},
      {{"train", "--prune", "2", "--regrow-with", "fresh"}, 2, "--regrow-with needs --regrow"},
      {{"train", "--prune", "2", "--regrow", "1.5"}, 2, "--regrow 1.5 is not in [0, 1]"},
      {{"train", "--prune", "2", "--regrow", "0.3", "--regrow-with", "old"}, 2, "stash, fresh"},
      {{"train", "--prune", "2", "--regrow", "0.3", "--rescore", "once"},
       2,
       "leave out --rescore once"},
      {{"train", "--prune", "2", "--regrow", "0.3", "--regrow-until", "0.5"},
       2,
       "the first swap, 50 steps (--regrow-every) after step 500 (--prune-from), is not before "
       "step 500 (--regrow-until); lower --regrow-every or raise --regrow-until"},
      {{"train", "--prune", "2", "--regrow", "0.3", "--prune-from", "980", "--prune-over", "9"},
       2,
       "lower --regrow-every or --prune-from"},
      {{"train", "--steps", "40", "--prune", "2", "--regrow", "0.3", "--regrow-until", "1000"},
       2,
       "--regrow-until 1000 is more than --steps 40"},
      {{"train", "--prune", "2", "--regrow", "0.3", "--gates", "subset"},
       2,
       "--regrow and --gates subset cannot be combined"},
      {{"train", "--remove", "cross 1.3", "--regrow", "0.3"}, 2, "--regrow and --remove"},
      {{"train", "--prune", "3", "--gates", "subsets"},
       2,
       "--gates: \"subsets\" is not one of hard"},
      {{"train", "--layout", "fussed"}, 2, "--layout: \"fussed\" is not one of separate"},
      {{"train", "--lr"}, 2, "error: --lr needs a value"},
      {{"train", "--resume"}, 2, "name one with --out DIR"},
      {{"train", "--drop-head", "1"}, 2, "--drop-head 1 is not in [0, 1)"},
      {{"train", "--sedd", "1"}, 2, "did you mean --seed?"},
      {{"train", "--out", "taken"}, 2, "taken"},
      {{"train", "--out", "nowhere", "--resume"}, 5, "--out nowhere does not exist"},
      {{"train", "--lr", "0"}, 2, "--learning-rate 0 is not a positive number"},
      {{"train", "--batch-size", "0"}, 2, "--batch 0 is less than 1"},
      {{"train", "--max-steps", "0"}, 2, "--steps 0 is less than 1"},
      {{"train", "--max-steps", "2", "--steps", "2"}, 2, "--steps can be given only once"},
      {{"train", "--resume", "--steps", "5"}, 2, "--steps cannot be given with --resume"},
      {{"train", "--resume", "--force"}, 2, "--resume"},
      {{"demo", "--out", "taken"}, 2, "taken"},
      {{"demo", "--seed", "x"}, 2, "--seed"},
      {{"demo", "now"}, 2, "takes no argument"},
      {{"translate", "--model", "nowhere", "abc"}, 5, "nowhere"},
      {{"translate", "--beam", "0", "abc"}, 2, "--beam"},
      {{"translate", "--candidates", "3", "abc"}, 2, "--candidates 3 needs --beam"},
      {{"sample", "--model", "taken"}, 5, "taken"},
      {{"sample", "--temperature", "-1"}, 2, "--temperature"},
      {{"sample", "--top-p", "0"}, 2, "--top-p"},
      {{"sample", "--length", "0"}, 2, "--length"},
      {{"trian"}, 2, "did you mean train?"},
  };
  for (const Bad& bad : all) {
    std::string typed = "headroom";
    for (const std::string& argument : bad.arguments) typed += " " + argument;
    INFO(typed);
    require_refused(headroom_program(bad.arguments, folder), bad.code, bad.words);
    CHECK_FALSE(std::filesystem::exists(folder / "runs"));
    CHECK_FALSE(std::filesystem::exists(folder / "nowhere"));
    CHECK(content(folder / "taken/precious") == "x");
  }
}
