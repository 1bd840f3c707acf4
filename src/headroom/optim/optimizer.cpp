// The base of all optimizers: states by name, pruning, saving.
#include "headroom/optim/optimizer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "headroom/autograd/listing.hpp"
#include "headroom/base/at.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/nearest.hpp"
#include "headroom/base/op_scope.hpp"
#include "headroom/io/json.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Full name of each parameter that holds heads' blocks -> the axis of these blocks.
std::map<std::string, int> find_head_axes(Module& model) {
  std::map<std::string, int> axes;
  for (const NamedAttention& found : attentions(model)) {
    for (const HeadSlice& slice : found.attention->head_slices()) {
      if (slice.owners().empty()) continue;
      axes[found.full_name(slice.name)] = slice.axis;
    }
  }
  return axes;
}

Index length_of(const Shape& shape, int axis) { return shape.rank() == 0 ? 1 : shape[axis]; }

/// A buffer that is about to be changed in place must have no other holder.
Real* own(Array& array) {
  if (!array.defined()) return nullptr;
  if (array.shared()) array = array.clone();
  return array.data();
}

}  // namespace

ParameterGroup no_decay_of_vectors() {
  ParameterGroup group;
  group.holds = [](const NamedParameter& parameter) { return parameter.tensor.rank() < 2; };
  group.weight_decay = 0;
  return group;
}

Optimizer::Optimizer(Module& model, KeepsOf keeps, double weight_decay,
                     std::vector<ParameterGroup> groups)
    : model_(&model),
      keeps_(std::move(keeps)),
      weight_decay_(weight_decay),
      groups_(std::move(groups)),
      head_axes_(find_head_axes(model)) {
  check_names(model);
  for (const NamedParameter& parameter : parameters(model)) {
    states_.emplace(parameter.name, fresh_state(parameter));
  }
}

OptimizerState Optimizer::fresh_state(const NamedParameter& parameter) const {
  const Shape& shape = parameter.tensor.shape();
  OptimizerState state;
  const Keeps keeps = keeps_(parameter);
  if (keeps.first) state.first = zeros(shape);
  if (keeps.second) state.second = zeros(shape);
  const auto found = head_axes_.find(parameter.name);
  if (found != head_axes_.end()) state.axis = found->second;
  state.steps.assign(static_cast<std::size_t>(length_of(shape, state.axis)), 0);
  return state;
}

void Optimizer::check_fits(const NamedParameter& parameter, const OptimizerState& state) const {
  const Shape& shape = parameter.tensor.shape();
  for (const Array* moment : {&state.first, &state.second}) {
    if (!moment->defined() || moment->shape() == shape) continue;
    throw UsageError(fmt::format(
        "optimizer: parameter {} is {} now but its moments are {}; after prune() give the edits "
        "that it returned to apply()",
        parameter.name, shape.text(), moment->shape().text()));
  }
  const Index length = length_of(shape, state.axis);
  if (Index(state.steps.size()) != length) {
    throw UsageError(
        fmt::format("optimizer: parameter {} is {} now but has step counts for {} indices of axis "
                    "{}; after prune() give the edits that it returned to apply()",
                    parameter.name, shape.text(), state.steps.size(), state.axis));
  }
}

/// Throws UsageError naming every parameter that should be trained but was never reached.
void Optimizer::check_reached(std::span<const NamedParameter> all) const {
  std::vector<std::string> cut_off;
  for (const NamedParameter& parameter : all) {
    const Tensor& tensor = parameter.tensor;
    if (!tensor.requires_grad() || tensor.grad().defined() || tensor.reached_by_backward())
      continue;
    const auto found = states_.find(parameter.name);
    const bool trained_before = found != states_.end() &&
                                std::any_of(found->second.steps.begin(), found->second.steps.end(),
                                            [](std::int64_t count) { return count != 0; });
    const bool optional = std::any_of(may_be_unused_.begin(), may_be_unused_.end(),
                                      [&](const auto& which) { return which(parameter); });
    if (!trained_before && !optional) cut_off.push_back(parameter.name);
  }
  if (cut_off.empty()) return;
  throw UsageError(fmt::format(
      "optimizer: no gradient has ever reached {}; is the graph cut between loss and parameter "
      "(NoGrad, detach(), a Tensor made from value()), or did the layer not run? Declare "
      "parameters that may stay unused with may_be_unused(), and freeze others with "
      "set_requires_grad(false)",
      fmt::join(cut_off, ", ")));
}

