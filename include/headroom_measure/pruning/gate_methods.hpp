// Methods that learn a gate for every head: how parameters become gates, and how they are learned.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "headroom/base/listed.hpp"
#include "headroom/base/rng.hpp"
#include "headroom_measure/importance/budget.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Settings of learned gates. Steps are those of the training: gates are learned in the steps
/// begin + 1, ..., end.
struct GateOptions {
  std::string method = {};   // a name of gate_methods(); empty: no gates
  Index keep = 0;            // heads that are left after step `end`
  Budget budget = {};        // heads that stay where they are, whatever their scores
  Index begin = 0, end = 0;  // the last step without gates; the last one with them
  double ramp = 0.6;  // share of the steps in which the target falls to `keep`; not of subset
  double rate = 0.1;  // learning rate of the gates
  double multiplier_rate = 0.01;   // of the constraint's multiplier: hard_concrete
  double first_temperature = 1;    // subset: it falls in geometric steps
  double last_temperature = 1e-4;  // ... to this one
  double penalty = 0.01;           // price of a gate of 1, in nats: frozen

  using T = GateOptions;
  using Fields =
      Listed<&T::method, &T::keep, &T::budget, &T::begin, &T::end, &T::ramp, &T::rate,
             &T::multiplier_rate, &T::first_temperature, &T::last_temperature, &T::penalty>;
  /// Throws UsageError for an unknown method (with the nearest) and for numbers out of range.
  void check() const;
};

/// A step of learning, as a method sees it.
struct GateStep {
  double progress = 0;  // 0 at the first step of learning, 1 at the last
  Index keep = 0;       // heads that are left at the end
  double open = 0;      // heads that should be open now: falls to `keep` during the ramp
  std::span<const double> noise = {};  // one per head, uniform in (0, 1)
};

/// The learned numbers. All vectors have one element per head.
struct GateState {
  std::vector<double> values;         // ln alpha, w, a score or a gate: see GateMethod
  std::vector<double> first, second;  // Adam's moments
  double multiplier = 0;              // of hard_concrete's constraint
  Index steps = 0;                    // updates so far

  using T = GateState;
  using Fields = Listed<&T::values, &T::first, &T::second, &T::multiplier, &T::steps>;
};

/// The gates of one step. `gradient` computes dL/dvalues from dL/dgates; for a hard choice it is
/// the straight-through estimate.
struct GateSample {
  std::vector<double> gates;
  std::function<std::vector<double>(std::span<const double> gates)> gradient;
};

/// A term that is added to the loss.
struct GatePenalty {
  double value = 0;
  std::vector<double> gradient;  // by the values
};

/// A method at work. All of it is computed in double, in every precision of the model. The larger
/// its value, the more a method wants to keep the head.
class GateMethod {
 public:
  explicit GateMethod(const GateOptions& options) : options_(options) {}
  virtual ~GateMethod() = default;
  /// The value that a head begins with.
  virtual double first_value([[maybe_unused]] Rng& rng) const { return 0; }
  /// The gates of a training step.
  virtual GateSample sample(std::span<const double> values, const GateStep& step) const = 0;
  /// By default none.
  virtual GatePenalty penalty(const GateState& state, const GateStep& step) const;
  /// Changes the state by the gradient of loss and penalty. By default one step of Adam (Kingma and
  /// Ba 2015, algorithm 1) with GateOptions::rate on the values, and beta2 = 0.95, because learning
  /// may take fewer steps than the usual 0.999 averages over.
  virtual void update(GateState& state, std::span<const double> gradient,
                      const GateStep& step) const;
  /// The expected number of gates above 0.
  virtual double open_heads(std::span<const double> values, const GateStep& step) const = 0;
  /// The gates, if they are kept, of the heads when learning has ended. By default 1.
  virtual std::vector<double> final_gates(std::span<const double> values) const;
  /// Whether Adam divides all gradients by that of the head with the largest, instead of by their
  /// own: for straight-through estimates, which are near 0 for heads without effect.
  virtual bool one_scale() const { return false; }
  /// Whether the model's parameters stay as they are while the gates are learned.
  virtual bool freezes_model() const { return false; }

 protected:
  const GateOptions& options() const { return options_; }

 private:
  GateOptions options_;
};

/// A method and how to make it.
struct GateMethodEntry {
  std::string name;     // "hard_concrete"
  std::string summary;  // a few words for help texts
  std::string score;    // the values in words: "ln alpha"
  std::string source;   // "Sanh, Wolf and Rush 2020"
  std::string metric;   // under which a run records the values (RecordedScores); empty: it does not
  std::unique_ptr<GateMethod> (*make)(const GateOptions& options);
};

/// All methods.
const std::deque<GateMethodEntry>& gate_methods();
/// Throws UsageError for an unknown name, with the nearest.
const GateMethodEntry& gate_method(const std::string& name, const std::string& origin = "gates");

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
