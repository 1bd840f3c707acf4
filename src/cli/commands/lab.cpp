// `headroom lab`: the experiments of the laboratory, one or all, in one precision or both; the
// search for them by words, and the pages with programs in PyTorch.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>

#include "cli/environment.hpp"
#include "cli/frame/command.hpp"
#include "cli/frame/streams.hpp"
#include "cli/options.hpp"
#include "cli/sibling.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/base/parallel.hpp"
#include "headroom/base/utf8.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom_lab/lab/lab.hpp"
#include "headroom_lab/report/lab.hpp"
#include "headroom_lab/report/report.hpp"
#include "headroom_runs/runs/run_folder.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

struct LabCommand {
  std::string name = "list", precision, out;
  std::vector<std::string> words;
  Index width = 0, heads = 0, seed = 1;
  bool json = false, force = false;

  LabOptions options() const { return {width, heads, static_cast<std::uint64_t>(seed)}; }
};

/// The complete options of this run as typed, so that they repeat it.
std::vector<std::string> typed(const LabCommand& command, const Experiment* experiment,
                               const std::string& precision) {
  std::vector<std::string> words{"lab", experiment == nullptr ? "all" : experiment->name};
  LabOptions options = command.options();
  if (experiment != nullptr) options = completed(*experiment, options);
  const auto add = [&](const char* name, const std::string& value) {
    words.insert(words.end(), {name, value});
  };
  if (options.width > 0) add("--width", std::to_string(options.width));
  if (options.heads > 0) add("--heads", std::to_string(options.heads));
  add("--seed", std::to_string(options.seed));
  add("--precision", precision);
  return words;
}

std::string command_text(const LabCommand& command, const Experiment* experiment) {
  std::string text = "headroom";
  for (const std::string& word : typed(command, experiment, command.precision)) text += " " + word;
  return text;
}

/// One experiment in the wanted precision, or in both, double first.
LabRecord measure(const LabCommand& command, const Experiment& experiment) {
  const auto own = [&] { return run_experiment(experiment, command.options()); };
  const auto other = [&] {
    std::vector<std::string> words = typed(command, &experiment, other_precision);
    words.insert(words.end(), {"--json", "--threads", std::to_string(num_threads())});
    auto record = struct_of<LabRecord>(sibling_record(words), other_precision);
    check(record);
    return record;
  };
  if (command.precision == own_precision) return own();
  if (command.precision == other_precision) return other();
  return is_double ? merged_records(own(), other()) : merged_records(other(), own());
}

/// A progress line on a terminal, erased at the end of the scope.
class Doing {
 public:
  explicit Doing(const std::string& text) : live_(TerminalStyle::of(stderr).live) {
    if (live_) print_error("\r\x1b[K  {}", text);
  }
  ~Doing() {
    if (live_) print_error("\r\x1b[K");
  }
  Doing(const Doing&) = delete;
  Doing& operator=(const Doing&) = delete;

 private:
  bool live_;
};

RunFolder folder_for(const LabCommand& command) {
  if (find_chart_js().empty()) {
    throw FileError(
        "Chart.js is not installed; the page needs it (apt-get install libjs-chart.js)");
  }
  if (command.out.empty()) return RunFolder::fresh("runs", "lab-" + command.name);
  return RunFolder::for_page(command.out, command.force);
}

/// Returns true if pages are written: --json alone writes none.
bool writes(const LabCommand& command) { return !command.json || !command.out.empty(); }

/// Throws NumericError, exit code 3, if a claim does not hold.
void require_all(const std::vector<std::string>& failed) {
  if (failed.empty()) return;
  throw NumericError(fmt::format(
      "{}{}", failed.front(),
      failed.size() == 1 ? std::string() : fmt::format("; and {} more", failed.size() - 1)));
}

std::string failed_text(const Experiment& experiment, const std::string& claim) {
  return fmt::format("lab {}: {}", experiment.name, claim);
}

void print_json(const std::vector<const Experiment*>& list) {
  Record all = Record::array();
  for (const Experiment* e : list) {
    all.push_back({{"name", e->name},
                   {"asked_in", e->asked_in},
                   {"group", e->group()},
                   {"title", e->title},
                   {"pytorch", e->twin.has_value()},
                   {"width", e->defaults.width},
                   {"heads", e->defaults.heads}});
  }
  fmt::print("{}\n", all.dump());
}

/// Lists the experiments whose words fit the question, or all.
int ask(const LabCommand& command) {
  const std::string asked = fmt::format("{}", fmt::join(command.words, " "));
  const std::vector<const Experiment*> found = experiments_about(asked);
  if (found.empty()) {
    throw UsageError(fmt::format("no experiment fits \"{}\" (lab list shows all)", asked));
  }
  if (command.json) {
    print_json(found);
    return 0;
  }
  const TerminalStyle style = TerminalStyle::of(stdout);
  Index widest = 0;
  for (const Experiment* e : found) widest = std::max(widest, display_width(e->name));
  for (const Experiment* e : found) {
    fmt::print("  {}  {}\n", emphasised(padded(e->name, widest), Emphasis::good, style), e->title);
    if (e->twin) {
      fmt::print("  {:{}}  beside PyTorch: {} lab answer {}\n", "", widest, invocation(), e->name);
    }
  }
  fmt::print("\n{} lab NAME runs one experiment.\n", invocation());
  return 0;
}