void Optimizer::check_listed(std::span<const NamedParameter> all) const {
  for (const NamedParameter& parameter : all) {
    const std::string forgotten = unlisted_beside(parameter.tensor);
    if (forgotten.empty()) continue;
    throw UsageError(fmt::format(
        "optimizer: the loss depends on {} but no module lists it, so that it would never change; "
        "name it in the members() of its module, or make a leaf that is not trained with "
        "Tensor(value, true)",
        forgotten));
  }
}

void Optimizer::may_be_unused(std::function<bool(const NamedParameter&)> which) {
  may_be_unused_.push_back(std::move(which));
}

void Optimizer::step(double rate) {
  const OpScope op("optimizer");
  std::vector<NamedParameter> all = parameters(*model_);
  std::size_t known = 0;
  for (const NamedParameter& parameter : all) {  // all are checked before anything moves
    const auto found = states_.find(parameter.name);
    if (found == states_.end()) continue;
    check_fits(parameter, found->second);
    ++known;
  }
  if (known < states_.size()) {
    const auto gone = std::find_if(states_.begin(), states_.end(), [&](const auto& entry) {
      return std::none_of(all.begin(), all.end(),
                          [&](const auto& parameter) { return parameter.name == entry.first; });
    });
    throw UsageError(
        fmt::format("optimizer: parameter {} is no longer in the model; after prune() give the "
                    "edits that it returned to apply()",
                    gone->first));
  }
  check_reached(all);
  check_listed(all);
  std::vector<Moving> moving;
  for (NamedParameter& parameter : all) {
    if (!parameter.tensor.grad().defined()) continue;
    const auto found = states_.find(parameter.name);
    OptimizerState& memory =
        found != states_.end()
            ? found->second
            : states_.emplace(parameter.name, fresh_state(parameter)).first->second;
    moving.push_back(prepared(parameter, memory, rate));
  }
  update(moving);
  for (const Moving& moved : moving) {
    for (std::int64_t& count : states_.at(moved.name).steps) ++count;
  }
}

/// Collects what the update of one parameter needs.
Optimizer::Moving Optimizer::prepared(NamedParameter& parameter, OptimizerState& state,
                                      double rate) const {
  Moving moving{.name = parameter.name,
                .shape = parameter.tensor.shape(),
                .value = own(parameter.tensor.edit_value()),
                .gradient = parameter.tensor.grad().data(),
                .first = own(state.first),
                .second = own(state.second),
                .rate = rate,
                .weight_decay = weight_decay_,
                .runs = {}};
  for (const ParameterGroup& group : groups_) {
    if (!group.holds(parameter)) continue;
    moving.rate *= group.rate_factor;
    moving.weight_decay = group.weight_decay.value_or(weight_decay_);
    break;
  }
  const Shape& shape = moving.shape;
  const int moments = (moving.first != nullptr) + (moving.second != nullptr);
  const int streams = 3 + 2 * moments;  // the gradient is only read
  OpScope::current()->work(0, double(shape.size() * streams * Index{sizeof(Real)}));

  const std::vector<std::int64_t>& steps = state.steps;
  const Index length = Index(steps.size());
  if (length == 0 || shape.size() == 0) return moving;
  if (std::all_of(steps.begin(), steps.end(), [&](auto count) { return count == steps[0]; })) {
    moving.runs.push_back({0, shape.size(), steps[0] + 1});
    return moving;
  }
  // Heads that came back later: a run for each stretch of equal counts, in each outer row.
  for (Index begin = 0, end = 0; begin < length; begin = end) {
    const std::int64_t count = at(steps, begin);
    while (end < length && at(steps, end) == count) ++end;
    for_each_run(shape, {state.axis, begin, end}, [&](Index first, Index size) {
      moving.runs.push_back({first, size, count + 1});
    });
  }
  return moving;
}

