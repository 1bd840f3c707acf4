// `headroom evaluate`: measures a trained model on a set of examples, and writes a page of those
// that it gets wrong.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "cli/environment.hpp"
#include "cli/frame/command.hpp"
#include "cli/frame/streams.hpp"
#include "cli/options.hpp"
#include "cli/standard_input.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/base/names.hpp"
#include "headroom/base/terminal.hpp"
#include "headroom/base/text.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom_lab/report/evaluation.hpp"
#include "headroom_runs/runs/load_learner.hpp"
#include "headroom_runs/runs/manifest.hpp"
#include "headroom_runs/runs/training_settings.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

struct EvaluateOptions {
  std::string model, data, columns, set, out;
  bool skip_bad_lines = false, json = false, force = false;
  Index worst = 50;
  ScoreOptions scores;
};

/// Examples and the words for where they are from.
struct Examples {
  Task task;
  ExampleSet set;
  std::string origin;
};

/// The examples of --data, or those of the run's own set.
Examples examples_of(const EvaluateOptions& options, const SavedModel& saved,
                     const std::optional<TrainingSettings>& run) {
  if (!options.data.empty()) {
    require(options.set.empty(), "--set names a set of the run; it cannot be given with --data");
    TableOptions table;
    if (run) table.columns = run->table.columns;
    if (!options.columns.empty()) table.columns = options.columns;
    const bool is_text = saved.config.kind == ModelKind::language_model;
    const auto set = is_text ? ExampleSet::validation : ExampleSet::test;
    TaskOptions data{.data = options.data, .skip_bad_lines = options.skip_bad_lines};
    const auto make = [&] { return make_test_task(saved, data, table); };
    if (options.data != StandardInput::option) return {make(), set, options.data};
    const StandardInput input;
    data.data = input.file();
    return {input.reading(make), set, "standard input"};
  }
  if (!run) {
    throw UsageError(
        fmt::format("{}: is not a file of a run, whose data could be made again; name a file with "
                    "--data",
                    saved.origin));
  }
  require_its_data(read_checkpoint(saved.origin), run->data_files());
  Task task = run->make_task();
  const std::string name = options.set.empty() ? "test" : options.set;
  const auto set = from_name<ExampleSet>("--set", name);
  const bool is_text = std::holds_alternative<TextCorpus>(task) && set == ExampleSet::test;
  return {std::move(task), set,
          is_text ? std::string("the validation part of the run's text (a text has no test set)")
                  : fmt::format("the {} set of the run", name)};
}

/// The settings of the run that the model is of, if it is of one.
std::optional<TrainingSettings> settings_of_run(const SavedModel& saved) {
  const std::filesystem::path folder = folder_of(saved.origin);
  if (!std::filesystem::exists(folder / "config.json")) return {};
  const RunFolder run(folder, IfExists::resume);
  const Record config = run.read_config();
  if (!config.contains("task")) return {};
  require_known_task(config, run.config().string());
  return TrainingSettings::from_record(config, run.config().string());
}

/// The lines about what was left out, and about unknown symbols.
std::string notes_of(const Examples& examples, const Scores& scores, const SavedModel& saved) {
  std::string notes;
  std::visit(
      [&](const auto& task) {
        if constexpr (requires { task.skipped; }) {
          if (task.skipped.total() > 0) notes += task.skipped.text() + "\n";
        }
      },
      examples.task);
  if (saved.config.kind == ModelKind::language_model) return notes;
  const std::int32_t unknown =
      saved.vocabulary(saved.config.kind == ModelKind::seq2seq ? "source" : "tokens").unk();
  const auto count =
      std::count_if(scores.examples.begin(), scores.examples.end(), [&](const ScoredExample& one) {
        return std::find(one.tokens.begin(), one.tokens.end(), unknown) != one.tokens.end();
      });
  if (count > 0) {
    notes += fmt::format("{} of {} inputs have symbols that the model does not know\n",
                         with_commas(count), with_commas(std::ssize(scores.examples)));
  }
  if (const auto* pairs = std::get_if<Seq2SeqTask>(&examples.task)) {
    const std::vector<Seq2SeqQuestion>& questions =
        examples.set == ExampleSet::validation ? pairs->validation : pairs->test;
    const std::int32_t never = pairs->target.unk();
    const auto lost =
        std::count_if(questions.begin(), questions.end(), [&](const Seq2SeqQuestion& one) {
          return std::all_of(one.answers.begin(), one.answers.end(), [&](const Tokens& answer) {
            return std::find(answer.begin(), answer.end(), never) != answer.end();
          });
        });
    if (lost > 0 && examples.set != ExampleSet::train) {
      notes += fmt::format(
          "{} of {} outputs are wrong in any case: the right ones have symbols that the model does "
          "not know\n",
          with_commas(lost), with_commas(std::ssize(questions)));
    }
  }
  return notes;
}

