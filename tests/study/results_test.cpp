// Means and contrasts of a study, against numbers computed by hand.
#include "headroom/study/results.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "headroom/base/error.hpp"
#include "support/catch.hpp"
#include "support/small_study.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;

namespace {

/// Three seeds, one number of heads, arms a and b, two random draws.
Record declaration() {
  return Record::parse(R"({
    "name": "hand",
    "base": {"task": "reverse", "steps": 30},
    "seeds": [1, 2, 3],
    "trunk": {"until": 20},
    "removal": {"prune": 4, "prune_from": 21},
    "arms": {"a": {"metric": "sensitivity"}, "b": {"metric": "magnitude"}},
    "controls": ["none", "random"],
    "random_draws": 2,
    "measures": ["validation_loss", "exact_match"],
    "contrasts": {"measures": ["validation_loss"]}
  })");
}

/// Results of runs with these losses, in the order of seeds and draws.
StudyResults results(const StudyDeclaration& d, const StudyPlan& plan,
                     std::map<std::string, std::vector<double>> losses,
                     const std::string& measure = "validation_loss") {
  StudyResults found;
  std::map<std::string, std::size_t> next;
  for (const StudyEntry& entry : plan.entries) {
    const std::vector<double>& of_arm = losses[entry.arm];
    const std::size_t i = next[entry.arm]++;
    if (i >= of_arm.size()) continue;  // not done
    const auto cell = std::find_if(plan.cells.begin(), plan.cells.end(),
                                   [&](const StudyCell& c) { return c.key == entry.cell; });
    REQUIRE(cell != plan.cells.end());
    found.cells.push_back({.key = entry.cell,
                           .trunk = {},
                           .seed = cell->seed,
                           .fold = cell->fold,
                           .draw = cell->draw,
                           .kept = {{"encoder", Index(i)}, {"cross", 2}},
                           .measures = {{measure, of_arm[i]}}});
  }
  summarise(d, plan, found);
  return found;
}

const StudyMean& mean_of(const StudyResults& results, const std::string& arm) {
  const auto found = std::find_if(results.means.begin(), results.means.end(),
                                  [&](const StudyMean& m) { return m.arm == arm; });
  REQUIRE(found != results.means.end());
  return *found;
}

const StudyContrast& contrast_of(const StudyResults& results, const std::string& arm,
                                 const std::string& against) {
  const auto found =
      std::find_if(results.contrasts.begin(), results.contrasts.end(),
                   [&](const StudyContrast& c) { return c.arm == arm && c.against == against; });
  REQUIRE(found != results.contrasts.end());
  return *found;
}

}  // namespace

TEST_CASE("means over seeds average draws first, and contrasts are paired by seed") {
  const StudyDeclaration d = declared(declaration());
  const StudyPlan plan = plan_of(d);
  const StudyResults found = results(
      d, plan,
      {{"a", {1, 2, 3}}, {"b", {2, 4, 9}}, {"none", {0, 0, 0}}, {"random", {1, 3, 4, 6, 6, 10}}});
  // The draws' means are 2, 5, 8: mean 5, standard deviation 3; t of 2 degrees of freedom
  // is 4.3027.
  const StudyMean& random = mean_of(found, "random");
  CHECK(random.points == std::vector<double>{1, 3, 4, 6, 6, 10});
  CHECK(random.mean.value == 5);
  CHECK(std::abs(random.mean.low - (5 - 4.303 * 3 / std::sqrt(3))) < 1e-4);
  CHECK(std::abs(random.mean.high - (5 + 4.303 * 3 / std::sqrt(3))) < 1e-4);
  CHECK(random.seeds[2].seed == 3);
  CHECK(random.seeds[2].value == 8);
  CHECK(random.kept.at("encoder") == 2.5);
  CHECK(random.heads == 4.5);

  // a - random: -1, -3, -5, so mean -3, deviation 2, t = -3 / (2 / sqrt 3) = -2.598; of 2 degrees
  // of freedom p = 1 - |t| / sqrt(2 + t^2) = 1 - 2.598 / 2.958.
  const StudyContrast& a = contrast_of(found, "a", "random");
  CHECK(a.in_family);
  CHECK(a.difference.value == -3);
  CHECK(std::abs(a.difference.high - (-3 + 4.303 * 2 / std::sqrt(3))) < 1e-4);
  const double p_a = 1 - std::sqrt(6.75) / std::sqrt(8.75);
  CHECK(std::abs(a.p - (p_a)) < 1e-9);
  // b - random: 0, -1, 1: no difference. The family is these two: Holm doubles the smaller p.
  const StudyContrast& b = contrast_of(found, "b", "random");
  CHECK(std::abs(b.p - (1)) < 1e-9);
  CHECK(found.family == 2);
  CHECK(std::abs(a.holm.value() - (2 * p_a)) < 1e-9);
  CHECK(std::abs(b.holm.value() - (1)) < 1e-9);
  // Comparisons outside of the family are not corrected.
  const StudyContrast& whole = contrast_of(found, "a", "none");
  CHECK_FALSE(whole.in_family);
  CHECK_FALSE(whole.holm.has_value());
  CHECK(whole.difference.value == 2);
}

