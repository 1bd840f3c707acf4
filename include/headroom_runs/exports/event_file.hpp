// Measurements of a run as a file for TensorBoard.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A number that was measured at a step.
struct Measurement {
  std::string tag;  // the name of its curve; what is before a "/" groups curves
  Index step = 0;
  double value = 0;
};

/// Writes an event file of TensorBoard: records of a length, a message `Event` (event.proto) and
/// checksums of both. Its name must contain "tfevents" for TensorBoard to find it. All events have
/// the time `seconds`, since 1970. Throws FileError.
void write_event_file(const std::filesystem::path& path, std::span<const Measurement> all,
                      double seconds);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
