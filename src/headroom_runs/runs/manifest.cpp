// Manifests and checksums of checkpoints.
#include "headroom_runs/runs/manifest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <sstream>

#include "headroom/base/error.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/checksums.hpp"
#include "headroom/io/json.hpp"
#include "headroom/io/stateful.hpp"
#include "headroom/ops/blas.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr const char* accept = "or accept the change if it is meant";

/// "data file FILE is not ...", with the remedy and the settings that it needs.
[[noreturn]] void refuse(const std::string& what, const std::string& remedy,
                         std::vector<std::string> settings = {}) {
  throw FileError(fmt::format("{}; {}", what, remedy), std::move(settings));
}

void check_vocabularies(const Record& saved, const Record& now, const std::string& checkpoint) {
  for (const char* key : {"source", "target", "tokens", "classes"}) {
    if (!saved.is_object() || !saved.contains(key) || !now.contains(key)) continue;
    if (saved[key] == now[key]) continue;
    refuse(fmt::format("{}: the run has another vocabulary (\"{}\") than the data, so that its "
                       "tokens would change their meaning",
                       checkpoint, key),
           "give its data file, or begin a new run", {"data"});
  }
}

void check_settings(const Record& saved, const Record& now, const std::string& config) {
  const auto difference = first_difference(saved, now);
  if (!difference) return;
  refuse(fmt::format("{}: \"{}\" is {}, but the run was trained with {}", config, difference->key,
                     difference->second, difference->first),
         fmt::format("change it back, {}", accept), {"accept_changes"});
}

/// The checksum of files, one after the other; "" without files.
std::string checksum_of(const std::vector<std::filesystem::path>& files) {
  std::string all;
  for (const std::filesystem::path& file : files) all += read_file(file);
  return files.empty() ? "" : checksum(all);
}

/// "FILE: is not the data that the run was trained with (checksum A, not B)"
std::string of_other_data(const std::filesystem::path& data, const std::string& now,
                          const std::string& saved) {
  return fmt::format("{}: is not the data that the run was trained with (checksum {}, not {})",
                     data.string(), now, saved);
}

Manifest saved_manifest(const StateReader& from) {
  Manifest saved;
  try {
    saved = struct_of<Manifest>(from.record("manifest"), from.where("manifest"));
  } catch (const DataError& error) {
    throw FileError(error.what());
  }
  if (!saved.settings.is_object()) {
    throw FileError(fmt::format("{}: settings must be an object", from.where("manifest")));
  }
  return saved;
}

}  // namespace

std::string system_value(const char* file, const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || !line.starts_with(key)) continue;
    const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? std::string() : line.substr(begin);
  }
  return {};
}

std::string processor_description() {
  const std::string model = system_value("/proc/cpuinfo", "model name");
  std::istringstream flags(system_value("/proc/cpuinfo", "flags"));
  std::set<std::string> has;
  for (std::string flag; flags >> flag;) has.insert(flag);
  std::vector<std::string> vectors;
  for (const char* name : {"avx2", "fma", "avx512f", "amx_tile"}) {
    if (has.contains(name)) vectors.emplace_back(name);
  }
  return fmt::format("{} ({})", model.empty() ? "unknown" : model, fmt::join(vectors, " "));
}

std::string machine_description() {
  return fmt::format("{}, {} processors, {}", processor_description(),
                     sysconf(_SC_NPROCESSORS_CONF), blas_description());
}

Manifest manifest_of(const RunFolder& folder, const std::vector<std::filesystem::path>& data) {
  Manifest manifest{.library = HEADROOM_VERSION,
                    .machine = machine_description(),
                    .settings = folder.read_config()};
  manifest.data = checksum_of(data);
  // The checksum stands for the paths of the data, and a run begins with another one only once.
  for (const auto& [section, key] : {std::pair("task", "data"),
                                     {"task", "validation_data"},
                                     {"task", "test_data"},
                                     {"task", "folder"},
                                     {"training", "from"},
                                     {"training", "begin_with"}}) {
    Record& settings = manifest.settings;
    if (settings.contains(section) && settings[section].is_object()) settings[section].erase(key);
  }
  manifest.log = log_mark(folder.metrics());
  return manifest;
}

void require_its_data(const TensorFile& checkpoint,
                      const std::vector<std::filesystem::path>& data) {
  const StateReader from(checkpoint);
  if (data.empty() || !from.has("manifest")) return;
  const std::string saved = saved_manifest(from).data, now = checksum_of(data);
  if (now != saved) refuse(of_other_data(data[0], now, saved), "restore the file");
}

void require_same_weights(const Record& saved, const Record& now, const std::string& checkpoint) {
  const Record::json_pointer weights("/weights"), folder("/folder");
  if (!saved.contains(weights) || !now.contains(weights) || saved[weights] == now[weights]) return;
  refuse(fmt::format("{}: the run began with other weights than {} has now", checkpoint,
                     now[folder].get<std::string>()),
         "restore the model folder");
}

void check_log(const std::filesystem::path& folder) {
  const std::filesystem::path checkpoint = folder / RunFolder::checkpoint_name;
  if (!std::filesystem::exists(checkpoint)) return;
  const TensorFile file = TensorFile::read(checkpoint);
  const StateReader from(file);
  if (!from.has("manifest")) return;
  verify_checksums(file);
  const LogMark saved = saved_manifest(from).log, now = log_mark(folder / "metrics.jsonl");
  if (now == saved) return;
  refuse(
      fmt::format("{}: was changed after the run had ended (it has {} lines with checksum {}, its "
                  "checkpoint says {} lines with checksum {})",
                  (folder / "metrics.jsonl").string(), now.lines, now.checksum, saved.lines,
                  saved.checksum),
      fmt::format("restore the file, or delete {} and train the run again", folder.string()));
}

std::vector<std::string> check_resumable(const RunFolder& folder, const Manifest& now,
                                         const Record& about, const std::filesystem::path& data,
                                         Changes changes) {
  const TensorFile file = TensorFile::read(folder.checkpoint());
  const StateReader from(file);
  if (!from.has("manifest")) return {};
  verify_checksums(file);
  const Manifest saved = saved_manifest(from);
  check_vocabularies(from.record("about"), about, folder.checkpoint().string());
  require_same_weights(from.record("about"), about, folder.checkpoint().string());
  if (changes == Changes::refuse) {
    if (saved.data != now.data) {
      refuse(of_other_data(data, now.data, saved.data),
             fmt::format("give the run's file, {}", accept), {"data", "accept_changes"});
    }
    check_settings(saved.settings, now.settings, folder.config().string());
    if (log_mark(folder.metrics(), saved.log.lines) != saved.log) {
      refuse(fmt::format("{}: its first {} lines are not those of the run up to its checkpoint",
                         folder.metrics().string(), saved.log.lines),
             fmt::format("restore the file, {}", accept), {"accept_changes"});
    }
  }
  std::vector<std::string> warnings;
  const auto warn = [&](const char* what, const std::string& there, const std::string& here) {
    if (there == here) return;
    warnings.push_back(fmt::format(
        "the run was trained with another {}: the last bits of its results may differ ({} before, "
        "{} now)",
        what, there, here));
  };
  warn("kind of processor or BLAS", saved.machine, now.machine);
  warn("version of headroom", saved.library, now.library);
  return warnings;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
