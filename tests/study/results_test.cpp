// Means and contrasts of a study, against numbers computed by hand.
#include "headroom_lab/study/results.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "headroom/base/error.hpp"
#include "headroom/train/checkpoint.hpp"
#include "headroom_runs/runs/manifest.hpp"
#include "support/catch.hpp"
#include "support/hand_study.hpp"
#include "support/small_study.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;
using namespace hand_study;

namespace {

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
  CHECK(std::abs(random.mean.low - (5 - 4.302652729749 * 3 / std::sqrt(3))) < 1e-4);
  CHECK(std::abs(random.mean.high - (5 + 4.302652729749 * 3 / std::sqrt(3))) < 1e-4);
  CHECK(random.seeds[2].seed == 3);
  CHECK(random.seeds[2].value == 8);
  CHECK(random.kept.at("encoder") == 2.5);
  CHECK(random.heads == 4.5);

  // a - random: -1, -3, -5, so mean -3, deviation 2, t = -3 / (2 / sqrt 3) = -2.598; of 2 degrees
  // of freedom p = 1 - |t| / sqrt(2 + t^2) = 1 - 2.598 / 2.958.
  const StudyContrast& a = contrast_of(found, "a", "random");
  CHECK(a.in_family);
  CHECK(a.difference == -3);
  CHECK(std::abs(a.interval.value().high - (-3 + 4.302652729749 * 2 / std::sqrt(3))) < 1e-4);
  const double p_a = 1 - std::sqrt(6.75) / std::sqrt(8.75);
  CHECK(std::abs(a.p.value() - p_a) < 1e-9);
  CHECK(a.decides());
  // b - random: 0, -1, 1: no difference. The family is these two: Holm doubles the smaller p.
  const StudyContrast& b = contrast_of(found, "b", "random");
  CHECK(std::abs(b.p.value() - 1) < 1e-9);
  CHECK(found.family == 2);
  CHECK(std::abs(a.holm.value() - (2 * p_a)) < 1e-9);
  CHECK(std::abs(b.holm.value() - (1)) < 1e-9);
  // Comparisons outside of the family are not corrected.
  const StudyContrast& whole = contrast_of(found, "a", "none");
  CHECK_FALSE(whole.in_family);
  CHECK_FALSE(whole.holm.has_value());
  CHECK(whole.difference == 2);
}

TEST_CASE("a family compares arms with each other, each pair once") {
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  const std::vector<std::tuple<const char*, Pairs, const char*>> cases{
      {R"("b")", {{"a", "b"}}, "b"},
      {R"(["random", "a", "b"])", {{"a", "random"}, {"b", "random"}, {"b", "a"}}, "random"},
      {R"([["b", "a"], ["a", "b"], ["random", "none"]])", {{"b", "a"}, {"random", "none"}}, "a"}};
  for (const auto& [against, pairs, reference] : cases) {
    INFO(against);
    Record record = declaration();
    record["contrasts"]["against"] = Record::parse(against);
    const StudyDeclaration d = declared(record);
    CHECK(compared_pairs(d) == pairs);
    CHECK(reference_of(d.contrasts) == reference);
    const StudyResults found = results(d, plan_of(d),
                                       {{"a", {1, 2, 3}},
                                        {"b", {2, 4, 9}},
                                        {"none", {0, 0.5, 0}},
                                        {"random", {1, 3, 4, 6, 6, 10}}});
    CHECK(found.family == Index(pairs.size()));
    Pairs tested;
    double smallest = 1, smallest_holm = 1;
    for (const StudyContrast& contrast : found.contrasts) {
      CHECK(contrast.in_family == contrast.holm.has_value());
      if (!contrast.in_family) continue;
      tested.emplace_back(contrast.arm, contrast.against);
      smallest = std::min(smallest, contrast.p.value());
      smallest_holm = std::min(smallest_holm, contrast.holm.value());
    }
    CHECK(tested == pairs);
    CHECK(std::abs(smallest_holm - std::min(1.0, double(pairs.size()) * smallest)) < 1e-12);
  }
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
  CHECK(std::abs(random.difference - (5.0 + 0 + 3) / 3) < 1e-12);
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
  CHECK(a.difference == -2);
  CHECK(found.contrasts.size() == 1);
  CHECK(found.family == 2);
  CHECK(std::abs(a.holm.value() - (std::min(1.0, 2 * a.p.value()))) < 1e-9);
  CHECK(found.cells_planned == 15);
}

