// A run's folder read back into its record.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "headroom/base/error.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/json.hpp"
#include "headroom_lab/report/report.hpp"
#include "headroom_runs/runs/metrics_log.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace fs = std::filesystem;

namespace {

// No record has more lines than this, so that it can be read again; a page draws fewer still.
// metrics.jsonl keeps them all.
constexpr std::size_t most_telemetry = 1000, most_losses = 10000;

bool has_file(const fs::path& folder, const char* name) {
  std::error_code failed;
  return fs::is_regular_file(folder / name, failed);
}

Record read_object(const fs::path& file) {
  Record record = parse_json(read_file(file), file.string());
  if (!record.is_object()) {
    throw DataError(fmt::format("{} must be a JSON object", file.string()));
  }
  return record;
}

/// Removes every second element, from the last but one backwards, until at most `most` of those
/// that may go are left.
template <class Line, class MayGo>
void thin(std::vector<Line>& lines, std::size_t most, MayGo may_go) {
  auto count = static_cast<std::size_t>(std::count_if(lines.begin(), lines.end(), may_go));
  for (; count > most; count = (count + 1) / 2) {
    bool stays = count % 2 == 0;  // the last of them always stays
    std::erase_if(lines, [&](const Line& line) { return may_go(line) && !(stays = !stays); });
  }
}

/// The task and its seed as config.json names them: a name, or an object with a name.
void read_config(const fs::path& file, ReportRecord& run) {
  run.config = read_object(file);
  const Record task = run.config.value("task", Record());
  const Record name = task.is_object() ? task.value("name", Record()) : task;
  if (name.is_string()) {
    run.task = name.get<std::string>();
    run.title = "Training on " + run.task;
  }
  if (task.is_object() && task.value("seed", Record()).is_number_unsigned()) {
    run.seed = task["seed"].get<std::uint64_t>();
  }
}

}  // namespace

Record read_records(const fs::path& folder) {
  return has_file(folder, "records.json") ? read_object(folder / "records.json") : Record();
}

ReportRecord read_run(const fs::path& folder) {
  const Record records = read_records(folder);
  if (!records.is_null()) return report_record(records, (folder / "records.json").string());
  if (!has_file(folder, "config.json") && !has_file(folder, "metrics.jsonl")) {
    throw FileError(fmt::format(
        "{}: no run was written here (records.json, config.json and metrics.jsonl are missing)",
        folder.string()));
  }
  ReportRecord run{{.title = folder.filename().string()}};
  if (has_file(folder, "config.json")) read_config(folder / "config.json", run);
  if (has_file(folder, "summary.json")) {
    const fs::path file = folder / "summary.json";
    const Record summary = read_object(file);
    const auto found = summary.find("separate_vs_fused");
    if (found != summary.end()) {
      run.separate_vs_fused =
          struct_of<StartDifference>(*found, file.string() + ": separate_vs_fused");
    }
    const auto check = summary.find("task_check");
    if (check != summary.end()) {
      run.task_check = struct_of<TaskCheck>(*check, file.string() + ": task_check");
    }
  }
  if (has_file(folder, "metrics.jsonl")) add_log(folder / "metrics.jsonl", run);
  thin(run.telemetry, most_telemetry, [](const TelemetryLine&) { return true; });
  thin(run.metrics, most_losses, [](const MetricsLine& line) {
    return !line.numbers.contains("validation_loss");  // no evaluation goes
  });
  check(run, folder.string());
  return run;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
