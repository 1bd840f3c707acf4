// planted-heads: the roles in the maps, and the groups of metrics from the table of AUCs.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "headroom/statistics/intervals.hpp"
#include "headroom_lab/lab/formula.hpp"
#include "headroom_measure/importance/head_metric.hpp"
#include "lab/lab_support.hpp"

using namespace headroom;
using namespace lab_test;

TEST_CASE("planted-heads holds for any seed and size") {
  check_holds("planted-heads", {{30, 5, 2}, {24, 4, 1}}, 17);
}

TEST_CASE("planted-heads: no metric changes its group with the seed", "[long]") {
  std::map<std::string, std::set<std::string>> groups;  // of each metric
  for (const std::uint64_t seed : {1U, 2U, 7U}) {
    const Record record = run("planted-heads", 24, 4, seed);
    for (const Record& row : block_with(record, "verdict")["rows"]) {
      const auto line = row[0].get<std::string>();
      if (line.starts_with("in no group")) continue;
      std::istringstream names(row[2].get<std::string>());
      for (std::string name; std::getline(names >> std::ws, name, ',');) {
        if (name != "none") groups[name].insert(line);
      }
    }
  }
  for (const auto& [name, its] : groups) {
    INFO(name);
    CHECK(its.size() == 1);
  }
  CHECK(groups.at("magnitude").count("0.5 in every model") == 1);
  CHECK(groups.size() > 1);
}

TEST_CASE("planted-heads: every mean and interval follows from the AUCs of single models") {
  const Record record = run("planted-heads", 24, 4, 5);
  const Record& draws = block_with(record, "10");
  CHECK(draws["shown"] == "folded");
  CHECK(draws["columns"].size() == 3 + 10);
  std::map<std::string, std::vector<double>> aucs;  // by metric, task and steps
  for (const Record& row : draws["rows"]) {
    std::vector<double>& of_row = aucs[in_words(row[0]) + ", " + in_words(row[1]) +
                                       (row[2] == 0 ? ", planted" : ", trained")];
    for (std::size_t model = 3; model < row.size(); ++model) {
      of_row.push_back(row[model].get<double>());
      CHECK((of_row.back() >= 0 && of_row.back() <= 1));
    }
  }
  Index tables = 0, changed = 0;
  double best = 0;
  for (const Record& block : record["blocks"]) {
    if (!block.contains("columns") || block["columns"][1] != "cost") continue;
    const std::string variant = tables++ == 0 ? ", planted" : ", trained";
    for (const Record& row : block["rows"]) {
      for (std::size_t task = 2; task < 6; ++task) {
        const std::string name = in_words(row[0]) + ", " + in_words(block["columns"][task]);
        INFO(name << variant);
        const Interval seen = share_interval(aucs.at(name + variant));
        CHECK(std::abs(row[task]["value"].get<double>() - seen.value) < 1e-12);
        CHECK(std::abs(row[task]["low"].get<double>() - seen.low) < 1e-12);
        CHECK(std::abs(row[task]["high"].get<double>() - seen.high) < 1e-12);
        changed += aucs.at(name + ", planted") != aucs.at(name + ", trained");
      }
      if (tables == 1) best = std::max(best, row[6]["value"].get<double>());
    }
  }
  CHECK(tables == 2);
  CHECK(changed > 0);
  CHECK(best > 0.7);
  CHECK(best < 1);
}

TEST_CASE("planted-heads: roles, controls and groups") {
  const Index letters = 6;
  const Record record = run("planted-heads", 24, 4, 3);
  const auto map_of = [&](const std::string& name) -> const Record& {
    for (const Record& map : block_with(record, name)["maps"]) {
      if (map["name"] == name) return map["rows"];
    }
    FAIL("no map " << name);
    return record;
  };
  const auto weight = [&](const std::string& map, Index query, Index key) {
    return at(at(map_of(map), query), key).get<double>();
  };
  for (Index t = 0; t < letters; ++t) {
    double sum = 0;
    for (Index key = 0; key < letters; ++key) {
      sum += weight("previous token: previous token", t, key);
      if (key > t) CHECK(weight("previous token: previous token", t, key) == 0);
    }
    CHECK(std::abs(sum - 1) < (is_double ? 1e-12 : 1e-5));
  }

  const Record& metrics = block_with(record, "cost")["rows"];
  std::map<std::string, double> mean;  // by metric: the mean of the tasks' means
  for (const Record& row : metrics) {
    REQUIRE(row.size() == 7);
    double sum = 0;
    for (std::size_t task = 2; task < 6; ++task) sum += row[task]["value"].get<double>() / 4;
    CHECK(std::abs(row[6]["value"].get<double>() - sum) < 1e-12);
    mean[row[0]] = sum;
  }
  // Five metrics need a training run, two an output layer that they know.
  CHECK(mean.size() + 7 == head_metrics().size());
  CHECK(std::abs(mean.at("magnitude") - 0.5) < 1e-12);
  CHECK(std::abs(mean.at("attention_l1") - 0.5) < 1e-12);
  CHECK(mean.at("leave_one_out") > 0.7);

  // A group is that of every task: the means of each, not only of all together.
  const auto in_tasks = [&](const std::string& name, const auto& holds) {
    return std::all_of(metrics.begin(), metrics.end(), [&](const Record& row) {
      return row[0] != name || std::all_of(row.begin() + 2, row.begin() + 6,
                                           [&](const Record& auc) { return holds(auc); });
    });
  };
  Index grouped = 0;
  for (const Record& row : block_with(record, "verdict")["rows"]) {
    grouped += row[1].get<Index>();
    for (const auto& [name, auc] : mean) {
      if ((", " + row[2].get<std::string>() + ",").find(", " + name + ",") == std::string::npos) {
        continue;
      }
      INFO(name << " " << auc);
      if (row[0] == "finds the planted heads") {
        CHECK(in_tasks(name, [](const Record& one) { return one["value"] > 0.95; }));
      }
      if (row[0] == "better than chance") {
        CHECK(in_tasks(name, [](const Record& one) { return one["value"] > 0.5; }));
      }
      if (row[0] == "worse than chance") {
        CHECK(in_tasks(name, [](const Record& one) { return one["value"] < 0.5; }));
      }
      if (row[0] == "0.5 in every model") CHECK(std::abs(auc - 0.5) < 1e-12);
    }
  }
  CHECK(grouped == std::ssize(metrics));
}

TEST_CASE("planted-heads: its formulas compare with a sign, not with a bracket") {
  const std::string formula = find_experiment("planted-heads").formulas[0];
  CHECK(Formula(formula).text().find("P(s_planted > s_noise)") != std::string::npos);
  CHECK(Formula(formula).mathml().find("⟩") == std::string::npos);
}
