// StopSignals: Ctrl-C and SIGTERM as a polite request, the second time as an order.
#pragma once

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// While one lives, the first SIGINT or SIGTERM is remembered and the second ends the process at
/// once; files are safe then because they are only ever replaced whole. One at a time: throws
/// UsageError when another lives.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  /// True once a signal came.
  bool requested() const;
  /// What the program should exit with: 130 after SIGINT, 143 after SIGTERM, else 0.
  int exit_code() const;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
