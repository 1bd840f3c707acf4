// Metrics at several points of training.
#include "cli/importance/importance_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>

#include "cli/importance/importance_trace_tables.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/text.hpp"
#include "headroom/io/fields.hpp"
#include "headroom/statistics/intervals.hpp"
#include "headroom/statistics/ranks.hpp"
#include "headroom_lab/blocks/table.hpp"
#include "headroom_measure/importance/metric_agreement.hpp"
#include "headroom_runs/runs/load_learner.hpp"
#include "headroom_runs/runs/run_folder.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr const char* true_cost = "leave_one_out";

// ---------------------------------------------------------------- statistics of a trace

Index runs_of(const std::vector<TracePoint>& points) {
  std::set<std::string> runs;
  for (const TracePoint& point : points) runs.insert(point.run);
  return std::ssize(runs);
}

std::vector<std::string> metrics_of(const std::vector<TracePoint>& points) {
  std::vector<std::string> names;
  for (const ImportanceTable::Column& column : points.front().table.columns) {
    names.push_back(column.info.name);
  }
  return names;
}

/// The importance of heads by a metric, paired with their true costs on other examples.
PairedScores against_cost(const TracePoint& point, const std::string& metric) {
  return paired_scores(point.table, metric, point.again, true_cost);
}

/// The correlation of a metric with itself on other examples.
double repeated(const TracePoint& point, const std::string& metric) {
  return pooled_correlation(paired_scores(point.table, metric, point.again, metric));
}

/// The correlations of a metric at a step with itself at the step before, by run.
Numbers over_steps(const std::vector<TracePoint>& points, const std::string& metric, Index before,
                   Index step) {
  Numbers values;
  for (const TracePoint& point : points) {
    if (point.step != step) continue;
    for (const TracePoint& earlier : points) {
      if (earlier.run != point.run || earlier.step != before) continue;
      append(values, pooled_correlation(paired_scores(earlier.table, metric, point.table, metric)));
    }
  }
  return values;
}

/// The correlations of a metric at a step between any two runs: heads with the same location and
/// index.
Numbers over_runs(const std::vector<TracePoint>& points, const std::string& metric, Index step) {
  Numbers values;
  for (const TracePoint& one : points) {
    for (const TracePoint& other : points) {
      if (one.step != step || other.step != step || !(one.run < other.run)) continue;
      append(values, pooled_correlation(paired_scores(one.table, metric, other.table, metric)));
    }
  }
  return values;
}

double sum_of(const ImportanceTable& table, const std::string& metric) {
  double sum = 0;
  for (const HeadScore& score : table.importance(metric)) sum += score.score;
  return sum;
}

/// A property of the whole model at a point, with its name in tables and in JSON.
struct PointNumber {
  const char *title, *key;
  OfPoint number;
};

std::vector<PointNumber> point_numbers(const std::vector<std::string>& metrics) {
  const auto measured = [&](const char* metric) {
    return std::find(metrics.begin(), metrics.end(), metric) != metrics.end();
  };
  std::vector<PointNumber> numbers{
      {"sum of the costs", "sum_of_costs",
       [](const TracePoint& point) { return sum_of(point.again, true_cost); }},
      {"costs on two sets", "cost_reliability",
       [](const TracePoint& point) { return repeated(point, true_cost); }}};
  if (measured("sensitivity")) {
    numbers.insert(numbers.begin(),
                   {"sum of sensitivities", "sum_of_sensitivities",
                    [](const TracePoint& point) { return sum_of(point.table, "sensitivity"); }});
  }
  if (measured("sensitivity") && measured("taylor")) {
    numbers.push_back({"median |E g| / E|g|", "gradient_cancellation",
                       [](const TracePoint& point) { return gradient_cancellation(point.table); }});
  }
  return numbers;
}

// ---------------------------------------------------------------- text

/// The points at which heads are compared without a reason, a paragraph each; "" if there are none.
std::string not_learned_text(const std::vector<TracePoint>& points, const TerminalStyle& style) {
  std::string text;
  for (const TracePoint& point : points) {
    if (point.check.learned) continue;
    text +=
        wrapped(point.check.warning(fmt::format("{}, step {}: the model", point.run, point.step)),
                style.columns) +
        "\n";
  }
  return text.empty() ? "" : text + "There the differences between heads are noise.\n\n";
}

/// Two metrics and the agreement of their rankings of heads, by run.
struct Pair {
  std::string a, b;
  Numbers tau, rank, top;
};

