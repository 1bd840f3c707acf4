// Runs a program as a user would: arguments in, exit code and both outputs out.
#pragma once

#include <string>
#include <vector>

/// The result of a program.
struct Finished {
  int code = -1;  // exit code; 128 + signal when it was killed
  std::string out, err;
};

/// Runs a program (found in PATH unless it has a slash) with arguments, standard input empty,
/// `environment` ("NAME=value") added to this process's own, in `folder` when given. It is killed
/// after `seconds`.
Finished run_process(const std::vector<std::string>& command,
                     const std::vector<std::string>& environment = {},
                     const std::string& folder = "", int seconds = 300);

/// Returns true if a program of this name is in PATH.
bool in_path(const std::string& program);
