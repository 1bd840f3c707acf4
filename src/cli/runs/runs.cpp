// `headroom runs`: lists the runs of a folder, compares some of them, removes some.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <memory>

#include "cli/frame/command.hpp"
#include "cli/frame/common_options.hpp"
#include "cli/frame/streams.hpp"
#include "cli/options.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/base/names.hpp"
#include "headroom/base/terminal.hpp"
#include "headroom/base/text.hpp"
#include "headroom_lab/report/comparison.hpp"
#include "headroom_runs/runs/run_list.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

struct RunsOptions {
  std::string root = "runs", out;
  std::vector<std::string> compared, removed;
  bool json = false, force = false, yes = false;
};

/// "3 minutes", "5 hours", "12 days"
std::string age_text(double hours) {
  const auto of = [](double count, const char* unit) {
    const auto number = Index(count);
    return fmt::format("{} {}{}", number, unit, number == 1 ? "" : "s");
  };
  if (hours < 1) return of(60 * hours, "minute");
  return hours < 48 ? of(hours, "hour") : of(hours / 24, "day");
}

std::string measure_text(const RunEntry& run) {
  if (!run.problem.empty()) return shown(run.problem);
  if (!run.value) return "";
  const bool is_loss = run.measure.ends_with("loss");
  return is_loss ? fmt::format("{} {:.3f}", run.measure, *run.value)
                 : fmt::format("{} {:.1f} %", run.measure, 100 * *run.value);
}

int list(const RunsOptions& options) {
  const std::vector<RunEntry> runs = runs_in(options.root);
  if (options.json) {
    fmt::print("{}\n", json_of(runs).dump());
    return 0;
  }
  if (runs.empty()) {
    fmt::print("there are no runs in {}; {} train begins one\n", shown(options.root), invocation());
    return 0;
  }
  Table table{.columns = {"run", "task", "state", "steps", "heads", "measure", "age", "size"}};
  for (const RunEntry& run : runs) {
    table.rows.push_back(
        {shown(run.folder), run.task, name_of(run.state),
         run.all_steps > 0 ? fmt::format("{}/{}", run.steps, run.all_steps) : std::string(),
         run.all_heads > 0 ? fmt::format("{}/{}", run.heads, run.all_heads) : std::string(),
         measure_text(run), age_text(run.hours), bytes_text(double(run.bytes))});
  }
  fmt::print("{}", table_text(table, TerminalStyle::of(stdout)));
  return 0;
}

int compare(const RunsOptions& options) {
  const std::vector<std::filesystem::path> folders(options.compared.begin(),
                                                   options.compared.end());
  const RunsComparison comparison = compare_runs(folders);
  if (options.json) {
    fmt::print("{}\n", json_of(comparison).dump());
    if (options.out.empty()) return 0;
  } else {
    fmt::print("{}", shown(comparison_text(comparison, TerminalStyle::of(stdout))));
  }
  const RunFolder folder = options.out.empty() ? RunFolder::fresh("runs", "compare")
                                               : RunFolder::for_page(options.out, options.force);
  write_comparison_page(comparison, folder.report());
  if (!options.json) fmt::print("\nThe page: {}\n", shown(folder.report().string()));
  return 0;
}

/// Asks on the terminal. Throws UsageError if there is none.
bool agrees(const std::string& question) {
  if (isatty(STDIN_FILENO) == 0) {
    throw UsageError("runs are removed when somebody agrees on a terminal, or with --yes");
  }
  print_error("{} [y/N] ", question);
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

int remove(const RunsOptions& options) {
  for (const std::string& folder : options.removed) {
    if (!std::filesystem::is_directory(folder)) {
      throw FileError(fmt::format("{}: there is no such folder", folder));
    }
  }
  if (!options.yes && !agrees(fmt::format("Remove {}?", fmt::join(options.removed, ", ")))) {
    fmt::print("nothing was removed\n");
    return 0;
  }
  Record gone_folders = Record::array();
  for (const std::string& folder : options.removed) {
    const bool gone = remove_run(folder);
    if (gone) gone_folders.push_back(folder);
    fmt::print("{}: {}\n", shown(folder),
               gone ? "removed" : "the run is removed; the folder has other files and stays");
  }
  set_result({{"runs", options.removed}, {"folders", gone_folders}});
  return 0;
}

}  // namespace

Command add_runs(CLI::App& program) {
  CLI::App* app = program.add_subcommand("runs", "Lists, compares and removes runs");
  const auto options = std::make_shared<RunsOptions>();
  app->add_option("--in", options->root, "folder of the runs")
      ->type_name("DIR")
      ->capture_default_str();
  app->add_flag("--json", options->json, "print the list, or the comparison, as JSON");
  app->require_subcommand(0, 1);
  CLI::App* comparing =
      app->add_subcommand("compare", "Compares runs: curves, settings that differ, heads");
  comparing->add_option("RUN", options->compared, "folders of runs")->required()->type_name("");
  add_out(*comparing, options->out, "folder of the page");
  comparing->add_flag("--force", options->force, "replace the page in --out");
  comparing->add_flag("--json", options->json,
                      "print the record as JSON; write a page only with --out");
  comparing->footer(
      fmt::format("Example: {} runs compare runs/dates-1 runs/dates-2", invocation()));
  CLI::App* removing = app->add_subcommand("remove", "Removes runs, after a question");
  removing->add_option("RUN", options->removed, "folders of runs")->required()->type_name("");
  removing->add_flag("--yes", options->yes, "do not ask");
  removing->footer(fmt::format("Example: {} runs remove runs/dates-1", invocation()));
  app->footer(
      fmt::format("Examples: {0} runs\n"
                  "          {0} runs compare runs/dates-1 runs/dates-2\n"
                  "          {0} runs remove runs/dates-1",
                  invocation()));
  return {app, [options, comparing, removing] {
            if (comparing->parsed()) return compare(*options);
            return removing->parsed() ? remove(*options) : list(*options);
          }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
