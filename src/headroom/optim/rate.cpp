// Schedules of the learning rate.
#include "headroom/optim/rate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "headroom/base/error.hpp"
#include "headroom/base/record_json.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

RateSchedule::RateSchedule(const RateOptions& options) : options_(options) {
  for (const double rate : {options.peak, options.floor}) {
    if (!(std::isfinite(rate) && rate >= 0)) {
      throw UsageError(
          fmt::format("learning rate schedule: {} must be finite and not negative", rate));
    }
  }
  if (options.warmup < 0) {
    throw UsageError(fmt::format("learning rate schedule: warm-up of {} steps", options.warmup));
  }
  const bool falls = options.shape == RateShape::cosine || options.shape == RateShape::linear;
  if (falls && options.steps <= options.warmup) {
    throw UsageError(fmt::format(
        "learning rate schedule: {} over {} steps does not outlast its warm-up of {}; give the "
        "length of the run",
        name_of(options.shape), options.steps, options.warmup));
  }
}

RateSchedule::RateSchedule(std::function<double(Index step)> rate, std::string text)
    : text_(std::move(text)) {
  if (!rate || text_.empty()) {
    throw UsageError(
        "learning rate schedule: a function needs a body and a text that describes it");
  }
  function_ = [of = std::move(rate), name = text_](Index step) {
    const double value = of(step);
    if (std::isfinite(value) && value >= 0) return value;
    throw UsageError(
        fmt::format("learning rate schedule \"{}\": {} at step {} must be finite and not negative",
                    name, value, step));
  };
}

double RateSchedule::operator()(Index step) const {
  if (function_) return function_(step);
  const auto& [shape, peak, warmup, steps, floor] = options_;
  if (step < warmup) return peak * double(step + 1) / double(warmup);
  const double progress =
      std::min(1.0, double(step - warmup) / double(std::max<Index>(1, steps - warmup)));
  switch (shape) {
    case RateShape::constant: return peak;
    case RateShape::cosine:
      return floor + (peak - floor) * (1 + std::cos(std::numbers::pi * progress)) / 2;
    case RateShape::linear: return floor + (peak - floor) * (1 - progress);
    case RateShape::inverse_root:
      return peak * std::sqrt(double(std::max<Index>(1, warmup)) / double(step + 1));
  }
  return peak;
}

std::string RateSchedule::text() const {
  if (function_) return text_;
  const auto& [shape, peak, warmup, steps, floor] = options_;
  const std::string rise =
      warmup == 0 ? fmt::format("{}", peak) : fmt::format("warm-up {} steps to {}", warmup, peak);
  if (shape == RateShape::constant) return rise + (warmup == 0 ? " throughout" : ", then constant");
  if (shape == RateShape::inverse_root) return rise + ", then falling by the root of the step";
  return fmt::format("{}, then {} to {} at step {}", rise, name_of(shape), floor, steps);
}

Record RateSchedule::to_record() const {
  if (function_) return {{"function", text_}};
  return {{"shape", name_of(options_.shape)},
          {"peak", options_.peak},
          {"warmup", options_.warmup},
          {"steps", options_.steps},
          {"floor", options_.floor}};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
