// Options that remove heads, and the pruning recipe that they describe.
#include "cli/train/prune_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "cli/options.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/base/names.hpp"
#include "headroom/base/nearest.hpp"
#include "headroom/base/utf8.hpp"
#include "headroom_measure/importance/choosers.hpp"
#include "headroom_measure/importance/head_metric.hpp"
#include "headroom_measure/pruning/training_scores.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Reads a step, either its number ("300") or a share of the steps with a point ("0.3").
Index step_from(const char* option, const std::string& text, Index steps) {
  const bool share = text.find('.') != std::string::npos;
  std::size_t read = 0;
  double number = -1;
  try {
    number = std::stod(text, &read);
  } catch (const std::exception&) {  // neither a number nor one that fits
  }
  require(
      read == text.size() && number >= 0 && (share ? number <= 1 : number == std::floor(number)),
      fmt::format("{} {} is neither a step, such as 300, nor a share of the steps, such as 0.3",
                  option, text));
  return Index(std::llround(share ? number * double(steps) : std::min(number, 1e15)));
}

}  // namespace

std::vector<CLI::Option*> PruneOptions::add_to(CLI::App& app) {
  CLI::Option* prune =
      app.add_option("--prune", prune_, "number of heads to remove while training (default: 0)");
  CLI::Option* keep =
      app.add_option("--keep", keep_, "in place of --prune: number of heads to keep in all");
  std::vector<CLI::Option*>& added = needing_prune_;
  const auto add = [&](const char* name, auto& value, const std::string& help) {
    return added.emplace_back(app.add_option(name, value, help));
  };
  const auto add_name = [&](const char* name, auto& value, const std::string& help) {
    return add(name, value, help)->type_name("NAME");
  };
  std::vector<std::string> choosers;
  for (const ChooserEntry& entry : head_choosers()) choosers.push_back(entry.info.name);
  add_name("--prune-schedule", schedule_,
           fmt::format("schedule of the removal: {} (default: {})", fmt::join(pace_names(), ", "),
                       name_of(PruningRecipe().pace)));
  add("--prune-from", from_,
      "first step of the removal, or a share of the steps such as 0.3 (default: 0.5)")
      ->type_name("STEP");
  add("--prune-to", to_,
      "last step of the removal, or a share of the steps (default: a quarter of the steps later)")
      ->type_name("STEP");
  add("--prune-over", over_, "in place of --prune-to: steps from --prune-from to the last removal");
  add("--prune-rounds", rounds_,
      fmt::format("removals of the schedule iterative, at least 2 (default: {})", usual_rounds));
  add_name("--metric", metric_,
           fmt::format("metric of `importance` or chooser ({}) that chooses the heads to remove "
                       "(default: {})",
                       fmt::join(choosers, ", "), PruningRecipe().chooser));
  add_name(
      "--rescore", rescore_,
      fmt::format("when heads are scored: {} (default: {}; with --regrow each_event). each_event "
                  "is before each removal, running uses the gradients of training",
                  names_of<Rescoring>(), name_of(PruningRecipe().rescoring)));
  add_name(
      "--budget", budget_,
      fmt::format("where heads compete for removal: {} (default: global)", names_of<BudgetOver>()));
  add("--at-least", at_least_, "minimum number of heads left in every attention (default: 0)");
  add("--at-least-of-kind", at_least_of_kind_,
      "minimum number of heads left of every kind of attention (default: 1)");
  add_name(
      "--compensate", compensate_,
      fmt::format("part of a removed head's output that stays in the output bias: {} (default: "
                  "none)",
                  names_of<Compensation>()));
  add("--regrow", regrow_,
      "share of the live heads that are swapped for removed heads, from 0 to 1; it falls to 0 "
      "during training (default: 0, no swaps)");
  add("--regrow-every", regrow_every_,
      "steps between two swaps (default: a twentieth of the steps)");
  add("--regrow-until", regrow_until_,
      "step before which swaps are made, or a share of the steps (default: 0.75)")
      ->type_name("STEP");
  add_name("--regrow-with", regrow_with_,
           fmt::format("parameters of heads that a swap adds back: {} (default: stash, as they "
                       "were at the removal)",
                       names_of<RegrowWith>()));
  add_name(
      "--gates", gates_,
      "method that learns gates from --prune-from to --prune-to; the gates choose the heads to "
      "remove");
  CLI::Option* remove = app.add_option("--remove", remove_,
                                       "in place of --prune: heads to remove, in this order, such "
                                       "as \"cross 1.3,decoder 0.0\"");
  remove->type_name("HEADS");
  std::vector<CLI::Option*> all{prune, keep, remove};
  all.insert(all.end(), added.begin(), added.end());
  all.push_back(app.add_option(
      "--drop-head", drop_head_,
      "probability, below 1, of leaving out a head in a training example; it falls to 0 during "
      "training (default: 0)"));
  return all;
}

