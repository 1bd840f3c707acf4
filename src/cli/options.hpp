// Options that several commands share: threads, models, and run folders.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "cli/frame/validators.hpp"
#include "headroom/base/head_list.hpp"
#include "headroom/base/real.hpp"
#include "headroom/base/require.hpp"
#include "headroom_runs/runs/run_folder.hpp"
#include "headroom_runs/runs/setting.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// `--threads N`, which takes effect as soon as it is read.
CLI::Option* add_threads(CLI::App& command);
/// `--model DIR`: the folder of a run. Read it with run_folder().
CLI::Option* add_run(CLI::App& command, std::string& model);
/// The same for commands that leave the model as it is. Read it with model_folder().
CLI::Option* add_model(CLI::App& command, std::string& model);

/// The same for commands that read model folders of Transformers, too. Read it with
/// any_model_folder().
CLI::Option* add_any_model(CLI::App& command, std::string& model);

/// `--out DIR`: the folder to write, which `what` describes.
CLI::Option* add_out(CLI::App& command, std::string& out, const std::string& what);

/// The new folder of a run that --out names, or NAME-1, NAME-2, ... in runs/ without it, and its
/// lock. `force` replaces an old run. Throws as RunFolder and lock_run() do.
std::pair<RunFolder, FileLock> new_run(const std::string& out, const std::string& name, bool force);

/// The folder given by --model (or by another `option`), or the newest run under runs/ when it was
/// left out. Throws FileError when it does not exist, UsageError when there is no run and for a
/// model folder of Transformers.
std::filesystem::path run_folder(const std::string& model, const char* option = "--model");

/// The same for a command that leaves the model as it is (`prune` writes a new one): where there is
/// no run, it is the model that comes with the program, so that a first command works.
std::filesystem::path model_folder(const std::string& model, const char* option = "--model");

/// The same for a command that reads model folders of Transformers, too: with open_model(), or
/// after is_model_folder().
std::filesystem::path any_model_folder(const std::string& model);

/// The model that comes with the program, trained on dates: ../share/headroom/dates-model beside
/// the program's folder. Empty if it is not there.
std::filesystem::path sample_model();

/// Throws UsageError, saying where the names are listed, unless this is the name of a metric or a
/// chooser.
void require_metric(const std::string& name);

/// Throws FileError if the file exists, so that nothing is overwritten.
void require_free_file(const std::filesystem::path& file);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
