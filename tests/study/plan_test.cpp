// The runs of a declaration: each once, paired by seed, with the controls that it names.
#include "headroom_lab/study/plan.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "headroom/base/error.hpp"
#include "headroom/base/names.hpp"
#include "support/catch.hpp"
#include "support/small_study.hpp"

using namespace headroom;
using Catch::Matchers::Contains;

namespace {

const StudyCell& cell_of(const StudyPlan& plan, const std::string& key) {
  const auto found = std::find_if(plan.cells.begin(), plan.cells.end(),
                                  [&](const StudyCell& cell) { return cell.key == key; });
  REQUIRE(found != plan.cells.end());
  return *found;
}

/// The number of entries of each arm and control.
std::map<std::string, int> entries_by_arm(const StudyPlan& plan) {
  std::map<std::string, int> count;
  for (const StudyEntry& entry : plan.entries) ++count[entry.arm];
  return count;
}

}  // namespace

TEST_CASE("a plan has every combination, and no cell twice") {
  const StudyPlan plan = plan_of(declared(small_declaration()));
  CHECK(plan.trunks.size() == 2);  // of two seeds
  CHECK(plan.conditions.size() == 2);
  CHECK(plan.conditions[0].text() == "prune 4");
  CHECK(plan.conditions[1].text() == "prune 8");
  const std::map<std::string, int> expected{{"sensitivity", 4},
                                            {"magnitude", 4},
                                            {"slow", 4},
                                            {"none", 4},
                                            {"random", 12},
                                            {"same_allocation", 12},
                                            {"same_mask_reinitialised", 4},
                                            {"small_from_start", 4}};
  CHECK(entries_by_arm(plan) == expected);
  std::set<std::string> keys;
  for (const StudyCell& cell : plan.cells) keys.insert(cell.key);
  CHECK(keys.size() == plan.cells.size());
  // The run that removes nothing is the same under both conditions.
  CHECK(plan.cells.size() == plan.entries.size() - 2);

  for (const StudyEntry& entry : plan.entries) {
    const StudyCell& cell = cell_of(plan, entry.cell);
    INFO(entry.arm);
    CHECK(cell.options.at("steps") == 30);
    CHECK(cell.options.contains("prune_from") ==
          (entry.arm != "none" && entry.arm != "small_from_start" &&
           entry.arm != "same_mask_reinitialised"));
    CHECK(cell.options.contains("prune") == !cell.control.has_value());
    CHECK(cell.branches() ==
          (entry.arm != "small_from_start" && entry.arm != "same_mask_reinitialised"));
    const bool copies = entry.arm == "same_allocation" || entry.arm == "same_mask_reinitialised";
    CHECK(cell.reference.empty() != copies);
    if (!copies) continue;
    const StudyCell& reference = cell_of(plan, cell.reference);
    CHECK(reference.options.at("metric") == "sensitivity");
    CHECK(reference.seed == cell.seed);
    CHECK(reference.options.at("prune") == cell.remove);
    CHECK(&reference < &cell);  // a cell comes after those that it refers to
  }
}

TEST_CASE("the key of a cell is that of its settings, whatever else is declared") {
  const StudyPlan plan = plan_of(declared(small_declaration()));
  Record more = small_declaration();
  more["name"] = "other";
  more["seeds"] = {2, 7, 1};
  more["removal"]["prune"] = {8, 6, 4};
  more["processes"] = 1;
  const StudyPlan larger = plan_of(declared(more));
  for (const StudyCell& cell : plan.cells) CHECK(cell_of(larger, cell.key).seed == cell.seed);
  Record wider = small_declaration();
  wider["base"]["width"] = 32;
  for (const StudyCell& cell : plan_of(declared(wider)).cells) {
    CHECK(std::none_of(plan.cells.begin(), plan.cells.end(),
                       [&](const StudyCell& other) { return other.key == cell.key; }));
  }
}

TEST_CASE("factors of the trunk make trunks, factors after it do not") {
  Record record = small_declaration();
  record["trunk"]["factors"] = {{"layout", {"separate", "fused"}}};
  record["base"]["schedule_steps"] = 30;
  record["base"].erase("steps");
  record["factors"] = {{"steps", {25, 30}}};
  // A quarter of 25 steps after step 21 the run has ended.
  CHECK_THROWS_WITH(plan_of(declared(record)), Catch::Matchers::Contains("\"prune_to\" 27"));
  record["arms"] = {{"metric", {"sensitivity", "magnitude"}}};
  record["removal"]["prune_over"] = 4;
  const StudyDeclaration declaration = declared(record);
  const StudyPlan plan = plan_of(declaration);
  CHECK(plan.trunks.size() == 4);
  for (const TrunkPlan& trunk : plan.trunks) CHECK(trunk.options.at("steps") == 30);
  CHECK(plan.conditions.size() == 8);
  CHECK(plan.conditions[0].text() == "layout separate, prune 4, steps 25");
  for (const StudyCell& cell : plan.cells) {
    const Index all = cell.options.at("steps").get<Index>();
    CHECK(steps_of(cell, declaration) == (cell.branches() ? all - 20 : all));
  }
}