std::vector<Pair> pairs_at(const std::vector<TracePoint>& points, Index step) {
  const std::vector<std::string> metrics = metrics_of(points);
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      Pair& pair = pairs.emplace_back(Pair{metrics[j], metrics[i], {}, {}, {}});
      for (const TracePoint& point : points) {
        if (point.step != step) continue;
        const PairedScores scores = paired_scores(point.table, metrics[j], point.table, metrics[i]);
        if (std::isnan(pooled_correlation(scores))) continue;
        const Index quarter = std::max<Index>(1, std::ssize(scores.heads) / 4);
        pair.tau.push_back(kendall_tau(scores.x, scores.y));
        pair.rank.push_back(rank_correlation(scores.x, scores.y));
        pair.top.push_back(top_overlap(scores.x, scores.y, quarter));
      }
    }
  }
  std::erase_if(pairs, [](const Pair& pair) { return pair.tau.empty(); });
  std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& x, const Pair& y) {
    return mean_interval(x.tau).value > mean_interval(y.tau).value;
  });
  return pairs;
}

std::string pairs_text(const std::vector<Pair>& pairs, const TerminalStyle& style) {
  constexpr std::size_t shown = 8;
  Table table{.columns = {"", "tau-b", "Spearman", "top 1/4"}};
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const Pair& pair = pairs[i];
    if (i < shown || i + 3 >= pairs.size()) {
      table.rows.push_back({pair.a + ", " + pair.b, mean_text(pair.tau, style),
                            mean_text(pair.rank, style), mean_text(pair.top, style)});
    } else if (i == shown) {
      table.rows.push_back({"...", "", "", ""});
    }
  }
  return table_text(table, style, 2);
}

}  // namespace

std::vector<TracePoint> trace_of(const std::vector<std::filesystem::path>& runs,
                                 const TraceOptions& what,
                                 const std::function<void(const std::string&)>& progress) {
  std::vector<std::string> metrics = what.metrics;
  if (std::find(metrics.begin(), metrics.end(), true_cost) == metrics.end()) {
    metrics.emplace_back(true_cost);
  }
  std::optional<std::set<Index>> common;
  for (const std::filesystem::path& run : runs) {
    const std::vector<Index> steps = RunFolder(run, IfExists::resume).snapshots();
    if (steps.empty()) {
      throw UsageError(fmt::format(
          "{}: the run has no snapshots; train it with --snapshots 100,300,600", run.string()));
    }
    std::set<Index> both;
    for (const Index step : steps) {
      if (!common || common->contains(step)) both.insert(step);
    }
    common = both;
  }
  if (!common || common->empty()) {
    throw UsageError(
        "--trace: the runs have no snapshot at the same step; train them with equal --snapshots");
  }
  std::vector<TracePoint> points;
  for (const std::filesystem::path& run : runs) {
    for (const Index step : *common) {
      progress(fmt::format("{}, step {}", run.string(), step));
      const std::filesystem::path snapshot = RunFolder(run, IfExists::resume).snapshot(step);
      const std::unique_ptr<Learner> learner = load_learner(snapshot);
      const ImportanceOptions options{.examples = what.examples,
                                      .seed = what.seed ? *what.seed : seed_of_run(run),
                                      .recorded = recorded_scores(checkpoint_of(snapshot))};
      TracePoint& point =
          points.emplace_back(TracePoint{run.string(), step, check_task(*learner), {}, {}});
      HeadGame game(*learner, ExampleSet::importance, what.examples),
          other(*learner, ExampleSet::selection, what.examples),
          fewer(*learner, ExampleSet::selection, what.oracle_examples);
      // A game remembers its values: that of all subsets has those of the metrics, too.
      HeadGame& exact = what.oracle_examples == what.examples ? other : fewer;
      point.table = measure_importance(game, metrics, options);
      if (what.oracle) {
        point.oracle =
            oracle_of(game, exact, point.table, options, [](const std::string&, double) {});
      }
      ImportanceOptions drawn_again = options;
      drawn_again.seed = ~options.seed;  // else a metric that draws only would look reliable
      point.again = measure_importance(other, metrics, drawn_again);
    }
  }
  return points;
}