int list(const LabCommand& command) {
  if (command.json) {
    print_json(experiments_about(""));
    return 0;
  }
  const TerminalStyle style = TerminalStyle::of(stdout);
  Index widest = 0;
  for (const Experiment& e : experiments()) widest = std::max(widest, display_width(e.name));
  fmt::print("Questions about multi-head attention, answered by running code\n");
  std::string group;
  for (const Experiment& e : experiments()) {
    if (e.group() != group) {
      group = e.group();
      fmt::print("\n{}:\n\n", capital(group));
    }
    fmt::print("  {}  {}\n", emphasised(padded(e.name, widest), Emphasis::good, style), e.title);
  }
  fmt::print(
      "\n{0} lab NAME runs one experiment, {0} lab all runs all.\n"
      "{0} lab ask WORDS lists those that fit a question.\n"
      "{0} lab answer shows some answers beside PyTorch.\n"
      "Each experiment checks its claims.\n",
      invocation());
  return 0;
}

int one(const LabCommand& command) {
  const Experiment& experiment = find_experiment(command.name);
  completed(experiment, command.options());  // throws before a folder is created
  std::optional<RunFolder> folder;
  if (writes(command)) folder = folder_for(command);
  LabRecord record;
  {
    const Doing doing(fmt::format("{} in {} ...", experiment.name, command.precision));
    record = measure(command, experiment);
  }
  record.command = command_text(command, &experiment);
  record.environment = environment();
  const std::string json = json_of(record).dump();
  if (command.json) {
    fmt::print("{}\n", json);
  } else {
    fmt::print("{}", lab_text(record, TerminalStyle::of(stdout)));
  }
  if (folder) {
    folder->write_config(json_of(record.options));
    write_file(folder->path() / "records.json", json + "\n");
    write_lab_page(record, folder->report());
    if (!command.json) fmt::print("\n  The page: {}\n", shown(folder->report().string()));
  }
  std::vector<std::string> failed;
  for (const std::string& claim : failed_claims(record)) {
    failed.push_back(failed_text(experiment, claim));
  }
  require_all(failed);
  return 0;
}

/// The links between the pages of one run.
std::map<std::string, LabLink> neighbours(std::size_t at) {
  const auto& all = experiments();
  const auto page = [&](std::size_t i) { return LabLink{all[i].name, all[i].name + ".html"}; };
  std::map<std::string, LabLink> nav{{"index", {"all", "index.html"}}};
  if (at > 0) nav["previous"] = page(at - 1);
  if (at + 1 < all.size()) nav["next"] = page(at + 1);
  return nav;
}

int all(const LabCommand& command) {
  for (const Experiment& experiment : experiments()) completed(experiment, command.options());
  std::optional<RunFolder> folder;
  if (writes(command)) folder = folder_for(command);
  const TerminalStyle style = TerminalStyle::of(stdout);
  const auto began = std::chrono::steady_clock::now();
  LabRun run;
  run.command = command_text(command, nullptr);
  std::vector<std::string> failed;
  std::size_t claims = 0;
  if (!command.json) fmt::print("\n");
  for (std::size_t i = 0; i < experiments().size(); ++i) {
    const Experiment& experiment = experiments()[i];
    {
      const Doing doing(fmt::format("{}/{}  {} in {} ...", i + 1, experiments().size(),
                                    experiment.name, command.precision));
      run.experiments.push_back(measure(command, experiment));
    }
    LabRecord& record = run.experiments.back();
    record.command = command_text(command, &experiment);
    record.environment = environment();
    record.nav = neighbours(i);
    record.file = experiment.name + ".html";
    const std::vector<std::string> broken = failed_claims(record);
    claims += record.claims.size();
    for (const std::string& claim : broken) failed.push_back(failed_text(experiment, claim));
    if (command.json) continue;
    double seconds = 0;
    for (const auto& [precision, part] : record.seconds) seconds += part;
    const char* tick = style.unicode ? "✓" : "+";
    const char* cross = style.unicode ? "✗" : "x";
    fmt::print("  {}  {}  {:>2} claims  {:>5.1f} s  {}\n",
               emphasised(broken.empty() ? tick : cross,
                          broken.empty() ? Emphasis::good : Emphasis::bad, style),
               padded(experiment.name, 18), record.claims.size(), seconds,
               broken.empty() ? experiment.title : broken.front());
    std::fflush(stdout);
  }
  if (command.json) fmt::print("{}\n", json_of(run.experiments).dump());
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began;
  if (folder) {
    const Record records = json_of(run);
    write_file(folder->path() / "records.json", records.dump() + "\n");
    write_lab_pages(run, folder->path() / lab_front_page(records));
  }
  if (!command.json) {
    fmt::print("\n  {} in {} ({:.0f} s)\n",
               failed.empty() ? fmt::format("All {} claims hold", claims)
                              : fmt::format("{} of {} claims do not hold", failed.size(), claims),
               command.precision == "both" ? "double and float" : command.precision,
               seconds.count());
    fmt::print("  The pages: {}\n", shown((folder->path() / "index.html").string()));
  }
  require_all(failed);
  return 0;
}

