// The three schedules of removal, and that of swaps.
#include "headroom_measure/pruning/schedules.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "headroom/base/error.hpp"
#include "headroom/base/names.hpp"
#include "headroom/io/fields.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

Index gone(const OneShot& pace, Index total, Index step) { return step >= pace.at ? total : 0; }

Index gone(const Iterative& pace, Index total, Index step) {
  if (step < pace.from) return 0;
  const Index rounds = std::min(pace.rounds, (step - pace.from) / pace.recover + 1);
  return total * rounds / pace.rounds;
}

Index gone(const Gradual& pace, Index total, Index step) {
  if (step <= pace.from) return 0;
  if (step >= pace.to) return total;
  const Index removals = (step - pace.from) / pace.every;  // whole intervals that have passed
  const double part = double(removals * pace.every) / double(pace.to - pace.from);
  return Index(std::floor(double(total) * (1 - std::pow(1 - part, 3)) + 1e-9));
}

Index first(const OneShot& pace) { return pace.at; }
Index first(const Iterative& pace) { return pace.from; }
Index first(const Gradual& pace) { return pace.from; }

Index last(const OneShot& pace) { return pace.at; }
Index last(const Iterative& pace) { return pace.from + (pace.rounds - 1) * pace.recover; }
Index last(const Gradual& pace) { return pace.to; }

void require(bool right, const char* expected, const std::string& given) {
  if (right) return;
  throw UsageError(fmt::format("pruning schedule: {}; {}", given, expected));
}

void check_fields(const OneShot& pace) {
  require(pace.at >= 0, "it must not be negative", fmt::format("one shot at step {}", pace.at));
}

void check_fields(const Iterative& pace) {
  constexpr Index most_rounds = 1'000'000, most_steps = 1'000'000'000'000;  // no product overflows
  require(
      pace.rounds <= most_rounds && pace.recover <= most_steps && pace.from <= most_steps,
      "at most 10^6 rounds and 10^12 steps",
      fmt::format("{} rounds from step {}, every {} steps", pace.rounds, pace.from, pace.recover));
  require(
      pace.from >= 0 && pace.rounds >= 1 && pace.recover >= 1,
      "there is at least one round, and a step between two",
      fmt::format("{} rounds from step {}, every {} steps", pace.rounds, pace.from, pace.recover));
}

void check_fields(const Gradual& pace) {
  require(pace.from >= 0 && pace.to > pace.from && pace.every >= 1,
          "steps must rise and 'every' be at least 1",
          fmt::format("gradual from step {} to {} every {} steps", pace.from, pace.to, pace.every));
}

/// A schedule of the type at this place of the variant.
template <std::size_t... Places>
Pace with_type(std::size_t place, std::index_sequence<Places...>) {
  Pace pace;
  ((place == Places ? void(pace.emplace<Places>()) : void()), ...);
  return pace;
}

}  // namespace

const std::vector<std::string>& pace_names() {
  static const std::vector<std::string> names{"one_shot", "iterative", "gradual"};
  return names;
}

std::string name_of(const Pace& pace) { return pace_names().at(pace.index()); }

void check(const Pace& pace) {
  std::visit([](const auto& own) { check_fields(own); }, pace);
}

Index removed_at(const Pace& pace, Index total, Index step) {
  return std::visit([&](const auto& own) { return gone(own, total, step); }, pace);
}

Index first_step(const Pace& pace) {
  return std::visit([](const auto& own) { return first(own); }, pace);
}

Index last_step(const Pace& pace) {
  return std::visit([](const auto& own) { return last(own); }, pace);
}

void check(const Regrowth& regrowth, Index first) {
  const auto require_swaps = [](bool right, const std::string& text) {
    if (!right) throw UsageError("regrowth: " + text);
  };
  require_swaps(regrowth.every >= 1,
                fmt::format("swaps every {} steps; it must be at least 1", regrowth.every));
  require_swaps(regrowth.share > 0 && regrowth.share <= 1,
                fmt::format("a share of {}; it must be in (0, 1]", regrowth.share));
  require_swaps(first + regrowth.every < regrowth.until,
                fmt::format("heads are removed from step {} on, so the first swap, {} steps later, "
                            "is not before step {}, where swaps end",
                            first, regrowth.every, regrowth.until));
}

Index swapped_at(const Regrowth& regrowth, Index first, Index live, Index step) {
  const Index passed = step - first;
  if (passed <= 0 || passed % regrowth.every != 0 || step >= regrowth.until) return 0;
  const double part = double(passed) / double(regrowth.until - first);
  const double share = regrowth.share / 2 * (1 + std::cos(std::numbers::pi * part));
  return Index(std::llround(share * double(live)));
}

Record json_of(const Pace& pace) {
  return {{name_of(pace), std::visit([](const auto& own) { return json_of(own); }, pace)}};
}

void read_json(const JsonNode& from, Pace& to) {
  const auto& names = pace_names();
  const Record& value = from.value();
  const bool single = value.is_object() && value.size() == 1;
  const auto found =
      single ? std::find(names.begin(), names.end(), value.begin().key()) : names.end();
  if (found == names.end()) {
    from.must_be(fmt::format("an object with one of {}", fmt::join(names, ", ")));
  }
  to = with_type(static_cast<std::size_t>(found - names.begin()),
                 std::make_index_sequence<std::variant_size_v<Pace>>());
  const JsonNode fields(value.begin().value(), from, found->c_str());
  std::visit([&](auto& own) { read_json(fields, own); }, to);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