TEST_CASE("named levels set several options, which an arm may set otherwise") {
  Record record = small_declaration();
  record["removal"].erase("prune_from");
  record["removal"]["pace"] = Record::parse(R"({
    "at once": {"prune_schedule": "one_shot", "prune_from": 25},
    "in rounds": {"prune_schedule": "iterative", "prune_from": 21, "rescore": "each_event"}})");
  record["arms"] = Record::parse(R"({"metric": ["sensitivity"],
                                     "fixed": {"metric": "magnitude", "rescore": "once"}})");
  record["only"] = Record::parse(R"([{"pace": "at once", "arm": ["sensitivity"]}])");
  const StudyPlan plan = plan_of(declared(record));
  REQUIRE(plan.conditions.size() == 4);
  CHECK(plan.conditions[0].text() == "pace at once, prune 4");
  CHECK(plan.conditions[3].text() == "pace in rounds, prune 8");
  for (const StudyEntry& entry : plan.entries) {
    const GivenSettings& options = cell_of(plan, entry.cell).options;
    CHECK_FALSE(options.contains("pace"));
    const bool rounds = plan.conditions[entry.condition].levels.at("pace") == "in rounds";
    if (entry.arm == "sensitivity" || entry.arm == "fixed" || entry.arm == "random") {
      CHECK(options.at("prune_schedule") == (rounds ? "iterative" : "one_shot"));
      CHECK(options.at("prune_from") == (rounds ? 21 : 25));
    } else if (entry.arm == "none") {
      CHECK_FALSE(options.contains("prune_schedule"));
    }
    if (entry.arm == "sensitivity") CHECK(options.contains("rescore") == rounds);
    if (entry.arm == "fixed") CHECK((rounds && options.at("rescore") == "once"));
    if (entry.arm == "random") CHECK_FALSE(options.contains("rescore"));
  }
}

TEST_CASE("a rule about controls says nothing about arms, and copies may be of several arms") {
  Record record = small_declaration();
  record["same_allocation_of"] = {"slow", "sensitivity"};
  record["allocation_draws"] = 2;
  record["only"] = Record::parse(R"([{"prune": 8, "control": ["none", "same_allocation"]}])");
  const StudyPlan plan = plan_of(declared(record));
  std::map<std::string, std::map<std::string, int>> arms;
  for (const StudyEntry& entry : plan.entries) {
    ++arms[plan.conditions[entry.condition].text()][entry.arm];
    if (!entry.arm.starts_with("same_allocation of ")) continue;
    const StudyCell& reference = cell_of(plan, cell_of(plan, entry.cell).reference);
    CHECK(reference.options.contains("prune_over") == (entry.arm == "same_allocation of slow"));
  }
  CHECK(arms["prune 4"].size() == 9);
  CHECK(arms["prune 8"] == std::map<std::string, int>{{"sensitivity", 2},
                                                      {"magnitude", 2},
                                                      {"slow", 2},
                                                      {"none", 2},
                                                      {"same_allocation of slow", 4},
                                                      {"same_allocation of sensitivity", 4}});
  for (const auto& [arm, count] : arms["prune 8"]) {
    CHECK(std::find(plan.arms.begin(), plan.arms.end(), arm) != plan.arms.end());
  }
}

TEST_CASE("folds make every run of a seed once for each part of its data") {
  Record record = small_declaration();
  record["measures"] = {"test.exact_match"};
  const StudyPlan whole = plan_of(declared(record));
  record["folds"] = 3;
  const StudyPlan plan = plan_of(declared(record));
  CHECK(plan.trunks.size() == 3 * whole.trunks.size());
  CHECK(plan.cells.size() == 3 * whole.cells.size());
  std::map<std::string, std::set<std::pair<Index, Index>>> data;  // of arms
  for (const StudyEntry& entry : plan.entries) {
    const StudyCell& cell = cell_of(plan, entry.cell);
    data[entry.arm].insert({cell.seed, cell.fold});
    const auto trunk = std::find_if(plan.trunks.begin(), plan.trunks.end(),
                                    [&](const TrunkPlan& t) { return t.key == cell.trunk; });
    REQUIRE(trunk != plan.trunks.end());
    CHECK((trunk->seed == cell.seed && trunk->fold == cell.fold));
    if (!cell.reference.empty()) CHECK(cell_of(plan, cell.reference).fold == cell.fold);
  }
  for (const auto& [arm, known] : data) CHECK(known.size() == 6);
}

TEST_CASE("rules leave out combinations") {
  Record record = small_declaration();
  record["only"] = Record::parse(R"([{"prune": 8, "arm": ["slow", "magnitude"]}])");
  const StudyPlan plan = plan_of(declared(record));
  std::map<std::string, std::set<std::string>> arms;
  for (const StudyEntry& entry : plan.entries) {
    arms[plan.conditions[entry.condition].text()].insert(entry.arm);
  }
  CHECK(arms["prune 4"].size() == 8);
  // Controls that copy the reference arm go with it.
  CHECK(arms["prune 8"] ==
        std::set<std::string>{"slow", "magnitude", "none", "random", "small_from_start"});
  record["only"] = Record::parse(R"([{"arm": ["slow"]}, {"prune": 4, "arm": ["magnitude"]},
                                     {"prune": 8, "arm": ["magnitude"]}])");
  CHECK_THROWS_WITH(plan_of(declared(record)), Contains("leave no combination"));
}