TEST_CASE("equal differences and single seeds have neither p nor interval") {
  const StudyDeclaration d = declared(declaration());
  const StudyPlan plan = plan_of(d);
  // a is better by 0.02 in every seed, up to rounding; b differs.
  const StudyResults found = results(d, plan,
                                     {{"a", {0.52, 0.53, 0.9}},
                                      {"b", {0.6, 0.7, 0.95}},
                                      {"random", {0.5, 0.5, 0.51, 0.51, 0.88, 0.88}}});
  const StudyContrast &a = contrast_of(found, "a", "random"),
                      &b = contrast_of(found, "b", "random");
  CHECK(std::abs(a.difference - 0.02) < 1e-12);
  CHECK(a.seeds.size() == 3);
  CHECK_FALSE(a.interval.has_value());
  CHECK_FALSE(a.p.has_value());
  CHECK_FALSE(a.holm.has_value());
  CHECK_FALSE(a.decides());
  // The family stays the two that were declared.
  CHECK(std::abs(b.holm.value() - 2 * b.p.value()) < 1e-12);
  const Record record = json_of(found);
  CHECK(record["contrasts"][0]["p"].is_null());
  CHECK(record["contrasts"][0]["interval"].is_null());

  const StudyResults two = results(d, plan, {{"a", {1, 2}}, {"random", {2, 2, 4, 4}}});
  CHECK(contrast_of(two, "a", "random").p.has_value());
  CHECK_FALSE(contrast_of(two, "a", "random").decides());
  const StudyResults one = results(d, plan, {{"a", {1}}, {"random", {2, 2}}});
  CHECK(contrast_of(one, "a", "random").difference == -1);
  CHECK_FALSE(contrast_of(one, "a", "random").p.has_value());
  CHECK_FALSE(contrast_of(one, "a", "random").holm.has_value());
}

TEST_CASE("an effect between levels takes the seeds whose pairs are all done") {
  Record record = declaration();
  record["removal"]["prune_over"] = {1, 5};
  record["random_draws"] = 1;
  const StudyDeclaration d = declared(record);
  const StudyPlan plan = plan_of(d);
  const double none = std::nan("");
  const auto effect = [&](const std::vector<double>& of_a, const std::vector<double>& of_b) {
    const StudyResults found =
        results(d, plan, {{"a", of_a}, {"b", of_b}, {"random", {0, 0, 0, 3, 3, 3}}});
    REQUIRE(found.effects.size() == 1);
    CHECK(found.effects[0].factor == "prune_over");
    CHECK(found.effects[0].level == "5");
    CHECK(found.effects[0].pairs == 3);
    return found.effects[0];
  };
  // a: 1, 1, 4; b: 1, 2, 6; random heads: 3 each.
  const StudyEffect whole = effect({1, 2, 3, 2, 3, 7}, {10, 20, 30, 11, 22, 36});
  CHECK(whole.seeds.size() == 3);
  CHECK(std::abs(whole.difference - (5.0 / 3 + 2 + 13.0 / 3) / 3) < 1e-12);
  CHECK(whole.p.has_value());
  // Without one run of b seed 3 has two of three pairs.
  const StudyEffect part = effect({1, 2, 3, 2, 3, 7}, {10, 20, 30, 11, 22, none});
  REQUIRE(part.seeds.size() == 2);
  CHECK(part.seeds[1].seed == 2);
  CHECK(std::abs(part.difference - (5.0 / 3 + 2) / 2) < 1e-12);
  // Both levels of a have two seeds, but only the first in common.
  const StudyEffect other = effect({1, none, 3, 2, 3, none}, {10, 20, 30, 11, 22, 36});
  REQUIRE(other.seeds.size() == 1);
  CHECK(other.seeds[0].seed == 1);
  CHECK(std::abs(other.difference - 5.0 / 3) < 1e-12);
  CHECK_FALSE(other.p.has_value());
}

