// `headroom prune`: a trained model is cut, and the other commands read the result.
#include <cmath>

#include "cli/runs.hpp"

using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;
using nlohmann::json;

namespace {

/// A model that knows a little: 2 + 2 layers of 4 heads.
void train_model(const TemporaryFolder& folder) {
  std::vector<std::string> arguments =
      small_run("model", {"--rate", "0.01", "--no-page", "--validation", "120"});
  arguments[4] = "60";   // steps
  arguments[12] = "30";  // from one evaluation to the next
  REQUIRE(headroom_program(arguments, folder).code == 0);
}

Finished prune(const TemporaryFolder& folder, std::vector<std::string> more) {
  std::vector<std::string> arguments{"prune", "--model", "model", "--threads", "1"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return headroom_program(arguments, folder);
}

json summary_of(const TemporaryFolder& folder, const char* name) {
  return json::parse(content(folder / name / "summary.json"));
}

std::size_t lines_of(const std::string& text) {
  return std::size_t(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE("a model is cut to a number of heads, and every command reads the result") {
  const TemporaryFolder folder;
  train_model(folder);
  const Finished cut = prune(folder, {"--keep", "12", "--compensate", "mean", "--out", "cut"});
  INFO(cut.err);
  REQUIRE(cut.code == 0);
  CHECK_THAT(cut.out, Contains("12 of 24 heads are removed") && Contains("random_masks") &&
                          Contains("Heads left: encoder") && Contains("exact match, test") &&
                          Contains("loss, 30 selection examples"));
  const json summary = summary_of(folder, "cut"), before = summary["before"],
             after = summary["after"];
  CHECK(before["heads"] == 24);
  CHECK(after["heads"] == 12);
  CHECK(after["parameters"] < before["parameters"]);
  CHECK(after["test_loss"].get<double>() != before["test_loss"].get<double>());
  CHECK(std::abs(after["test_loss"].get<double>() - before["test_loss"].get<double>() -
                 summary["test_increase"]["value"].get<double>()) < 1e-5);
  const json config = json::parse(content(folder / "cut/config.json"));
  CHECK(config["cut"]["compensation"] == "mean");
  CHECK(config["task"] == json::parse(content(folder / "model/config.json"))["task"]);

  const Finished inspected = headroom_program({"inspect", "--model", "cut", "--json"}, folder);
  REQUIRE(inspected.code == 0);
  CHECK(json::parse(inspected.out)["removed"].size() == 12);
  CHECK(json::parse(inspected.out)["parameters"] == after["parameters"]);
  CHECK(headroom_program({"translate", "--model", "cut", "abc"}, folder).code == 0);
  CHECK(headroom_program({"attend", "--model", "cut", "--input", "abc", "--json"}, folder).code ==
        0);
  const Finished measured = headroom_program(
      {"importance", "--model", "cut", "--metric", "sensitivity", "--json"}, folder);
  REQUIRE(measured.code == 0);
  CHECK(json::parse(measured.out)["heads"].size() == 12);

  // The cut model is cut again, down to the budget; it cannot be trained on.
  const Finished again = headroom_program(
      {"prune", "--model", "cut", "--keep", "6", "--metric", "greedy", "--out", "less"}, folder);
  INFO(again.err);
  CHECK(again.code == 0);
  CHECK(summary_of(folder, "less")["before"]["test_loss"] == after["test_loss"]);
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"train", "--out", "cut", "--resume"},
        small_run("branch", {"--branch", "cut"})}) {
    const Finished refused = headroom_program(command, folder);
    CHECK(refused.code == 2);
    CHECK_THAT(refused.err, Contains("`prune` wrote this model"));
  }
}

TEST_CASE("the number of heads follows from scores, or from what the selection set allows") {
  const TemporaryFolder folder;
  train_model(folder);
  const Finished measured = headroom_program(
      {"importance", "--model", "model", "--metric", "sensitivity", "--json"}, folder);
  double sum = 0, squares = 0;
  const json table = json::parse(measured.out);
  for (const json& score : table["metrics"][0]["scores"]) {
    sum += score.get<double>();
    squares += score.get<double>() * score.get<double>();
  }
  REQUIRE(prune(folder, {"--keep", "auto", "--metric", "sensitivity", "--out", "auto"}).code == 0);
  CHECK(summary_of(folder, "auto")["after"]["heads"] == std::llround(sum * sum / squares));

  const Finished within =
      prune(folder, {"--max-loss-increase", "0.05", "--metric", "greedy", "--out", "within"});
  INFO(within.err);
  REQUIRE(within.code == 0);
  CHECK_THAT(within.out, Contains("--max-loss-increase 0.05: "));
  const json summary = summary_of(folder, "within");
  const double increase = summary["selection_increase"];
  CHECK(increase <= 0.05);
  const int left = summary["after"]["heads"];
  REQUIRE(left < 24);
  // One head more would be too much.
  REQUIRE(prune(folder, {"--keep", std::to_string(left - 1), "--metric", "greedy", "--out", "more"})
              .code == 0);
  CHECK(summary_of(folder, "more")["selection_increase"] > 0.05);

  // The same limit as a share of the loss.
  const double loss = summary["before"]["selection_loss"];
  const std::string share = std::to_string(100 * 0.05 / loss) + "%";
  REQUIRE(
      prune(folder, {"--max-loss-increase", share, "--metric", "greedy", "--out", "share"}).code ==
      0);
  CHECK(summary_of(folder, "share")["after"] == summary["after"]);
}

TEST_CASE("a cut that cannot be made is refused in one line, and writes nothing") {
  const TemporaryFolder folder;
  CHECK(headroom_program({"prune", "--model", "nowhere", "--keep", "3"}, folder).code == 5);
  train_model(folder);
  folder.file("taken/file", "precious");
  struct Refused {
    std::vector<std::string> arguments;
    const char* words;
  };
  for (const auto& [arguments, words] : std::vector<Refused>{
           {{}, "give one of --keep K, --keep auto, --max-loss-increase X and --budget-ms X"},
           {{"--keep", "3", "--max-loss-increase", "1"}, "give one of"},
           {{"--keep", "3", "--budget-ms", "1"}, "give one of"},
           {{"--budget-ms", "0"}, "--budget-ms 0 is neither a number of milliseconds above 0"},
           {{"--budget-ms", "fast"}, "nor a share of the time with all heads, such as 80%"},
           {{"--budget-ms", "100%"}, "ms already; give a shorter time"},
           {{"--budget-ms", "1e9"}, "ms already; give a shorter time"},
           {{"--budget-ms", "1e-9"}, "with 21 heads removed, all that the budget allows"},
           {{"--budget-ms", "1", "--metric", "greedy"}, "greedy is a chooser of sets"},
           {{"--keep", "0"}, "a number from 3 to 23"},
           {{"--keep", "24"}, "a number from 3 to 23"},
           {{"--keep", "30"}, "the model has 24 heads"},
           {{"--keep", "2"}, "--at-least-of-kind 1 of each kind"},
           {{"--keep", "many"}, "--keep many is neither \"auto\" nor a number"},
           {{"--keep", "5", "--at-least", "1"}, "a number from 6 to 23"},
           {{"--keep", "3", "--at-least", "4"}, "--keep 3: no head can be removed: the model has"},
           {{"--keep", "auto", "--metric", "greedy"}, "greedy is a chooser of sets"},
           {{"--max-loss-increase", "-9"}, "--max-loss-increase -9 is neither"},
           {{"--max-loss-increase", "5x"}, "--max-loss-increase 5x is neither"},
           {{"--max-loss-increase", "0", "--metric", "worst_first"},
            "no head can be removed; without"},
           {{"--max-loss-increase", "1", "--at-least", "4"}, "the budget allows no removal"},
           {{"--keep", "3", "--metric", "greddy"}, "did you mean greedy?"},
           {{"--keep", "3", "--metric", "hard_concrete"}, "hard_concrete"},
           {{"--keep", "3", "--metric", "foo"}, "importance --help lists"},
           {{"--keep", "3", "--budget", "per_head"}, "per_layer"},
           {{"--keep", "3", "--out", "model"}, "is the folder of the model itself"},
           {{"--keep", "3", "--out", "model", "--force"}, "is the folder of the model itself"},
           {{"--keep", "3", "--out", "taken"}, "--out taken is not empty"}}) {
    std::vector<std::string> all = arguments;
    if (std::find(all.begin(), all.end(), "--out") == all.end()) {
      all.insert(all.end(), {"--out", "new"});
    }
    const Finished refused = prune(folder, all);
    INFO(words << ": " << refused.err);
    CHECK(refused.code == 2);
    CHECK_THAT(refused.err, StartsWith("error: ") && EndsWith("\n") && Contains(words));
    CHECK(lines_of(refused.err) == 1);
    CHECK(refused.out.empty());
    CHECK_FALSE(std::filesystem::exists(folder / "new"));
  }
  CHECK(content(folder / "taken/file") == "precious");
}
