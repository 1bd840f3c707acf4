// Tables over the points of training of several runs.
#include "cli/importance/importance_trace_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "headroom/statistics/intervals.hpp"
#include "headroom_lab/blocks/table.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

std::vector<Index> steps_of(const std::vector<TracePoint>& points) {
  std::set<Index> steps;
  for (const TracePoint& point : points) steps.insert(point.step);
  return {steps.begin(), steps.end()};
}

void append(Numbers& values, double value) {
  if (!std::isnan(value)) values.push_back(value);
}

Numbers at_step(const std::vector<TracePoint>& points, Index step, const OfPoint& number) {
  Numbers values;
  for (const TracePoint& point : points) {
    if (point.step != step) continue;
    append(values, number(point));
  }
  return values;
}

std::string mean_text(const Numbers& values, const TerminalStyle& style, bool small) {
  if (values.empty()) return "-";
  const Interval mean = mean_interval(values);
  const std::string number =
      small ? fmt::format("{:.2f}", mean.value) : fmt::format("{:.3g}", mean.value);
  if (values.size() == 1) return number;
  const double half = (mean.high - mean.low) / 2;
  return number + (style.unicode ? " ±" : " +-") +
         (small ? fmt::format("{:.2f}", half) : fmt::format("{:.2g}", half));
}

std::string table_over_steps(const std::vector<std::string>& rows, const std::vector<Index>& steps,
                             const TerminalStyle& style, const Cell& cell) {
  Table table{.columns = {""}};
  for (const Index step : steps) table.columns.push_back(fmt::format("step {}", step));
  for (std::size_t row = 0; row < rows.size(); ++row) {
    std::vector<Value>& line = table.rows.emplace_back(1, rows[row]);
    for (const Index step : steps) line.push_back(cell(row, step));
  }
  return table_text(table, style, 2);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