void PruneOptions::require_prune() const {
  for (const CLI::Option* option : needing_prune_) {
    if (option->count() == 0) continue;
    const std::vector<std::string> given = option->results();
    throw UsageError(
        fmt::format("{} {} needs --prune N or --keep N", option->get_name(), given.at(0)));
  }
}

Index PruneOptions::end_of(Index from, Index steps) const {
  require(!to_ || !over_, fmt::format("--prune-to {} and --prune-over {} contradict each other; "
                                      "leave one of them out",
                                      to_.value_or(""), over_.value_or(0)));
  if (over_) {
    require(from >= 1 && *over_ >= 1 && *over_ <= steps - from,
            fmt::format("--prune-from {} and --prune-over {} must be at least 1, and their sum at "
                        "most --steps {}",
                        from, *over_, steps));
    return from + *over_;
  }
  const Index to = to_ ? step_from("--prune-to", *to_, steps) : from + steps / 4;
  require(to > from && to <= steps,
          fmt::format("--prune-from {} and --prune-to {}: --prune-to must be greater than "
                      "--prune-from and at most --steps {}",
                      from, to, steps));
  return to;
}

Pace PruneOptions::pace(Index steps) const {
  const std::string name = schedule_.value_or(name_of(PruningRecipe().pace));
  const Index from = from_ ? step_from("--prune-from", *from_, steps) : steps / 2;
  require(from >= 1 && from <= steps,
          fmt::format("--prune-from {} must be a step from 1 to --steps {}", from, steps));
  if (name == name_of(OneShot())) {
    require(!to_ && !over_,
            "--prune-schedule one_shot removes all heads at --prune-from; leave "
            "out --prune-to and --prune-over");
  }
  require(!rounds_ || name == name_of(Iterative()),
          fmt::format("--prune-rounds {} needs --prune-schedule iterative", rounds_.value_or(0)));
  if (name == name_of(OneShot())) return OneShot{.at = from};
  const Index to = end_of(from, steps);
  if (name == name_of(Gradual())) {
    return Gradual{
        .from = from, .to = to, .every = std::max<Index>(1, (to - from) / most_gradual_removals)};
  }
  if (name != name_of(Iterative())) {
    throw UsageError(fmt::format("--prune-schedule {} is not one of {}{}", name,
                                 fmt::join(pace_names(), ", "), did_you_mean(name, pace_names())));
  }
  const Index rounds = rounds_.value_or(usual_rounds);
  require(rounds >= 2 && rounds - 1 <= to - from,
          fmt::format("--prune-rounds {} must be from 2 to {}, the number of steps from {} to {}",
                      rounds, to - from + 1, from, to));
  return Iterative{.from = from, .rounds = rounds, .recover = (to - from) / (rounds - 1)};
}

GateOptions PruneOptions::gate_options(Index from, Index to) const {
  gate_method(*gates_, "--gates");  // throws
  for (const auto& [given, what] : {std::pair(schedule_ && *schedule_ != "gradual",
                                              "--prune-schedule " + schedule_.value_or("")),
                                    {rescore_.has_value(), "--rescore " + rescore_.value_or("")}}) {
    require(!given, fmt::format("{0} and --gates {1} contradict each other: gates are learned from "
                                "--prune-from to --prune-to, and then all heads are removed at "
                                "once; leave out {0}",
                                what, *gates_));
  }
  require(compensate_.value_or("none") == "none",
          fmt::format("--compensate {} and --gates {} contradict each other: the gates close the "
                      "heads before they are removed; leave out --compensate",
                      compensate_.value_or(""), *gates_));
  return {.method = *gates_, .begin = from, .end = to};
}

