// Reads the runs of a folder.
#include "headroom_runs/runs/run_list.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>

#include "headroom/base/error.hpp"
#include "headroom/base/record_json.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/json.hpp"
#include "headroom/train/checkpoint.hpp"
#include "headroom/train/measures.hpp"
#include "headroom_runs/runs/run_folder.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace fs = std::filesystem;

namespace {

Index whole(const Record& record, const char* place) {
  const Record::json_pointer at(place);
  return record.contains(at) && record[at].is_number_integer() ? record[at].get<Index>() : 0;
}

/// The first measure that the values have: a quality, else a loss.
void take_measure(RunEntry& entry, const Record& values, const std::string& loss) {
  const auto take = [&](const char* key, const std::string& name) {
    if (!values.contains(key) || !values[key].is_number()) return false;
    entry.measure = name;
    entry.value = values[key].get<double>();
    return true;
  };
  for (const Measure& measure : quality_measures) {
    if (take(measure.key, measure.name)) return;
  }
  if (!take("test_loss", "test loss")) take("validation_loss", loss);
}

/// The last evaluation in a log.
void take_last_evaluation(RunEntry& entry, const fs::path& log) {
  std::ifstream lines(log);
  std::string last;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("\"validation_loss\"") != line.npos && line.ends_with('}')) last = line;
  }
  if (!last.empty()) {
    take_measure(entry, parse_json(last, log.string()), "validation loss");
  }
}

Record object_in(const fs::path& file) {
  return fs::exists(file) ? parse_json(read_file(file), file.string()) : Record::object();
}

/// Steps and heads of a checkpoint.
void take_checkpoint(RunEntry& entry, const fs::path& file) {
  const TensorFile tensors = TensorFile::read(file);
  const StateReader root(tensors);
  if (root.part("trainer").has("steps")) entry.steps = root.part("trainer").integer("steps");
  const ModelConfig config = ModelConfig::from_record(root.part("model").record("config"));
  const Index kinds = config.kind == ModelKind::seq2seq ? 3 : 1;
  entry.all_heads = kinds * config.layers * config.block.heads;
  entry.heads = entry.all_heads - std::ssize(read_removed(root.part("model")));
}

void read(RunEntry& entry, const fs::path& path) {
  const RunFolder folder(path, IfExists::resume);
  const Record config = folder.read_config(), summary = object_in(folder.summary());
  const Record::json_pointer task("/task/name");
  entry.task =
      config.contains(task) && config[task].is_string() ? config[task].get<std::string>() : "demo";
  entry.all_steps = whole(config, "/training/steps");
  const bool has_checkpoint = folder.resumes();
  if (has_checkpoint) {
    take_checkpoint(entry, folder.checkpoint());
  } else if (fs::exists(folder.best())) {
    take_checkpoint(entry, folder.best());
  }
  if (is_training(path)) {
    entry.state = RunState::training;
  } else if (config.contains("cut")) {
    entry.state = RunState::cut;
  } else if (!summary.empty()) {
    entry.state = RunState::finished;
  } else if (has_checkpoint) {
    entry.state = RunState::stopped;
  }
  if (summary.contains("test")) return take_measure(entry, summary["test"], "validation loss");
  const Record::json_pointer after("/after");
  if (summary.contains(after)) return take_measure(entry, summary[after], "validation loss");
  take_last_evaluation(entry, folder.metrics());
}

/// Size of all files, and the time of the newest.
std::pair<Index, fs::file_time_type> files_of(const fs::path& folder) {
  Index bytes = 0;
  fs::file_time_type newest = fs::file_time_type::min();
  for (const auto& file : fs::recursive_directory_iterator(folder)) {
    if (!file.is_regular_file()) continue;
    bytes += Index(file.file_size());
    newest = std::max(newest, file.last_write_time());
  }
  return {bytes, newest};
}

}  // namespace

std::vector<RunEntry> runs_in(const fs::path& root) {
  std::vector<RunEntry> runs;
  if (!fs::is_directory(root)) return runs;
  const auto now = fs::file_time_type::clock::now();
  for (const auto& folder : fs::directory_iterator(root)) {
    if (!fs::exists(folder.path() / "config.json")) continue;
    RunEntry entry{.folder = folder.path().string()};
    const auto [bytes, newest] = files_of(folder.path());
    entry.bytes = bytes;
    entry.hours = std::chrono::duration<double, std::ratio<3600>>(now - newest).count();
    try {
      read(entry, folder.path());
    } catch (const Error& error) {
      entry.problem = error.what();
    }
    runs.push_back(std::move(entry));
  }
  std::sort(runs.begin(), runs.end(), [](const RunEntry& a, const RunEntry& b) {
    return a.hours != b.hours ? a.hours < b.hours : a.folder < b.folder;
  });
  return runs;
}

bool remove_run(const fs::path& folder) {
  if (!fs::is_directory(folder)) throw FileError(folder.string() + ": there is no such folder");
  if (!fs::exists(folder / "config.json")) {
    throw UsageError(folder.string() + ": is not the folder of a run: it has no config.json");
  }
  {
    const FileLock lock = lock_run(folder);
    const RunFolder emptied(folder, IfExists::force);
  }
  // What is left is not the run's, but for folders that are empty now.
  std::error_code ignored;
  for (const auto& inner : fs::directory_iterator(folder)) {
    if (inner.is_directory() && fs::is_empty(inner.path())) fs::remove(inner.path(), ignored);
  }
  if (fs::is_empty(folder)) fs::remove(folder, ignored);
  return !fs::exists(folder);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
