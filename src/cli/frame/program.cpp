// From the command line to a command, and from exceptions to exit codes.
#include "cli/frame/program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <new>
#include <sstream>
#include <string_view>
#include <system_error>

#include "cli/frame/command.hpp"
#include "cli/frame/common_options.hpp"
#include "cli/frame/libraries.hpp"
#include "cli/frame/streams.hpp"
#include "cli/frame/validators.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/base/nearest.hpp"
#include "headroom/base/terminal.hpp"
#include "headroom/base/text.hpp"
#include "headroom/base/utf8.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

enum ExitCode { done = 0, fault = 1, usage = 2, numeric = 3, data = 4, file = 5 };

constexpr const char* exit_codes_text =
    "Exit codes:\n"
    "  0  success\n"
    "  1  internal error\n"
    "  2  usage error\n"
    "  3  numeric error (a value is not finite, or a claim does not hold)\n"
    "  4  unusable data\n"
    "  5  a file cannot be read or written\n"
    " 75  a study was stopped and has saved; start it again\n"
    "129  stopped by SIGHUP (the terminal was closed)\n"
    "130  stopped by Ctrl-C\n"
    "138  stopped by SIGUSR1\n"
    "143  stopped by SIGTERM\n";

std::string replaced(std::string text, std::string_view old, std::string_view with) {
  for (std::size_t at = 0; (at = text.find(old, at)) != std::string::npos; at += with.size()) {
    text.replace(at, old.size(), with);
  }
  return text;
}

/// A description in lines of at most `width` columns, none of which ends in "(default:".
std::string description_lines(const std::string& text, Index width) {
  constexpr std::string_view plain = "(default: ", unbroken = "(default:\u00a0";
  return replaced(wrapped(replaced(text, plain, unbroken), width), unbroken, plain);
}

/// The width of help: that of the terminal, or COLUMNS; 20 to 100.
Index help_width() {
  Index width = TerminalStyle::of(stdout).columns;
  if (const char* columns = std::getenv("COLUMNS")) {
    std::from_chars(columns, columns + std::strlen(columns), width);
  }
  return std::clamp<Index>(width, 20, 100);
}

/// A text whose lines are broken at spaces where they are wider, and continued with their
/// indentation.
std::string in_width(const std::string& text, Index width) {
  std::string fitted;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line); fitted += line + "\n") {
    if (display_width(line) <= width) continue;
    line = wrapped(line, width, Index(std::min(line.find_first_not_of(' '), line.size())));
  }
  return fitted;
}

/// The help of a command: "--name TYPE  description (default: value)". Descriptions have a column
/// of their own unless that would be narrow.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() : width_(help_width()) {
    column_width(width_ < 2 * help_column ? 6 : help_column);
    label("SUBCOMMAND", "COMMAND");
    label("INT", "N");
    label("FLOAT", "X");
  }

  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
    // Options that help does not list leave an empty line of their own.
    for (std::size_t at; (at = text.find("\n\n\n")) != std::string::npos;) text.erase(at, 1);
    return in_width(text, width_);
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    std::string text;
    if (option->get_type_size() == 0) return text;  // a flag
    if (!option->get_type_name().empty()) text += " " + get_label(option->get_type_name());
    if (option->get_expected_max() == CLI::detail::expected_max_vector_size) text += " ...";
    return text;
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    std::string text = option->get_description();
    if (option->get_required()) text += " (required)";
    if (!option->get_default_str().empty()) {
      text += fmt::format(" (default: {})", option->get_default_str());
    }
    return description_lines(text, width_ - Index(get_column_width()));
  }

  std::string make_subcommand(const CLI::App* command) const override {
    return command_line(command->get_name(), command->get_description());
  }

  static std::string command_line(const std::string& name, const std::string& does) {
    return fmt::format("  {:<10}  {}\n", name, does);
  }

 private:
  Index width_;
};

/// Prints one line on stderr, even when the text has line breaks.
int fail(std::string text, int code) {
  end_output();
  std::replace(text.begin(), text.end(), '\n', ' ');
  while (!text.empty() && text.back() == ' ') text.pop_back();
  print_error("error: {}\n", printable(text, 4 * text.size()));
  return code;
}

/// The text of an error with the options that help: "... (see --resume, --force)".
std::string with_options(const Error& error) {
  if (error.settings().empty()) return error.what();
  std::vector<std::string> options;
  for (const std::string& name : error.settings())
    options.push_back("--" + replaced(name, "_", "-"));
  return fmt::format("{} (see {})", error.what(), fmt::join(options, ", "));
}

/// The commands of the launcher, which need the sources: name, description.
constexpr std::pair<const char*, const char*> launcher_commands[] = {
    {"test", "Builds and runs the test suite (--quick: about a minute)"},
    {"parity", "Compares headroom with results computed by PyTorch"},
    {"site", "Builds the chapters and documents as a website"}};

