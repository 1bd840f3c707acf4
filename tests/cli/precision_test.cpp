// The same model in the programs of both precisions.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/runs.hpp"
#include "headroom/statistics/ranks.hpp"

using nlohmann::json;

TEST_CASE("second-order metrics are the same in float and double, on a network with ReLU") {
  const std::filesystem::path folder_of_programs =
      std::filesystem::path(HEADROOM_PROGRAM).parent_path();
  const std::string single = folder_of_programs / "headroom",
                    twice = folder_of_programs / "headroom-f64";
  if (!std::filesystem::exists(single) || !std::filesystem::exists(twice)) {
    WARN("the program of the other precision is not built");
    return;
  }
  const TemporaryFolder folder;
  REQUIRE(
      run_process({single, "train", "--task", "dates", "--layers", "1", "--steps", "150", "--rate",
                   "4e-3", "--validation", "200", "--seed", "7", "--out", "run", "--threads", "1"},
                  {}, folder.path(), 300)
          .code == 0);
  CHECK(json::parse(folder.content("run/config.json")).dump().find("relu") != std::string::npos);
  const auto in = [&](const std::string& program, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {program});
    arguments.insert(arguments.end(), {"--model", "run", "--examples", "64", "--threads", "1"});
    const Finished done = run_process(arguments, {}, folder.path(), 300);
    INFO(done.err);
    REQUIRE(done.code == 0);
    return done.out;
  };
  const auto scores = [&](const std::string& program) {
    const json table = json::parse(in(program, {"importance", "--metric", "taylor2", "--json"}));
    return table["metrics"][0]["scores"].get<std::vector<double>>();
  };
  const std::vector<double> a = scores(single), b = scores(twice);
  REQUIRE(a.size() == 12);
  double most = 0, apart = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::abs(b[i]));
    apart = std::max(apart, std::abs(a[i] - b[i]));
  }
  CHECK(most > 0.01);
  CHECK(apart < 1e-4 * most);
  CHECK(headroom::rank_correlation(a, b) == 1);
  // The chooser with the same second differences.
  const auto removed = [&](const std::string& program, const std::string& out) {
    in(program, {"prune", "--keep", "6", "--metric", "quadratic", "--out", out});
    return json::parse(folder.content(out + "/config.json"))["cut"];
  };
  const json of_single = removed(single, "float"), of_twice = removed(twice, "double");
  const auto names = of_single["removed"].get<std::string>();  // "cross 0.1, encoder 0.2, ..."
  CHECK(std::count(names.begin(), names.end(), ',') == 5);
  CHECK(of_twice["removed"] == names);
}
