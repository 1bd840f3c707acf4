// Gates in the forward pass, their gradients, and the heads that are left in the end.
#include "headroom_measure/pruning/learned_gates.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headroom/base/error.hpp"
#include "headroom/io/fields.hpp"
#include "headroom/nn/gates.hpp"
#include "headroom/surgery/fold_gates.hpp"
#include "headroom_measure/importance/budget.hpp"
#include "pruning/saved_heads.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// A head in a checkpoint.
struct SavedHead {
  HeadId id;

  using T = SavedHead;
  using Fields = Listed<fields_of<&T::id>>;
};

std::vector<HeadScore> scores_of(const std::vector<HeadId>& heads,
                                 const std::vector<double>& values) {
  std::vector<HeadScore> scores;
  for (std::size_t i = 0; i < heads.size(); ++i) scores.push_back({heads[i], values[i]});
  return scores;
}

bool contains(std::span<const HeadId> heads, const HeadId& head) {
  return std::find(heads.begin(), heads.end(), head) != heads.end();
}

}  // namespace

LearnedGates::LearnedGates(Optimizer& optimizer, const GateOptions& options, std::uint64_t seed)
    : optimizer_(&optimizer), options_(options), entry_(&gate_method(options.method)), seed_(seed) {
  options.check();
  method_ = entry_->make(options);
  // Now rather than after the last step.
  const std::vector<HeadId> alive = live_heads(optimizer.model());
  if (options.keep > std::ssize(alive)) {
    throw UsageError(
        fmt::format("gates: {} of {} heads cannot be kept", options.keep, alive.size()));
  }
  first_allowed(optimizer.model(), alive, std::ssize(alive) - options.keep, options.budget);
}

void LearnedGates::start() {
  heads_ = live_heads(optimizer_->model());
  state_ = {};
  state_.first.resize(heads_.size(), 0);
  state_.second.resize(heads_.size(), 0);
  for (const HeadId& head : heads_) {
    Rng rng(seed_, "gates of " + head.text());
    state_.values.push_back(method_->first_value(rng));
  }
}

GateStep LearnedGates::moment(Index step) {
  const auto done = double(step - options_.begin), all = double(options_.end - options_.begin);
  noise_.clear();
  for (const HeadId& head : heads_) {
    Rng rng(seed_, "gates of " + head.text(), static_cast<std::uint64_t>(step));
    noise_.push_back((double(rng.word()) + 0.5) * 0x1p-32);  // never 0 or 1
  }
  const auto count = double(heads_.size());
  const double fallen = done < options_.ramp * all ? done / (options_.ramp * all) : 1;
  return {.progress = all > 1 ? (done - 1) / (all - 1) : 1,
          .keep = options_.keep,
          .open = count - fallen * (count - double(options_.keep)),
          .noise = noise_};
}

void LearnedGates::begin(Index step, HeadProbe& probe) {
  sample_ = {};
  leaves_.clear();
  if (step <= options_.begin || step > options_.end) return;
  if (heads_.empty()) start();
  if (heads_ != live_heads(optimizer_->model())) {
    throw UsageError(
        "gates: the heads of the model changed while their gates are learned; remove or add heads "
        "before or afterwards");
  }
  step_ = moment(step);
  sample_ = method_->sample(state_.values, step_);
  std::map<AttentionLocation, Array> gates;
  for (const NamedAttention& found : attentions(optimizer_->model())) {
    gates[found.location()] = ones({found.attention->config().heads});
  }
  for (std::size_t i = 0; i < heads_.size(); ++i) {
    gates.at({heads_[i].kind, heads_[i].layer})[heads_[i].head] = Real(sample_.gates[i]);
  }
  for (const auto& [location, values] : gates) {
    leaves_[location] = Tensor(values, true);
    Tensor& given = probe.gates[location];
    given = product_of_gates(given, leaves_[location]);
  }
}

