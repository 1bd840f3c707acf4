// Runs another program as a child process.
#include "cli/child_program.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "headroom/base/error.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Unnamed temporary file for one of the child's streams: unlike a pipe it cannot fill up.
struct Stream {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::tmpfile(), std::fclose};

  explicit Stream(std::string_view content = "") {  // "": fwrite takes no null pointer
    if (!file || std::fwrite(content.data(), 1, content.size(), file.get()) != content.size() ||
        std::fflush(file.get()) != 0) {
      throw FileError(fmt::format("no temporary file: {}", std::strerror(errno)));
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

}  // namespace

ChildResult run_child(const std::vector<std::string>& words, std::string_view input) {
  const Stream in(input), out, err;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.descriptor(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.descriptor(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.descriptor(), STDERR_FILENO);
  std::vector<std::string> own = words;
  std::vector<char*> argv;
  for (std::string& word : own) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed == ENOENT) return {ChildResult::not_found, {}, {}};
  if (failed != 0) {
    throw FileError(fmt::format("{}: cannot be run: {}", words[0], std::strerror(failed)));
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), out.text(), err.text()};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
