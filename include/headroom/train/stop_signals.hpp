// StopSignals: the first Ctrl-C or SIGTERM asks a run to stop, the second one ends it.
#pragma once

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// During its lifetime the first SIGINT or SIGTERM is remembered and the second ends the process at
/// once; files are safe then because they are only ever replaced as a whole. Throws UsageError when
/// another one exists.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// True once a signal came.
  bool requested() const;
  /// The exit code for the program: 130 after SIGINT, 143 after SIGTERM, else 0.
  int exit_code() const;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
