// `headroom study`: trains the runs that a declaration compares, and reports the results.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <memory>

#include "cli/frame/command.hpp"
#include "cli/frame/streams.hpp"
#include "cli/options.hpp"
#include "cli/timing/study_times.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/base/terminal.hpp"
#include "headroom/base/text.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/train/stop_signals.hpp"
#include "headroom_lab/report/study.hpp"
#include "headroom_lab/study/study.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

struct StudyCommand {
  std::string file, out;
  bool dry_run = false, resume = false, page = false, tables = false;
  bool list = false, status = false, json = false, latency = false;
  std::vector<std::string> run{};  // keys of pieces
};

void print_estimate(const StudyDeclaration& declaration, const StudyPlan& plan,
                    const StudyEstimate& estimate) {
  fmt::print("{}: {} seeds, {} conditions, {} arms and controls\n", shown(declaration.name),
             declaration.seeds.size(), plan.conditions.size(), plan.arms.size());
  const auto line = [](const char* what, Index all, Index done) {
    fmt::print("  {:<8}{:>5}{}\n", what, all, done > 0 ? fmt::format("  ({} done)", done) : "");
  };
  line("trunks", estimate.trunks, estimate.trunks_done);
  line("cells", estimate.cells, estimate.cells_done);
  fmt::print("  {:<8}{:>5}\n", "steps", short_number(double(estimate.steps)));
  fmt::print(
      "  {:<8}{:>5.{}f}  ({:.1f} ms a step, {:.2f} s an evaluation, {:.2f} s a run; {} runs "
      "at a time)\n",
      "minutes", estimate.minutes, estimate.minutes < 10 ? 1 : 0, 1000 * estimate.step_seconds,
      estimate.evaluation_seconds, estimate.begin_seconds, declaration.processes);
  for (const StudyEstimate::Choice& choice : estimate.choices) {
    if (choice.step_seconds > 0) {
      fmt::print("    {}: {} runs, {:.1f} ms more a step\n", choice.by, choice.times,
                 1000 * choice.step_seconds);
    } else {
      fmt::print("    {}: {} choices of heads, {:.1f} s each\n", choice.by, choice.times,
                 choice.seconds);
    }
  }
}

/// The exit code of a study that was stopped and has saved. Programs that distribute work ask for
/// one code that means that the same command continues; a shell must see Ctrl-C as such.
int again_code(const StopSignals& signals) {
  constexpr int again = 75;  // EX_TEMPFAIL of sysexits.h
  const int code = signals.exit_code();
  return code == 128 + SIGTERM || code == 128 + SIGUSR1 ? again : code;
}

void print_progress(const StudyProgress& p) {
  if (p.finished.empty()) {
    if (p.done > 0) print_error("{} of {} runs and measurements were done before\n", p.done, p.all);
    return;
  }
  const std::string left =
      p.left && p.done < p.all ? fmt::format(", about {} left", clock_text(*p.left)) : "";
  print_error("{:>4}/{}  {}  {}{}\n", p.done, p.all, shown(p.finished, stderr),
              clock_text(p.seconds), left);
}

/// Writes results.json, the tables and the page of the runs that are done.
void write_results(const StudyCommand& command, const StudyDeclaration& declaration,
                   const StudyPlan& plan, const std::filesystem::path& folder) {
  if (command.latency) {
    write_latency(folder, measure_latency(plan, folder, [](Index sizes) {
                    print_error("timing models of {} sizes\n", sizes);
                  }));
  }
  const StudyResults results = results_of(declaration, plan, folder);
  write_file(folder / "results.json", json_of(results).dump() + "\n");
  write_study_tables(results, folder / "tables");
  const TerminalStyle style = TerminalStyle::of(stdout);
  fmt::print("{}\n", command.tables
                         ? study_text(results, style)
                         : wrapped(study_sections(results).back().finding.title, style.columns));
  if (!results.provenance.warning.empty() && !command.tables) {
    fmt::print("{}\n", wrapped(results.provenance.warning, style.columns));
  }
  try {
    write_study_page(results, folder / "report.html");
    fmt::print("{}\n", shown((folder / "report.html").string()));
  } catch (const FileError& error) {  // the results are complete without the page
    fmt::print("{}\n", shown((folder / "results.json").string()));
    print_error("the page was not written, but results.json was: {}\n",
                shown(error.what(), stderr));
  }
}

void print_timing(const std::string& name) { print_error("timing {}\n", name); }

/// The pieces of a study. While no piece is done whose time is known, short runs measure the
/// minutes of training.
std::vector<StudyPiece> listed(const StudyDeclaration& declaration, const StudyPlan& plan,
                               StudyOptions options) {
  std::vector<StudyPiece> pieces = pieces_of(declaration, plan, options.folder);
  const bool known = std::any_of(pieces.begin(), pieces.end(),
                                 [](const StudyPiece& piece) { return piece.minutes.has_value(); });
  if (known) return pieces;
  options.timing = print_timing;
  options.only_steps = true;
  set_minutes(pieces, estimate_study(declaration, plan, options));
  return pieces;
}

/// Throws UsageError unless the folder has a study.
void require_study(const std::filesystem::path& folder, const char* option) {
  if (std::filesystem::exists(folder / "declaration.json")) return;
  throw UsageError(
      fmt::format("{}: the folder has no study; run the study without {} first, or name "
                  "its folder with --out",
                  folder.string(), option));
}

