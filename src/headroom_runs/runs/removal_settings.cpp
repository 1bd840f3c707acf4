// The rules by which given settings make a pruning recipe.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "headroom/base/error.hpp"
#include "headroom/base/names.hpp"
#include "headroom/base/nearest.hpp"
#include "headroom/base/require.hpp"
#include "headroom_foreign/folders/model_folder.hpp"
#include "headroom_measure/pruning/training_scores.hpp"
#include "runs/given.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Makes a recipe for a run of so many steps.
class Rules {
 public:
  Rules(const Given& given, PruningRecipe base, Index steps)
      : given_(given), recipe_(std::move(base)), steps_(steps), based_(recipe_.removes()) {}

  PruningRecipe recipe() {
    set_heads();
    if (!recipe_.removes() && !given_.has("keep")) {
      if (!given_.has("prune")) require_nothing_of_removal();
      return std::move(recipe_);
    }
    const bool paced =
        has_any({"prune_schedule", "prune_from", "prune_to", "prune_over", "prune_rounds"});
    if (!based_ || paced) recipe_.pace = pace();
    for (const char* name : {"gates", "rescore"}) {
      const bool once = given_.named<Rescoring>("rescore") == Rescoring::once;
      require(
          !given_.has(name) || (name == std::string("rescore") && once) || recipe_.given.empty(),
          fmt::format("{0} and {1} cannot be combined: {1} names the heads; leave out {0}",
                      given_(name), given_("remove")));
    }
    if (const auto rescoring = given_.named<Rescoring>("rescore")) recipe_.rescoring = *rescoring;
    set_regrowth();
    if (given_.has("gates")) {
      recipe_.gates = gate_options(first_step(recipe_.pace), last_step(recipe_.pace));
    } else if (recipe_.gates && paced) {
      recipe_.gates->begin = first_step(recipe_.pace);
      recipe_.gates->end = last_step(recipe_.pace);
    }
    if (recipe_.gates) recipe_.gates->budget = recipe_.budget;
    set_chooser();
    return std::move(recipe_);
  }

 private:
  bool has_any(std::initializer_list<const char*> names) const {
    return std::any_of(names.begin(), names.end(),
                       [&](const char* name) { return given_.has(name); });
  }

  /// How many heads, or which ones.
  void set_heads() {
    const auto remove = given_.named<std::vector<HeadId>>("remove");
    const auto prune = given_.whole("prune"), keep = given_.whole("keep");
    require(!prune || !remove || remove->empty(),
            fmt::format("{} and {} cannot be combined; leave one of them out", given_("prune"),
                        given_("remove")));
    require(!keep || (!prune && (!remove || remove->empty())),
            fmt::format("give one of {0} {1} and {2}: {0} is the number of heads to keep in all; "
                        "{3} {1} keeps so many in every attention",
                        given_("keep"), keep.value_or(0),
                        prune ? given_.with_value("prune") : given_("remove"), given_("at_least")));
    if (!prune && !keep && !remove) return;
    recipe_.given = remove.value_or(std::vector<HeadId>());
    recipe_.remove = prune.value_or(std::ssize(recipe_.given));
    if (recipe_.gates && recipe_.remove == 0 && !keep) recipe_.gates.reset();
  }

  void require_nothing_of_removal() const {
    for (const Setting& setting : all_settings()) {
      if (!setting.needs_removal || !given_.has(setting.name.c_str())) continue;
      throw UsageError(fmt::format("{} needs {} N, {} N or {} HEADS",
                                   given_.with_value(setting.name.c_str()), given_("prune"),
                                   given_("keep"), given_("remove")));
    }
  }

  Index end_of(Index from) const {
    const auto over = given_.whole("prune_over");
    require(!given_.has("prune_to") || !over,
            fmt::format("{} and {} contradict each other; leave one of them out",
                        given_.has("prune_to") ? given_.with_value("prune_to") : "",
                        over ? given_.with_value("prune_over") : ""));
    if (over) {
      require(from >= 1 && *over >= 1 && *over <= steps_ - from,
              fmt::format("{} {} and {} {} must be at least 1, and their sum at most {} {}",
                          given_("prune_from"), from, given_("prune_over"), *over, given_("steps"),
                          steps_));
      return from + *over;
    }
    const bool ends = based_ && name_of(recipe_.pace) != name_of(Pace(OneShot()));
    const Index usual = ends ? last_step(recipe_.pace) : from + steps_ / 4;
    const Index to = given_.step("prune_to", steps_).value_or(usual);
    require(
        to > from && to <= steps_,
        fmt::format("{0} {1} and {2} {3}: {2} must be greater than {0} and at most {4} {5}",
                    given_("prune_from"), from, given_("prune_to"), to, given_("steps"), steps_));
    return to;
  }