/// The output of `headroom` without a command.
void print_overview(const CLI::App& program, const std::vector<Command>& commands) {
  const TerminalStyle style = TerminalStyle::of(stdout);
  const std::string name = program.get_name();
  fmt::print("{}: transformers whose attention heads can be measured, compared and removed\n\n",
             emphasised("headroom", Emphasis::strong, style));
  std::vector<std::pair<std::string, std::string>> lines;
  for (const Command& command : commands) {
    lines.emplace_back(name + " " + command.app->get_name(), command.app->get_description());
  }
  if (launched()) {
    for (const auto& [command, does] : launcher_commands) {
      lines.emplace_back(name + " " + command, does);
    }
  }
  Index widest = 0;
  for (const auto& [command, does] : lines) widest = std::max(widest, display_width(command));
  for (const auto& [command, does] : lines) {
    fmt::print("  {}  {}\n", emphasised(padded(command, widest), Emphasis::good, style), does);
  }
  fmt::print("\n{} COMMAND --help shows the options of a command.\n", name);
}

/// The long names of a command's options, as help lists them.
std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    for (const std::string& name : option->get_lnames()) names.push_back(name);
  }
  return names;
}

/// Throws UsageError if the argument that a command took resembles one of its subcommands: another
/// argument follows it.
void require_no_misspelt_subcommand(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional() || option->count() == 0) continue;
    const std::string word = option->results().front();
    if (nearest(word, names).empty()) continue;
    std::string what = option->get_name();
    std::transform(what.begin(), what.end(), what.begin(), [](char c) { return char(c | 32); });
    throw UsageError(
        fmt::format("no {} or command \"{}\"{}", what, printable(word), did_you_mean(word, names)));
  }
}

/// Throws UsageError for the first argument that neither the program nor its command knows.
void require_no_extras(const CLI::App& program, const std::vector<Command>& commands) {
  const std::vector<std::string> extras = program.remaining(true);
  if (extras.empty()) return;
  const std::string& word = extras.front();
  const auto chosen = program.get_subcommands();
  const bool is_option = word.starts_with('-') && word.find_first_not_of('-') != std::string::npos;
  if (chosen.empty() && !is_option) {
    std::vector<std::string> names;
    for (const Command& command : commands) names.push_back(command.app->get_name());
    if (launched()) {
      for (const auto& [command, does] : launcher_commands) names.emplace_back(command);
    }
    throw UsageError(fmt::format(
        "unknown command \"{}\"{}", printable(word),
        nearest(word, names).empty()
            ? fmt::format("; {} without arguments lists the commands", program.get_name())
            : did_you_mean(word, names)));
  }
  const bool before_command = chosen.empty() || !program.remaining().empty();
  const CLI::App& app = before_command ? program : *chosen.front();
  if (is_option) {
    const std::string option = word.substr(0, word.find('='));
    const std::vector<std::string> names = option_names(app);
    const std::string near = nearest(option.substr(option.find_first_not_of('-')), names);
    throw UsageError(fmt::format("{} has no option {}{}", app.get_name(), printable(option),
                                 near.empty() ? "" : " (did you mean --" + near + "?)"));
  }
  require_no_misspelt_subcommand(app);
  throw UsageError(fmt::format("{} takes no argument \"{}\"", app.get_name(), printable(word)));
}

/// The name of an option as it was typed: "--lr" for --learning-rate.
std::string typed_name(const std::string& name, const CLI::App& program,
                       const std::vector<std::string>& words) {
  for (const CLI::App* app : program.get_subcommands()) {
    const CLI::Option* const option = app->get_option_no_throw(name);
    if (option == nullptr) continue;
    for (const std::string& word : words) {
      if (word.starts_with("--") && option->check_lname(word.substr(2))) return word;
    }
  }
  return name;
}

/// Rewords CLI11's error messages in the form of this program's.
std::string readable(const CLI::ParseError& error, const CLI::App& program,
                     const std::vector<std::string>& words) {
  const std::string text = error.what();
  const std::string option = text.substr(0, text.find(':'));
  if (error.get_name() == "ArgumentMismatch" && text.find("required") != std::string::npos) {
    const bool too_many = text.find("At Most") != std::string::npos;
    return too_many ? option + " can be given only once"
                    : typed_name(option, program, words) + " needs a value";
  }
  constexpr std::string_view unread = "Could not convert: ";  // "--threads = abc" follows
  if (text.starts_with(unread)) {
    const std::string rest = text.substr(unread.size());
    const std::size_t equals = rest.find(" = ");
    return fmt::format("{}: \"{}\" is not a valid number", rest.substr(0, equals),
                       equals == std::string::npos ? "" : printable(rest.substr(equals + 3)));
  }
  return printable(text, 300);
}

