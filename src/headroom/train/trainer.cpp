// One training step, and the diagnosis when it fails.
#include "headroom/train/trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "headroom/autograd/tape.hpp"
#include "headroom/base/error.hpp"
#include "headroom/ops/arithmetic.hpp"
#include "headroom/ops/dropout.hpp"
#include "headroom/optim/clipping.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Trainer::Trainer(Optimizer& optimizer, RateSchedule rate, TrainerOptions options)
    : optimizer_(&optimizer), phases_{{0, std::move(rate)}}, options_(options) {
  if (!(options.clip >= 0)) {
    throw UsageError(
        fmt::format("trainer: clipping limit {} is negative; 0 turns clipping off", options.clip));
  }
}

void Trainer::add_phase(Index from, RateSchedule rate) {
  if (from <= phases_.back().from) {
    throw UsageError(fmt::format("trainer: a phase from step {} cannot follow one from step {}",
                                 from, phases_.back().from));
  }
  phases_.push_back({from, std::move(rate)});
}

StepReport Trainer::step(const std::function<Tensor()>& loss, Index tokens) {
  return step([&loss](HeadProbe*) { return loss(); }, tokens);
}

Trainer::Objective Trainer::forward(const Loss& loss) {
  probe_ = {};
  for (StepPart* part : parts_) part->begin(steps_ + 1, probe_);
  const Tensor plain = loss(&probe_);
  Tensor total = plain;
  for (StepPart* part : parts_) {
    if (const Tensor penalty = part->penalty(); penalty.defined()) total = total + penalty;
  }
  return {plain, total};
}

StepReport Trainer::step(const Loss& loss, Index tokens) {
  const auto begin = std::chrono::steady_clock::now();
  StepReport report;
  {
    const RandomStep random(options_.seed, static_cast<std::uint64_t>(steps_));
    optimizer_->zero_grad();
    const auto [plain, total] = forward(loss);
    report.loss = double(plain.item());
    const auto objective = double(total.item());
    if (!std::isfinite(report.loss)) explain(loss, fmt::format("the loss is {}", report.loss));
    if (!std::isfinite(objective)) {
      explain(loss, fmt::format("the loss with its penalties is {}", objective));
    }
    total.backward();
  }
  for (StepPart* part : parts_) part->after_backward();
  probe_ = {};
  report.gradient_norm =
      options_.clip > 0 ? clip_grad_norm(model(), options_.clip) : grad_norm(model());
  if (!std::isfinite(report.gradient_norm)) {
    std::string symptom = "the norm of the gradients is infinite";
    for (const NamedParameter& parameter : parameters(model())) {
      if (all_finite(parameter.tensor.grad())) continue;
      symptom = fmt::format("the gradient of {} is not finite", parameter.name);
      break;
    }
    explain(loss, symptom);
  }
  const auto phase = std::find_if(phases_.rbegin(), phases_.rend(),
                                  [&](const Phase& p) { return p.from <= steps_; });
  report.rate = phase->rate(steps_ - phase->from);
  optimizer_->step(report.rate);
  report.step = ++steps_;
  report.tokens = tokens;
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  for (StepPart* part : parts_) part->after_update(report);
  report.heads_alive = Index(live_heads(model()).size());
  return report;
}

void Trainer::explain(const Loss& loss, const std::string& symptom) {
  std::string cause;
  for (const NamedParameter& parameter : parameters(model())) {
    if (!cause.empty() || all_finite(parameter.tensor.value())) continue;
    cause = fmt::format("parameter {} was not finite before", parameter.name);
  }
  if (cause.empty()) {
    cause = "no operation made one from finite values";
    try {
      const AnomalyMode hunt;
      const RandomStep random(options_.seed, static_cast<std::uint64_t>(steps_));
      optimizer_->zero_grad();
      forward(loss).total.backward();
    } catch (const NumericError& first) {
      cause = first.what();
    }
  }
  optimizer_->zero_grad();
  probe_ = {};
  throw NumericError(fmt::format("step {}: {}: {}", steps_ + 1, symptom, cause));
}

std::pair<Index, std::string> Trainer::most_updates() const {
  std::pair<Index, std::string> most{0, ""};
  for (const auto& [name, state] : optimizer_->states()) {
    for (const Index updates : state.steps) {
      if (updates > most.first) most = {updates, name};
    }
  }
  return most;
}

void Trainer::save_state(StateWriter to) const {
  to.integer("steps", steps_);
  to.integer("seed", static_cast<std::int64_t>(options_.seed));
  if (earlier_ > 0) to.integer("earlier", earlier_);
}

void Trainer::load_state(const StateReader& from) {
  const std::int64_t seed = from.integer("seed");
  if (seed != static_cast<std::int64_t>(options_.seed)) {
    throw FileError(fmt::format("{}: the run was trained with seed {}, not {}", from.where("seed"),
                                seed, options_.seed));
  }
  const std::int64_t steps = from.integer("steps");
  if (steps < 0) throw FileError(fmt::format("{}: {} is negative", from.where("steps"), steps));
  earlier_ = from.has("earlier") ? from.integer("earlier") : 0;
  if (earlier_ < 0) throw FileError(from.where("earlier") + ": is negative");
  if (const auto [updates, name] = most_updates(); updates - earlier_ > steps) {
    throw FileError(fmt::format("{}: {} steps, but {} was updated {} times; restore the file",
                                from.where("steps"), steps, name, updates));
  }
  steps_ = steps;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
