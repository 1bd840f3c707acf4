// Tables over the points of training of several runs.
#pragma once

#include "cli/importance/importance_trace.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

using Numbers = std::vector<double>;

/// A number for each point, or NaN.
using OfPoint = std::function<double(const TracePoint&)>;

/// The steps of all points, ascending.
std::vector<Index> steps_of(const std::vector<TracePoint>& points);
/// Adds a number unless it is NaN.
void append(Numbers& values, double value);
/// The numbers of all runs at a step, without those that are not defined.
Numbers at_step(const std::vector<TracePoint>& points, Index step, const OfPoint& number);

/// "0.85 ±0.05", the mean and half of its interval; of a single run the number alone. Two decimals
/// where numbers are `small`, otherwise three digits.
std::string mean_text(const Numbers& values, const TerminalStyle& style, bool small = true);

/// A cell of a table, for a row and a step.
using Cell = std::function<std::string(std::size_t row, Index step)>;
/// A table with a column for each step, split into as many tables as the terminal's width needs.
std::string table_over_steps(const std::vector<std::string>& rows, const std::vector<Index>& steps,
                             const TerminalStyle& style, const Cell& cell);

/// The sections of a trace about the oracle.
std::string trace_oracle_text(const std::vector<TracePoint>& points, const TerminalStyle& style);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
