// The commands and options of a program as rows, for completion and man pages.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// An option or, without names, an argument of a command.
struct OptionRow {
  std::vector<std::string> names = {};    // "--steps", "--max-steps", "-h"
  std::string value = {};                 // "N", "FILE"; empty: a flag
  std::string help = {};                  // with its default
  std::string group = {};                 // "Training"
  std::vector<std::string> choices = {};  // all values that it can have, if they are few
};

/// A command or a command of a command.
struct CommandRow {
  std::string name = {}, help = {}, footer = {};
  std::vector<OptionRow> options = {}, arguments = {};
  std::vector<CommandRow> commands = {};
};

/// The rows of a program, or of one of its commands, also of options that only --help-all shows.
CommandRow rows_of(const CLI::App& app);

/// Whether a value is a path of the file system.
bool is_path(const OptionRow& row);

/// A script that completes the program's commands, options and values in a shell: "bash", "zsh" or
/// "fish".
std::string completion_script(const CommandRow& program, const std::string& shell);

/// A man page in the macros man(7): of the program, or of the command of this name if it is not
/// empty. Throws UsageError for an unknown command.
std::string man_page(const CommandRow& program, const std::string& command);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
