// Runs another program as a child process: arguments in, exit code and both outputs out.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The result of a finished program.
struct ChildResult {
  static constexpr int not_found = 127;  // no such program; the code that shells use
  int code = 0;                          // exit code; 128 + signal when it was killed
  std::string out, err;
};

/// A program that runs beside this one. It is killed when this object is destroyed or this process
/// ends in any way, even by SIGKILL.
class ChildProgram {
 public:
  /// Starts words[0] (looked for in PATH unless it has a slash) with the other words, `input` on
  /// its standard input, and with "NAME=value" in addition to this process's environment. Throws
  /// FileError when it cannot be run; a missing program ends with the code `not_found`.
  explicit ChildProgram(const std::vector<std::string>& words, std::string_view input = "",
                        const std::vector<std::string>& environment = {});
  ~ChildProgram();
  ChildProgram(ChildProgram&&) noexcept;
  ChildProgram& operator=(ChildProgram&&) noexcept;

  /// Its result once it has ended. After a result, neither is called again.
  std::optional<ChildResult> poll();
  ChildResult wait();
  void send(int signal) const;

 private:
  struct Stream;
  ChildResult result(int status);
  pid_t process_ = -1;
  std::unique_ptr<Stream> in_, out_, err_;
};

/// Runs a program and waits for its end.
ChildResult run_child(const std::vector<std::string>& words, std::string_view input = "");

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
