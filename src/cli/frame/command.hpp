// The commands of the program: each has its own file and is listed once, in all_commands.cpp.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// What `--help` shows of a command with many options; `--help-all` shows all.
struct BriefHelp {
  std::vector<std::string> options = {};  // names without --; empty: all are shown
  std::string footer = {};
};

/// A command: adding it binds its options; `run` is called once the command line has been read, and
/// returns the exit code. Errors are exceptions of base/error.hpp, which the program reports.
struct Command {
  CLI::App* app = nullptr;
  std::function<int()> run;
  BriefHelp brief = {};
};

/// Functions that add the commands of a program, in the order in which help lists them.
using AddCommands = std::vector<Command (*)(CLI::App& program)>;

/// Those of headroom.
AddCommands all_commands();

Command add_attend(CLI::App& program);
Command add_bench(CLI::App& program);
Command add_completion(CLI::App& program);
Command add_convert(CLI::App& program);
Command add_demo(CLI::App& program);
Command add_doctor(CLI::App& program);
Command add_evaluate(CLI::App& program);
Command add_export(CLI::App& program);
Command add_graph(CLI::App& program);
Command add_importance(CLI::App& program);
Command add_inspect(CLI::App& program);
Command add_lab(CLI::App& program);
Command add_learn(CLI::App& program);
Command add_predict(CLI::App& program);
Command add_man(CLI::App& program);
Command add_prune(CLI::App& program);
Command add_report(CLI::App& program);
Command add_runs(CLI::App& program);
Command add_sample(CLI::App& program);
Command add_study(CLI::App& program);
Command add_tokenize(CLI::App& program);
Command add_train(CLI::App& program);
Command add_translate(CLI::App& program);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
