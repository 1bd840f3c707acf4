// Options that several commands share.
#include "cli/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/frame/streams.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/base/names.hpp"
#include "headroom/base/nearest.hpp"
#include "headroom/base/parallel.hpp"
#include "headroom/base/text.hpp"
#include "headroom/base/utf8.hpp"
#include "headroom_foreign/folders/model_folder.hpp"
#include "headroom_measure/importance/choosers.hpp"
#include "headroom_measure/importance/head_metric.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace fs = std::filesystem;

CLI::Option* add_threads(CLI::App& command) {
  const auto use = [](const int& threads) { set_num_threads(threads); };
  return command
      .add_option_function<int>("--threads", use, "number of threads (default: all cores)")
      ->type_name("N")
      ->check(at_least(1, 1024));
}

CLI::Option* add_run(CLI::App& command, std::string& model) {
  return command.add_option("--model", model, "folder of a run (default: the newest in runs/)")
      ->type_name("DIR");
}

CLI::Option* add_model(CLI::App& command, std::string& model) {
  return add_run(command, model)
      ->description("folder of a run (default: the newest in runs/, or a sample)");
}

CLI::Option* add_any_model(CLI::App& command, std::string& model) {
  return add_run(command, model)
      ->description(
          "folder of a run, or a model folder of Transformers (default: the newest run in runs/, "
          "or a sample)");
}

CLI::Option* add_out(CLI::App& command, std::string& out, const std::string& what) {
  return command.add_option("--out", out, what + " (default: a new one in runs/)")
      ->type_name("DIR");
}

std::pair<RunFolder, FileLock> new_run(const std::string& out, const std::string& name,
                                       bool force) {
  if (force && fs::is_directory(out)) {  // nothing is removed from a run that is training
    FileLock lock = lock_run(out);
    return {RunFolder(out, IfExists::force), std::move(lock)};
  }
  RunFolder folder = out.empty() ? RunFolder::fresh("runs", name) : RunFolder(out);
  FileLock lock = lock_run(folder.path());
  return {std::move(folder), std::move(lock)};
}

fs::path sample_model() {
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  const fs::path folder = program.parent_path().parent_path() / "share/headroom/dates-model";
  return !failed && fs::exists(folder / RunFolder::best_name) ? folder : fs::path();
}

fs::path model_folder(const std::string& model, const char* option) {
  if (!model.empty() || newest_run("runs")) return run_folder(model, option);
  const fs::path sample = sample_model();
  if (sample.empty()) return run_folder(model, option);
  print_error("there are no runs in runs/; this is the sample model, trained on dates\n");
  return sample;
}

fs::path any_model_folder(const std::string& model) {
  return !model.empty() && is_model_folder(model) ? fs::path(model) : model_folder(model);
}

fs::path run_folder(const std::string& model, const char* option) {
  if (model.empty()) {
    if (const std::optional<fs::path> newest = newest_run("runs")) {
      print_error("the newest run, {}\n", shown(newest->string(), stderr));
      return *newest;
    }
    throw UsageError(fmt::format(
        "no trained model under runs (train one with {} train, or name one with {} DIR)",
        invocation(), option));
  }
  if (!fs::exists(model)) throw FileError(fmt::format("{} {} does not exist", option, model));
  require(!is_model_folder(model),
          fmt::format("{} {}: is a model folder of Transformers, which inspect, tokenize, attend, "
                      "sample, translate, predict and export read, and no run",
                      option, model));
  return model;
}

void require_metric(const std::string& name) {
  std::vector<std::string> choosers;
  for (const ChooserEntry& entry : head_choosers()) choosers.push_back(entry.info.name);
  std::vector<std::string> all = choosers;
  for (const MetricEntry& entry : head_metrics()) all.push_back(entry.info.name);
  require(std::find(all.begin(), all.end(), name) != all.end(),
          fmt::format("--metric \"{}\" is neither a chooser ({}) nor one of the metrics that {} "
                      "importance --help lists{}",
                      printable(name), fmt::join(choosers, ", "), invocation(),
                      did_you_mean(name, all)));
}

void require_free_file(const fs::path& file) {
  std::error_code failed;
  if (!fs::exists(file, failed)) return;
  throw FileError(fmt::format("--out {} exists (choose another path, or use --force to replace it)",
                              file.string()));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