void Optimizer::zero_grad() { headroom::zero_grad(*model_); }

/// Throws UsageError for an edit that does not fit the state of its parameter.
void Optimizer::check_edit(const ParameterEdit& edit) const {
  if (edit.axis < 0) {
    throw UsageError(fmt::format("optimizer: an edit of {} has axis {}", edit.name, edit.axis));
  }
  if (edit.born) {
    if (!states_.contains(edit.name)) return;
    throw UsageError(
        fmt::format("optimizer: {} is not new; was its edit applied twice?", edit.name));
  }
  const OptimizerState& memory = state(edit.name);
  if (edit.gone) return;
  const Array& moment = memory.first.defined() ? memory.first : memory.second;
  Index length = Index(memory.steps.size());
  if (edit.axis != memory.axis) length = moment.defined() ? moment.dim(edit.axis) : 0;
  for (const Index index : edit.from) {
    if (index == ParameterEdit::fresh || (index >= 0 && index < length)) continue;
    if (edit.axis != memory.axis && !moment.defined()) break;  // nothing is kept along this axis
    throw UsageError(fmt::format(
        "optimizer: an edit takes index {} of axis {} of {}, which has {} there; was it applied "
        "twice?",
        index, edit.axis, edit.name, length));
  }
}

void Optimizer::apply(const ParameterEdit& edit) { apply({&edit, 1}); }

void Optimizer::apply(std::span<const ParameterEdit> edits) {
  const std::map<std::string, OptimizerState> before = states_;
  try {
    for (const ParameterEdit& edit : edits) {  // an earlier one may be of the same parameter
      check_edit(edit);
      const bool all_fresh =
          std::ranges::all_of(edit.from, [](Index index) { return index == ParameterEdit::fresh; });
      if (edit.born) {
        add(edit);
      } else {
        // The axis of a parameter without heads may be unknown until heads come back.
        if (all_fresh && !edit.gone) state(edit.name).axis = edit.axis;
        change(edit);
      }
    }
  } catch (...) {
    states_ = before;
    throw;
  }
}

/// Starts the memory of a parameter that is new in the model.
void Optimizer::add(const ParameterEdit& edit) {
  for (const NamedParameter& parameter : parameters(*model_)) {
    if (parameter.name != edit.name) continue;
    head_axes_[edit.name] = edit.axis;
    states_.emplace(edit.name, fresh_state(parameter));
    return;
  }
  throw UsageError(
      fmt::format("optimizer: the model has no parameter {}, which an edit adds", edit.name));
}

void Optimizer::change(const ParameterEdit& edit) {
  if (edit.gone) {
    forget(edit.name);
    return;
  }
  OptimizerState& memory = state(edit.name);
  memory.first = edit.applied_to(memory.first);
  memory.second = edit.applied_to(memory.second);
  if (edit.axis != memory.axis) return;
  std::vector<std::int64_t> steps;
  for (const Index index : edit.from) {
    const bool fresh = index == ParameterEdit::fresh;
    steps.push_back(fresh ? 0 : at(memory.steps, index));
  }
  memory.steps = std::move(steps);
}

OptimizerState& Optimizer::state(const std::string& name) {
  const auto found = states_.find(name);
  if (found != states_.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [known, memory] : states_) names.push_back(known);
  throw UsageError(
      fmt::format("optimizer: no parameter \"{}\"{}", name, did_you_mean(name, names)));
}

const OptimizerState& Optimizer::state(const std::string& name) const {
  return const_cast<Optimizer*>(this)->state(name);
}

