// OpScope: the name and the clock of the running operation, for errors, for finding NaNs and for
// the profile.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Which pass over the tape an operation runs in.
enum class Pass { forward, backward };

/// First line of every operation's body: `OpScope op("sigmoid");`. Names it while it runs; adds its
/// time to the profile when profiling is on, else costs a pointer assignment. Scopes nest: time
/// belongs to the innermost.
class OpScope {
 public:
  explicit OpScope(const char* name, Pass pass = Pass::forward);
  ~OpScope();
  OpScope(const OpScope&) = delete;
  OpScope& operator=(const OpScope&) = delete;

  const char* name() const { return name_; }
  /// Work done in this scope, for the profile's rates: floating-point operations, and bytes that
  /// have to be moved at least (every element that is read or written, once). The tape counts the
  /// bytes of recorded operations by itself.
  void work(double flops, double bytes) const {
    flops_ += flops;
    bytes_ += bytes;
  }
  /// The innermost scope of this thread, or nullptr.
  static OpScope* current();

 private:
  // Nanoseconds and not <chrono>, which every file that includes a tape would have to compile.
  using Nanoseconds = std::int64_t;
  static Nanoseconds now();

  const char* name_;
  Pass pass_;
  OpScope* outer_;
  mutable double flops_ = 0, bytes_ = 0;
  Nanoseconds inner_time_ = 0;
  Nanoseconds begin_ = 0;  // 0: not timed
};

/// One operation's line in the profile; its forward and its backward pass have a line each.
struct ProfileRow {
  std::string name;
  Pass pass = Pass::forward;
  Index calls = 0;
  double seconds = 0;
  double flops = 0, bytes = 0;
};

/// Profiling is off at the start. Turning it on clears the table.
void set_profiling(bool on);
/// Returns whether profiling is on.
bool profiling();
/// The table since profiling was turned on, longest time first.
std::vector<ProfileRow> profile();

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
