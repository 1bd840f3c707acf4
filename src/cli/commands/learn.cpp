// headroom learn: becomes the runner of the course, which is a program of its own.
#include <unistd.h>

#include "cli/frame/command.hpp"
#include "cli/sibling.hpp"
#include "headroom/base/error.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

[[noreturn]] void become_runner(const CLI::App& command) {
  std::string program = beside_this("headroom-learn").string();
  if (program.empty()) {
    throw UsageError(
        "the course is not built: there is no headroom-learn beside this program (./headroom learn "
        "builds it; with CMake: -DHEADROOM_COURSE=ON, target headroom_course)");
  }
  std::vector<std::string> words = command.remaining();
  words.insert(words.begin(), {program, "learn"});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(program.c_str(), arguments.data());
  throw FileError(program + ": cannot be run; build it again");
}

}  // namespace

Command add_learn(CLI::App& program) {
  CLI::App* app =
      program.add_subcommand("learn", "The course: checks your answers as you save them");
  app->prefix_command();   // the runner reads all words,
  app->set_help_flag("");  // also --help
  return {app, [app]() -> int { become_runner(*app); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
