// Options that every command has: --help-all, --quiet, --json.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/frame/command.hpp"
#include "headroom/base/record_json.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Adds those that a command and its own commands do not have yet.
void add_common_options(CLI::App& command);

/// Leaves the options that are not in `brief` out of the help of a command.
void shorten_help(CLI::App& command, const BriefHelp& brief);

/// Begins what --quiet and --json ask for. With --quiet, nothing is printed on standard error; with
/// --json, what a command prints goes to standard error, and only its result to standard output.
/// Call it when the command begins to run.
void begin_output();

/// The result of the command that runs, for --json. Commands that have their own --json print their
/// records themselves.
void set_result(Record result);

/// Ends what begin_output() began.
void end_output();
/// Prints the result, if --json asks for one; the exit code, if the command has no other. Call it
/// after end_output().
void print_result(int exit_code);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
