// Results of a small study with known numbers.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "headroom/base/record_json.hpp"
#include "headroom_lab/study/results.hpp"

namespace small_study {

using namespace headroom;

inline StudyMean mean(Index condition, const std::string& arm, double heads,
                      const Interval& interval) {
  return {.condition = condition,
          .arm = arm,
          .measure = "exact_match",
          .heads = heads,
          .kept = {{"encoder", 4}, {"decoder", 4}, {"cross", heads - 8}},
          .parameters = 400 + 50 * heads,
          .multiply_adds = 2000 + 250 * heads,
          .mean = interval,
          .seeds = {{1, interval.low}, {2, interval.value}, {3, interval.high}},
          .points = {interval.low, interval.value, interval.high}};
}

inline TaskCheck learned_check() {
  return {
      .measure = "loss", .examples = 90, .model = 2, .constant = 9, .p = 0.001, .learned = true};
}

/// Sensitivity and magnitude against random heads, 8 and 4 of 12 heads left, three seeds.
inline StudyResults small_results() {
  StudyResults r;
  r.declaration = Record::parse(R"({"name": "small", "question": "Which heads, <b>if any</b>?",
    "base": {"task": "reverse"}, "seeds": [1, 2, 3], "measures": ["exact_match"],
    "acceptable_loss": 0.02})");
  r.precision = "float";
  r.cells_planned = 3;
  r.family = 2;
  r.conditions = {"prune 4", "prune 2"};
  r.levels = {{{"prune", 4}}, {{"prune", 2}}};
  r.arms = {"sensitivity", "magnitude", "none", "random"};
  r.controls = {"none", "random"};
  r.cells = {{.key = "a",
              .trunk = {},
              .seed = 1,
              .steps = 90,
              .parameters = 800,
              .multiply_adds = 4000,
              .settings = {{"metric", "sensitivity"}, {"prune", 4}},
              .kept = {{"encoder", 4}, {"decoder", 4}, {"cross", 0}},
              // Head 0 goes, and comes back when two others go.
              .timeline = {{.step = 21, .removed = {{AttentionKind::cross, 0, 0}}},
                           {.step = 25, .heads = {{AttentionKind::cross, 0, 1}}, .scores = {1}},
                           {.step = 30,
                            .removed = {{AttentionKind::cross, 0, 1}, {AttentionKind::cross, 0, 2}},
                            .regrown = {{AttentionKind::encoder_self, 0, 0}}}}},
             {.key = "b",
              .trunk = {},
              .seed = 2,
              .steps = 90,
              .parameters = 1000,
              .multiply_adds = 5000,
              .kept = {{"encoder", 4}, {"decoder", 4}, {"cross", 4}}},
             {.key = "c",
              .trunk = {},
              .seed = 2,
              .steps = 90,
              .parameters = 900,
              .multiply_adds = 4500,
              .kept = {{"encoder", 4}, {"decoder", 4}, {"cross", 2}}}};
  r.roles = {{0, "sensitivity", "a"}, {0, "none", "b"}, {1, "magnitude", "c"}};
  r.means = {mean(0, "sensitivity", 8, {0.951, 0.942, 0.96}),
             mean(0, "magnitude", 8, {0.6, 0.5, 0.7}),
             mean(0, "none", 12, {0.963, 0.96, 0.966}),
             mean(0, "random", 8, {0.7, 0.625, 0.775}),
             mean(1, "sensitivity", 10, {0.9625, 0.961, 0.964}),
             mean(1, "random", 10, {0.97, 0.96, 0.98})};
  const auto contrast = [&](Index condition, const std::string& arm, const std::string& against,
                            const Interval& difference, double p, std::optional<double> holm) {
    r.contrasts.push_back(
        {.condition = condition,
         .arm = arm,
         .against = against,
         .measure = "exact_match",
         .in_family = holm.has_value(),
         .difference = difference.value,
         .interval = difference,
         .p = p,
         .holm = holm,
         .seeds = {{1, difference.low}, {2, difference.value}, {3, difference.high}}});
  };
  contrast(0, "sensitivity", "random", {0.251, 0.2, 0.302}, 0.0171, 0.0342);
  contrast(0, "magnitude", "random", {-0.1, -0.25, 0.05}, 0.2041, 0.2042);
  contrast(0, "sensitivity", "none", {-0.012, -0.019, -0.005}, 0.0043, {});
  contrast(1, "sensitivity", "none", {-0.0005, -0.011, 0.01}, 0.7654, {});
  contrast(0, "random", "none", {-0.01, -0.011, 0.01}, 0.7123, {});  // a control is no choice
  const std::vector<SeedValue> seeds{{1, 0}, {2, 0.03}, {3, 0.06}};
  r.effects = {
      {"pace", "slow", "fast", "exact_match", 0.03, Interval{0.03, 0.01, 0.05}, 0.0321, 2, seeds},
      {"pace", "slower", "fast", "exact_match", 0.02, Interval{0.02, -0.01, 0.05}, 0.4321, 2,
       seeds}};
  const std::map<std::string, Interval> correlations{
      {"ab", {0.25, 0.1, 0.4}}, {"ac", {0.75, 0.7, 0.8}}, {"bc", {0.5, 0.4, 0.6}}};
  for (const std::string x : {"a", "b", "c"}) {
    for (const std::string y : {"a", "b", "c"}) {
      const Interval own{1, 1, 1};
      r.agreement.push_back(
          {x, y, x == y ? own : correlations.at(std::min(x, y) + std::max(x, y))});
    }
  }
  r.regret = {{"cross", "a", 1, {0.1, 0, 0.2}},
              {"cross", "a", 2, {0.3, 0.2, 0.4}},
              {"cross", "b", 1, {1.25, 1, 1.5}},
              {"cross", "b", 2, {1.25, 1.1, 1.4}},
              {"cross", "c", 1, {0.2, 0.1, 0.3}}};
  r.regret_contrasts = {{"b", "a", 1.05, Interval{1.05, 0.9, 1.2}, 0.001, 0.003, 3},
                        {"c", "a", 0.1, Interval{0.1, -0.1, 0.3}, 0.2, 0.2, 3},
                        {"c", "b", -0.95, Interval{-0.95, -1.2, -0.7}, 0.01, 0.02, 3}};
  r.scores = {{.trunk = "t",
               .seed = 1,
               .heads = {{AttentionKind::cross, 0, 0}, {AttentionKind::cross, 0, 1}},
               .metrics = {{"a", true, {0.5, 0.25}}}}};
  r.cells[0].evaluations = {{0, 2.5}, {90, 1.25}};
  r.cells[0].measures = {{"exact_match", 0.96}};
  r.task_checks = {{"cells/b", 2, 0, learned_check()}};
  return r;
}

}  // namespace small_study
