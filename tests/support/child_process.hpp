// ChildProcess: this test program once more, running one hidden test case, to be stopped or killed.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

class ChildProcess {
 public:
  /// Runs the test case `name`; `environment` holds "NAME=value" on top of this process's own.
  ChildProcess(const std::string& name, const std::vector<std::string>& environment);
  /// Kills the process if it still runs.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  void send(int signal) const;
  /// Waits at most 120 seconds for its end. Returns its exit code, or minus the signal that ended
  /// it.
  int wait();
  bool running();

 private:
  bool poll();
  pid_t pid_ = -1;
  bool ended_ = false;
  int status_ = 0;
};
