//! title: Optimizer::change
//! replaces: headroom::Optimizer::change
//! minutes: 20
//! difficulty: 2
//! path: short
//! needs: 12/2
//! hint: A moment has the shape of its parameter. So what was done to the parameter is done to it.
//!   What does gather() do with the index -1, and which slice could it take instead?
//! hint: Append one slice of zeros to the moment. Then fresh is the index of that slice. The step
//!   counts belong to the indices of one axis, state.axis; an edit along another axis leaves them
//!   as they are.
//! hint: gather(concat({moment, zeros(shape.with(axis, 1))}, axis), axis, from), where fresh was
//!   replaced by moment.dim(axis). steps[i] becomes 0 if from[i] is fresh, else the former
//!   steps[from[i]].
//! after: Fresh indices are for heads that come back. The library checks all edits before it
//!   changes the first state, so that a wrong edit leaves the optimizer as it was.
// Exercise 12/3, Optimizer::change: the moments follow the parameters.
#include "3_moments.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// A moment after an edit. An undefined moment stays undefined.
Array edited(const Array& moment, const ParameterEdit& edit) {
  if (!moment.defined()) return {};
  //! solution
  const Index former = moment.dim(edit.axis);
  std::vector<Index> from = edit.from;
  std::replace(from.begin(), from.end(), ParameterEdit::fresh, former);
  const Array zero = zeros(moment.shape().with(edit.axis, 1));
  return gather(concat({moment, zero}, edit.axis), edit.axis, from);
  //! skeleton
  // return chapter::todo("the moment after the edit: kept indices, and 0 where an index is fresh");
  //! mistake forgets_moments: the moments of the heads that stay were forgotten: the next step is a
  //!   cold start
  // return zeros(moment.shape().with(edit.axis, Index(edit.from.size())));
  //! mistake wrong_axis: axis 0 was edited, but this edit is along axis 1
  // std::vector<Index> from = edit.from;
  // std::replace(from.begin(), from.end(), ParameterEdit::fresh, moment.dim(0));
  // return gather(concat({moment, zeros(moment.shape().with(0, 1))}, 0), 0, from);
  //! mistake first_ones: the first indices were kept, not those in `from`
  // return slice(moment, {edit.axis, 0, Index(edit.from.size())});
  //! mistake fresh_is_first: a fresh index got the moment of index 0
  // std::vector<Index> from = edit.from;
  // std::replace(from.begin(), from.end(), ParameterEdit::fresh, Index{0});
  // return gather(moment, edit.axis, from);
  //! mistake fresh_is_last: a fresh index got the moment of the last index
  // std::vector<Index> from = edit.from;
  // std::replace(from.begin(), from.end(), ParameterEdit::fresh, moment.dim(edit.axis) - 1);
  // return gather(moment, edit.axis, from);
  //! mistake untouched: nothing was done to them
  // return moment;
  //! wrong remembers: query.1.weight is gone, and the optimizer still has its moments
  //- forget(edit.name);
  //! mistake only_the_first: nothing was done to them
  //- memory.second = edited(memory.second, edit);
  //! end
}

}  // namespace

void Optimizer::change(const ParameterEdit& edit) {
  if (edit.gone) {
    forget(edit.name);
    return;
  }
  OptimizerState& memory = state(edit.name);
  memory.first = edited(memory.first, edit);
  memory.second = edited(memory.second, edit);
  //! solution
  if (edit.axis != memory.axis) return;
  std::vector<std::int64_t> steps;
  for (const Index index : edit.from) {
    const bool fresh = index == ParameterEdit::fresh;
    steps.push_back(fresh ? 0 : memory.steps[static_cast<std::size_t>(index)]);
  }
  memory.steps = steps;
  //! skeleton
  // const std::vector<std::int64_t> steps = chapter::todo("the step counts: do they change?");
  // memory.steps = steps;
  //! wrong steps_reset: the correction of Adam's bias starts anew
  // if (edit.axis != memory.axis) return;
  // memory.steps.assign(edit.from.size(), 0);
  //! wrong steps_left: 24 step counts for 18 indices
  //! wrong steps_of_any_axis: the edit was along another axis
  //- if (edit.axis != memory.axis) return;
  // ...
  //- steps.push_back(fresh ? 0 : memory.steps[static_cast<std::size_t>(index)]);
  //+ steps.push_back(fresh ? 0 : memory.steps[static_cast<std::size_t>(index) %
  //+ memory.steps.size()]);
  //! wrong fresh_is_old: a fresh index must start at 0
  //- const bool fresh = index == ParameterEdit::fresh;
  //- steps.push_back(fresh ? 0 : memory.steps[static_cast<std::size_t>(index)]);
  //+ steps.push_back(memory.steps[static_cast<std::size_t>(std::max(index, Index{0}))]);
  //! end
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