/// Trains the runs of a study, or the pieces that --run names.
int train_study(const StudyCommand& command, const StudyDeclaration& declaration,
                const StudyPlan& plan, const StudyOptions& options) {
  const StopSignals signals;
  if (!run_study(declaration, plan, options, signals)) {
    const std::string more =
        command.run.empty() ? "--resume" : fmt::format("--run {}", fmt::join(command.run, " "));
    fmt::print("stopped; continue with: {} study {} --out {} {}\n", invocation(),
               shown(command.file), shown(options.folder.string()), more);
    return again_code(signals);
  }
  if (command.run.empty()) write_results(command, declaration, plan, options.folder);
  return 0;
}

/// Throws UsageError for options that do not go together.
void check(const StudyCommand& command) {
  const int modes = int(command.dry_run) + int(command.list) + int(command.status) +
                    int(command.page) + int(!command.run.empty());
  if (modes > 1) {
    throw UsageError("--dry-run, --list, --status, --page and --run exclude each other; take one");
  }
  if (command.json && !command.list && !command.status) {
    throw UsageError("--json is for --list and --status only; results.json has the results");
  }
  if (command.latency && modes > int(command.page)) {
    throw UsageError("--latency is for a whole study and for --page");
  }
}

int study(const StudyCommand& command) {
  check(command);
  const StudyDeclaration declaration = read_declaration(command.file);
  const StudyPlan plan = plan_of(declaration);
  StudyOptions options{
      .folder = command.out.empty() ? "runs/study-" + declaration.name : command.out,
      .program = std::filesystem::read_symlink("/proc/self/exe").string(),
      .command = fmt::format("{} study {}", invocation(), command.file),
      .resume = command.resume || !command.run.empty(),
      .copy = study_copy(),
      .only = command.run,
      .progress = print_progress};
  if (command.dry_run) {
    options.timing = print_timing;
    print_estimate(declaration, plan, estimate_study(declaration, plan, options));
    return 0;
  }
  if (command.list) {
    const std::vector<StudyPiece> pieces = listed(declaration, plan, options);
    const Record json{{"folder", options.folder.string()}, {"pieces", json_of(pieces)}};
    fmt::print("{}", command.json ? json.dump(2) + "\n" : shown(pieces_text(pieces)));
    return 0;
  }
  if (command.status) {
    require_study(options.folder, "--status");
    const StudyStatus status =
        status_of(pieces_of(declaration, plan, options.folder), options.folder, std::time(nullptr));
    fmt::print("{}", command.json ? json_of(status).dump(2) + "\n" : shown(status_text(status)));
    return 0;
  }
  if (command.page) {
    require_study(options.folder, "--page");
    write_results(command, declaration, plan, options.folder);
    return 0;
  }
  return train_study(command, declaration, plan, options);
}

}  // namespace

Command add_study(CLI::App& program) {
  CLI::App* app =
      program.add_subcommand("study", "Compares ways to remove heads over seeds, with controls");
  const auto options = std::make_shared<StudyCommand>();
  app->add_option("FILE", options->file, "declaration of the study, see docs/studies.md")
      ->required()
      ->type_name("");
  app->add_flag("--dry-run", options->dry_run,
                "print the number of runs and an estimate of their time");
  app->add_flag("--resume", options->resume,
                "continue the study in its folder, perhaps together with other copies");
  app->add_flag(
      "--page", options->page,
      "train nothing; write results.json, tables/*.csv and the page from the runs that are "
      "done");
  app->add_flag("--latency", options->latency,
                "measure at the end how long a forward pass of each size of model takes, for "
                "tables and page");
  app->add_flag("--list", options->list,
                "print the pieces of work: key, stage, state, minutes on one processor, title and "
                "the pieces that each needs");
  app->add_option("--run", options->run,
                  "do these pieces of --list, one at a time; start it as often as you like")
      ->type_name("KEY");
  app->add_flag("--status", options->status,
                "print which machines have done how much, what runs, what failed, claims of "
                "copies that have ended, and the expected end");
  app->add_flag("--json", options->json, "print --list or --status as JSON");
  app->add_flag("--tables", options->tables, "print the titles and tables of the page");
  app->add_option("--out", options->out, "folder of the study (default: runs/study-NAME)")
      ->type_name("DIR");
  app->footer(
      fmt::format("Several copies of a study can share its folder, on one machine or many. Each\n"
                  "copy trains other runs:\n"
                  "  mpirun -n 4 {0} study FILE\n"
                  "  srun {0} study FILE\n"
                  "Programs that distribute work, such as GNU parallel, Slurm, Snakemake and\n"
                  "HTCondor, start single pieces; examples/studies/ has scripts for them:\n"
                  "  {0} study FILE --list\n"
                  "  {0} study FILE --run KEY...\n"
                  "--run exits with 0 when the pieces are done, and with 2 for an unknown key or\n"
                  "if a piece needs another one that is not done. SIGTERM and SIGUSR1 let the\n"
                  "study finish the step, save and exit with 75: the same command continues it\n"
                  "(with --resume, unless --run is given).\n\n"
                  "Examples: {0} study examples/studies/brackets.json --dry-run\n"
                  "          {0} study examples/studies/brackets.json",
                  invocation()));
  return {app, [options] { return study(*options); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
