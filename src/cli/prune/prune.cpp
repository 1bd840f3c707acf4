// `headroom prune`: removes heads from a trained model, without further training.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>

#include "cli/frame/command.hpp"
#include "cli/frame/common_options.hpp"
#include "cli/frame/streams.hpp"
#include "cli/measured_model.hpp"
#include "cli/options.hpp"
#include "cli/prune/prune_choice.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/base/names.hpp"
#include "headroom/base/parallel.hpp"
#include "headroom/base/text.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/fields.hpp"
#include "headroom/statistics/contrasts.hpp"
#include "headroom/train/checkpoint.hpp"
#include "headroom/train/measures.hpp"
#include "headroom_lab/blocks/table.hpp"
#include "headroom_measure/importance/choosers.hpp"
#include "headroom_measure/importance/task_check.hpp"
#include "headroom_runs/runs/load_learner.hpp"
#include "headroom_runs/runs/run_folder.hpp"
#include "headroom_runs/tables/table_tasks.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// A model before or after the cut.
struct Measured {
  Index heads = 0, parameters = 0;
  std::optional<double> ms = {};        // of a forward pass, with --budget-ms
  std::vector<double> selection, test;  // the loss of each example
  Record quality = Record::object();    // on the test set: exact_match, ...
};

/// A row for each measure, with a column for each of the models, the first of which is the whole
/// one.
Table table_of(const std::vector<Measured>& models, const std::vector<std::string>& titles) {
  const Measured& whole = models[0];
  Table table{.columns = titles};
  const auto add = [&](const std::string& title, const auto& text) {
    table.rows.push_back({title});
    for (const Measured& model : models) table.rows.back().push_back(text(model));
  };
  add("heads", [](const Measured& m) { return with_commas(m.heads); });
  add("parameters", [](const Measured& m) { return with_commas(m.parameters); });
  if (whole.ms) {
    add(fmt::format("ms, {} examples", timed_examples),
        [](const Measured& m) { return fmt::format("{:.2f}", m.ms.value_or(0)); });
  }
  add(fmt::format("loss, {} selection examples", with_commas(std::ssize(whole.selection))),
      [](const Measured& m) { return fmt::format("{:.4f}", mean_of(m.selection)); });
  add(fmt::format("loss, {} test examples", with_commas(std::ssize(whole.test))),
      [](const Measured& m) { return fmt::format("{:.4f}", mean_of(m.test)); });
  for (const Measure& measure : quality_measures) {
    if (!whole.quality.contains(measure.key)) continue;
    add(fmt::format("{}, test", measure.name), [&](const Measured& m) {
      return fmt::format("{:.2f} %", 100 * m.quality[measure.key].get<double>());
    });
  }
  return table;
}

