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
      if (line.ends_with("undecided")) continue;
      std::istringstream names(row[1].get<std::string>());
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
  Index tables = 0;
  double best = 0;
  std::set<Record> draws[2];  // as planted, and trained on
  for (const Record& block : record["blocks"]) {
    if (!block.contains("columns") || block["columns"][1] != "cost") continue;
    for (const Record& row : block["rows"]) {
      for (std::size_t column = 2; column < 7; ++column) {
        const Record& shown = row[column];
        INFO(in_words(row[0]) << ", " << in_words(block["columns"][column]));
        CHECK(shown["of"] == "mean of shares");
        const auto aucs = shown["draws"].get<std::vector<double>>();
        CHECK(aucs.size() == (column < 6 ? 10 : 40));
        CHECK(std::ranges::all_of(aucs, [](double auc) { return auc >= 0 && auc <= 1; }));
        const Interval again = share_interval(aucs);
        CHECK(std::abs(shown["value"].get<double>() - again.value) < 1e-12);
        CHECK(std::abs(shown["low"].get<double>() - again.low) < 1e-12);
        CHECK(std::abs(shown["high"].get<double>() - again.high) < 1e-12);
      }
      if (tables == 0) best = std::max(best, row[6]["value"].get<double>());
      draws[tables].insert(row);
    }
    ++tables;
  }
  REQUIRE(tables == 2);
  CHECK(draws[0] != draws[1]);
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
  for (const Record& row : block_with(record, "group")["rows"]) grouped += row[0].get<Index>();
  for (const Record& row : block_with(record, "verdict")["rows"]) {
    for (const auto& [name, auc] : mean) {
      if ((", " + row[1].get<std::string>() + ",").find(", " + name + ",") == std::string::npos) {
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
