// Runs side by side: as tables in the terminal, and as a page with their curves.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "headroom_lab/blocks/table.hpp"
#include "headroom_runs/records/attention_record.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A curve of several runs: a series for each that has the values.
struct ComparedCurve {
  std::string key{}, name{}, unit{};  // "exact_match", "exact match", "%"
  std::vector<Chart::Series> series{};
  using T = ComparedCurve;
  using Fields = Listed<&T::key, &T::name, if_any<&T::unit>, &T::series>;
};

/// A run beside others.
struct ComparedRun {
  std::string name{};
  std::vector<HeadState> heads{};  // of the model, if it can be loaded
  using T = ComparedRun;
  using Fields = Listed<&T::name, &T::heads>;
};

/// Several runs: their measures, what differs in their settings, curves, and heads.
struct RunsComparison {
  std::string kind = "runs";
  std::vector<ComparedRun> runs{};
  Table measures{}, settings{};
  std::vector<ComparedCurve> curves{};
  using T = RunsComparison;
  using Fields = Listed<&T::kind, &T::runs, &T::measures, &T::settings, &T::curves>;
};

/// Reads at least two runs of `train`, `prune` or the demo. Throws FileError and DataError as
/// read_run(), UsageError for fewer than two.
RunsComparison compare_runs(const std::vector<std::filesystem::path>& folders);

/// The tables.
std::string comparison_text(const RunsComparison& comparison, const TerminalStyle& style);

/// The page as text, with the given Chart.js in it.
std::string comparison_page(const RunsComparison& comparison, const std::string& chart_js);
void write_comparison_page(const RunsComparison& comparison, const std::filesystem::path& file);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