/// "encoder 0: 0.113, encoder 1: 0.108"
std::string head_times_text(const HeadTimes& times) {
  std::vector<std::string> parts;
  for (const auto& [location, ms] : times.of_heads) {
    parts.push_back(fmt::format("{}: {:.3g}", location.text(), ms));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// "encoder 3 of 8, decoder 5 of 8, cross 4 of 8"
std::string heads_left_text(Module& model) {
  std::map<AttentionKind, std::pair<Index, Index>> kinds;
  for (const NamedAttention& found : attentions(model)) {
    auto& [live, all] = kinds[found.location().kind];
    live += std::ssize(found.attention->alive());
    all += found.attention->config().heads;
  }
  std::vector<std::string> parts;
  for (const auto& [kind, heads] : kinds) {
    parts.push_back(fmt::format("{} {} of {}", name_of(kind), heads.first, heads.second));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

Record record_of(const Measured& measured) {
  Record record{{"heads", measured.heads},
                {"parameters", measured.parameters},
                {"selection_loss", mean_of(measured.selection)},
                {"selection_examples", measured.selection.size()},
                {"test_loss", mean_of(measured.test)},
                {"test_examples", measured.test.size()},
                {"test", measured.quality}};
  if (measured.ms) record["ms"] = *measured.ms;
  return record;
}

std::string removed_text(const std::vector<HeadId>& heads) {
  std::vector<std::string> names;
  for (const HeadId& head : heads) names.push_back(head.text());
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Throws UsageError now rather than after the measurements.
void check_out(const PruneCommandOptions& options, const std::filesystem::path& source) {
  if (options.out.empty() || !std::filesystem::exists(options.out)) return;
  require(!std::filesystem::equivalent(options.out, folder_of(source)),
          fmt::format("--out {} is the folder of the model itself; choose another", options.out));
  require(options.force || std::filesystem::is_empty(options.out),
          fmt::format("--out {} is not empty (choose another folder, or use --force to replace its "
                      "model)",
                      options.out));
}

Measured measured(Learner& learner, ModelCut& cut, const std::vector<HeadId>& removed) {
  Measured model;
  cut.without(removed, [&] {
    model.heads = std::ssize(live_heads(learner.model()));
    model.parameters = count_parameters(learner.model());
    model.quality = learner.test();
  });
  model.selection = cut.losses(ExampleSet::selection, removed);
  model.test = cut.losses(ExampleSet::test, removed);
  return model;
}

/// The model without the heads, its config.json and its summary.json.
RunFolder saved(const MeasuredModel& model, const Choice& choice,
                const PruneCommandOptions& options, const Record& summary) {
  RunFolder folder = options.out.empty() ? RunFolder::fresh("runs", "pruned")
                                         : RunFolder(options.out, options.force ? IfExists::force
                                                                                : IfExists::refuse);
  Record config = model.config;
  config["cut"] = {{"from", std::filesystem::absolute(model.path).lexically_normal().string()},
                   {"removed", removed_text(choice.removed)},
                   {"chooser", options.cut.chooser},
                   {"examples", options.cut.examples},
                   {"seed", options.cut.seed},
                   {"budget", json_of(options.cut.budget)},
                   {"compensation", options.compensate}};
  if (!options.budget_ms.empty()) config["cut"]["budget_ms"] = options.budget_ms;
  folder.write_config(config);
  Checkpoint checkpoint;
  checkpoint.about = model.learner->about();
  checkpoint.add("model", model.learner->model());
  checkpoint.save(folder.checkpoint());
  write_file(folder.summary(), summary.dump(2) + "\n");
  return folder;
}

int prune_model(PruneCommandOptions options) {
  require(int(!options.keep.empty()) + int(!options.increase.empty()) +
                  int(!options.budget_ms.empty()) ==
              1,
          "give one of --keep K, --keep auto, --max-loss-increase X and --budget-ms X");
  options.cut.budget.over = from_name<BudgetOver>("--budget", options.budget);
  options.cut.compensation = from_name<Compensation>("--compensate", options.compensate);
  require_metric(options.cut.chooser);
  const MeasuredModel model = measured_model(options.model);
  check_out(options, model.path);
  Learner* const learner = model.learner.get();
  if (!model.is_folder) {
    options.cut.recorded = recorded_scores(checkpoint_of(model.path));
    options.cut.seed = seed_of_run(model.path);
  }
  if (options.seed) options.cut.seed = *options.seed;
  const TaskCheck check = check_task(*learner);
  ModelCut cut(*learner, options.cut);
  const Choice choice = choice_of(*learner, cut, options);

  std::vector<std::string> titles{"", "before", "after"};
  std::vector<std::vector<HeadId>> sets{{}, choice.removed};
  if (choice.other) {
    titles.push_back("by importance alone");
    sets.push_back(*choice.other);
  }
  std::vector<Measured> models;
  for (const std::vector<HeadId>& removed : sets) {
    models.push_back(measured(*learner, cut, removed));
  }
  const Measured &before = models[0], &after = models[1];
  const PairedContrast rise = paired_contrast(after.test, before.test);
  constexpr double none = std::numeric_limits<double>::quiet_NaN();  // null in JSON
  const double selection_rise = mean_of(after.selection) - mean_of(before.selection);
  Record summary{
      {"before", Record()},
      {"after", Record()},
      {"selection_increase", selection_rise},
      {"test_increase", json_of(rise.interval.value_or(Interval{rise.mean, none, none}))},
      {"task_check_before", json_of(check)}};
  if (choice.times) {
    const std::vector<double> times = times_without(*learner, cut, sets);
    for (std::size_t i = 0; i < models.size(); ++i) models[i].ms = times[i];
    summary["by_importance"] = record_of(models[2]);
    summary["by_importance"]["removed"] = removed_text(*choice.other);
    summary["threads"] = num_threads();
    for (const auto& [location, ms] : choice.times->of_heads) {
      summary["ms_of_a_head"][location.text()] = ms;
    }
  }
  summary["before"] = record_of(before);
  summary["after"] = record_of(after);
  cut.apply(choice.removed);
  const TaskCheck check_after = check_task(*learner);
  summary["task_check"] = json_of(check_after);  // of the saved model, as in every summary.json
  const RunFolder folder = saved(model, choice, options, summary);

  set_result({{"folder", folder.path().string()}, {"summary", summary}});
  const TerminalStyle style = TerminalStyle::of(stdout);
  if (!check.learned) {
    fmt::print("{}\n\n",
               wrapped(check.warning() + ". The choice of heads is arbitrary.", style.columns));
  }
  fmt::print(
      "{}\n",
      wrapped(fmt::format("{}: {} of {} heads are removed, chosen by {}{} on at most "
                          "{} importance examples: {}",
                          choice.why, choice.removed.size(), before.heads, options.cut.chooser,
                          choice.by, options.cut.examples, removed_text(choice.removed)),
              style.columns));
  fmt::print("Heads left: {}\n\n", heads_left_text(learner->model()));
  fmt::print("{}\n", table_text(table_of(models, titles), style));
  if (choice.times) {
    fmt::print("{}\n\n",
               wrapped(fmt::format("Milliseconds of one head, by attention: {} (--threads {}).",
                                   head_times_text(*choice.times), num_threads()),
                       style.columns));
  }
  if (check.learned && !check_after.learned) {
    fmt::print("{}\n\n",
               wrapped(check_after.warning("The model without these heads") + ".", style.columns));
  }
  std::string verdict = fmt::format(
      "Losses are in {} per example. Without these heads the selection loss rises by {:.4g} and "
      "the test loss by {}",
      loss_unit(model.config["task"]["name"].get<std::string>()), selection_rise,
      rise.interval ? rise.interval->text() : fmt::format("{:.3g}", rise.mean));
  if (!options.increase.empty() && check.learned) {
    const double limit = loss_limit_from(options.increase, mean_of(before.selection));
    verdict +=
        rise.mean <= limit
            ? fmt::format(", within the limit of {:.4g}", limit)
            : fmt::format(", more than the limit of {:.4g}, which only the selection set meets",
                          limit);
  }
  fmt::print("{}\n",
             wrapped(verdict + ". The test set had no influence on the choice.", style.columns));
  fmt::print("{}\n", shown(folder.path().string()));
  return 0;
}

}  // namespace

Command add_prune(CLI::App& program) {
  CLI::App* app =
      program.add_subcommand("prune", "Removes heads from a trained model, without training");
  const auto options = std::make_shared<PruneCommandOptions>();
  add_measured(*app, options->model);
  app->add_option("--keep", options->keep,
                  "number of heads to keep, or auto: the effective number of heads by the scores s "
                  "of the metric, (sum s)^2 / sum s^2, rounded")
      ->type_name("K");
  app->add_option("--max-loss-increase", options->increase,
                  "in place of --keep: remove as many heads as possible while the loss of the "
                  "selection set rises by at most X nats per example (0.05) or percent (5%)")
      ->type_name("X");
  app->add_option(
         "--budget-ms", options->budget_ms,
         fmt::format("in place of --keep: remove the heads with the lowest importance per "
                     "millisecond, until a forward pass over {} selection examples takes at most X "
                     "ms (4.5) or percent of the time with all heads (80%); the choice by "
                     "importance alone is measured beside it",
                     timed_examples))
      ->type_name("X");
  std::vector<std::string> choosers;
  for (const ChooserEntry& entry : head_choosers()) choosers.push_back(entry.info.name);
  app->add_option("--metric", options->cut.chooser,
                  fmt::format("metric of `importance` or chooser ({}) that chooses the heads to "
                              "remove",
                              fmt::join(choosers, ", ")))
      ->type_name("NAME")
      ->capture_default_str();
  app->add_option("--examples", options->cut.examples,
                  "maximum number of examples to measure heads on")
      ->check(at_least(1))
      ->capture_default_str();
  app->add_option(
         "--seed", options->seed,
         "seed of metrics and choosers that draw random numbers (default: that of the run)")
      ->type_name("N");
  app->add_option("--budget", options->budget,
                  fmt::format("where heads compete for removal: {}", names_of<BudgetOver>()))
      ->type_name("NAME")
      ->capture_default_str();
  app->add_option("--at-least", options->cut.budget.at_least,
                  "minimum number of heads left in every attention")
      ->check(at_least(0))
      ->capture_default_str();
  app->add_option("--at-least-of-kind", options->cut.budget.at_least_of_kind,
                  "minimum number of heads left of every kind of attention")
      ->check(at_least(0))
      ->capture_default_str();
  app->add_option("--compensate", options->compensate,
                  fmt::format("part of a removed head's output that stays in the output bias: {}",
                              names_of<Compensation>()))
      ->type_name("NAME")
      ->capture_default_str();
  add_out(*app, options->out, "folder of the model without these heads");
  app->add_flag("--force", options->force, "replace the model in --out");
  add_threads(*app);
  app->footer(
      fmt::format("The heads are chosen on the importance set, and --max-loss-increase is\n"
                  "measured on the selection set. The test set is measured once, at the end.\n"
                  "`train --prune` removes heads while a model trains.\n\n"
                  "Examples: {0} prune --model runs/dates-1 --keep 12\n"
                  "          {0} prune --model runs/dates-1 --keep auto\n"
                  "          {0} prune --max-loss-increase 0.05 --metric greedy",
                  invocation()));
  return {app, [options] { return prune_model(*options); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