void LearnedGates::after_backward() {
  if (sample_.gates.empty()) return;
  std::vector<double> of_gates;
  for (const HeadId& head : heads_) {
    const Tensor& leaf = leaves_.at({head.kind, head.layer});
    if (!leaf.reached_by_backward()) {
      throw UsageError("gates: the loss did not give the probe to the model's forward pass");
    }
    // Undefined where nothing that the loss depends on has a head: the encoder of a model without
    // heads in its cross-attentions.
    of_gates.push_back(leaf.grad().defined() ? double(leaf.grad()[head.head]) : 0);
  }
  gradient_ = sample_.gradient(of_gates);
  const GatePenalty penalty = method_->penalty(state_, step_);
  for (std::size_t i = 0; i < gradient_.size(); ++i) gradient_[i] += penalty.gradient[i];
  if (method_->freezes_model()) {
    // A parameter without a gradient stays as it is, and so do its moments. The backward pass has
    // reached it, so that the optimizer does not report it as unconnected.
    for (NamedParameter& own : parameters(optimizer_->model())) {
      if (own.tensor.requires_grad()) own.tensor.mutable_grad() = {};
    }
  }
}

void LearnedGates::after_update(StepReport& report) {
  if (report.step < options_.end) report.settled = false;
  if (sample_.gates.empty()) return;
  method_->update(state_, gradient_, step_);
  report.metrics["open_heads"] = method_->open_heads(state_.values, step_);
  if (report.step == options_.end) finish();
}

void LearnedGates::finish() {
  Module& model = optimizer_->model();
  const std::vector<HeadId> removed =
      first_allowed(model, least_important_first(scores_of(heads_, state_.values)),
                    std::ssize(heads_) - options_.keep, options_.budget);
  const std::vector<double> gates = method_->final_gates(state_.values);
  std::map<HeadId, double> kept;
  for (std::size_t i = 0; i < heads_.size(); ++i) {
    if (!contains(removed, heads_[i])) kept[heads_[i]] = gates[i];
  }
  fold_gates(model, kept);
  optimizer_->apply(prune(model, removed));
}

std::vector<HeadHistory> LearnedGates::outcome() const {
  const std::vector<HeadId> alive = live_heads(optimizer_->model());
  std::vector<HeadHistory> all;
  for (std::size_t i = 0; i < heads_.size(); ++i) {
    const HeadId& head = heads_[i];
    all.push_back({head, state_.values[i]});
    if (!contains(alive, head)) all.back().removed_at = options_.end;
  }
  return all;
}

std::vector<PruningEvent> LearnedGates::timeline() const {
  PruningEvent event{.step = options_.end,
                     .by = entry_->name + " gates",
                     .heads = heads_,
                     .scores = state_.values};
  for (const HeadHistory& head : outcome()) {
    if (head.removed_at) event.removed.push_back(head.id);
  }
  if (event.removed.empty()) return {};
  return {event};
}

PruningHistory LearnedGates::history() const {
  if (heads_.empty()) return {};
  return {
      outcome(), *std::min_element(state_.values.begin(), state_.values.end()),
      fmt::format("the {} of {} gates, less that of the lowest head", entry_->score, entry_->name),
      "", timeline()};
}

void LearnedGates::save_state(StateWriter to) const {
  std::vector<SavedHead> saved;
  for (const HeadId& head : heads_) saved.push_back({head});
  to.record("heads", json_of(saved));
  to.record("learned", json_of(state_));
  if (heads_.empty() || entry_->metric.empty()) return;
  save_scores(to, {{entry_->metric, scores_of(heads_, state_.values)}});
}

void LearnedGates::load_state(const StateReader& from) {
  try {
    heads_.clear();
    for (const SavedHead& saved :
         struct_of<std::vector<SavedHead>>(from.record("heads"), from.where("heads"))) {
      heads_.push_back(saved.id);
    }
    state_ = struct_of<GateState>(from.record("learned"), from.where("learned"));
  } catch (const DataError& error) {
    throw FileError(error.what());
  }
  check_saved_heads(optimizer_->model(), heads_, from.where("heads"));
  for (const std::vector<double>* list : {&state_.values, &state_.first, &state_.second}) {
    if (list->size() == heads_.size()) continue;
    throw FileError(fmt::format("{}: {} numbers for {} heads", from.where("learned"), list->size(),
                                heads_.size()));
  }
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
