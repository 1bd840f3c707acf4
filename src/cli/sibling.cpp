// The program of the other precision, as a child process.
#include "cli/sibling.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <memory>

#include "headroom/base/error.hpp"
#include "headroom/io/json.hpp"

namespace headroom::inline HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

/// A file without a name for one of the child's outputs: it cannot fill up as a pipe can.
struct Output {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file{std::tmpfile(), std::fclose};

  Output() {
    if (!file) throw FileError(fmt::format("no temporary file: {}", std::strerror(errno)));
  }
  std::string text() const {
    std::string all;
    std::rewind(file.get());
    char part[4096];
    while (const std::size_t n = std::fread(part, 1, sizeof part, file.get())) all.append(part, n);
    return all;
  }
};

/// The child's "error: ..." line as the exception of its exit code.
[[noreturn]] void report(int code, std::string text) {
  constexpr std::string_view prefix = "error: ";
  if (text.starts_with(prefix)) text.erase(0, prefix.size());
  while (!text.empty() && text.back() == '\n') text.pop_back();
  switch (code) {
    case 2: throw UsageError(text);
    case 3: throw NumericError(text);
    case 4: throw DataError(text);
    case 5: throw FileError(text);
    default: throw Error(fmt::format("{} ended with code {}: {}", other_precision, code, text));
  }
}

}  // namespace

fs::path sibling_program() {
  std::error_code failed;
  const fs::path own = fs::read_symlink("/proc/self/exe", failed);
  const fs::path other = own.parent_path() / (is_double ? "headroom" : "headroom-f64");
  return !failed && access(other.c_str(), X_OK) == 0 ? other : fs::path();
}

Record sibling_record(const std::vector<std::string>& arguments) {
  const fs::path program = sibling_program();
  if (program.empty()) {
    throw UsageError(
        fmt::format("{} needs the program of that precision beside this one; "
                    "--precision {} does without",
                    other_precision, own_precision));
  }
  const Output out, err;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fileno(out.file.get()), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(err.file.get()), STDERR_FILENO);
  std::vector<std::string> words{program.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  const int failed = posix_spawn(&child, program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    throw FileError(fmt::format("{}: cannot be run: {}", program.string(), std::strerror(failed)));
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  const std::string text = out.text();
  if (code != 0 && (code != 3 || text.empty())) report(code, err.text());
  return parse_json(text, program.filename().string());
}

}  // namespace headroom::inline HEADROOM_PRECISION
