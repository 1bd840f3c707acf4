// planted-heads: the roles in the maps, and the groups of metrics from the table of AUCs.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "headroom_lab/lab/formula.hpp"
#include "headroom_measure/importance/head_metric.hpp"
#include "lab/lab_support.hpp"

using namespace headroom;
using namespace lab_test;

TEST_CASE("planted-heads holds for any seed and size") {
  check_holds("planted-heads", {{30, 5, 2}, {24, 4, 1}}, 20);
}

TEST_CASE("planted-heads: no metric changes its group with the seed") {
  std::map<std::string, std::set<std::string>> groups;  // of each metric
  Index found = 0;
  for (const std::uint64_t seed : {1U, 2U, 7U}) {
    const Record record = run("planted-heads", 24, 4, seed);
    for (const Record& row : block_with(record, "verdict")["rows"]) {
      const auto line = row[0].get<std::string>();
      if (line.starts_with("in no group")) continue;
      std::istringstream names(row[2].get<std::string>());
      for (std::string name; std::getline(names >> std::ws, name, ',');) {
        if (name != "none") groups[name].insert(line);
      }
      if (line == "finds the planted heads") found += row[1].get<Index>();
    }
  }
  for (const auto& [name, its] : groups) {
    INFO(name);
    CHECK(its.size() == 1);
  }
  CHECK(groups.at("leave_one_out").count("finds the planted heads") == 1);
  CHECK(groups.at("magnitude").count("0.5 in every model") == 1);
  CHECK(groups.at("gradient_norms").count("worse than chance") == 1);
  CHECK(found >= 3 * 5);
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
  double before = 0, same = 0;
  for (Index t = 0; t < letters; ++t) {
    same += weight("copying: copying", t, t) / double(letters);
    double sum = 0;
    for (Index key = 0; key < letters; ++key) {
      sum += weight("previous token: previous token", t, key);
      if (key > t) CHECK(weight("previous token: previous token", t, key) == 0);
    }
    CHECK(std::abs(sum - 1) < (is_double ? 1e-12 : 1e-5));
    if (t > 0) before += weight("previous token: previous token", t, t - 1) / double(letters - 1);
  }
  CHECK(before > 0.9);
  CHECK(same > 0.9);

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
  CHECK(mean.at("leave_one_out") > 0.9);

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
        CHECK(in_tasks(name, [](const Record& one) { return one["low"] > 0.95; }));
      }
      if (row[0] == "better than chance") {
        CHECK(in_tasks(name, [](const Record& one) { return one["low"] > 0.5; }));
      }
      if (row[0] == "worse than chance") {
        CHECK(in_tasks(name, [](const Record& one) { return one["high"] < 0.5; }));
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
