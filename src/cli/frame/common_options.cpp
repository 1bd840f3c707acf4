// Common options, and where the standard streams go.
#include "cli/frame/common_options.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// A standard stream that goes elsewhere for a while.
class Redirected {
 public:
  Redirected(int stream, int target) : stream_(stream) {
    std::fflush(nullptr);
    kept_ = fcntl(stream, F_DUPFD_CLOEXEC, 3);
    if (kept_ >= 0) dup2(target, stream);
  }
  ~Redirected() {
    if (kept_ < 0) return;
    std::fflush(nullptr);
    dup2(kept_, stream_);
    close(kept_);
  }
  Redirected(const Redirected&) = delete;
  Redirected& operator=(const Redirected&) = delete;

 private:
  int stream_, kept_ = -1;
};

struct Output {
  bool quiet = false, json = false;
  std::optional<Redirected> out, err;
  std::optional<Record> result;
};

Output& output() {
  static Output all;
  return all;
}

}  // namespace

void add_common_options(CLI::App& command) {
  if (command.get_prefix_command()) return;  // another program reads its options
  const auto has = [&](const char* name) { return command.get_option_no_throw(name) != nullptr; };
  if (!has("--json")) {
    command.add_flag_callback(
        "--json", [] { output().json = true; },
        "print the result as JSON; all other output goes to standard error");
  }
  command.add_flag_callback(
      "--quiet", [] { output().quiet = true; }, "print results and the error that ends it only");
  command.add_flag_callback(
      "--help-all", [] { throw CLI::CallForAllHelp(); }, "print the help of all options and exit");
  for (CLI::App* inner : command.get_subcommands([](const CLI::App*) { return true; })) {
    add_common_options(*inner);
  }
}

void shorten_help(CLI::App& command, const BriefHelp& brief) {
  if (brief.options.empty()) return;
  Index hidden = 0;
  for (CLI::Option* option : command.get_options()) {
    const std::vector<std::string>& names = option->get_lnames();
    const bool stays =
        names.empty() || names[0] == "help" || names[0] == "help-all" ||
        std::find(brief.options.begin(), brief.options.end(), names[0]) != brief.options.end();
    if (stays || option->get_group().empty()) continue;
    option->group("");
    ++hidden;
  }
  command.footer(fmt::format("--help-all lists {} more options.\n\n{}", hidden, brief.footer));
}

void begin_output() {
  Output& all = output();
  if (all.quiet) {
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0) {
      all.err.emplace(STDERR_FILENO, nowhere);
      close(nowhere);
    }
  }
  if (all.json) all.out.emplace(STDOUT_FILENO, STDERR_FILENO);
}

void set_result(Record result) { output().result = std::move(result); }

void end_output() {
  output().out.reset();
  output().err.reset();
}

void print_result(int exit_code) {
  if (!output().json) return;
  const Record result = output().result.value_or(Record{{"exit_code", exit_code}});
  fmt::print("{}\n", result.dump(-1, ' ', false, Record::error_handler_t::replace));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
