// `headroom prune`: removes heads from a trained model, without further training.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <memory>
#include <optional>

#include "cli/command.hpp"
#include "cli/options.hpp"
#include "cli/streams.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/base/names.hpp"
#include "headroom/heads/choosers.hpp"
#include "headroom/heads/model_cut.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/fields.hpp"
#include "headroom/report/terminal.hpp"
#include "headroom/statistics/contrasts.hpp"
#include "headroom/train/load_learner.hpp"
#include "headroom/train/measures.hpp"
#include "headroom/train/run_folder.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

struct PruneCommandOptions {
  std::string model, out, keep, increase;
  std::string budget = name_of(BudgetOver::global), compensate = name_of(Compensation::none);
  CutOptions cut;
  bool force = false;
};

/// Reads a number. Returns nothing if the text is not a number as a whole.
template <class Number>
std::optional<Number> number_from(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end) return std::nullopt;
  return number;
}

/// Reads a limit in nats per example, from nats ("0.05") or from a share of the loss ("5%").
double limit_from(const std::string& text, double loss) {
  const bool percent = text.ends_with('%');
  const auto number = number_from<double>(text.substr(0, text.size() - (percent ? 1 : 0)));
  require(number && std::isfinite(*number) && *number >= 0,
          fmt::format("--max-loss-increase {} is neither a number of nats per example, such as "
                      "0.05, nor a share of the loss, such as 5%",
                      text));
  return percent ? *number / 100 * loss : *number;
}

double mean_of(const std::vector<double>& losses) { return mean_interval(losses).value; }

/// A chosen set of heads, and the reason for its size in words.
struct Choice {
  std::vector<HeadId> removed;
  std::string why;
};

Choice choice_that_keeps(ModelCut& cut, Index alive, const PruneCommandOptions& options) {
  const Index least = alive - cut.most();
  const std::string bounds = fmt::format(
      "{} heads, of which the budget keeps at least {} (--at-least {} in each "
      "attention, --at-least-of-kind {} of each kind)",
      alive, least, options.cut.budget.at_least, options.cut.budget.at_least_of_kind);
  if (options.keep != "auto") {
    const std::optional<Index> keep = number_from<Index>(options.keep);
    require(keep && *keep >= std::max<Index>(1, least) && *keep < alive,
            fmt::format("--keep {} is neither \"auto\" nor a number from {} to {}: the model has "
                        "{}",
                        options.keep, std::max<Index>(1, least), alive - 1, bounds));
    return {cut.choose(alive - *keep), fmt::format("--keep {}", *keep)};
  }
  require(!cut.importance().empty(),
          fmt::format("--keep auto needs the scores of a metric, and {} is a chooser of sets; "
                      "choose a metric, or give a number",
                      options.cut.chooser));
  const double effective = effective_heads(cut.importance());
  const Index keep = std::max<Index>({1, least, Index(std::llround(effective))});
  require(keep < alive,
          fmt::format("--keep auto: by {} the model has {:.1f} effective heads and {}, so no head "
                      "would be removed; give --keep a number",
                      options.cut.chooser, effective, bounds));
  return {cut.choose(alive - keep),
          fmt::format("--keep auto: N_eff = (sum s)^2 / sum s^2 = {:.2f}{}", effective,
                      keep == Index(std::llround(effective)) ? "" : ", and the budget keeps more")};
}

Choice choice_within(ModelCut& cut, const PruneCommandOptions& options) {
  const double whole = mean_of(cut.losses(ExampleSet::selection, {}));
  const double limit = limit_from(options.increase, whole);
  Choice choice{cut.most_within(limit), fmt::format("--max-loss-increase {}", options.increase)};
  if (options.increase.ends_with('%')) choice.why += fmt::format(" = {:.4g} nats", limit);
  if (!choice.removed.empty()) return choice;
  require(cut.most() > 0, "the budget allows no removal; lower --at-least or --at-least-of-kind");
  const double least = mean_of(cut.losses(ExampleSet::selection, cut.choose(1))) - whole;
  throw UsageError(fmt::format(
      "--max-loss-increase {}: no head can be removed; without {} the selection loss "
      "rises by {:.4g} nats per example. Raise the limit, or try another --metric, such "
      "as greedy",
      options.increase, cut.choose(1)[0].text(), least));
}

/// A model before or after the cut.
struct Measured {
  Index heads = 0, parameters = 0;
  std::vector<double> selection, test;  // the loss of each example
  Record quality = Record::object();    // on the test set: exact_match, ...
};

