// `headroom train`: trains a model on a task, removes heads meanwhile, saves, resumes, reports.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <optional>

#include "cli/environment.hpp"
#include "cli/frame/command.hpp"
#include "cli/frame/common_options.hpp"
#include "cli/frame/streams.hpp"
#include "cli/options.hpp"
#include "cli/standard_input.hpp"
#include "cli/train/train_branch.hpp"
#include "cli/train/train_data.hpp"
#include "cli/train/train_from.hpp"
#include "cli/train/train_options.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/base/terminal.hpp"
#include "headroom/base/text.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/fields.hpp"
#include "headroom/train/measures.hpp"
#include "headroom_lab/report/report.hpp"
#include "headroom_measure/importance/task_check.hpp"
#include "headroom_runs/records/head_lives.hpp"
#include "headroom_runs/records/head_records.hpp"
#include "headroom_runs/runs/load_learner.hpp"
#include "headroom_runs/runs/measured_after.hpp"
#include "headroom_runs/runs/progress.hpp"
#include "headroom_runs/runs/pruning_parts.hpp"
#include "headroom_runs/runs/training_run.hpp"
#include "headroom_runs/tables/table_tasks.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

struct TrainCommandOptions {
  TrainOptions settings;
  std::string out;
  bool resume = false, force = false, accept_changes = false, print_config = false;
};

/// The task in words: "Written dates -> ISO dates".
std::string title_of(const std::string& task) {
  std::string words = task;
  for (const TaskInfo& info : task_list()) {
    if (info.name == task) words = info.summary;
  }
  words[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(words[0])));
  return words;
}

std::string result_text(const Record& test) {
  std::string text = "test:";
  for (const auto& [name, value] : test.items()) {
    const bool share =
        std::any_of(quality_measures.begin(), quality_measures.end(),
                    [&key = name](const Measure& measure) { return measure.key == key; });
    text += share ? fmt::format("  {} {:.2f} %", name, 100 * value.get<double>())
                  : fmt::format("  {} {:.4f}", name, value.get<double>());
  }
  return text;
}

/// Writes records.json and the page of a finished run, and prints the page's path.
void write_page(const TrainingRun& run, const PruningParts& parts) {
  const RunFolder& folder = run.folder();
  const std::string layout = name_of(run.settings().model.block.layout);
  ReportRecord page = read_run(folder.path());
  page.title = title_of(run.settings().task);
  page.environment = environment();
  page.models = {layout};
  for (MetricsLine& line : page.metrics) line.model = layout;
  add_history(page, parts.history(), layout, run.settings().steps);
  write_file(folder.path() / "records.json", json_of(page).dump() + "\n");
  try {
    write_report(page, folder.report());
    fmt::print("{}\n", shown(folder.report().string()));
  } catch (const FileError& error) {  // the run is complete without its page
    print_error("the page was not written: {}\n", shown(error.what(), stderr));
  }
}

/// The step after which all heads are removed.
Index last_removal(const PruningRecipe& recipe) {
  return recipe.gates ? recipe.gates->end : last_step(recipe.pace);
}

/// The keys of summary.json that concern heads: those that are alive; all that were there when the
/// first were chosen; the removals with their scores; the quality right after the last one.
Record heads_summary(TrainingRun& run, const PruningParts& parts, const Record& after_cut) {
  Record alive = Record::array();
  for (const HeadId& head : live_heads(run.model())) alive.push_back(head.text());
  Record summary{{"alive", alive}};
  const Record heads = json_of(parts.history().heads), timeline = json_of(parts.history().timeline);
  if (!heads.empty()) summary["heads"] = heads;
  if (!timeline.empty()) summary["timeline"] = timeline;
  if (!after_cut.empty()) summary["after_cut"] = after_cut;
  return summary;
}

/// The files of a run's data, by the names of their settings.
std::vector<std::pair<const char*, std::filesystem::path*>> files_of(TrainingSettings& run) {
  return {{"data", &run.data.data},
          {"validation_data", &run.table.validation},
          {"test_data", &run.table.test}};
}

/// Throws UsageError if --out is to be replaced and has something in it that the run reads.
void require_inputs_elsewhere(const TrainCommandOptions& options, const RunSettings& settings) {
  if (!options.force || !std::filesystem::is_directory(options.out)) return;
  std::vector<std::filesystem::path> inputs = settings.training.data_files();
  for (const std::string& other : {settings.branch.from, settings.branch.branch}) {
    if (!other.empty()) inputs.push_back(folder_of(other));
  }
  const std::filesystem::path out = std::filesystem::canonical(options.out);
  for (const std::filesystem::path& input : inputs) {
    const std::filesystem::path real = std::filesystem::weakly_canonical(input);
    const auto [end, inside] = std::mismatch(out.begin(), out.end(), real.begin(), real.end());
    require(end != out.end(),
            fmt::format("--out {}: has {}, which this run reads; choose another folder, or none",
                        options.out, input.string()));
  }
}

