// What the commands that write files for other programs share.
#include "cli/exports/exported.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/frame/common_options.hpp"
#include "cli/frame/streams.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/text.hpp"
#include "headroom/io/files.hpp"
#include "headroom_foreign/folders/model_folder.hpp"
#include "headroom_runs/runs/run_folder.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace fs = std::filesystem;

namespace {

constexpr const char* event_file_begin = "events.out.tfevents.";
constexpr const char* event_file_end = ".headroom";

/// Whether event_file_name() made this name.
bool is_event_file_name(const std::string& name) {
  return name.starts_with(event_file_begin) && name.ends_with(event_file_end);
}

}  // namespace

std::string event_file_name(double seconds) {
  return fmt::format("{}{:.0f}{}", event_file_begin, seconds, event_file_end);
}

void require_apart(const fs::path& model, const std::string& out) {
  if (out.empty()) return;
  const fs::path read = fs::weakly_canonical(fs::absolute(model)),
                 written = fs::weakly_canonical(fs::absolute(out));
  const auto differ = std::mismatch(read.begin(), read.end(), written.begin(), written.end());
  const bool in_model = is_model_folder(read) && differ.first == read.end();
  const bool beside_model = !fs::is_directory(read) && read.parent_path() == written;
  if (!in_model && !beside_model) return;
  throw UsageError(fmt::format(
      "--out {}: is the folder of the model that is read, or in it; choose another", out));
}

fs::path folder_for_files(const std::string& out, const char* name, bool force) {
  if (out.empty()) return RunFolder::fresh("runs", name).path();
  if (fs::is_directory(out) && !fs::is_empty(out)) {
    if (fs::exists(fs::path(out) / "config.json")) {
      throw UsageError(
          fmt::format("--out {}: is the folder of a run or of a model, which is never replaced; "
                      "choose another",
                      out));
    }
    if (!force) {
      throw UsageError(
          fmt::format("--out {}: the folder is not empty; choose another, or replace its files",
                      out),
          {"force"});
    }
  }
  make_folder(out);
  for (const char* old : {"encoder.onnx", "decoder.onnx", "model.onnx", "model.safetensors",
                          "model.json", "model.py", "metrics.csv", "heads.csv"}) {
    fs::remove(fs::path(out) / old);  // of another model or run
  }
  for (const fs::directory_entry& old :
       fs::directory_iterator(out)) {  // TensorBoard reads them all
    if (is_event_file_name(old.path().filename().string())) fs::remove(old.path());
  }
  return out;
}

void report_files(const fs::path& folder, const std::vector<fs::path>& files) {
  Record names = Record::array();
  for (const fs::path& file : files) {
    fmt::print("  {}  {}\n", shown(file.string()), bytes_text(double(fs::file_size(file))));
    names.push_back(file.string());
  }
  set_result({{"folder", folder.string()}, {"files", names}});
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
