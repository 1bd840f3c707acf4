// LAMB: directions element by element, trust ratios block by block.
#include "headroom/optim/lamb.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headroom/base/error.hpp"
#include "headroom/base/parallel.hpp"
#include "optim/option_checks.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Sums for |p| and |u| of a block.
struct TrustRatio {
  double weights = 0, direction = 0;  // sums of squares

  void add(const Real* p, const Real* u, Index count) {
    for (Index i = 0; i < count; ++i) {
      weights += double(p[i]) * double(p[i]);
      direction += double(u[i]) * double(u[i]);
    }
  }
  double value(const LambOptions& options) const {
    if (weights == 0 || direction == 0) return 1;
    const double norm = std::clamp(std::sqrt(weights), options.smallest_norm, options.largest_norm);
    return norm / std::sqrt(direction);
  }
};

}  // namespace

Lamb::Lamb(Module& model, LambOptions options)
    : Optimizer(
          model, [](const NamedParameter&) { return Keeps{.first = true, .second = true}; },
          options.weight_decay, options.groups),
      options_(std::move(options)) {
  check_fraction("lamb", "beta1", options_.beta1);
  check_fraction("lamb", "beta2", options_.beta2);
  check_not_negative("lamb", "epsilon", options_.epsilon);
  check_not_negative("lamb", "weight decay", options_.weight_decay);
  check_not_negative("lamb", "smallest norm", options_.smallest_norm);
  if (!(options_.largest_norm >= options_.smallest_norm)) {
    throw UsageError(fmt::format("lamb: largest norm {} is below the smallest, {}",
                                 options_.largest_norm, options_.smallest_norm));
  }
}

std::string Lamb::title() const {
  return fmt::format("lamb: beta1 {}, beta2 {}, epsilon {}, weight decay {}, per {}",
                     options_.beta1, options_.beta2, options_.epsilon, options_.weight_decay,
                     name_of(options_.granularity));
}

void Lamb::update(std::span<const Moving> parameters) const {
  std::map<std::string, const Moving*> moving;
  std::map<std::string, Array> directions;
  for (const Moving& p : parameters) {
    moving[p.name] = &p;
    Real* const direction = (directions[p.name] = Array(p.shape)).data();
    const Real keep1 = Real(options_.beta1), keep2 = Real(options_.beta2),
               epsilon = Real(options_.epsilon), decay = Real(p.weight_decay);
    for (const Run& run : p.runs) {
      const auto t = double(run.step);
      const auto correction1 = Real(1 - std::pow(options_.beta1, t)),
                 correction2 = Real(1 - std::pow(options_.beta2, t));
      parallel_for(run.size, 16384, [=](Index begin, Index end) {
        for (Index i = run.begin + begin; i < run.begin + end; ++i) {
          const Real g = p.gradient[i];
          p.first[i] = keep1 * p.first[i] + (1 - keep1) * g;
          p.second[i] = keep2 * p.second[i] + (1 - keep2) * g * g;
          direction[i] =
              p.first[i] / correction1 / (std::sqrt(p.second[i] / correction2) + epsilon) +
              decay * p.value[i];
        }
      });
    }
  }

  for (const ParameterBlock& block : parameter_blocks(model(), options_.granularity)) {
    // Calls visit(parameter, its direction, first element, count) for all parameters that have a
    // gradient.
    const auto for_each_run_of_block = [&](auto visit) {
      for (const BlockPart& part : block) {
        const auto found = moving.find(part.name);
        if (found == moving.end()) continue;  // no gradient
        const Moving& p = *found->second;
        const Real* const direction = directions.at(part.name).data();
        for_each_run(p.shape, part,
                     [&](Index first, Index count) { visit(p, direction + first, first, count); });
      }
    };
    TrustRatio trust;
    for_each_run_of_block([&](const Moving& p, const Real* u, Index first, Index count) {
      trust.add(p.value + first, u, count);
    });
    const double ratio = trust.value(options_);
    for_each_run_of_block([&](const Moving& p, const Real* u, Index first, Index count) {
      const Real step_size = Real(p.rate * ratio);
      for (Index i = 0; i < count; ++i) p.value[first + i] -= step_size * u[i];
    });
  }
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
