// A child by fork and exec: a fork alone would inherit a thread pool without threads.
#include "support/child_process.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>

extern char** environ;

ChildProcess::ChildProcess(const std::string& name, const std::vector<std::string>& environment) {
  std::vector<char*> variables;
  for (const std::string& variable : environment) {
    variables.push_back(const_cast<char*>(variable.c_str()));
  }
  for (char** variable = environ; *variable != nullptr; ++variable) variables.push_back(*variable);
  variables.push_back(nullptr);
  std::string program = "/proc/self/exe", test = name;
  char* arguments[] = {program.data(), test.data(), nullptr};
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("fork failed");
  if (pid_ == 0) {
    dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);  // its own test report
    std::signal(SIGHUP, SIG_DFL);                      // the tests may run under nohup
    execve(program.c_str(), arguments, variables.data());
    _exit(127);
  }
}

ChildProcess::~ChildProcess() {
  if (!poll()) {
    send(SIGKILL);
    waitpid(pid_, &status_, 0);
  }
}

void ChildProcess::send(int signal) const { kill(pid_, signal); }

bool ChildProcess::poll() {
  if (!ended_) ended_ = waitpid(pid_, &status_, WNOHANG) == pid_;
  return ended_;
}

bool ChildProcess::running() { return !poll(); }

int ChildProcess::wait() {
  for (int tenths = 0; tenths < 12000; ++tenths) {
    if (poll()) return WIFEXITED(status_) ? WEXITSTATUS(status_) : -WTERMSIG(status_);
    usleep(10000);
  }
  throw std::runtime_error("the child process does not end");
}
