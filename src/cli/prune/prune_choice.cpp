// Choices of heads for `headroom prune`.
#include "cli/prune/prune_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "cli/options.hpp"
#include "headroom/base/error.hpp"
#include "headroom/statistics/intervals.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Reads a number. Returns nothing if the text is not a number as a whole.
template <class Number>
std::optional<Number> number_from(std::string_view text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end) return std::nullopt;
  return number;
}

/// Reads a limit, as it is or as a percentage of `whole`. Returns nothing if the text is no such
/// number, or is below 0.
std::optional<double> limit_from(std::string_view text, double whole) {
  const bool percent = text.ends_with('%');
  if (percent) text.remove_suffix(1);
  const std::optional<double> number = number_from<double>(text);
  if (!number || !std::isfinite(*number) || *number < 0) return std::nullopt;
  return percent ? *number / 100 * whole : *number;
}

Choice choice_that_keeps(ModelCut& cut, Index alive, const PruneCommandOptions& options) {
  const Index least = alive - cut.most();
  const std::string bounds = fmt::format(
      "{} heads, of which the budget keeps at least {} (--at-least {} in each "
      "attention, --at-least-of-kind {} of each kind)",
      alive, least, options.cut.budget.at_least, options.cut.budget.at_least_of_kind);
  require(std::max<Index>(1, least) < alive,
          fmt::format("--keep {}: no head can be removed: the model has {}", options.keep, bounds));
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
  const double limit = loss_limit_from(options.increase, whole);
  Choice choice{cut.most_within(limit), fmt::format("--max-loss-increase {}", options.increase)};
  if (options.increase.ends_with('%')) choice.why += fmt::format(" = {:.4g}", limit);
  if (!choice.removed.empty()) return choice;
  require(cut.most() > 0, "the budget allows no removal; lower --at-least or --at-least-of-kind");
  const double least = mean_of(cut.losses(ExampleSet::selection, cut.choose(1))) - whole;
  throw UsageError(
      fmt::format("--max-loss-increase {}: no head can be removed; without {} the selection loss "
                  "rises by {:.4g} per example. Raise the limit, or try another --metric, such "
                  "as greedy",
                  options.increase, cut.choose(1)[0].text(), least));
}

/// As many heads as bring the forward pass within --budget-ms, chosen by their importance per
/// millisecond, and by their importance alone.
Choice choice_in_time(Learner& learner, ModelCut& cut, const PruneCommandOptions& options) {
  const auto limit_of = [&](double whole) {
    const std::optional<double> limit = limit_from(options.budget_ms, whole);
    require(limit && *limit > 0,
            fmt::format("--budget-ms {} is neither a number of milliseconds above 0, such as 4.5, "
                        "nor a share of the time with all heads, such as 80%",
                        options.budget_ms));
    return *limit;
  };
  limit_of(1);  // refuses before it measures
  require(
      !cut.importance().empty(),
      fmt::format("--budget-ms needs the scores of a metric, and {} is a chooser of sets; choose "
                  "a metric",
                  options.cut.chooser));
  Choice choice{.removed = {}, .why = fmt::format("--budget-ms {}", options.budget_ms)};
  const HeadTimes& times = choice.times.emplace(measure_head_times(learner, cut));
  const double limit = limit_of(times.whole);
  if (options.budget_ms.ends_with('%')) choice.why += fmt::format(" = {:.3g} ms", limit);
  const auto within = [&](const std::vector<HeadScore>& scores) {
    return heads_to_remove(learner.model(), times, scores, options.cut.budget, limit);
  };
  choice.removed = within(per_millisecond(cut.importance(), times));
  choice.other = within(cut.importance());
  choice.by = " per millisecond";
  return choice;
}

}  // namespace

double loss_limit_from(const std::string& text, double loss) {
  const std::optional<double> limit = limit_from(text, loss);
  require(limit.has_value(),
          fmt::format("--max-loss-increase {} is neither a number of nats per example, such as "
                      "0.05, nor a share of the loss, such as 5%",
                      text));
  return *limit;
}

Choice choice_of(Learner& learner, ModelCut& cut, const PruneCommandOptions& options) {
  if (!options.budget_ms.empty()) return choice_in_time(learner, cut, options);
  if (!options.increase.empty()) return choice_within(cut, options);
  return choice_that_keeps(cut, std::ssize(live_heads(learner.model())), options);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