/// The path of data that another run keeps for itself, after they were copied into this one's
/// folder; any other path as it is.
std::filesystem::path own_data(const std::filesystem::path& data, const RunFolder& folder) {
  if (!std::filesystem::exists(data.parent_path() / "config.json")) return data;
  const auto kept = RunFolder(data.parent_path(), IfExists::resume).kept_data();
  if (std::find(kept.begin(), kept.end(), data) == kept.end()) return data;
  return folder.keep_data(read_file(data), data.extension().string());
}

/// Writes where the data are now into config.json.
void store_data_paths(const TrainingRun& run) {
  Record config = run.folder().read_config();
  const Record before = config;
  TrainingSettings settings = run.settings();
  for (const auto& [name, path] : files_of(settings)) {
    if (!path->empty()) config["task"][name] = path->string();
  }
  if (config != before) run.folder().write_config(config);
}

/// Trains or resumes in the folder. Returns the exit code.
int train_in(RunFolder folder, const RunSettings& settings, std::unique_ptr<Learner> learner,
             std::optional<FixedExample> example, Changes changes = Changes::refuse) {
  TrainingRun run(settings.training, std::move(learner));
  const BranchSettings& branch = settings.branch;
  run.optimizer().apply(prune(run.model(), branch.without));
  PruningParts parts(run, settings.pruning);
  std::optional<MeasuredAfter> after_cut;
  if (branch.measure_cut && settings.pruning.removes()) {
    after_cut.emplace(run.learner(), last_removal(settings.pruning), branch.test);
    run.add("after_cut", *after_cut);
  }
  std::optional<HeadLives> lives;  // for the page
  if (branch.page && settings.pruning.removes()) {
    lives.emplace(run.learner(), std::move(example), settings.training.steps,
                  [&parts] { return parts.history().timeline; });
    run.add("lives", *lives);
  }
  ProgressLine progress({.steps = settings.training.steps, .title = "Learning"});
  run.each([&](const StepReport& report) {
    const std::vector<PruningEvent> timeline = parts.history().timeline;
    if (timeline.empty() || timeline.front().step != report.step) return;
    progress.note(fmt::format("step {}: among {} heads, the first to remove are chosen by {}",
                              report.step, parts.history().heads.size(), timeline.front().by));
  });
  run.each(std::ref(progress));
  const bool begins = (!branch.from.empty() || !branch.branch.empty()) && !folder.resumes();
  if (begins && branch.from.empty()) begin_with_trunk(run, settings, folder);
  if (begins && !branch.from.empty()) begin_with_weights(run, branch);
  for (const std::string& warning : run.keep_in(std::move(folder), changes)) {
    print_error("warning: {}\n", shown(warning, stderr));
  }
  store_data_paths(run);
  if (begins) run.save(run.folder().checkpoint());

  const StopSignals signals;
  const bool finished = run.run(&signals, branch.until);
  progress.finish();
  if (!finished && branch.until > 0 && run.steps() >= branch.until) {
    run.conclude(heads_summary(run, parts, Record::object()), false);
    fmt::print("ended at step {} of {}, as --until says\n", run.steps(), run.settings().steps);
    return 0;
  }
  if (!finished) {
    fmt::print("stopped at step {}; continue with: {} train --out {} --resume\n", run.steps(),
               invocation(), shown(run.folder().path().string()));
    return signals.exit_code();
  }
  const Record summary = run.conclude(
      heads_summary(run, parts, after_cut ? after_cut->result() : Record::object()), branch.test);
  if (run.steps() < run.settings().steps) {
    fmt::print("ended after step {} of {}: {} evaluations found no better model\n", run.steps(),
               run.settings().steps, run.settings().patience);
  }
  set_result({{"folder", run.folder().path().string()}, {"summary", summary}});
  if (branch.test) fmt::print("{}\n", result_text(summary["test"]));
  const auto check = struct_of<TaskCheck>(summary["task_check"], "task_check");
  if (!check.learned) {
    fmt::print("{}\n", wrapped(check.warning() + ".", TerminalStyle::of(stdout).columns));
  }
  if (branch.page) write_page(run, parts);
  return 0;
}

