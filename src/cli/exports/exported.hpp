// What the commands that write files for other programs share.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Throws UsageError if the folder `out` has the file `model`, which would be replaced while it is
/// read, or is in the model folder `model`, whose files would be copied into themselves.
void require_apart(const std::filesystem::path& model, const std::string& out);

/// The folder for the files of a command: --out, or NAME-1, NAME-2, ... in runs/ if it was left
/// out. It is made. Throws UsageError if it is not empty and `force` was not given, and always if
/// it is the folder of a run, whose files would be replaced. `force` removes what these commands
/// wrote there before.
std::filesystem::path folder_for_files(const std::string& out, const char* name, bool force);

/// The name of an event file, by the time of its measurements: TensorBoard looks for "tfevents".
std::string event_file_name(double seconds);

/// Prints the files with their sizes, and makes them the result for --json.
void report_files(const std::filesystem::path& folder,
                  const std::vector<std::filesystem::path>& files);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