TEST_CASE("regrets of all pairs of metrics are compared, paired by seed") {
  const StudyDeclaration d = declared(declaration());
  StudyResults found;
  const auto add = [&](const std::string& metric, Index kept, std::vector<double> values) {
    StudyRegret regret{"encoder", metric, kept};
    for (std::size_t i = 0; i < values.size(); ++i) regret.seeds.push_back({Index(i), values[i]});
    found.regret.push_back(std::move(regret));
  };
  // Means of both sizes: a 0.1, 0.2, 0.3; b 1.1, 1.3, 1.2; c as a.
  add("a", 1, {0.0, 0.1, 0.2});
  add("a", 2, {0.2, 0.3, 0.4});
  add("b", 1, {1.1, 1.3, 1.2});
  add("b", 2, {1.1, 1.3, 1.2});
  add("c", 1, {0.1, 0.2, 0.3});
  add("c", 2, {0.1, 0.2, 0.3});
  summarise(d, plan_of(d), found);
  REQUIRE(found.regret_contrasts.size() == 3);
  const RegretContrast &ba = found.regret_contrasts[0], &ca = found.regret_contrasts[1],
                       &cb = found.regret_contrasts[2];
  CHECK(ba.metric == "b");
  CHECK(ba.against == "a");
  CHECK(ba.seeds == 3);
  // 1, 1.1, 0.9: t = 1 / (0.1 / sqrt 3); of 2 degrees of freedom p = 1 - t / sqrt(2 + t^2).
  CHECK(std::abs(ba.difference - 1) < 1e-12);
  const double p = 1 - std::sqrt(300.0 / 302);
  CHECK(std::abs(ba.p.value() - p) < 1e-9);
  CHECK(std::abs(ba.holm.value() - 3 * p) < 1e-9);
  CHECK(std::abs(cb.difference + 1) < 1e-12);
  CHECK(std::abs(cb.holm.value() - 3 * p) < 1e-9);
  CHECK_FALSE(ca.p.has_value());
  CHECK_FALSE(ca.holm.has_value());
  // A metric that is no candidate is in no comparison, and not in the family.
  for (StudyRegret& regret : found.regret) regret.candidate = regret.metric != "c";
  found.regret_contrasts.clear();
  summarise(d, plan_of(d), found);
  REQUIRE(found.regret_contrasts.size() == 1);
  CHECK(std::abs(found.regret_contrasts[0].holm.value() - p) < 1e-9);
}

TEST_CASE("constant metrics have no correlation, and with the yardsticks they are no candidates") {
  const StudyDeclaration d = declared(declaration());
  const StudyPlan plan = plan_of(d);
  const TemporaryFolder folder;
  const Record scores = Record::parse(R"({
    "heads": [{"kind": "encoder", "layer": 0, "head": 0},
              {"kind": "encoder", "layer": 0, "head": 1}],
    "metrics": [{"name": "magnitude", "keep_low": false, "scores": [1, 2]},
                {"name": "depth", "keep_low": true, "scores": [0, 0]}],
    "constant": ["depth"],
    "games": [{"title": "encoder", "regret": {"magnitude": [0, 1], "depth": [1, 1],
               "worst_first": [2, 2], "exact Shapley, same set": [0, 0]}}]})");
  folder.file("trunks/" + plan.trunks[0].key + "/importance.json", scores.dump());
  const StudyResults found = results_of(d, plan, folder.path());
  REQUIRE(found.agreement.size() == 4);
  for (const StudyAgreement& pair : found.agreement) {
    CHECK(pair.correlation.has_value() == (pair.x == "magnitude" && pair.y == "magnitude"));
  }
  REQUIRE(found.regret.size() == 8);
  for (const StudyRegret& regret : found.regret) {
    CHECK(regret.candidate == (regret.metric == "magnitude"));
  }
  CHECK(found.regret_contrasts.empty());
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