int train(TrainCommandOptions& options) {
  if (options.resume && options.force) throw UsageError("--resume and --force cannot be combined");
  if (options.resume) {
    const std::string given = options.settings.first_given();
    if (!given.empty()) {
      throw UsageError(
          fmt::format("{} cannot be given with --resume: a resumed run keeps its settings", given));
    }
    RunFolder folder(run_folder(options.out, "--out"), IfExists::resume);
    const FileLock lock = lock_run(folder.path());
    const Record config = folder.read_config();
    require(!config.contains("cut"),
            fmt::format("{}: `prune` wrote this model without an optimizer, so it cannot be "
                        "trained on; `train --prune` removes heads while a model trains",
                        folder.path().string()));
    require_known_task(config, folder.config().string());
    RunSettings settings = RunSettings::from_record(config, folder.config().string());
    if (folder.resumes()) {
      check_plausible(settings.training.model, TensorFile::read(folder.checkpoint()),
                      folder.config().string() + ": \"model\"");
    }
    for (const auto& [name, path] : files_of(settings.training)) {
      if (const auto moved = options.settings.path(name)) {
        require(*moved != StandardInput::option,
                "a resumed run reads its data from files; name one instead of -");
        *path = std::filesystem::absolute(*moved);
      }
      if (path->empty() || std::filesystem::exists(*path)) continue;
      if (options.settings.path(name)) {
        throw FileError(fmt::format("{}: does not exist", path->string()));
      }
      std::string option = name;
      std::replace(option.begin(), option.end(), '_', '-');
      throw FileError(
          fmt::format("{}: the run's data file does not exist; if it was moved, add --{} PATH",
                      path->string(), option));
    }
    const std::string file = folder.config().string();
    try {
      TrainData data(settings.training);
      std::optional<FixedExample> example = data.example();
      return train_in(std::move(folder), settings, std::move(data).learner(settings.training),
                      std::move(example),
                      options.accept_changes ? Changes::accept : Changes::refuse);
    } catch (const UsageError& error) {  // no option sets a resumed run
      throw FileError(fmt::format("{}: {}", file, error.what()));
    }
  }
  if (options.accept_changes) throw UsageError("--accept-changes needs --resume");
  RunSettings settings = options.settings.settings();
  TrainingSettings& run = settings.training;
  std::optional<StandardInput> input;
  if (run.data.data == StandardInput::option) {
    require(settings.branch.branch.empty(),
            "a branch has the data of its trunk; name that file with --data instead of -");
    const bool lines = run.table.columns.empty() && reads_single_texts(run.task);
    using Content = StandardInput::Content;
    run.data.data = input.emplace(lines ? Content::lines : Content::table).file();
  }
  // Bad data and bad names of parts leave no folder behind.
  std::optional<TrainData> data;
  const auto read = [&] { data.emplace(run); };
  input ? input->reading(read) : read();
  if (options.settings.has("epochs")) {
    options.settings.give_steps_of_epochs(run, data->train_examples());
    settings = options.settings.settings();
    if (input) run.data.data = input->file();
  }
  run.model = data->config_for(run);
  options.settings.fit(settings);
  if (!run.data.data.empty()) run.data.data = std::filesystem::absolute(run.data.data);
  if (!settings.branch.branch.empty()) require_same_beginning(settings);
  if (!run.data.data.empty()) print_error("{}", data->text());
  if (options.print_config) {
    if (input) run.data.data = StandardInput::option;
    fmt::print("{}\n", settings.to_record().dump(2));
    return 0;
  }
  require_inputs_elsewhere(options, settings);
  std::optional<FixedExample> example = data->example();
  std::unique_ptr<Learner> learner = (*std::move(data)).learner(run);
  check(run.parts, *learner);
  if (settings.pruning.removes() && settings.pruning.given.empty()) {
    learner->visit(ExampleSet::importance, 1, [](const ProbedBatch&) {});  // refuses an empty set
  }
  auto [folder, lock] = new_run(options.out, run.task, options.force);
  run.data.data = input ? input->keep_in(folder) : own_data(run.data.data, folder);
  folder.write_config(settings.to_record());
  fmt::print("{}\n", shown(folder.path().string()));
  return train_in(std::move(folder), settings, std::move(learner), std::move(example));
}

/// "Tasks:" or "Layouts:" and a line per name, aligned with the descriptions of the options.
template <class Entries>
std::string described(const char* title, const Entries& entries) {
  std::string text = title;
  for (const auto& entry : entries) {
    text += "\n" + before_column("  " + entry.name, help_column) + entry.summary;
  }
  return text;
}

}  // namespace

Command add_train(CLI::App& program) {
  CLI::App* app = program.add_subcommand("train", "Trains a model on a task");
  const auto options = std::make_shared<TrainCommandOptions>();
  options->settings.add_to(*app);
  app->add_flag("--print-config", options->print_config,
                "print the settings as config.json keeps them, and end");
  add_out(*app, options->out, "folder of the run");
  app->add_flag("--resume", options->resume,
                "continue the run in --out, or the newest run in runs/");
  app->add_flag("--accept-changes", options->accept_changes,
                "with --resume: continue with data or settings that were changed");
  app->add_flag("--force", options->force, "replace the run in --out");
  add_threads(*app);
  const std::string examples = fmt::format(
      "Examples: {0} train --task reverse\n"
      "          {0} train --task g2p --data PATH --keep 12\n"
      "          {0} train --from runs/dates-1 --steps 500\n"
      "          {0} train --out runs/g2p-1 --resume",
      invocation());
  const std::string tasks = described("Tasks:", task_list());
  app->footer(fmt::format("{}\n\n{}\n\n{}\n\n{}\n\n{}", tasks, described("Layouts:", layout_list()),
                          described("Gates:", gate_methods()), TrainOptions::recipes(), examples));
  return {app,
          [options] { return train(*options); },
          {TrainOptions::first_names(), tasks + "\n\n" + examples}};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
