// Rows from CLI11's objects.
#include "cli/shell/rows.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/frame/validators.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

OptionRow row_of(const CLI::Option& option) {
  OptionRow row{.help = option.get_description(), .group = option.get_group()};
  for (const std::string& name : option.get_lnames()) row.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) row.names.push_back("-" + name);
  if (!option.get_default_str().empty()) {
    row.help += fmt::format(" (default: {})", option.get_default_str());
  }
  const std::string type = option.get_type_name();  // of a flag: ""
  row.value = type == "INT" || type == "UINT" ? "N" : type == "FLOAT" ? "X" : type;
  if (row.value.empty() && option.get_positional()) row.value = option.get_single_name();
  row.choices = choices_of(option);
  return row;
}

}  // namespace

CommandRow rows_of(const CLI::App& app) {
  CommandRow row{.name = app.get_name(), .help = app.get_description(), .footer = app.get_footer()};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // for the program itself
    (option->get_positional() ? row.arguments : row.options).push_back(row_of(*option));
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!command->get_group().empty()) row.commands.push_back(rows_of(*command));
  }
  return row;
}

bool is_path(const OptionRow& row) {
  static const std::vector<std::string> paths{"FILE", "DIR", "PATH", "RUN"};
  return std::find(paths.begin(), paths.end(), row.value) != paths.end();
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
