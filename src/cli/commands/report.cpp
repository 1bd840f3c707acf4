// `headroom report`: rewrites the report page of a run from its records.
#include "headroom_lab/report/report.hpp"

#include <fmt/format.h>

#include <memory>

#include "cli/frame/command.hpp"
#include "cli/frame/common_options.hpp"
#include "cli/frame/streams.hpp"
#include "cli/options.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/base/require.hpp"
#include "headroom/base/terminal.hpp"
#include "headroom/base/text.hpp"
#include "headroom_lab/report/lab.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

struct ReportOptions {
  std::string model, out;
  bool force = false;
};

int rewrite(const ReportOptions& options) {
  const std::filesystem::path folder = run_folder(options.model);
  if (!options.out.empty() && !options.force) require_free_file(options.out);
  if (std::filesystem::is_regular_file(options.out)) {
    require(std::filesystem::path(options.out).extension() == ".html",
            fmt::format("--out {}: is not a page; choose a path that ends in .html", options.out));
  }
  const Record records = read_records(folder);
  const bool laboratory = is_lab_run(records);
  std::filesystem::path file = options.out;
  if (file.empty()) file = folder / (laboratory ? lab_front_page(records) : "report.html");
  if (laboratory) {
    write_lab_run(records, file);
  } else {
    const ReportRecord run = read_run(folder);
    write_report(run, file);
    if (run.task_check && !run.task_check->learned) {
      fmt::print("{}\n",
                 wrapped(run.task_check->warning() + ".", TerminalStyle::of(stdout).columns));
    }
  }
  set_result({{"page", file.string()}});
  fmt::print("{}\n", shown(file.string()));
  return 0;
}

}  // namespace

Command add_report(CLI::App& program) {
  CLI::App* app =
      program.add_subcommand("report", "Rewrites the report page of a run from its records");
  const auto options = std::make_shared<ReportOptions>();
  add_run(*app, options->model);
  app->add_option("--out", options->out,
                  "file to write (default: report.html in the folder of the run)")
      ->type_name("FILE");
  app->add_flag("--force", options->force, "replace the file if it exists");
  app->footer(fmt::format("Example: {} report --model runs/demo-1 --out page.html", invocation()));
  return {app, [options] { return rewrite(*options); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
