// Runs commands on the learner's functions.
#include "course/learn_run.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <sstream>

#include "cli/frame/streams.hpp"
#include "course/learn_build.hpp"
#include "course/learn_judge.hpp"
#include "course/learn_mine.hpp"
#include "course/learn_predictions.hpp"
#include "course/learn_rewards.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/base/terminal.hpp"
#include "headroom/base/text.hpp"
#include "headroom/io/atomic_file.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

/// "2 functions are yours: softmax (1.4 times), FusedHeads::project", and what else to say about
/// the learner's functions. Those that make a training step at least a quarter slower have their
/// time.
std::string mine_text(const Course& course, const Workspace& workspace,
                      const std::vector<OwnFunction>& functions) {
  const Index columns = TerminalStyle::of(stdout).columns;
  std::string remarks;
  std::istringstream lines(changed_text(course, workspace));
  for (std::string line; std::getline(lines, line);) remarks += wrapped(line, columns) + "\n";
  if (functions.empty()) {
    return remarks + "No function is yours yet: all of them are the library's.\n";
  }
  std::string names;
  bool slower = false;
  for (const OwnFunction& function : functions) {
    names += (names.empty() ? "" : ", ") + function.name;
    if (function.step_time.value_or(1) < 1.25) continue;
    names += fmt::format(" ({:.2g} times)", *function.step_time);
    slower = true;
  }
  std::string text = fmt::format("{} {} yours: {}", functions.size(),
                                 functions.size() == 1 ? "function is" : "functions are", names);
  if (slower) {
    text +=
        ". In brackets: the time of a small training step with that function alone, relative to "
        "the library's.";
  }
  if (calls_are_noted) {
    text +=
        std::string(slower ? "" : ".") + " The last line says which of them the command called.";
  }
  return wrapped(text, columns) + "\n" + remarks + "\n";
}

bool is_experiment(const Course& course, const std::string& name) {
  return std::find(course.experiments.begin(), course.experiments.end(), name) !=
         course.experiments.end();
}

/// The learner's functions, brought up to date, and a line about them.
std::vector<OwnFunction> functions_now(const Course& course, const Workspace& workspace) {
  const std::string failed = update_mine(course, workspace, [](Index answers) {
    print_error("compiling {} of your answers for programs ...\n", answers);
  });
  print_error("{}", shown(failed, stderr));
  return functions_of_mine(course, workspace);
}

/// The program of the course: in float, if that is built.
std::string program_of(const Course& course) {
  const fs::path bin = course.folder() / "bin";
  return fs::exists(bin / "headroom") ? bin / "headroom" : bin / "headroom-f64";
}

/// Becomes a program of the course, on these functions of the learner.
[[noreturn]] void become(const Course& course, const Workspace& workspace,
                         const std::vector<OwnFunction>& functions,
                         const std::vector<std::string>& words) {
  if (words.empty()) {
    throw UsageError(
        fmt::format("learn run needs a command, for example {} learn run train", invocation()));
  }
  std::string name = program_of(course);
  std::vector<std::string> arguments = words;
  if (is_experiment(course, words[0])) {
    name = (course.folder() / "bin" / words[0]).string();
    arguments.erase(arguments.begin());
    build_experiment(course, words[0]);
  }
  std::fflush(stdout);
  std::string folders = folder_of_mine(workspace).string();
  if (const char* before = std::getenv("LD_LIBRARY_PATH")) folders += std::string(":") + before;
  std::string names;  // for the pages that the program writes
  for (const OwnFunction& function : functions)
    names += (names.empty() ? "" : ", ") + function.name;
  const fs::path calls = workspace.build() / fmt::format("calls.{}", getpid());
  fs::remove(calls);
  setenv("LD_LIBRARY_PATH", folders.c_str(), 1);
  setenv("HEADROOM_OWN_FUNCTIONS", names.c_str(), 1);
  setenv("HEADROOM_CALLS", calls.c_str(), 1);
  setenv("HEADROOM_BOARD", board_of(workspace).c_str(), 1);
  std::vector<char*> argv{name.data()};
  for (std::string& word : arguments) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(name.c_str(), argv.data());
  throw FileError(fmt::format("{}: cannot be run; build it with {} learn", name, invocation()));
}

/// Runs a program of the course as a child. An experiment asks for open predictions, unless `all`
/// is to be shown. Returns its exit code, or 128 and the signal that ended it.
int run_beside(const Course& course, const Workspace& workspace,
               const std::vector<OwnFunction>& functions, const std::vector<std::string>& words,
               bool all) {
  const PredictionFiles files = write_predictions(course, workspace);
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) throw FileError(fmt::format("{}: no process can be started", words[0]));
  if (child == 0) {
    setenv("HEADROOM_PREDICTIONS", files.asked.c_str(), 1);
    setenv("HEADROOM_MEASURED", files.measured.c_str(), 1);
    if (!all) setenv("HEADROOM_ASK", "1", 1);
    try {
      become(course, workspace, functions, words);
    } catch (const std::exception& error) {
      print_error("error: {}\n", shown(error.what(), stderr));
    }
    _exit(1);
  }
  // Ctrl-C ends the child, and what it has shown is kept.
  const auto before = std::signal(SIGINT, SIG_IGN);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  std::signal(SIGINT, before);
  read_measured(course, files);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

int run_with_mine(const Course& course, const Workspace& workspace,
                  const std::vector<std::string>& words) {
  const std::vector<OwnFunction> functions = functions_now(course, workspace);
  if (!words.empty()) fmt::print("{}", mine_text(course, workspace, functions));
  if (words.empty() || !is_experiment(course, words[0])) {
    become(course, workspace, functions, words);
  }
  std::vector<std::string> rest = words;
  const bool all = std::erase(rest, "--all") > 0;
  return run_beside(course, workspace, functions, rest, all);
}

int run_milestone(const Course& course, const Workspace& workspace, const std::string& chapter) {
  fs::path file;
  const std::string number = (chapter.size() == 1 ? "0" : "") + chapter;
  for (const fs::directory_entry& entry : fs::directory_iterator(course.source / "chapters")) {
    if (entry.path().filename().string().starts_with(number + "_")) {
      file = entry.path() / "milestone.txt";
    }
  }
  if (!fs::exists(file)) {
    throw UsageError(
        fmt::format("chapter \"{}\" has no milestone; give its number: {} learn milestone 07",
                    chapter, invocation()));
  }
  const std::vector<OwnFunction> functions = functions_now(course, workspace);
  fmt::print("{}", mine_text(course, workspace, functions));
  std::istringstream lines(read_file(file));
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    if (line.starts_with("#")) {
      fmt::print("{}\n", line.substr(std::min<std::size_t>(2, line.size())));
      continue;
    }
    fmt::print("\n$ {} learn run {}\n", invocation(), line);
    std::istringstream stream(line);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    if (const int code = run_beside(course, workspace, functions, words, false); code != 0) {
      return code;
    }
  }
  return 0;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
