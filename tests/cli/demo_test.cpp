// The whole demo as a user runs it: its figures, and its page in a browser. Takes about a minute.
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/browser.hpp"
#include "support/catch.hpp"
#include "support/process.hpp"
#include "support/temporary_folder.hpp"

using Catch::Matchers::Contains;
using nlohmann::json;

TEST_CASE("the demo keeps its promises, and its page is drawn") {
  const TemporaryFolder folder;
  const Finished demo = run_process({HEADROOM_PROGRAM, "demo", "--out", "run", "--seed", "1"}, {},
                                    folder.path(), 600);
  INFO(demo.err);
  REQUIRE(demo.code == 0);
  CHECK_THAT(demo.out, Contains("Same function") && Contains("Learning") && Contains("Attention") &&
                           Contains("Which heads") && Contains("Removing heads") &&
                           Contains("Other choices") && Contains("report.html"));
  CHECK_THAT(demo.out, Contains("headroom lab list"));

  const json summary = json::parse(std::ifstream(folder / "run/summary.json"));
  CHECK(summary.at("seed") == 1);
  CHECK(summary.at("heads_total") == 24);
  CHECK(summary.at("heads_alive") == 12);
  CHECK(summary.at("exact_match_before").get<double>() >= 0.99);
  CHECK(summary.at("exact_match_after").get<double>() >= 0.97);
  // The same model trained for as many steps with all heads is shown beside both.
  CHECK_THAT(demo.out,
             Contains("after 1750 steps, all heads") && Contains("half of its heads removed: "));
  CHECK(summary.at("before_after").size() == 3);
  CHECK(summary.at("exact_match_as_long").get<double>() >= 0.97);
  // Every choice of heads was trained on, and the chosen heads were the better ones to cut.
  const json records = json::parse(std::ifstream(folder / "run/records.json"));
  CHECK(records.at("arms").at("arms").size() == 7);
  CHECK(records.at("arms").at("test_examples") == 1000);
  CHECK(records.at("importance_sums").size() == 5);
  CHECK(records.at("cost_reliability").get<double>() >= 0.8);
  for (const char* cost : {"step_ms_before", "step_ms_after"}) {
    CHECK(summary.at(cost).get<double>() > 0);  // the benchmarks check the time itself
  }
  constexpr double tolerance = 2e-6;  // of float
  for (const char* difference : {"forward", "parameter_gradient", "input_gradient"}) {
    INFO(difference);
    CHECK(summary.at("separate_vs_fused").at(difference).get<double>() <= tolerance);
  }
  // Gradients are summed in another order, so they cannot be equal to the bit.
  CHECK(summary.at("separate_vs_fused").at("parameter_gradient").get<double>() > 0);

  if (!can_open_pages()) return;
  for (const OpenedPage& page : check_page(folder / "run/report.html", folder / "browser")) {
    // Loss, exact match, differences, heads, two metrics, sums; five readings in six attentions.
    CHECK(page.attribute("charts") == "38");
    CHECK(page.attribute("maps") == "25");  // a head each, and that of the chosen head's life
  }
}