void Optimizer::set_state(const std::string& name, OptimizerState state) {
  states_[name] = std::move(state);
}

void Optimizer::save_state(StateWriter to) const {
  Record axes = Record::object();
  for (const NamedParameter& parameter : parameters(*model_)) {
    const auto found = states_.find(parameter.name);
    const OptimizerState memory = found != states_.end() ? found->second : fresh_state(parameter);
    check_fits(parameter, memory);
    if (memory.first.defined()) to.array(parameter.name + ".first", memory.first);
    if (memory.second.defined()) to.array(parameter.name + ".second", memory.second);
    to.integers(parameter.name + ".steps", memory.steps);
    if (memory.axis != 0) axes[parameter.name] = memory.axis;
  }
  to.record("axes", axes);
}

namespace {

/// A negative count could become 0, which divides by 1 - beta^0; a large one must not overflow.
void check_steps(const std::vector<std::int64_t>& steps, const std::string& where) {
  constexpr std::int64_t most = std::int64_t{1} << 53;
  for (const std::int64_t count : steps) {
    if (count < 0) throw FileError(fmt::format("{}: {} is negative", where, count));
    if (count > most) throw FileError(fmt::format("{}: {} steps are too many", where, count));
  }
}

/// Means of squares: the square root of a negative one is NaN.
void check_squares(const Array& second, const std::string& where) {
  for (const Real square : second.span()) {
    if (square < 0) throw FileError(fmt::format("{}: {} is negative", where, square));
  }
}

}  // namespace

void Optimizer::load_state(const StateReader& from) {
  const Record axes = from.record("axes");
  std::map<std::string, OptimizerState> loaded;
  std::set<std::string> expected;
  for (const NamedParameter& parameter : parameters(*model_)) {
    const std::string& name = parameter.name;
    const Shape& shape = parameter.tensor.shape();
    OptimizerState memory;
    const Keeps keeps = keeps_(parameter);
    if (axes.contains(name)) {
      const Index axis = json_integer(axes, name.c_str(), from.where("axes"));
      if (axis < 0 || axis >= shape.rank()) {
        throw FileError(fmt::format("{}: axis {} of {}, which is {}", from.where("axes"), axis,
                                    name, shape.text()));
      }
      memory.axis = int(axis);
    }
    if (keeps.first) {
      memory.first = from.array(*expected.insert(name + ".first").first, shape);
    }
    if (keeps.second) {
      memory.second = from.array(*expected.insert(name + ".second").first, shape);
    }
    memory.steps = from.integers(*expected.insert(name + ".steps").first);
    if (Index(memory.steps.size()) != length_of(shape, memory.axis)) {
      throw FileError(fmt::format("{}: {} step counts for {} of shape {}",
                                  from.where(name + ".steps"), memory.steps.size(), name,
                                  shape.text()));
    }
    check_steps(memory.steps, from.where(name + ".steps"));
    if (keeps.second) check_squares(memory.second, from.where(name + ".second"));
    loaded.emplace(name, std::move(memory));
  }
  for (const std::string& name : from.tensor_names()) {
    if (expected.contains(name)) continue;
    throw FileError(
        fmt::format("{}: this optimizer ({}) has nothing of that name", from.where(name), title()));
  }
  states_ = std::move(loaded);
}

ElementwiseOptimizer::ElementwiseOptimizer(Module& model, Keeps keeps, double weight_decay,
                                           std::vector<ParameterGroup> groups)
    : Optimizer(
          model, [keeps](const NamedParameter&) { return keeps; }, weight_decay,
          std::move(groups)) {}

void ElementwiseOptimizer::update(std::span<const Moving> parameters) const {
  for (const Moving& p : parameters) {
    for (const Run& run : p.runs) {
      const auto at = [&](auto* numbers) {
        return numbers == nullptr ? nullptr : numbers + run.begin;
      };
      update_run(run, at(p.value), at(p.gradient), at(p.first), at(p.second), p.rate,
                 p.weight_decay);
    }
  }
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