std::optional<Regrowth> PruneOptions::regrowth(Index first, Index steps) const {
  const double share = regrow_.value_or(0);
  require(share >= 0 && share <= 1, fmt::format("--regrow {} is not in [0, 1]", share));
  if (share == 0) {
    for (const auto& [given, name] : {std::pair(regrow_every_.has_value(), "--regrow-every"),
                                      {regrow_until_.has_value(), "--regrow-until"},
                                      {regrow_with_.has_value(), "--regrow-with"}}) {
      require(!given, fmt::format("{} needs --regrow SHARE", name));
    }
    return std::nullopt;
  }
  require(!gates_, fmt::format("--regrow and --gates {} cannot be combined: gates remove all heads "
                               "at one step",
                               gates_.value_or("")));
  require(!remove_, "--regrow and --remove cannot be combined: a list of heads has no scores");
  require(rescore_.value_or("each_event") != "once",
          "--regrow scores the heads before each swap; leave out --rescore once");
  Regrowth regrowth{.every = regrow_every_.value_or(std::max<Index>(1, steps / 20)),
                    .share = share,
                    .until = step_from("--regrow-until", regrow_until_.value_or("0.75"), steps)};
  if (regrow_with_) regrowth.with = from_name<RegrowWith>("--regrow-with", *regrow_with_);
  require(regrowth.every >= 1, fmt::format("--regrow-every {} is less than 1", regrowth.every));
  require(regrowth.until <= steps,
          fmt::format("--regrow-until {} is more than --steps {}", regrowth.until, steps));
  require(first + regrowth.every < regrowth.until,
          fmt::format("--regrow: the first swap, {} steps (--regrow-every) after step {} "
                      "(--prune-from), is not before step {} (--regrow-until); lower "
                      "--regrow-every or {}",
                      regrowth.every, first, regrowth.until,
                      first + regrowth.every < steps ? "raise --regrow-until" : "--prune-from"));
  return regrowth;
}

PruningRecipe PruneOptions::recipe(Index steps) const {
  PruningRecipe recipe;
  recipe.drop_head = drop_head_.value_or(0);
  require(recipe.drop_head >= 0 && recipe.drop_head < 1,
          fmt::format("--drop-head {} is not in [0, 1)", recipe.drop_head));
  recipe.given = heads_from(remove_.value_or(""), "--remove");
  require(!prune_ || recipe.given.empty(),
          "--prune and --remove cannot be combined; leave one of them out");
  require(
      !keep_ || (!prune_ && recipe.given.empty()),
      fmt::format("give one of --keep {0} and {1}: --keep is the number of heads to keep in all; "
                  "--at-least {0} keeps so many in every attention",
                  keep_.value_or(0), prune_ ? fmt::format("--prune {}", *prune_) : "--remove"));
  recipe.remove = prune_.value_or(std::ssize(recipe.given));
  require(recipe.remove >= 0, fmt::format("--prune {} is negative", recipe.remove));
  if (recipe.remove == 0 && !keep_) {
    if (!prune_) require_prune();
    return recipe;
  }
  recipe.pace = pace(steps);
  recipe.budget.at_least = at_least_.value_or(0);
  recipe.budget.at_least_of_kind = at_least_of_kind_.value_or(1);
  require(recipe.budget.at_least >= 0,
          fmt::format("--at-least {} is negative", recipe.budget.at_least));
  require(recipe.budget.at_least_of_kind >= 0,
          fmt::format("--at-least-of-kind {} is negative", recipe.budget.at_least_of_kind));
  for (const auto& [given, name] :
       {std::pair(gates_.has_value(), "--gates"), {rescore_ && *rescore_ != "once", "--rescore"}}) {
    require(!given || recipe.given.empty(),
            fmt::format("{0} and --remove cannot be combined: --remove names the heads; "
                        "leave out {0}",
                        name));
  }
  if (budget_) recipe.budget.over = from_name<BudgetOver>("--budget", *budget_);
  if (compensate_) recipe.compensation = from_name<Compensation>("--compensate", *compensate_);
  if (rescore_) recipe.rescoring = from_name<Rescoring>("--rescore", *rescore_);
  recipe.regrowth = regrowth(first_step(recipe.pace), steps);
  if (recipe.regrowth && !rescore_) recipe.rescoring = Rescoring::each_event;
  const std::vector<std::string> recorded = TrainingScores::metrics();
  const bool running = recipe.rescoring == Rescoring::running;
  recipe.chooser = metric_.value_or(gates_ ? "" : running ? recorded[0] : recipe.chooser);
  if (gates_) {
    recipe.gates = gate_options(first_step(recipe.pace), last_step(recipe.pace));
    recipe.gates->budget = recipe.budget;
  }
  if (metric_) require_metric(*metric_);
  require(!running || std::find(recorded.begin(), recorded.end(), recipe.chooser) != recorded.end(),
          fmt::format("--rescore running needs a metric that training records ({}), not --metric "
                      "{}",
                      fmt::join(recorded, ", "), recipe.chooser));
  return recipe;
}