/// Each measure in words, with "87.50 %" before and after.
std::vector<std::vector<std::string>> rows_of(const Measured& before, const Measured& after) {
  std::vector<std::vector<std::string>> rows{
      {"heads", with_commas(before.heads), with_commas(after.heads)},
      {"parameters", with_commas(before.parameters), with_commas(after.parameters)}};
  const auto loss_row = [&](const char* set, const auto& losses) {
    rows.push_back(
        {fmt::format("loss, {} {} examples", with_commas(std::ssize(losses(before))), set),
         fmt::format("{:.4f}", mean_of(losses(before))),
         fmt::format("{:.4f}", mean_of(losses(after)))});
  };
  loss_row("selection", [](const Measured& m) { return m.selection; });
  loss_row("test", [](const Measured& m) { return m.test; });
  for (const Measure& measure : quality_measures) {
    if (!before.quality.contains(measure.key)) continue;
    const auto text = [&](const Measured& m) {
      return fmt::format("{:.2f} %", 100 * m.quality[measure.key].get<double>());
    };
    rows.push_back({fmt::format("{}, test", measure.name), text(before), text(after)});
  }
  return rows;
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
  return {{"heads", measured.heads},
          {"parameters", measured.parameters},
          {"selection_loss", mean_of(measured.selection)},
          {"selection_examples", measured.selection.size()},
          {"test_loss", mean_of(measured.test)},
          {"test_examples", measured.test.size()},
          {"test", measured.quality}};
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

int prune_model(PruneCommandOptions options) {
  require(options.keep.empty() != options.increase.empty(),
          "give either --keep K, --keep auto or --max-loss-increase X");
  options.cut.budget.over = from_name<BudgetOver>("--budget", options.budget);
  options.cut.compensation = from_name<Compensation>("--compensate", options.compensate);
  chooser_info(options.cut.chooser);  // throws
  const std::filesystem::path source = model_folder(options.model);
  check_out(options, source);
  const std::unique_ptr<Learner> learner = load_learner(source);
  options.cut.recorded = recorded_scores(source);
  Module& model = learner->model();
  const Index alive = std::ssize(live_heads(model));
  ModelCut cut(*learner, options.cut);
  const Choice choice =
      options.keep.empty() ? choice_within(cut, options) : choice_that_keeps(cut, alive, options);

  const auto measured = [&](std::span<const HeadId> removed) {
    return Measured{.selection = cut.losses(ExampleSet::selection, removed),
                    .test = cut.losses(ExampleSet::test, removed)};
  };
  const auto size_up = [&](Measured& now) {
    now.heads = std::ssize(live_heads(model));
    now.parameters = count_parameters(model);
    now.quality = learner->test();
  };
  Measured before = measured({}), after = measured(choice.removed);
  size_up(before);
  cut.apply(choice.removed);
  size_up(after);

  RunFolder folder = options.out.empty() ? RunFolder::fresh("runs", "pruned")
                                         : RunFolder(options.out, options.force ? IfExists::force
                                                                                : IfExists::refuse);
  Record config = RunFolder(folder_of(source), IfExists::resume).read_config();
  config["cut"] = {{"from", std::filesystem::absolute(source).lexically_normal().string()},
                   {"removed", removed_text(choice.removed)},
                   {"chooser", options.cut.chooser},
                   {"examples", options.cut.examples},
                   {"seed", options.cut.seed},
                   {"budget", json_of(options.cut.budget)},
                   {"compensation", options.compensate}};
  folder.write_config(config);
  Checkpoint checkpoint;
  checkpoint.about = learner->about();
  checkpoint.add("model", model);
  checkpoint.save(folder.checkpoint());
  const PairedContrast rise = paired_contrast(after.test, before.test);
  const double selection_rise = mean_of(after.selection) - mean_of(before.selection);
  const Record summary{{"before", record_of(before)},
                       {"after", record_of(after)},
                       {"selection_increase", selection_rise},
                       {"test_increase", json_of(rise.difference)}};
  write_file(folder.summary(), summary.dump(2) + "\n");

  const TerminalStyle style = TerminalStyle::of(stdout);
  fmt::print("{}\n",
             wrapped(fmt::format("{}: {} of {} heads are removed, chosen by {} on at most {} "
                                 "importance examples: {}",
                                 choice.why, choice.removed.size(), alive, options.cut.chooser,
                                 options.cut.examples, removed_text(choice.removed)),
                     style.columns));
  fmt::print("Heads left: {}\n\n", heads_left_text(model));
  fmt::print("{}\n", table_text({"", "before", "after"}, rows_of(before, after), style));
  std::string verdict = fmt::format(
      "Losses are in nats per example. Without these heads the selection loss rises by {:.4g} and "
      "the test loss by {}",
      selection_rise, rise.difference.text());
  if (!options.increase.empty()) {
    const double limit = limit_from(options.increase, mean_of(before.selection));
    verdict +=
        rise.difference.value <= limit
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
  add_model(*app, options->model);
  app->add_option("--keep", options->keep,
                  "number of heads to keep, or auto: the effective number of heads by the scores s "
                  "of the metric, (sum s)^2 / sum s^2, rounded")
      ->type_name("K");
  app->add_option("--max-loss-increase", options->increase,
                  "in place of --keep: remove as many heads as possible while the loss of the "
                  "selection set rises by at most X nats per example (0.05) or percent (5%)")
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
  app->add_option("--seed", options->cut.seed,
                  "seed of metrics and choosers that draw random numbers")
      ->type_name("N")
      ->capture_default_str();
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
  app->footer(fmt::format(
      "The heads are chosen on the importance set, and --max-loss-increase is\n"
      "measured on the selection set. The test set is measured once, at the end.\n"
      "`train --prune` removes heads while a model trains.\n\n"
      "Examples: {0} prune --model runs/dates-1 --keep 12\n"
      "          {0} prune --model runs/dates-1 --keep auto\n"
      "          {0} prune --model runs/dates-1 --max-loss-increase 0.05 --metric greedy",
      invocation()));
  return {app, [options] { return prune_model(*options); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
