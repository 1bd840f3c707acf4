// The runs of a folder: what each is, how far it is, how good and how large.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "headroom/base/listed.hpp"
#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// training: a process has its lock. begun: it has no checkpoint yet. stopped: it can be resumed.
/// finished: its summary says that all steps are done. cut: `prune` wrote it, without an optimizer.
enum class RunState { training, begun, stopped, finished, cut };

/// A run as a line of a list.
struct RunEntry {
  std::string folder{}, task{};
  RunState state = RunState::begun;
  Index steps = 0, all_steps = 0;  // done, and of the whole run
  Index heads = 0, all_heads = 0;  // alive, and of the model that it began with
  std::string measure{};           // "exact match", "test loss"; empty if nothing was measured
  std::optional<double> value{};   // of the test set if the run is finished, else of its last
                                   // evaluation
  double hours = 0;                // since its last file was written
  Index bytes = 0;                 // of all files of the folder
  std::string problem{};           // the reason why the rest is missing
  using T = RunEntry;
  using Fields = Listed<&T::folder, if_any<&T::task>, &T::state, &T::steps, &T::all_steps,
                        &T::heads, &T::all_heads, if_any<&T::measure>, &T::value, &T::hours,
                        &T::bytes, if_any<&T::problem>>;
};

/// The folders under `root` that have a config.json, the newest first. A run whose files cannot be
/// read has a `problem`. Throws FileError if the folder cannot be read.
std::vector<RunEntry> runs_in(const std::filesystem::path& root);

/// Removes the files of a run, those that RunFolder would replace, and its folder if nothing else
/// is in it. Returns whether the folder is gone. Throws as RunFolder and lock_run(): for a run that
/// is training, and for files that are not those of a run.
bool remove_run(const std::filesystem::path& folder);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
