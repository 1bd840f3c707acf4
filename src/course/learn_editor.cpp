// Finds an editor.
#include "course/learn_editor.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <sstream>

#include "headroom/base/error.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

/// A word for the shell.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

std::string with_values(std::string command, const fs::path& file, Index line) {
  if (command.find("{file}") == std::string::npos) {
    throw UsageError(fmt::format(
        "--edit-cmd \"{}\" must name the file, for example --edit-cmd \"gedit +{{line}} {{file}}\"",
        command));
  }
  const auto replace = [&](std::string_view name, const std::string& value) {
    for (std::size_t at = 0; (at = command.find(name, at)) != std::string::npos;) {
      command.replace(at, name.size(), value);
      at += value.size();
    }
  };
  replace("{line}", fmt::format("{}", line));
  replace("{file}", quoted(file.string()));
  return command;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_installed(const std::string& program) {
  if (program.find('/') != std::string::npos) return access(program.c_str(), X_OK) == 0;
  std::istringstream folders(environment("PATH"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path file = fs::path(folder.empty() ? "." : folder) / program;
    if (access(file.c_str(), X_OK) == 0 && !fs::is_directory(file)) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> at_line(const std::string& editor, const fs::path& file, Index line) {
  std::istringstream stream(editor);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  if (words.empty()) return words;
  const std::string name = fs::path(words[0]).filename().string();
  const std::string place = fmt::format("{}:{}", file.string(), line);
  const auto is_any = [&](std::initializer_list<const char*> names) {
    for (const char* other : names) {
      if (name == other) return true;
    }
    return false;
  };
  if (is_any({"code", "codium", "code-insiders"})) {
    words.insert(words.end(), {"--goto", place});
  } else if (is_any({"hx", "helix"})) {
    words.push_back(place);
  } else {
    if (name == "emacs") words.push_back("-nw");  // in the pane
    if (is_any({"vi", "vim", "nvim", "nano", "emacs", "emacsclient", "kak", "micro"})) {
      words.push_back(fmt::format("+{}", line));
    }
    words.push_back(file.string());
  }
  return words;
}

EditorCommand editor_command(const EditorOptions& options, const fs::path& file, Index line,
                             const std::function<std::string(const char*)>& variable,
                             const std::function<bool(const std::string&)>& installed) {
  if (options.none || !variable("HEADROOM_NO_EDITOR").empty()) return {};
  if (!options.command.empty()) {
    return {{"sh", "-c", with_values(options.command, file, line)}, "your command", false};
  }
  const bool in_code =
      variable("TERM_PROGRAM") == "vscode" || !variable("VSCODE_IPC_HOOK_CLI").empty();
  if (in_code && installed("code")) return {at_line("code", file, line), "VS Code", false};
  const std::string visual = variable("VISUAL");
  const std::vector<std::string> words =
      at_line(visual.empty() ? variable("EDITOR") : visual, file, line);
  if (words.empty() || !installed(words[0])) return {};
  EditorCommand command;
  if (!variable("TMUX").empty() && installed("tmux")) {
    command.words = {"tmux", "split-window", "-h"};
    if (const std::string pane = variable("TMUX_PANE"); !pane.empty()) {
      command.words.insert(command.words.end(), {"-t", pane});  // not that in which one types now
    }
    command.words.push_back("--");
    command.name = words[0] + " in a pane of tmux";
  } else if (!variable("ZELLIJ").empty() && installed("zellij")) {
    command.words = {"zellij", "action", "new-pane", "--direction", "right", "--"};
    command.name = words[0] + " in a pane of Zellij";
  } else {
    return {};
  }
  command.new_pane = true;
  command.words.insert(command.words.end(), words.begin(), words.end());
  return command;
}

EditorCommand editor_command(const EditorOptions& options, const fs::path& file, Index line) {
  return editor_command(options, file, line, environment, is_installed);
}

void start_editor(const EditorCommand& command) {
  if (command.words.empty()) return;
  std::vector<std::string> words = command.words;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0) return;
  if (child == 0) {
    // A grandchild, which nobody has to wait for, and which Ctrl-C in this terminal does not end.
    if (fork() == 0) {
      setsid();
      const int nothing = open("/dev/null", O_RDWR);
      for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nothing, stream);
      execvp(arguments[0], arguments.data());
    }
    _exit(0);
  }
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
