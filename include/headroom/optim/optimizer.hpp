// Optimizer: turns gradients into updates of parameters; its memory is kept by parameter name.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "headroom/io/stateful.hpp"
#include "headroom/nn/attention.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// An optimizer's memory of one parameter.
struct OptimizerState {
  Array first;   // momentum, or the running mean of gradients; undefined when not kept
  Array second;  // the running mean of squared gradients; undefined when not kept
  /// The axis along which the parameter holds the heads' blocks (0 where it has none).
  int axis = 0;
  /// Number of updates of each index of that axis. In every layout, the rows or columns of a head
  /// that was removed and restored start at 0 again, and those of other heads keep their counts.
  std::vector<std::int64_t> steps;
};

/// Parameters with their own learning rate or weight decay.
struct ParameterGroup {
  std::function<bool(const NamedParameter&)> holds;
  double rate_factor = 1;              // times the learning rate given to step()
  std::optional<double> weight_decay;  // in place of the optimizer's
};

/// The group without weight decay that many recipes use: biases and norms, that is every parameter
/// with fewer than two axes.
ParameterGroup no_decay_of_vectors();

/// Base of all optimizers. Every step looks the parameters up in the model by name, so that pruning
/// and loading never leave it with tensors that are no longer used. The model must outlive it.
/// Constructors throw UsageError for a model with two members of one name.
class Optimizer : public Stateful {
 public:
  /// One update with the present gradients; a parameter without gradient is left alone, its step
  /// count too. A parameter that is new starts at step 0. Throws UsageError, before anything moves,
  /// * when a parameter changed its shape or went away since the last step: apply() must be given
  ///   the edits of a prune;
  /// * when parameters that require a gradient have none and never had one (all their step counts
  ///   are 0): no path of the graph connects them with the loss. Exempt are those declared with
  ///   may_be_unused(), and those that a backward pass reached only through operations marked
  ///   nothing_flows, such as attention without heads (Tensor::reached_by_backward());
  /// * when a backward pass also reached a tensor made by parameter() that the members() of no
  ///   module lists: it would never change.
  void step(double rate);
  /// Declares parameters that a run may leave without a gradient, such as those of layers that are
  /// skipped at random: step() does not throw for them. Several declarations add up.
  void may_be_unused(std::function<bool(const NamedParameter&)> which);
  /// Forgets the gradients of all parameters.
  void zero_grad();

  /// Changes the moments as the parameters changed: former indices keep their moments and step
  /// counts, fresh ones start with moments 0 and step count 0. Throws UsageError for an unknown
  /// parameter or an index that is not there, and then changes nothing. Edits that belong together
  /// (those of a swap, say) may be given at once; no step comes between them.
  void apply(const ParameterEdit& edit);
  void apply(std::span<const ParameterEdit> edits);

  /// The memory of one parameter, to read, to convert to another layout, to restore. Throws
  /// UsageError for an unknown name (with the nearest).
  OptimizerState& state(const std::string& name);
  const OptimizerState& state(const std::string& name) const;
  /// All of them by name.
  const std::map<std::string, OptimizerState>& states() const { return states_; }
  /// Sets the memory of a parameter (of a restored head, say), or drops it.
  void set_state(const std::string& name, OptimizerState state);
  void forget(const std::string& name) { states_.erase(name); }

  Module& model() const { return *model_; }
  /// "adamw: beta1 0.9, beta2 0.999, epsilon 1e-08, weight decay 0.01"
  virtual std::string title() const = 0;

  void save_state(StateWriter to) const override;
  /// Throws FileError naming the first parameter that is missing, unknown or of another shape.
  void load_state(const StateReader& from) override;

 protected:
  /// Which moments an optimizer keeps of a parameter.
  struct Keeps {
    bool first, second;
  };
  using KeepsOf = std::function<Keeps(const NamedParameter&)>;
  /// The first group that holds a parameter decides; without one, rate factor 1 and `weight_decay`.
  Optimizer(Module& model, KeepsOf keeps, double weight_decay, std::vector<ParameterGroup> groups);

  /// Consecutive elements of a parameter with one step count.
  struct Run {
    Index begin, size;
    std::int64_t step;  // this one counted: 1 at the first
  };
  /// A parameter that has a gradient, and so takes part in the step. Its pointers point to the
  /// first element; those of moments that are not kept are null.
  struct Moving {
    std::string name;
    Shape shape;
    Real* value = nullptr;
    const Real* gradient = nullptr;
    Real *first = nullptr, *second = nullptr;
    double rate = 0, weight_decay = 0;  // its group's
    std::vector<Run> runs;              // together all of its elements
  };
  /// The step itself.
  virtual void update(std::span<const Moving> parameters) const = 0;

 private:
  OptimizerState fresh_state(const NamedParameter& parameter) const;
  void check_fits(const NamedParameter& parameter, const OptimizerState& state) const;
  void check_reached(std::span<const NamedParameter> all) const;
  void check_listed(std::span<const NamedParameter> all) const;
  void check_edit(const ParameterEdit& edit) const;
  void add(const ParameterEdit& edit);
  void change(const ParameterEdit& edit);
  Moving prepared(NamedParameter& parameter, OptimizerState& state, double rate) const;

  Module* model_;
  KeepsOf keeps_;
  double weight_decay_;
  std::vector<ParameterGroup> groups_;
  std::vector<std::function<bool(const NamedParameter&)>> may_be_unused_;
  std::map<std::string, int> head_axes_;  // of the parameters that hold heads' blocks
  std::map<std::string, OptimizerState> states_;
};

/// Base of the optimizers that treat every element alike: SGD, Adam. How heads are stored makes no
/// difference to them.
class ElementwiseOptimizer : public Optimizer {
 protected:
  ElementwiseOptimizer(Module& model, Keeps keeps, double weight_decay,
                       std::vector<ParameterGroup> groups);
  /// Updates one run. `first` and `second` are null when not kept.
  virtual void update_run(const Run& run, Real* parameter, const Real* gradient, Real* first,
                          Real* second, double rate, double weight_decay) const = 0;

 private:
  void update(std::span<const Moving> parameters) const final;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
