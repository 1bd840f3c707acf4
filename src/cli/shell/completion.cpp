// Scripts that complete a command line.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/shell/rows.hpp"
#include "headroom/base/error.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Calls visit(path, row) for the program and all commands: ("runs compare", row).
template <class Visit>
void each_command(const CommandRow& row, const std::string& path, Visit visit) {
  visit(path, row);
  for (const CommandRow& inner : row.commands) {
    each_command(inner, path.empty() ? inner.name : path + " " + inner.name, visit);
  }
}

std::vector<std::string> words_of(const CommandRow& row) {
  std::vector<std::string> words;
  for (const CommandRow& inner : row.commands) words.push_back(inner.name);
  for (const OptionRow& option : row.options) {
    words.insert(words.end(), option.names.begin(), option.names.end());
  }
  return words;
}

/// The text for a string in single quotes.
std::string in_quotes(const std::string& text) {
  std::string safe;
  for (const char letter : text) {
    if (letter == '\'') {
      safe += "'\\''";
    } else {
      safe += letter == '\n' ? ' ' : letter;
    }
  }
  return "'" + safe + "'";
}

std::string bash_script(const CommandRow& program) {
  std::string words, values;
  each_command(program, "", [&](const std::string& path, const CommandRow& row) {
    words +=
        fmt::format("    {}) words=\"{}\" ;;\n", in_quotes(path), fmt::join(words_of(row), " "));
    for (const OptionRow& option : row.options) {
      if (option.value.empty()) continue;
      std::vector<std::string> cases;
      for (const std::string& name : option.names) cases.push_back(in_quotes(path + " " + name));
      const std::string choice =
          is_path(option)          ? "COMPREPLY=($(compgen -f -- \"$current\"))"
          : option.choices.empty() ? "COMPREPLY=()"
                                   : fmt::format("COMPREPLY=($(compgen -W \"{}\" -- \"$current\"))",
                                                 fmt::join(option.choices, " "));
      values += fmt::format("    {}) {}; return ;;\n", fmt::join(cases, "|"), choice);
    }
  });
  return fmt::format(
      "# Completion of headroom for bash.\n"
      "_headroom() {{\n"
      "  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}\n"
      "  local path='' word words=''\n"
      "  for word in \"${{COMP_WORDS[@]:1:COMP_CWORD-1}}\"; do\n"
      "    [[ $word == -* ]] && break\n"
      "    path=\"$path${{path:+ }}$word\"\n"
      "  done\n"
      "  case \"$path $before\" in\n"
      "{}"
      "  esac\n"
      "  case $path in\n"
      "{}"
      "    *) COMPREPLY=($(compgen -f -- \"$current\")); return ;;\n"
      "  esac\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "  [[ $current == -* ]] || COMPREPLY+=($(compgen -f -- \"$current\"))\n"
      "}}\n"
      "complete -o filenames -F _headroom headroom\n",
      values, words);
}

/// A text inside the brackets of zsh's _arguments.
std::string in_brackets(std::string text) {
  for (std::size_t at = 0; (at = text.find_first_of("[]:\\", at)) != text.npos; at += 2) {
    text.insert(at, "\\");
  }
  return text;
}

std::string zsh_arguments(const CommandRow& row) {
  std::string text;
  for (const OptionRow& option : row.options) {
    const std::string value =
        option.value.empty() ? std::string()
        : is_path(option)    ? fmt::format(":{}:_files", option.value)
        : option.choices.empty()
            ? fmt::format(":{}: ", option.value)
            : fmt::format(":{}:({})", option.value, fmt::join(option.choices, " "));
    for (const std::string& name : option.names) {
      text += " \\\n      " + in_quotes(name + "[" + in_brackets(option.help) + "]" + value);
    }
  }
  return text;
}

std::string zsh_function(const CommandRow& row, const std::string& name) {
  std::string inner;
  std::string text = fmt::format("{}() {{\n", name);
  if (row.commands.empty()) {
    text += fmt::format("  _arguments -s{} \\\n      '*:file:_files'\n}}\n", zsh_arguments(row));
    return text;
  }
  std::string names, cases;
  for (const CommandRow& command : row.commands) {
    const std::string function = name + "_" + command.name;
    inner += zsh_function(command, function);
    names += " " + in_quotes(command.name + ":" + in_brackets(command.help));
    cases += fmt::format("        {}) {} ;;\n", command.name, function);
  }
  text += fmt::format(
      "  local line state\n"
      "  _arguments -C{} \\\n      '1: :->command' '*::argument:->arguments'\n"
      "  case $state in\n"
      "    command) local -a all=({}); _describe command all ;;\n"
      "    arguments)\n"
      "      case $line[1] in\n{}      esac ;;\n"
      "  esac\n}}\n",
      zsh_arguments(row), names, cases);
  return inner + text;
}

std::string zsh_script(const CommandRow& program) {
  return "#compdef headroom\n" + zsh_function(program, "_headroom") + "_headroom \"$@\"\n";
}

std::string fish_script(const CommandRow& program) {
  std::string text = "# Completion of headroom for fish.\n";
  each_command(program, "", [&](const std::string& path, const CommandRow& row) {
    std::vector<std::string> inner;
    for (const CommandRow& command : row.commands) inner.push_back(command.name);
    std::string condition;
    std::string_view rest = path;
    while (!rest.empty()) {
      const std::size_t space = rest.find(' ');
      condition += fmt::format("{}__fish_seen_subcommand_from {}",
                               condition.empty() ? "" : "; and ", rest.substr(0, space));
      rest = space == rest.npos ? "" : rest.substr(space + 1);
    }
    if (!inner.empty()) {
      condition += fmt::format("{}not __fish_seen_subcommand_from {}",
                               condition.empty() ? "" : "; and ", fmt::join(inner, " "));
    }
    const std::string start = fmt::format("complete -c headroom -n {}", in_quotes(condition));
    for (const CommandRow& command : row.commands) {
      text += fmt::format("{} -a {} -d {}\n", start, command.name, in_quotes(command.help));
    }
    for (const OptionRow& option : row.options) {
      text += start;
      for (const std::string& name : option.names) {
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      if (!option.value.empty()) text += is_path(option) ? " -r -F" : " -x";
      if (!option.choices.empty()) {
        text += fmt::format(" -a {}", in_quotes(fmt::format("{}", fmt::join(option.choices, " "))));
      }
      text += fmt::format(" -d {}\n", in_quotes(option.help));
    }
  });
  return text;
}

}  // namespace

std::string completion_script(const CommandRow& program, const std::string& shell) {
  if (shell == "bash") return bash_script(program);
  if (shell == "zsh") return zsh_script(program);
  if (shell == "fish") return fish_script(program);
  throw UsageError(fmt::format("\"{}\" is not one of bash, zsh, fish", shell));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
