// `headroom convert`: writes the measurements of a run for other programs.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <set>

#include "cli/exports/exported.hpp"
#include "cli/frame/command.hpp"
#include "cli/frame/streams.hpp"
#include "cli/options.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/base/names.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom_lab/blocks/table.hpp"
#include "headroom_runs/exports/event_file.hpp"
#include "headroom_runs/runs/metrics_log.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace fs = std::filesystem;

namespace {

enum class MetricsFormat { csv, tensorboard };

struct ConvertOptions {
  std::string model, to, out;
  bool force = false;
};

/// A row per line of measurements, a column per number; empty where a line has none.
Table metrics_table(const RunRecord& run) {
  std::set<std::string> numbers;
  bool models = false, phases = false;
  for (const MetricsLine& line : run.metrics) {
    for (const auto& [name, value] : line.numbers) numbers.insert(name);
    models = models || !line.model.empty();
    phases = phases || !line.phase.empty();
  }
  Table table{.columns = {"step"}};
  if (models) table.columns.emplace_back("model");
  if (phases) table.columns.emplace_back("phase");
  table.columns.insert(table.columns.end(), numbers.begin(), numbers.end());
  for (const MetricsLine& line : run.metrics) {
    std::vector<Value>& row = table.rows.emplace_back();
    row.emplace_back(line.step);
    if (models) row.emplace_back(line.model);
    if (phases) row.emplace_back(line.phase);
    for (const std::string& name : numbers) {
      const std::optional<double> value = line.number(name);
      row.push_back(value ? Value(*value) : Value(""));
    }
  }
  return table;
}

/// Calls see(name, number) for what telemetry has of head number `h` of a line.
template <class See>
void each_number(const TelemetryLine& line, std::size_t h, See see) {
  const auto blocks = [&](const char* name, const BlockNumbers& all) {
    BlockNumbers::Fields::each([&](const char* block, auto member, Presence) {
      see(fmt::format("{}_{}", name, block), (all.*member)[h]);
    });
  };
  blocks("gradient_norm", line.gradient_norm);
  see("gate_gradient", line.gate_gradient[h]);
  see("entropy", line.entropy[h]);
  see("confidence", line.confidence[h]);
  blocks("update_ratio", line.update_ratio);
}

/// A row per step and live head.
Table heads_table(const RunRecord& run) {
  const bool models = !run.telemetry.empty() && !run.telemetry.front().model.empty();
  Table table{.columns = {"step", "kind", "layer", "head"}};
  if (models) table.columns.insert(table.columns.begin() + 1, "model");
  const std::size_t own = table.columns.size();
  for (const TelemetryLine& line : run.telemetry) {
    for (std::size_t h = 0; h < line.heads.size(); ++h) {
      std::vector<Value>& row = table.rows.emplace_back();
      row.emplace_back(line.step);
      if (models) row.emplace_back(line.model);
      const HeadId& head = line.heads[h];
      row.insert(row.end(), {Value(name_of(head.kind)), Value(head.layer), Value(head.head)});
      each_number(line, h, [&](const std::string& name, double value) {
        if (table.rows.size() == 1) table.columns.push_back(name);
        row.push_back(std::isfinite(value) ? Value(value) : Value(""));
      });
    }
  }
  table.columns.resize(std::max(own, table.columns.size()));
  return table;
}

std::vector<fs::path> write_csv(const RunRecord& run, const fs::path& folder) {
  std::vector<fs::path> files{folder / "metrics.csv"};
  write_file(files.back(), csv_text(metrics_table(run)));
  if (!run.telemetry.empty()) {
    files.push_back(folder / "heads.csv");
    write_file(files.back(), csv_text(heads_table(run)));
  }
  return files;
}

/// "loss", "fused/loss" if the run has several models; of heads "heads/encoder 0.3 entropy".
std::vector<fs::path> write_events(const RunRecord& run, const fs::path& log,
                                   const fs::path& folder) {
  std::vector<Measurement> all;
  const auto add = [&all](std::string tag, Index step, double value) {
    if (std::isfinite(value)) all.push_back({std::move(tag), step, value});
  };
  for (const MetricsLine& line : run.metrics) {
    const std::string model = line.model.empty() ? "" : line.model + "/";
    for (const auto& [name, value] : line.numbers) add(model + name, line.step, value);
  }
  for (const TelemetryLine& line : run.telemetry) {
    const std::string model = line.model.empty() ? "" : line.model + " ";
    for (std::size_t h = 0; h < line.heads.size(); ++h) {
      each_number(line, h, [&](const std::string& name, double value) {
        add(fmt::format("{}{}/{}", model, name, line.heads[h].text()), line.step, value);
      });
    }
  }
  const auto age = fs::file_time_type::clock::now() - fs::last_write_time(log);
  const auto written = std::chrono::system_clock::now().time_since_epoch() - age;
  const double seconds = std::floor(std::chrono::duration<double>(written).count());
  const fs::path file = folder / event_file_name(seconds);
  write_event_file(file, all, seconds);
  return {file};
}

int convert(const ConvertOptions& options) {
  const fs::path run = folder_of(run_folder(options.model)), log = run / "metrics.jsonl";
  if (!fs::exists(log)) {
    throw FileError(
        fmt::format("{}: has no metrics.jsonl, the log of a run that trained", run.string()));
  }
  RunRecord record;
  add_log(log, record);
  if (record.metrics.empty()) throw DataError(fmt::format("{}: has no measurements", log.string()));
  const auto format = from_name<MetricsFormat>("--to", options.to);
  const fs::path folder = folder_for_files(options.out, "convert", options.force);
  const auto files =
      format == MetricsFormat::csv ? write_csv(record, folder) : write_events(record, log, folder);
  fmt::print("{}: {} measurements of the model and {} of its heads\n", shown(run.string()),
             record.metrics.size(), record.telemetry.size());
  report_files(folder, files);
  return 0;
}

}  // namespace

Command add_convert(CLI::App& program) {
  CLI::App* app =
      program.add_subcommand("convert", "Writes the measurements of a run as CSV or TensorBoard");
  const auto options = std::make_shared<ConvertOptions>();
  add_run(*app, options->model);
  app->add_option(
         "--to", options->to,
         "csv: metrics.csv and, if the run has telemetry, heads.csv; tensorboard: an event "
         "file")
      ->check(one_of({"csv", "tensorboard"}))
      ->type_name("FORMAT")
      ->required();
  add_out(*app, options->out, "folder of the files");
  app->add_flag("--force", options->force, "replace the files of an earlier export in --out");
  app->footer(fmt::format("Example: {} convert --model runs/dates-1 --to csv --out dates-csv",
                          invocation()));
  return {app, [options] { return convert(*options); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