TEST_CASE("folds are averaged within a seed first, and a seed counts with all of them") {
  Record record = declaration();
  record["folds"] = 2;
  record["measures"] = {"test.loss"};
  record["contrasts"]["measures"] = {"test.loss"};
  record["random_draws"] = 1;
  const StudyDeclaration d = declared(record);
  const StudyPlan plan = plan_of(d);
  const StudyResults found = results(
      d, plan,
      {{"a", {1, 3, 4, 6, 5}}, {"none", {0, 0, 2, 2, 4, 4}}, {"random", {9, 1, 2, 2, 7, 7}}},
      "test.loss");
  // Seed 3 of a has one of two folds: 2 and 5 are left.
  const StudyMean& a = mean_of(found, "a");
  CHECK(a.mean.value == 3.5);
  REQUIRE(a.seeds.size() == 2);
  CHECK(a.seeds[0].value == 2);
  CHECK(a.seeds[1].value == 5);
  CHECK(a.points == std::vector<double>{1, 3, 4, 6});
  // The interval is that of the seeds, not of the runs: t of 1 degree of freedom is 12.706.
  CHECK(std::abs(a.mean.high - (3.5 + 12.7062 * 1.5)) < 1e-3);
  const StudyContrast& random = contrast_of(found, "random", "none");
  REQUIRE(random.seeds.size() == 3);
  CHECK(random.seeds[0].value == 5);
  CHECK(std::abs(random.difference.value - (5.0 + 0 + 3) / 3) < 1e-12);
}

TEST_CASE("seeds with missing runs do not count, and missing comparisons count as nothing found") {
  const StudyDeclaration d = declared(declaration());
  const StudyPlan plan = plan_of(d);
  // Random heads of seed 3 were drawn once so far, and b was never trained.
  const StudyResults found =
      results(d, plan, {{"a", {1, 2, 3}}, {"b", {}}, {"none", {}}, {"random", {1, 3, 4, 6, 6}}});
  CHECK(mean_of(found, "random").seeds.size() == 2);
  CHECK(mean_of(found, "random").mean.value == 3.5);
  CHECK(mean_of(found, "a").mean.value == 2);
  const StudyContrast& a = contrast_of(found, "a", "random");
  REQUIRE(a.seeds.size() == 2);
  CHECK(a.difference.value == -2);
  CHECK(found.contrasts.size() == 1);
  CHECK(found.family == 2);
  CHECK(std::abs(a.holm.value() - (std::min(1.0, 2 * a.p))) < 1e-9);
  CHECK(found.cells_planned == 15);
}

