// Man pages.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "cli/shell/rows.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/nearest.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The text for troff: a minus is not a hyphen, and no line begins with a request.
std::string troff(const std::string& text) {
  std::string safe;
  for (const char letter : text) {
    if (letter == '\\') {
      safe += "\\e";
    } else if (letter == '-') {
      safe += "\\-";
    } else {
      safe += letter;
    }
  }
  if (safe.starts_with('.') || safe.starts_with('\'')) safe.insert(0, "\\&");
  return safe;
}

std::string capitals(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? char(c - 'a' + 'A') : c; });
  return text;
}

void add_options(std::string& page, const CommandRow& row) {
  std::string group;
  for (const OptionRow& option : row.options) {
    if (option.group != group) page += ".SH " + capitals(troff(option.group)) + "\n";
    group = option.group;
    std::vector<std::string> names;
    for (const std::string& name : option.names) names.push_back("\\fB" + troff(name) + "\\fR");
    page += fmt::format(".TP\n{}{}\n{}\n", fmt::join(names, ", "),
                        option.value.empty() ? "" : " \\fI" + troff(option.value) + "\\fR",
                        troff(option.help));
  }
}

std::string header(const std::string& name, const std::string& help) {
  return fmt::format(".TH {} 1 \"\" \"headroom {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n",
                     capitals(troff(name)), HEADROOM_VERSION, troff(name), troff(help));
}

/// The footer as it is, line by line.
std::string footer_section(const std::string& footer) {
  if (footer.empty()) return "";
  std::string text = ".SH EXAMPLES AND LISTS\n.nf\n";
  std::istringstream lines(footer);
  for (std::string line; std::getline(lines, line);) text += troff(line) + "\n";
  return text + ".fi\n";
}

std::string page_of_command(const CommandRow& row, const std::string& path) {
  std::string dashed = path;
  std::replace(dashed.begin(), dashed.end(), ' ', '-');
  std::string page = header(dashed, row.help);
  std::string arguments;
  for (const OptionRow& argument : row.arguments) arguments += " [" + troff(argument.value) + "]";
  page += fmt::format(".SH SYNOPSIS\n\\fB{}\\fR [options]{}{}\n", troff(path), arguments,
                      row.commands.empty() ? "" : " [command]");
  for (const OptionRow& argument : row.arguments) {
    page += fmt::format(".TP\n\\fI{}\\fR\n{}\n", troff(argument.value), troff(argument.help));
  }
  add_options(page, row);
  for (const CommandRow& inner : row.commands) {
    page += fmt::format(".SH COMMAND {}\n{}\n", capitals(troff(inner.name)), troff(inner.help));
    std::string options;
    add_options(options, inner);
    std::istringstream lines(options);
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with(".SH ")) page += line + "\n";
    }
  }
  return page + footer_section(row.footer);
}

}  // namespace

std::string man_page(const CommandRow& program, const std::string& command) {
  std::vector<std::string> names;
  for (const CommandRow& row : program.commands) {
    if (row.name == command) return page_of_command(row, "headroom " + command);
    names.push_back(row.name);
  }
  if (!command.empty()) {
    throw UsageError(
        fmt::format("there is no command \"{}\"{}", command, did_you_mean(command, names)));
  }
  std::string page = header("headroom", program.help) +
                     ".SH SYNOPSIS\n\\fBheadroom\\fR COMMAND [options]\n.SH COMMANDS\n";
  for (const CommandRow& row : program.commands) {
    page += fmt::format(".TP\n\\fB{}\\fR\n{}; see \\fBheadroom\\-{}\\fR(1)\n", troff(row.name),
                        troff(row.help), troff(row.name));
  }
  add_options(page, program);
  return page + footer_section(program.footer);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
