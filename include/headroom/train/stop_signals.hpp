// StopSignals: the first Ctrl-C, SIGTERM, SIGUSR1 or SIGHUP asks a run to stop, the second one ends
// it.
#pragma once

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// During its lifetime the first SIGINT, SIGTERM, SIGUSR1 or SIGHUP (the terminal was closed) is
/// remembered and the second ends the process at once; files are safe then because they are only
/// ever replaced as a whole. SIGUSR1, which batch systems send before the time limit, does not
/// count as the first or second one, so it only ever asks. A SIGHUP that was ignored (nohup) stays
/// ignored. Throws UsageError when another one exists.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// True once a signal came.
  bool requested() const;
  /// The exit code for the program: 128 and the signal's number (130 after SIGINT), else 0.
  int exit_code() const;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