TEST_CASE("the log of a run must be the one of its checkpoint") {
  const StudyDeclaration d = declared(declaration());
  const StudyPlan plan = plan_of(d);
  const std::string cell = "cells/" + plan.cells[0].key;
  const TemporaryFolder folder;
  const std::string lines =
      "{\"step\":20,\"validation_loss\":2}\n{\"step\":30,\"validation_loss\":1.5}\n";
  folder.file(cell + "/summary.json",
              Record{{"steps", 30}, {"parameters", 9}, {"alive", {"encoder 0.0"}}}.dump());
  folder.file(cell + "/metrics.jsonl", lines);
  const Manifest manifest{.settings = Record::object(),
                          .log = log_mark(folder / (cell + "/metrics.jsonl"))};
  Checkpoint().save(folder / (cell + "/checkpoint.safetensors"), json_of(manifest));
  CHECK(results_of(d, plan, folder.path()).cells.at(0).measures.at("validation_loss") == 1.5);

  std::string edited = lines;
  edited.replace(edited.find("1.5"), 3, "1.4");
  for (const std::string& text : {edited, lines.substr(0, lines.find('\n') + 1),
                                  lines + "{\"step\":30,\"validation_loss\":1}\n"}) {
    folder.file(cell + "/metrics.jsonl", text);
    CHECK_THROWS_AS(results_of(d, plan, folder.path()), FileError);
    CHECK_THROWS_WITH(
        results_of(d, plan, folder.path()),
        Catch::Contains(cell + "/metrics.jsonl: was changed after the run had ended") &&
            Catch::Contains("restore the file, or delete"));
  }
  folder.file(cell + "/metrics.jsonl", lines);
  CHECK(results_of(d, plan, folder.path()).cells.size() == 1);
}

TEST_CASE("whether models have learned is that of the runs with all heads, else of the trunks") {
  const StudyDeclaration d = declared(declaration());
  const StudyPlan plan = plan_of(d);
  const TemporaryFolder folder;
  const auto run = [&](const std::string& place, std::optional<double> p) {
    Record summary{{"steps", 30}, {"parameters", 9}, {"alive", {"encoder 0.0"}}};
    if (p) {
      summary["task_check"] =
          json_of(TaskCheck{.measure = "loss", .examples = 9, .p = p, .learned = *p < 0.05});
    }
    folder.file(place + "/summary.json", summary.dump());
    folder.file(place + "/metrics.jsonl", "{\"step\":30,\"validation_loss\":1.5}\n");
  };
  CHECK(results_of(d, plan, folder.path()).task_checks.empty());
  REQUIRE(plan.trunks.size() == 3);
  run("trunks/" + plan.trunks[0].key, 0.01);
  run("trunks/" + plan.trunks[1].key, 0.5);
  run("trunks/" + plan.trunks[2].key, std::nullopt);
  const auto learned = [&] {
    std::vector<bool> all;
    for (const StudyTaskCheck& check : results_of(d, plan, folder.path()).task_checks) {
      all.push_back(check.learned());
    }
    return all;
  };
  CHECK(learned() == std::vector<bool>{true, false, false});
  // Seed 1 unlearns and seed 2 learns after the trunk. Runs without heads do not count.
  for (const StudyCell& cell : plan.cells) {
    if (cell.control == StudyControl::none && cell.seed == 1) run("cells/" + cell.key, 0.9);
    if (cell.control == StudyControl::none && cell.seed == 2) run("cells/" + cell.key, 0.001);
    if (cell.control == StudyControl::random) run("cells/" + cell.key, 0.9);
  }
  CHECK(learned() == std::vector<bool>{false, true, false});
  const StudyTaskCheck first = results_of(d, plan, folder.path()).task_checks[0];
  CHECK(first.run.starts_with("cells/"));
  CHECK(first.seed == 1);
  CHECK(first.check.value().p == 0.9);
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