std::string trace_text(const std::vector<TracePoint>& points, const TerminalStyle& style) {
  const std::vector<std::string> metrics = metrics_of(points);
  const std::vector<Index> steps = steps_of(points);
  const Index last = steps.back();
  const auto section = [&](const std::string& title) {
    return "\n" + wrapped(title, style.columns) + "\n";
  };
  std::string text = not_learned_text(points, style) +
                     fmt::format("{} runs, {} points of training, {} heads\n", runs_of(points),
                                 steps.size(), points.front().table.heads.size());
  text += section("Rank correlation of each metric with the costs of removal on other examples");
  text += table_over_steps(metrics, steps, style, [&](std::size_t row, Index step) {
    return mean_text(at_step(points, step,
                             [&](const TracePoint& point) {
                               return pooled_correlation(against_cost(point, metrics[row]));
                             }),
                     style);
  });
  text += section("The same within each kind of attention (mean over the kinds)");
  text += table_over_steps(metrics, steps, style, [&](std::size_t row, Index step) {
    return mean_text(at_step(points, step,
                             [&](const TracePoint& point) {
                               return correlation_within_kinds(against_cost(point, metrics[row]));
                             }),
                     style);
  });
  text += section(
      fmt::format("Reliability at step {}: rank correlation of each metric with itself on other "
                  "examples, at the previous point of training, and in other runs",
                  last));
  Table reliability{.columns = {"", "examples", "point", "run"}};
  for (const std::string& metric : metrics) {
    const Numbers again =
        at_step(points, last, [&](const TracePoint& point) { return repeated(point, metric); });
    const Numbers before =
        steps.size() > 1 ? over_steps(points, metric, steps[steps.size() - 2], last) : Numbers();
    const Numbers others = over_runs(points, metric, last);
    // Pairs of runs are not independent, so their mean has no interval.
    reliability.rows.push_back(
        {metric, mean_text(again, style), mean_text(before, style),
         others.empty() ? "-" : fmt::format("{:.2f}", mean_interval(others).value)});
  }
  text += table_text(reliability, style, 2);
  const std::vector<PointNumber> numbers = point_numbers(metrics);
  std::vector<std::string> titles;
  for (const PointNumber& number : numbers) titles.emplace_back(number.title);
  text += section(
      "Sums over all heads, in units of the loss of an example, and the cancellation of gradients");
  text += table_over_steps(titles, steps, style, [&](std::size_t row, Index step) {
    return mean_text(at_step(points, step, numbers[row].number), style, false);
  });
  if (points.front().oracle) text += trace_oracle_text(points, style);
  if (metrics.size() > 1) {
    text += section(fmt::format("Pairs of metrics that agree most and least at step {}", last));
    text += pairs_text(pairs_at(points, last), style);
  }
  return text;
}

Record metric_record(const MetricInfo& info) {
  return {{"name", info.name},
          {"formula", info.formula},
          {"source", info.source},
          {"keep_low", info.keep_low},
          {"cost", info.cost}};
}

Record details_record(const MetricDetails& details) {
  Record record = Record::object();
  if (!details.numbers.empty()) record["details"] = details.numbers;
  if (!details.classes.empty()) record["classes"] = details.classes;
  return record;
}

Record trace_record(const std::vector<TracePoint>& points) {
  const std::vector<std::string> metrics = metrics_of(points);
  Record all = Record::array(), agreement = Record::array();
  for (const TracePoint& point : points) {
    Record of_metrics = Record::object(), heads = Record::array(), of_point = Record::object();
    for (const HeadId& head : point.table.heads) heads.push_back(head.text());
    for (const ImportanceTable::Column& column : point.table.columns) {
      const std::string& metric = column.info.name;
      Numbers scores, again;
      for (const HeadScore& score : point.table.importance(metric)) scores.push_back(score.score);
      for (const HeadScore& score : point.again.importance(metric)) again.push_back(score.score);
      const PairedScores cost = against_cost(point, metric);
      of_metrics[metric] = {{"importance", json_of(scores)},
                            {"again", json_of(again)},
                            {"with_cost", json_of(pooled_correlation(cost))},
                            {"with_cost_within_kinds", json_of(correlation_within_kinds(cost))},
                            {"reliability", json_of(repeated(point, metric))}};
      of_metrics[metric].update(details_record(column.details));
    }
    for (const PointNumber& number : point_numbers(metrics)) {
      of_point[number.key] = json_of(number.number(point));
    }
    of_point.update({{"run", point.run},
                     {"step", point.step},
                     {"task_check", json_of(point.check)},
                     {"heads", heads}});
    of_point["metrics"] = of_metrics;
    if (point.oracle) of_point.update(oracle_record(*point.oracle));
    all.push_back(of_point);
  }
  for (const Index step : steps_of(points)) {
    for (const Pair& pair : pairs_at(points, step)) {
      agreement.push_back({{"step", step},
                           {"metrics", {pair.a, pair.b}},
                           {"tau", json_of(pair.tau)},
                           {"spearman", json_of(pair.rank)},
                           {"top_quarter", json_of(pair.top)}});
    }
  }
  Record described = Record::array();
  for (const auto& column : points.front().table.columns) {
    described.push_back(metric_record(column.info));
  }
  return {{"metrics", described}, {"points", all}, {"agreement", agreement}};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