/// Options of whole numbers take decimal ones that no arithmetic with counts overflows.
void check_whole_numbers(CLI::App& app) {
  constexpr Index most = 1'000'000'000'000;
  for (CLI::Option* option : app.get_options()) {
    const std::string type = option->get_type_name();
    if (type != "INT" && type != "UINT" && type != "N") continue;
    const bool seed = option->get_name() == "--seed";
    option->check(at_least(-most, seed ? any_seed : most));
  }
}

/// The arguments in the order in which CLI11 takes them, the last one first. "help COMMAND" is
/// another spelling of "COMMAND --help".
std::vector<std::string> reversed_arguments(int argc, char* const* argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  const auto end = std::find_if(words.begin(), words.end(),
                                [](const std::string& word) { return word != "help"; });
  if (end != words.begin()) {
    words.erase(words.begin(), end);
    words.emplace_back("--help");
  }
  std::reverse(words.begin(), words.end());
  return words;
}

int run(CLI::App& program, const AddCommands& all, int argc, char* const* argv) {
  std::vector<Command> commands;
  for (const auto add : all) {
    commands.push_back(add(program));
    CLI::App& app = *commands.back().app;
    app.group("Commands");  // the title of their list in help
    check_whole_numbers(app);
    add_common_options(app);
    if (app.get_footer() == program.get_footer()) app.footer("");  // CLI11 inherits the program's
  }
  try {
    program.parse(reversed_arguments(argc, argv));
  } catch (const CLI::Success& help_or_version) {
    const bool help = help_or_version.get_name() == "CallForHelp";
    if (help && program.get_subcommands().empty()) require_no_extras(program, commands);
    for (const Command& command : commands) {
      if (help && command.app->parsed()) shorten_help(*command.app, command.brief);
    }
    if (help_or_version.get_name() != "CallForAllHelp") return program.exit(help_or_version);
    fmt::print("{}", program.help());
    return done;
  } catch (const CLI::ParseError& error) {
    require_no_extras(program,
                      commands);  // a misspelt option is a better explanation than a missing one
    throw UsageError(readable(error, program, {argv + std::min(argc, 1), argv + argc}));
  }
  for (const Command& command : commands) {
    if (!command.app->parsed()) continue;
    set_up_libraries(argv);
    begin_output();
    return command.run();
  }
  print_overview(program, commands);
  return done;
}

std::terminate_handler other_end = nullptr;

/// Ends the program like run_program() when memory fails where no exception can be caught: before
/// main(), in functions that throw nothing, while an error is printed.
void end_without_memory() {
  try {
    if (std::current_exception() != nullptr) throw;
  } catch (const std::bad_alloc&) {
    constexpr std::string_view line = "error: not enough memory\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, line.data(), line.size());
    _exit(1);
  } catch (...) {
  }
  other_end();
}

/// Before the initialisers of all statics.
[[gnu::constructor(101)]] void handle_missing_memory() {
  other_end = std::set_terminate(end_without_memory);
}

/// Throws FileError if standard output could not be written (a full disk).
void require_written() {
  errno = 0;
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    throw FileError(unwritten_output(errno));
  }
}

}  // namespace

int run_program(const AddCommands& commands, int argc, char* const* argv) {
  prepare_standard_streams();
  CLI::App program("Transformers whose attention heads can be measured, compared and removed",
                   invocation());
  program.set_help_flag("-h,--help", "print this help and exit");
  program.set_version_flag(
      "--version",
      fmt::format("headroom {} ({})", HEADROOM_VERSION, is_double ? "double" : "float"),
      "print the version and exit");
  std::string more;
  if (launched()) {
    more += "Commands of the launcher:\n";
    for (const auto& [command, does] : launcher_commands) {
      more += HelpFormatter::command_line(command, does);
    }
    more += "\n";
  }
  more += exit_codes_text;
  if (launched()) more += "test, parity and site have their own exit codes: see their --help.\n";
  program.footer(more);
  program.require_subcommand(0, 1);
  program.formatter(std::make_shared<HelpFormatter>());
  try {
    const int code = run(program, commands, argc, argv);
    end_output();
    print_result(code);
    require_written();
    return code;
  } catch (const NumericError& error) {
    return fail(with_options(error), numeric);
  } catch (const DataError& error) {
    return fail(with_options(error), data);
  } catch (const FileError& error) {
    return fail(with_options(error), file);
  } catch (const Error& error) {  // UsageError, ShapeError
    return fail(with_options(error), usage);
  } catch (const std::filesystem::filesystem_error& error) {
    return fail(error.what(), file);
  } catch (const std::system_error& error) {  // fmt::print()
    return fail(unwritten_output(error.code().value()), file);
  } catch (const std::bad_alloc&) {
    return fail("not enough memory", fault);
  } catch (const std::exception& error) {
    return fail(std::string("internal: ") + error.what(), fault);
  }
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
