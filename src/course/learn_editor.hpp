// Opens the learner's file in an editor, at a line.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The learner's options for the editor.
struct EditorOptions {
  std::string command;  // "CMD {file} {line}", run by the shell
  bool none = false;
};

/// A command that opens a file in an editor.
struct EditorCommand {
  std::vector<std::string> words;  // empty if no editor was found
  std::string name;                // "vim in a pane of tmux"
  bool new_pane = false;           // each call makes one, so that it is not for every exercise
};

/// The command for a line of a file. In this order: `options.command`; VS Code from its own
/// terminal; a pane of tmux or Zellij with the editor of VISUAL or EDITOR. None if `options.none`,
/// or HEADROOM_NO_EDITOR is set. `variable` returns a variable of the environment, "" if it is not
/// set, and `installed` says whether a program is in PATH. Throws UsageError if `options.command`
/// does not name the file.
EditorCommand editor_command(const EditorOptions& options, const std::filesystem::path& file,
                             Index line, const std::function<std::string(const char*)>& variable,
                             const std::function<bool(const std::string&)>& installed);
/// The same, in the environment of this process.
EditorCommand editor_command(const EditorOptions& options, const std::filesystem::path& file,
                             Index line);

/// The words that open an editor, "vim -u NONE", at a line: each has its own way to say it.
std::vector<std::string> at_line(const std::string& editor, const std::filesystem::path& file,
                                 Index line);

/// Starts the command in a session of its own, and does not wait for it. What it prints is lost.
void start_editor(const EditorCommand& command);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