  Pace pace() const {
    const Pace usual = based_ ? recipe_.pace : PruningRecipe().pace;
    const std::string name = given_.text("prune_schedule").value_or(name_of(usual));
    const Index from =
        given_.step("prune_from", steps_).value_or(based_ ? first_step(usual) : steps_ / 2);
    require(from >= 1 && from <= steps_,
            fmt::format("{} {} must be a step from 1 to {} {}", given_("prune_from"), from,
                        given_("steps"), steps_));
    const bool at_once = name == name_of(OneShot());
    require(!at_once || !has_any({"prune_to", "prune_over"}),
            fmt::format("{} one_shot removes all heads at {}; leave out {} and {}",
                        given_("prune_schedule"), given_("prune_from"), given_("prune_to"),
                        given_("prune_over")));
    const auto given_rounds = given_.whole("prune_rounds");
    require(!given_rounds || name == name_of(Iterative()),
            fmt::format("{} {} needs {} iterative", given_("prune_rounds"),
                        given_rounds.value_or(0), given_("prune_schedule")));
    if (at_once) return OneShot{.at = from};
    const Index to = end_of(from);
    if (name == name_of(Gradual())) {
      return Gradual{
          .from = from, .to = to, .every = std::max<Index>(1, (to - from) / most_gradual_removals)};
    }
    if (name != name_of(Iterative())) {
      throw UsageError(fmt::format("{} {} is not one of {}{}", given_("prune_schedule"), name,
                                   fmt::join(pace_names(), ", "),
                                   did_you_mean(name, pace_names())));
    }
    const auto* const before = std::get_if<Iterative>(&usual);
    const Index rounds = given_rounds.value_or(before != nullptr ? before->rounds : usual_rounds);
    require(rounds >= 2 && rounds - 1 <= to - from,
            fmt::format("{} {} must be from 2 to {}, the number of steps from {} to {}",
                        given_("prune_rounds"), rounds, to - from + 1, from, to));
    return Iterative{.from = from, .rounds = rounds, .recover = (to - from) / (rounds - 1)};
  }

  GateOptions gate_options(Index from, Index to) const {
    const std::string method = *given_.text("gates"), gates = given_.with_value("gates");
    gate_method(method, given_("gates"));  // throws
    for (const char* name : {"prune_schedule", "rescore"}) {
      if (!given_.has(name) || given_.text(name) == name_of(Gradual())) continue;
      throw UsageError(
          fmt::format("{} and {} contradict each other: gates are learned from {} to {}, and then "
                      "all heads are removed at once; leave out {}",
                      given_.with_value(name), gates, given_("prune_from"), given_("prune_to"),
                      given_.with_value(name)));
    }
    require(recipe_.compensation == Compensation::none,
            fmt::format("{} {} and {} contradict each other: the gates close the heads before they "
                        "are removed; leave out {}",
                        given_("compensate"), name_of(recipe_.compensation), gates,
                        given_("compensate")));
    return {.method = method, .begin = from, .end = to};
  }

  void set_regrowth() {
    const std::optional<Regrowth> before = recipe_.regrowth;
    const double share = given_.number("regrow").value_or(before ? before->share : 0);
    recipe_.regrowth.reset();
    if (share == 0) {
      for (const char* name : {"regrow_every", "regrow_until", "regrow_with"}) {
        require(!given_.has(name),
                fmt::format("{} needs {} SHARE", given_(name), given_("regrow")));
      }
      return;
    }
    require(!given_.has("gates"),
            fmt::format("{} and {} cannot be combined: gates remove all heads at one step",
                        given_("regrow"), given_.has("gates") ? given_.with_value("gates") : ""));
    require(recipe_.given.empty(),
            fmt::format("{} and {} cannot be combined: a list of heads has no scores",
                        given_("regrow"), given_("remove")));
    require(given_.named<Rescoring>("rescore") != Rescoring::once,
            fmt::format("{} scores the heads before each swap; leave out {} once", given_("regrow"),
                        given_("rescore")));
    const Index first = first_step(recipe_.pace);
    const Index every = before ? before->every : std::max<Index>(1, steps_ / 20);
    const Index until = before ? before->until : Index(std::llround(0.75 * double(steps_)));
    Regrowth regrowth{.every = given_.whole("regrow_every").value_or(every),
                      .share = share,
                      .until = given_.step("regrow_until", steps_).value_or(until),
                      .with = given_.named<RegrowWith>("regrow_with")
                                  .value_or(before ? before->with : Regrowth().with)};
    require(regrowth.until <= steps_,
            fmt::format("{} {} is more than {} {}", given_("regrow_until"), regrowth.until,
                        given_("steps"), steps_));
    require(first + regrowth.every < regrowth.until,
            fmt::format("{}: the first swap, {} steps ({}) after step {} ({}), is not before step "
                        "{} ({}); lower {} or {}",
                        given_("regrow"), regrowth.every, given_("regrow_every"), first,
                        given_("prune_from"), regrowth.until, given_("regrow_until"),
                        given_("regrow_every"),
                        first + regrowth.every < steps_ ? "raise " + given_("regrow_until")
                                                        : given_("prune_from")));
    recipe_.regrowth = regrowth;
    if (recipe_.rescoring == Rescoring::once) recipe_.rescoring = Rescoring::each_event;
  }

