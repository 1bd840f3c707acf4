// Runs a program as a user would.
#include "support/process.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "support/temporary_folder.hpp"

namespace {

std::string content(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

/// Runs in the child: redirects streams, changes folder and environment, executes the program.
[[noreturn]] void become(const std::vector<std::string>& command,
                         const std::vector<std::string>& environment, const std::string& folder,
                         const std::string& out, const std::string& err, int seconds) {
  const int in_file = open("/dev/null", O_RDONLY);
  const int out_file = open(out.c_str(), O_WRONLY | O_CREAT, 0600);
  const int err_file = open(err.c_str(), O_WRONLY | O_CREAT, 0600);
  dup2(in_file, 0);
  dup2(out_file, 1);
  dup2(err_file, 2);
  if (!folder.empty() && chdir(folder.c_str()) != 0) _exit(126);
  for (const std::string& setting : environment) {
    const std::size_t equals = setting.find('=');
    setenv(setting.substr(0, equals).c_str(), setting.substr(equals + 1).c_str(), 1);
  }
  std::vector<char*> arguments;
  for (const std::string& argument : command) {
    arguments.push_back(const_cast<char*>(argument.c_str()));
  }
  arguments.push_back(nullptr);
  alarm(static_cast<unsigned>(seconds));
  execvp(arguments[0], arguments.data());
  _exit(127);
}

}  // namespace

Finished run_process(const std::vector<std::string>& command,
                     const std::vector<std::string>& environment, const std::string& folder,
                     int seconds) {
  const TemporaryFolder outputs;
  const std::string out = outputs / "out", err = outputs / "err";
  const pid_t child = fork();
  if (child == 0) become(command, environment, folder, out, err, seconds);
  int status = 0;
  waitpid(child, &status, 0);
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return {code, content(out), content(err)};
}

bool in_path(const std::string& program) {
  return run_process({"sh", "-c", "command -v " + program}).code == 0;
}
