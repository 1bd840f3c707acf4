// `headroom completion` and `headroom man`: texts for shells and for man, from the commands' rows.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli/frame/command.hpp"
#include "cli/frame/validators.hpp"
#include "cli/shell/rows.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/io/atomic_file.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

/// Writes the scripts of all shells and all man pages where packages put them.
void install(const CommandRow& program, const fs::path& share) {
  const auto write = [&](const fs::path& file, const std::string& text) {
    std::error_code failed;
    fs::create_directories((share / file).parent_path(), failed);
    if (failed) {
      throw FileError(fmt::format("{}: cannot create the folder: {}",
                                  (share / file).parent_path().string(), failed.message()));
    }
    write_file(share / file, text);
  };
  write("bash-completion/completions/headroom", completion_script(program, "bash"));
  write("zsh/site-functions/_headroom", completion_script(program, "zsh"));
  write("fish/vendor_completions.d/headroom.fish", completion_script(program, "fish"));
  write("man/man1/headroom.1", man_page(program, ""));
  for (const CommandRow& command : program.commands) {
    write(fmt::format("man/man1/headroom-{}.1", command.name), man_page(program, command.name));
  }
}

}  // namespace

Command add_completion(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "completion", "Prints a script that completes commands and options in a shell");
  struct Options {
    std::string shell, install;
  };
  const auto options = std::make_shared<Options>();
  app->add_option("SHELL", options->shell, "bash, zsh or fish")
      ->type_name("")
      ->check(one_of({"bash", "zsh", "fish"}));
  app->add_option("--install", options->install,
                  "write the scripts of all shells and the man pages into this folder, as in "
                  "/usr/local/share")
      ->type_name("DIR");
  app->footer(fmt::format("Example: source <({} completion bash)", invocation()));
  return {app, [options, &program] {
            if (options->shell.empty() == options->install.empty()) {
              throw UsageError("give a shell (bash, zsh, fish), or --install DIR");
            }
            const CommandRow rows = rows_of(program);
            if (!options->install.empty()) {
              install(rows, options->install);
            } else {
              fmt::print("{}", completion_script(rows, options->shell));
            }
            return 0;
          }};
}

Command add_man(CLI::App& program) {
  CLI::App* app = program.add_subcommand("man", "Prints a man page");
  const auto command = std::make_shared<std::string>();
  app->add_option("COMMAND", *command, "command (default: the program itself)")->type_name("");
  app->footer(fmt::format("Example: {} man train | man -l -", invocation()));
  return {app, [command, &program] {
            fmt::print("{}", man_page(rows_of(program), *command));
            return 0;
          }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
