// A run's folder read back into one record.
#include <fmt/format.h>

#include "headroom/base/error.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/json.hpp"
#include "headroom/report/report.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace fs = std::filesystem;

namespace {

Record read_object(const fs::path& file) {
  Record record = parse_json(read_file(file), file.string());
  if (!record.is_object()) {
    throw DataError(fmt::format("{}: a JSON object is wanted", file.string()));
  }
  return record;
}

/// The lines of metrics.jsonl that belong to a step: under "metrics" the measurements of the model,
/// under "telemetry" those of its heads. A last line without its end is one that a killed run could
/// not finish, and is left out.
void read_metrics(const fs::path& file, Record& run) {
  const std::string text = read_file(file);
  run["metrics"] = Record::array();
  Index number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) break;
    const std::string line = text.substr(begin, end - begin);
    const std::string origin = fmt::format("{}:{}", file.string(), ++number);
    begin = end + 1;
    if (line.empty()) continue;
    Record record;
    try {
      record = parse_json(line, origin);
    } catch (const FileError& error) {
      throw DataError(error.what());
    }
    if (!record.is_object()) throw DataError(origin + ": a JSON object is wanted");
    if (!record.contains("step")) continue;
    const Record kind = record.value("record", Record());
    if (!kind.is_null() && kind != "heads") {
      throw DataError(fmt::format("{}: no record is of the kind {}", origin, kind.dump()));
    }
    run[kind.is_null() ? "metrics" : "telemetry"].push_back(std::move(record));
  }
}

}  // namespace

Record read_run(const fs::path& folder) {
  const auto has = [&folder](const char* name) {
    std::error_code failed;
    return fs::is_regular_file(folder / name, failed);
  };
  if (has("records.json")) return read_object(folder / "records.json");
  if (!has("config.json") && !has("metrics.jsonl")) {
    throw FileError(fmt::format(
        "{}: no run was written here (records.json, config.json and metrics.jsonl are missing)",
        folder.string()));
  }
  Record run = {{"title", folder.filename().string()}};
  if (has("config.json")) {
    const Record config = read_object(folder / "config.json");
    run["config"] = config;
    const Record task = config.value("task", Record());  // a name, or an object that has one
    const Record name = task.is_object() ? task.value("name", Record()) : task;
    if (name.is_string()) {
      run["task"] = name;
      run["title"] = "Training on " + name.get<std::string>();
    }
    if (task.is_object() && task.value("seed", Record()).is_number_integer()) {
      run["seed"] = task["seed"];
    }
  }
  if (has("summary.json")) {
    const Record summary = read_object(folder / "summary.json");
    if (summary.contains("separate_vs_fused")) {
      run["separate_vs_fused"] = summary["separate_vs_fused"];
    }
  }
  if (has("metrics.jsonl")) read_metrics(folder / "metrics.jsonl", run);
  return run;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
