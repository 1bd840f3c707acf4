// A declaration whose results are made by hand, for tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "headroom_lab/study/results.hpp"
#include "support/catch.hpp"
#include "support/small_study.hpp"

namespace hand_study {

using namespace headroom;

/// Three seeds, one number of heads, arms a and b, two random draws.
inline Record declaration() {
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

/// Results of runs with these losses, in the order of conditions, seeds and draws. NaN: not done.
inline StudyResults results(const StudyDeclaration& d, const StudyPlan& plan,
                            std::map<std::string, std::vector<double>> losses,
                            const std::string& measure = "validation_loss") {
  StudyResults found;
  std::map<std::string, std::size_t> next;
  for (const StudyEntry& entry : plan.entries) {
    const std::vector<double>& of_arm = losses[entry.arm];
    const std::size_t i = next[entry.arm]++;
    if (i >= of_arm.size() || std::isnan(of_arm[i])) continue;
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

}  // namespace hand_study