PruningRecipe fitted_to(const ModelConfig& model, const std::vector<HeadId>& without,
                        PruningRecipe recipe, std::optional<Index> keep) {
  const std::vector<AttentionKind> kinds =
      model.kind == ModelKind::seq2seq
          ? std::vector<AttentionKind>{AttentionKind::encoder_self, AttentionKind::decoder_self,
                                       AttentionKind::cross}
      : model.kind == ModelKind::classifier
          ? std::vector<AttentionKind>{AttentionKind::encoder_self}
          : std::vector<AttentionKind>{AttentionKind::decoder_self};
  std::vector<std::string> kind_names;
  for (const AttentionKind kind : kinds) kind_names.emplace_back(name_of(kind));
  for (const std::vector<HeadId>& heads : {recipe.given, without}) {
    for (const HeadId& head : heads) {
      require(
          std::find(kinds.begin(), kinds.end(), head.kind) != kinds.end() &&
              head.layer < model.layers && head.head < model.block.heads,
          fmt::format("the model has no head {} (it has {} layers of {} heads of kind {})",
                      head.text(), model.layers, model.block.heads, fmt::join(kind_names, ", ")));
    }
  }
  Index all = 0, most = 0;
  for (const AttentionKind kind : kinds) {
    Index live = 0, room = 0;
    for (Index layer = 0; layer < model.layers; ++layer) {
      const Index here = model.block.heads -
                         std::count_if(without.begin(), without.end(), [&](const HeadId& head) {
                           return head.kind == kind && head.layer == layer;
                         });
      live += here;
      room += std::max<Index>(0, here - recipe.budget.at_least);
    }
    all += live;
    most += std::max<Index>(0, std::min(room, live - recipe.budget.at_least_of_kind));
  }
  if (keep) {
    require(*keep >= 0, fmt::format("--keep {} is negative", *keep));
    require(*keep < all, fmt::format("--keep {}: the model has {} heads; leave out --keep to keep "
                                     "all of them",
                                     *keep, all));
    recipe.remove = all - *keep;
  }
  require(
      !recipe.given.empty() || recipe.remove <= most,
      fmt::format("{}: at most {} of {} heads can be removed (--at-least {} in each attention, "
                  "--at-least-of-kind {} of each kind)",
                  keep ? fmt::format("--keep {}", *keep) : fmt::format("--prune {}", recipe.remove),
                  most, all, recipe.budget.at_least, recipe.budget.at_least_of_kind));
  if (!recipe.gates) return recipe;
  recipe.gates->keep = all - recipe.remove;
  recipe.remove = 0;
  return recipe;
}

void require_metric(const std::string& name) {
  std::vector<std::string> choosers;
  for (const ChooserEntry& entry : head_choosers()) choosers.push_back(entry.info.name);
  std::vector<std::string> all = choosers;
  for (const MetricEntry& entry : head_metrics()) all.push_back(entry.info.name);
  require(std::find(all.begin(), all.end(), name) != all.end(),
          fmt::format("--metric \"{}\" is neither a chooser ({}) nor one of the metrics that {} "
                      "importance --help lists{}",
                      printable(name), fmt::join(choosers, ", "), invocation(),
                      did_you_mean(name, all)));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
