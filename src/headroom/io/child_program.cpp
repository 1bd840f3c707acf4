// Runs another program as a child process.
#include "headroom/io/child_program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

#include "headroom/base/error.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  for (std::string& word : words) all.push_back(word.data());
  return all;
}

}  // namespace

/// Unnamed temporary file for one of the child's streams: unlike a pipe it cannot fill up.
struct ChildProgram::Stream {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::tmpfile(), std::fclose};

  explicit Stream(std::string_view content = "") {  // "": fwrite takes no null pointer
    if (!file || std::fwrite(content.data(), 1, content.size(), file.get()) != content.size() ||
        std::fflush(file.get()) != 0) {
      throw FileError(fmt::format("cannot create a temporary file: {}", std::strerror(errno)));
    }
    std::rewind(file.get());
  }
  int descriptor() const { return fileno(file.get()); }
  std::string text() const {
    std::string all;
    std::rewind(file.get());
    char part[4096];
    while (const std::size_t n = std::fread(part, 1, sizeof part, file.get())) all.append(part, n);
    return all;
  }
};

ChildProgram::ChildProgram(const std::vector<std::string>& words, std::string_view input,
                           const std::vector<std::string>& environment)
    : in_(new Stream(input)), out_(new Stream), err_(new Stream) {
  // All memory is allocated before fork(): another thread may hold the allocator's lock then.
  std::vector<std::string> arguments = words, additional = environment;
  std::vector<char*> argv = pointers(arguments), variables = pointers(additional);
  argv.push_back(nullptr);
  for (char** variable = environ; *variable != nullptr; ++variable) variables.push_back(*variable);
  variables.push_back(nullptr);
  int report[2];  // the child's errno if exec fails; closed by exec otherwise
  const pid_t parent = getpid();
  if (pipe2(report, O_CLOEXEC) != 0 || (process_ = fork()) < 0) {
    throw FileError(fmt::format("{}: cannot be run: {}", words[0], std::strerror(errno)));
  }
  if (process_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);  // the parent ended before prctl()
    dup2(in_->descriptor(), STDIN_FILENO);
    dup2(out_->descriptor(), STDOUT_FILENO);
    dup2(err_->descriptor(), STDERR_FILENO);
    execvpe(argv[0], argv.data(), variables.data());
    const int error = errno;
    if (write(report[1], &error, sizeof error) < 0) _exit(1);
    _exit(ChildResult::not_found);
  }
  close(report[1]);
  int error = 0;
  const bool failed = read(report[0], &error, sizeof error) == ssize_t(sizeof error);
  close(report[0]);
  if (failed && error != ENOENT) {
    wait();
    throw FileError(fmt::format("{}: cannot be run: {}", words[0], std::strerror(error)));
  }
}

ChildProgram::ChildProgram(ChildProgram&& other) noexcept
    : process_(std::exchange(other.process_, -1)),
      in_(std::move(other.in_)),
      out_(std::move(other.out_)),
      err_(std::move(other.err_)) {}

ChildProgram& ChildProgram::operator=(ChildProgram&& other) noexcept {
  std::swap(process_, other.process_);
  std::swap(in_, other.in_);
  std::swap(out_, other.out_);
  std::swap(err_, other.err_);
  return *this;
}

ChildProgram::~ChildProgram() {
  if (process_ < 0) return;
  send(SIGKILL);
  wait();
}

void ChildProgram::send(int signal) const {
  if (process_ > 0) kill(process_, signal);
}

std::optional<ChildResult> ChildProgram::poll() {
  int status = 0;
  if (waitpid(process_, &status, WNOHANG) != process_) return std::nullopt;
  return result(status);
}

ChildResult ChildProgram::wait() {
  int status = 0;
  while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  return result(status);
}

ChildResult ChildProgram::result(int status) {
  process_ = -1;
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), out_->text(),
          err_->text()};
}

ChildResult run_child(const std::vector<std::string>& words, std::string_view input) {
  return ChildProgram(words, input).wait();
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