/// The experiments with a program in PyTorch, or those of them that are named.
std::vector<const Experiment*> answered(const std::vector<std::string>& names) {
  std::vector<const Experiment*> found;
  std::vector<std::string> known;
  for (const Experiment& experiment : experiments()) {
    if (!experiment.twin) continue;
    found.push_back(&experiment);
    known.push_back(experiment.name);
  }
  if (names.empty()) return found;
  found.clear();
  for (const std::string& name : names) {
    found.push_back(&find_experiment(name));
    if (!found.back()->twin) {
      throw UsageError(fmt::format("lab answer: {} has no program in PyTorch; these have one: {}",
                                   name, fmt::join(known, ", ")));
    }
  }
  return found;
}

/// Runs experiments with a program in PyTorch, and writes for each a page with both programs.
int answer(LabCommand command) {
  if (command.width > 0 || command.heads > 0) {
    throw UsageError(
        "lab answer takes no --width and no --heads: it has the sizes of the question");
  }
  const std::vector<const Experiment*> wanted = answered(command.words);
  std::optional<RunFolder> folder;
  if (writes(command)) folder = folder_for(command);
  const TerminalStyle style = TerminalStyle::of(stdout);
  LabRun run;
  run.kind = "lab-answers";
  run.command = "headroom lab answer";
  for (const std::string& name : command.words) run.command += " " + name;
  std::vector<std::string> failed;
  for (const Experiment* experiment : wanted) {
    {
      const Doing doing(fmt::format("{} in {} ...", experiment->name, command.precision));
      run.experiments.push_back(measure(command, *experiment));
    }
    LabRecord& record = run.experiments.back();
    record.command = command_text(command, experiment);
    record.environment = environment();
    record.file = experiment->name + ".html";
    for (const std::string& claim : failed_claims(record)) {
      failed.push_back(failed_text(*experiment, claim));
    }
    if (!command.json) fmt::print("{}", lab_answer_text(record, style));
  }
  if (command.json) fmt::print("{}\n", json_of(run.experiments).dump());
  if (folder) {
    const Record records = json_of(run);
    write_file(folder->path() / "records.json", records.dump() + "\n");
    write_lab_run(records, folder->path() / lab_front_page(records));
    for (const LabRecord& record : run.experiments) {
      if (command.json) break;
      fmt::print("{}  The page: {}\n", &record == &run.experiments.front() ? "\n" : "",
                 shown((folder->path() / record.file).string()));
    }
  }
  require_all(failed);
  return 0;
}

int lab(LabCommand command) {
  if (command.name == "ask") return ask(command);
  if (command.name != "answer" && !command.words.empty()) {
    throw UsageError(fmt::format("lab takes no argument \"{}\"", printable(command.words.front())));
  }
  if (command.name == "list") return list(command);
  // By default both precisions if both programs exist, else this program's.
  if (command.precision.empty()) {
    command.precision = sibling_program().empty() ? own_precision : "both";
  }
  if (command.name == "answer") return answer(command);
  return command.name == "all" ? all(command) : one(command);
}

}  // namespace

Command add_lab(CLI::App& program) {
  CLI::App* app =
      program.add_subcommand("lab", "Runs experiments on heads and checks their claims");
  const auto options = std::make_shared<LabCommand>();
  app->add_option("NAME", options->name, "name of an experiment, list, all, ask or answer")
      ->type_name("")
      ->capture_default_str();
  app->add_option("WORDS", options->words,
                  "ask: words of a question; answer: names of experiments (default: all with a "
                  "program in PyTorch)")
      ->type_name("");
  const auto number = [&](const char* name, Index& value, const char* what, Index least,
                          Index most = 1'000'000) {
    return app->add_option(name, value, what)->check(at_least(least, most));
  };
  number("--width", options->width,
         "width of the model, the embedding dimension (default: by experiment)", 1);
  number("--heads", options->heads, "number of heads (default: by experiment)", 1);
  number("--seed", options->seed, "seed of all random numbers", 0, any_seed)->capture_default_str();
  app->add_option("--precision", options->precision,
                  "double, float or both (default: both if both programs are built)")
      ->type_name("NAME")
      ->check(one_of({"double", "float", "both"}));
  add_out(*app, options->out, "folder of the pages");
  app->add_flag("--force", options->force, "replace the pages in --out");
  app->add_flag("--json", options->json, "print the record as JSON; write pages only with --out");
  add_threads(*app);
  app->footer(
      fmt::format("Examples: {0} lab head-slices, {0} lab ask are heads shared", invocation()));
  return {app, [options] { return lab(*options); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