  void set_chooser() {
    const std::vector<std::string> recorded = TrainingScores::metrics();
    const bool running = recipe_.rescoring == Rescoring::running;
    if (const auto metric = given_.text("metric")) {
      recipe_.chooser = *metric;
    } else if (given_.has("gates")) {
      recipe_.chooser = "";
    } else if (running && given_.has("rescore")) {
      recipe_.chooser = recorded[0];
    }
    require(
        !running || std::find(recorded.begin(), recorded.end(), recipe_.chooser) != recorded.end(),
        fmt::format("{} running needs a metric that training records ({}), not {} {}",
                    given_("rescore"), fmt::join(recorded, ", "), given_("metric"),
                    recipe_.chooser));
  }

  const Given& given_;
  PruningRecipe recipe_;
  const Index steps_;
  const bool based_;  // the recipe removed heads before
};

/// Layers of one kind of attention, with their heads.
struct Stack {
  AttentionKind kind;
  Index layers, heads;
};

std::vector<Stack> stacks_of(const ModelConfig& model) {
  const Index layers = model.layers, heads = model.block.heads;
  const auto [decoders, decoder_heads] =
      std::pair(model.variant.decoder_layers, model.variant.decoder_heads);
  const Stack encoder{AttentionKind::encoder_self, layers, heads};
  Stack decoder{AttentionKind::decoder_self, decoders > 0 ? decoders : layers,
                decoder_heads > 0 ? decoder_heads : heads};
  switch (model.kind) {
    case ModelKind::seq2seq:
      return {encoder, decoder, {AttentionKind::cross, decoder.layers, decoder.heads}};
    case ModelKind::language_model: return {decoder};
    case ModelKind::classifier:
    case ModelKind::encoder:
    case ModelKind::masked_language_model: return {encoder};
  }
  return {};
}

/// The heads of a model that begins without some of them.
std::map<AttentionLocation, HeadCounts> counts_of(const std::vector<Stack>& stacks,
                                                  const std::vector<HeadId>& gone) {
  std::map<AttentionLocation, HeadCounts> all;
  for (const auto& [kind, layers, heads] : stacks) {
    for (Index layer = 0; layer < layers; ++layer) {
      const AttentionLocation place{kind, layer};
      const Index live = heads - std::count_if(gone.begin(), gone.end(), [&](const HeadId& head) {
                           return AttentionLocation{head.kind, head.layer} == place;
                         });
      all[place] = {.original = heads, .live = live, .candidates = live};
    }
  }
  return all;
}

}  // namespace

PruningRecipe removal_of(const Given& given, PruningRecipe base, Index steps) {
  return Rules(given, std::move(base), steps).recipe();
}

void fit_to_model(RunSettings& settings, const GivenSettings& values, const SettingNames& shown) {
  const Given given(values, shown);
  PruningRecipe& recipe = settings.pruning;
  const std::vector<Stack> stacks = stacks_of(settings.training.model);
  std::vector<HeadId> gone = settings.branch.without;
  if (const auto& folder = settings.training.folder; !folder.empty()) {
    const std::vector<HeadId> lost = open_model_folder(folder).removed;
    gone.insert(gone.end(), lost.begin(), lost.end());
  }
  const auto attentions = counts_of(stacks, gone);
  for (const std::vector<HeadId>& heads : {recipe.given, settings.branch.without}) {
    for (const HeadId& head : heads) {
      const auto found = attentions.find({head.kind, head.layer});
      if (found != attentions.end() && head.head < found->second.original) continue;
      std::vector<std::string> has;
      for (const Stack& stack : stacks) {
        has.push_back(fmt::format("{} layers of {} heads of kind {}", stack.layers, stack.heads,
                                  name_of(stack.kind)));
      }
      throw UsageError(
          fmt::format("the model has no head {} (it has {})", head.text(), fmt::join(has, ", ")));
    }
  }
  Index all = 0;
  for (const auto& [place, counts] : attentions) all += counts.live;
  if (const auto keep = given.whole("keep")) {
    require(*keep < all, fmt::format("{0} {1}: the model has {2} heads; leave out {0} to keep all "
                                     "of them",
                                     given("keep"), *keep, all));
    recipe.remove = all - *keep;
  }
  const Index most = most_removable(attentions, recipe.budget);
  require(!recipe.given.empty() || recipe.remove <= most,
          fmt::format("{}: at most {} of {} heads can be removed ({} {} in each attention, {} {} "
                      "of each kind)",
                      given.has("keep") ? given.with_value("keep")
                                        : fmt::format("{} {}", given("prune"), recipe.remove),
                      most, all, given("at_least"), recipe.budget.at_least,
                      given("at_least_of_kind"), recipe.budget.at_least_of_kind));
  if (!recipe.gates || recipe.remove == 0) return;
  recipe.gates->keep = all - recipe.remove;
  recipe.remove = 0;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