int evaluate(const EvaluateOptions& options) {
  const SavedModel saved = load_model(checkpoint_of(model_folder(options.model)));
  if (saved.about.contains("folder")) {
    throw UsageError(
        fmt::format("--model {}: began with a model folder of Transformers, and evaluate is for "
                    "models of headroom's own; report shows its results",
                    options.model));
  }
  const std::optional<TrainingSettings> run = settings_of_run(saved);
  ScoreOptions how = options.scores;
  if (saved.config.kind != ModelKind::seq2seq && how.beam > 1) {
    throw UsageError(
        fmt::format("--beam {}: a {} has no beam search", how.beam, name_of(saved.config.kind)));
  }
  if (run) how.window = run->learner.length;
  const Examples examples = examples_of(options, saved, run);
  const Scores scores = score(saved, examples.task, examples.set, how);
  EvaluationRecord record = evaluation_record(scores, std::size_t(options.worst));
  record.model = saved.origin;
  record.task = std::visit([](const auto& task) { return task.name; }, examples.task);
  record.data = examples.origin;
  record.notes = notes_of(examples, scores, saved);
  const auto print = [&] {
    if (options.json) {
      fmt::print("{}\n", json_of(record).dump(-1, ' ', false, Record::error_handler_t::replace));
    } else {
      fmt::print("{}", shown(evaluation_text(record, TerminalStyle::of(stdout))));
    }
  };
  if (options.json && options.out.empty()) {
    print();
    return 0;
  }
  const RunFolder folder = options.out.empty() ? RunFolder::fresh("runs", "evaluate")
                                               : RunFolder::for_page(options.out, options.force);
  print();
  AttentionRecord worst = attention_of_worst(record, saved);
  worst.environment = environment();
  write_file(folder.report(), evaluation_page(record, worst));
  if (!options.json) fmt::print("\nThe page: {}\n", shown(folder.report().string()));
  return 0;
}

}  // namespace

Command add_evaluate(CLI::App& program) {
  CLI::App* app = program.add_subcommand(
      "evaluate", "Measures a trained model on examples and shows the worst ones");
  const auto options = std::make_shared<EvaluateOptions>();
  add_model(*app, options->model);
  app->add_option("--data", options->data,
                  "table (.tsv, .csv, .jsonl) or text with other examples, or - for standard "
                  "input (default: those of the run)")
      ->type_name("FILE");
  app->add_option("--columns", options->columns,
                  "columns of --data, by names or numbers (default: those of the run, or "
                  "source,target or text,label)")
      ->type_name("A,B");
  app->add_flag("--skip-bad-lines", options->skip_bad_lines, "skip malformed lines of --data");
  app->add_option("--set", options->set, "set of the run's examples: train, validation or test")
      ->check(one_of({"train", "validation", "test"}))
      ->default_str("test");
  app->add_option("--beam", options->scores.beam, "width of beam search; 1 means greedy decoding")
      ->check(at_least(1))
      ->capture_default_str();
  app->add_option("--worst", options->worst, "number of examples on the page")
      ->check(at_least(1, 1000))
      ->capture_default_str();
  add_out(*app, options->out, "folder of the page");
  app->add_flag("--force", options->force, "replace the page in --out");
  app->add_flag("--json", options->json, "print the record as JSON; write a page only with --out");
  add_threads(*app);
  app->footer(
      fmt::format("Examples: {0} evaluate --model runs/dates-1\n"
                  "          {0} evaluate --model runs/pairs-1 --data new.tsv",
                  invocation()));
  return {app, [options] { return evaluate(*options); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