TEST_CASE("rules say which comparisons are the family") {
  Record record = declaration();
  record["removal"]["prune"] = {4, 6};
  record["contrasts"]["measures"] = {"validation_loss", "exact_match"};
  record["contrasts"]["only"] =
      Record::parse(R"([{"measure": ["validation_loss"]}, {"prune": 6, "arm": ["b"]}])");
  record["controls"].push_back("same_allocation");
  const StudyDeclaration d = declared(record);
  const StudyPlan plan = plan_of(d);
  const StudyResults found = results(d, plan,
                                     {{"a", {1, 2, 3, 4, 5, 6}},
                                      {"b", {2, 4, 9, 1, 1, 2}},
                                      {"random", std::vector<double>(12, 1.5)},
                                      {"same_allocation", std::vector<double>(12, 1)}});
  // Of 4 heads a and b with random, and a with its allocation; of 6 heads b alone.
  CHECK(found.family == 4);
  for (const StudyContrast& c : found.contrasts) {
    const bool with = c.against == "random" ? c.arm == "a" || c.arm == "b" : c.arm == "a";
    CHECK(c.in_family == (with && (c.condition == 0 || (c.arm == "b" && c.against == "random"))));
    CHECK(c.holm.has_value() == c.in_family);
  }
}

TEST_CASE("the direction of measures") {
  CHECK(higher_is_better("exact_match"));
  CHECK(higher_is_better("cut.test.accuracy"));
  CHECK_FALSE(higher_is_better("validation_loss"));
  CHECK_FALSE(higher_is_better("test.per"));
}

TEST_CASE("files of runs whose meaning is wrong are refused by name") {
  const StudyDeclaration d = declared(declaration());
  const StudyPlan plan = plan_of(d);
  const std::string trunk = "trunks/" + plan.trunks[0].key, cell = "cells/" + plan.cells[0].key;
  const Record summary = {{"steps", 30}, {"parameters", 9}, {"alive", {"encoder 0.0"}}};
  const Record line = {{"step", 30}, {"validation_loss", 1.5}};
  const Record scores = {
      {"heads", {{{"kind", "encoder"}, {"layer", 0}, {"head", 0}}}},
      {"metrics", {{{"name", "magnitude"}, {"keep_low", false}, {"scores", {0.5}}}}},
      {"games", {{{"title", "encoder"}, {"regret", {{"magnitude", {nullptr, 0.5}}}}}}}};
  const TemporaryFolder folder;
  const auto write = [&](const Record& alive, const Record& measured, const Record& importance) {
    folder.file(trunk + "/summary.json", alive.dump());
    folder.file(trunk + "/importance.json", importance.dump());
    folder.file(cell + "/summary.json", alive.dump());
    folder.file(cell + "/metrics.jsonl", measured.dump() + "\n");
  };
  write(summary, line, scores);
  const StudyResults found = results_of(d, plan, folder.path());
  REQUIRE(found.cells.size() == 1);
  CHECK(found.cells[0].measures.at("validation_loss") == 1.5);
  CHECK(found.regret.size() == 1);

  const std::vector<std::tuple<Record, const char*, const char*>> cases{
      {summary, "/alive", "3"},
      {summary, "/alive/0", "\"head 1\""},
      {summary, "/alive", "null"},
      {summary, "/steps", "\"x\""},
      {summary, "/test", "[]"},
      {summary, "/after_cut", "{\"test\": 1}"},
      {summary, "/timeline", "{}"},
      {line, "/step", "1.5"},
      {line, "/validation_loss", "true"},
      {scores, "/metrics", "null"},
      {scores, "/metrics/0", "7"},
      {scores, "/metrics/0/scores", "[]"},
      {scores, "/metrics/0/keep_low", "0"},
      {scores, "/metrics/0/scores", "[null]"},
      {scores, "/games", "1"},
      {scores, "/games/0/regret", "[]"}};
  for (const auto& [sound, place, value] : cases) {
    INFO(place << " " << value);
    Record broken = sound;
    broken[Record::json_pointer(place)] = Record::parse(value);
    write(sound == summary ? broken : summary, sound == line ? broken : line,
          sound == scores ? broken : scores);
    CHECK_THROWS_AS(results_of(d, plan, folder.path()), DataError);
  }
}
