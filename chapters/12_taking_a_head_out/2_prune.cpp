//! title: Attention::prune
//! replaces: headroom::Attention::prune
//! minutes: 30
//! difficulty: 3
//! path: short
//! needs: 12/1
//! hint: What do you need to know of a parameter to cut it, and which slices tell you? What do two
//!   handles of one tensor have in common, and a parameter of `before` lack that is gone?
//! hint: For each slice of a head that goes: note its axis and its indices under the name of its
//!   parameter; end is one past the last index. A parameter is gone if none of `after` is its
//!   tensor. A gradient may be undefined, and kept() leaves it so.
//! hint: Cut& cut = cuts[slice.name]; cut.axis = slice.axis; insert slice.begin to slice.end - 1
//!   into cut.indices. edit.gone = no p of `after` with p.tensor.same(tensor).
//!   tensor.set_value(kept(tensor.value(), edit), kept(tensor.grad(), edit)).
//! after: No line of it knows a layout. A layout of your own can be pruned as soon as it has
//!   head_slices().
// Exercise 12/2, Attention::prune: heads are removed for good.
#include "2_prune.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The indices of one parameter that belong to removed heads.
struct Cut {
  int axis = 0;
  std::set<Index> indices;
};

/// The slices of an array at the indices that an edit keeps; an undefined array stays undefined.
Array kept(const Array& array, const ParameterEdit& edit) {
  return array.defined() ? gather(array, edit.axis, edit.from) : Array();
}

/// Fails if a layout's slices are not parts of its parameters.
void check_slices(const std::vector<HeadSlice>& slices, const std::vector<NamedParameter>& all) {
  for (const HeadSlice& slice : slices) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const NamedParameter& p) {
      return p.name == slice.name && slice.end <= p.tensor.dim(slice.axis);
    });
    if (found != all.end()) continue;
    throw UsageError("head_slices(): [" + std::to_string(slice.begin) + ", " +
                     std::to_string(slice.end) + ") is outside axis " + std::to_string(slice.axis) +
                     " of " + slice.name);
  }
}

}  // namespace

std::vector<ParameterEdit> Attention::prune(std::span<const Index> original_heads) {
  const auto goes = [&](const HeadSlice& slice) { return slice.leaves_with(original_heads); };
  for (const Index head : original_heads) {
    if (std::find(alive_.begin(), alive_.end(), head) == alive_.end()) {
      std::string alive;
      for (const Index live : alive_) alive += (alive.empty() ? "" : ", ") + std::to_string(live);
      throw UsageError("prune: head " + std::to_string(head) + " is not alive; alive are " + alive);
    }
  }
  std::vector<Index> kept_positions, kept_heads;  // among the live heads; by original number
  for (std::size_t i = 0; i < alive_.size(); ++i) {
    if (std::ranges::find(original_heads, alive_[i]) != original_heads.end()) continue;
    kept_positions.push_back(Index(i));
    kept_heads.push_back(alive_[i]);
  }
  const std::vector<NamedParameter> before = parameters(*this);
  check_slices(head_slices(), before);

  // The cut of each parameter, by name; then the modules of the removed heads are dropped.
  //! solution
  std::map<std::string, Cut> cuts;
  for (const HeadSlice& slice : head_slices()) {
    if (!goes(slice)) continue;
    Cut& cut = cuts[slice.name];
    cut.axis = slice.axis;
    for (Index i = slice.begin; i < slice.end; ++i) cut.indices.insert(i);
  }
  drop_modules(kept_positions);
  alive_ = kept_heads;
  //! skeleton
  // const std::map<std::string, Cut> cuts = chapter::todo("cuts: the indices that go", goes);
  // drop_modules(kept_positions);
  // alive_ = kept_heads;
  //! mistake slices_too_late: nothing was removed; head_slices() lists the heads that are alive
  //!   when it is called
  //  std::map<std::string, Cut> cuts;
  //+ drop_modules(kept_positions);
  //+ alive_ = kept_heads;
  // ...
  //- drop_modules(kept_positions);
  //- alive_ = kept_heads;
  //! mistake the_others_go: the heads that should stay were removed, and the others stayed
  //- if (!goes(slice)) continue;
  //+ if (slice.head < 0 || goes(slice)) continue;
  //! mistake always_rows: axis 0 was cut, but of this parameter a head owns columns: the slice has
  //!   the axis
  //- cut.axis = slice.axis;
  //! mistake one_index_short: the last index of each slice stayed: end is one past the last index
  //- for (Index i = slice.begin; i < slice.end; ++i) cut.indices.insert(i);
  //+ for (Index i = slice.begin; i < slice.end - 1; ++i) cut.indices.insert(i);
  //! wrong renumbered: names moved up
  //- alive_ = kept_heads;
  //+ alive_.clear();
  //+ for (Index i = 0; i < std::ssize(kept_heads); ++i) alive_.push_back(i);
  //! end

  const std::vector<NamedParameter> after = parameters(*this);
  std::vector<ParameterEdit> edits;
  for (const auto& [name, old] : before) {
    const auto cut = cuts.find(name);
    if (cut == cuts.end()) continue;
    Tensor tensor = old;  // another handle of the same parameter
    ParameterEdit edit{.name = name, .axis = cut->second.axis};
    //! solution
    edit.gone = std::none_of(after.begin(), after.end(),
                             [&](const NamedParameter& p) { return p.tensor.same(tensor); });
    //! skeleton
    // edit.gone = chapter::todo("gone: is the tensor missing among those of `after`?");
    //! wrong no_edit: the optimizer was not told that key.1.bias is gone
    // const bool gone = std::none_of(after.begin(), after.end(), [&](const NamedParameter& p) {
    //   return p.tensor.same(tensor);
    // });
    // if (gone) continue;
    //! mistake gone_when_empty: it was taken for gone because all of its indices go. It is still in
    //!   the layer, with an axis of length 0: gone is what `after` does not have
    // edit.gone = Index(cut->second.indices.size()) == tensor.dim(edit.axis);
    //! wrong never_gone: the optimizer was not told that key.1.bias is gone
    // edit.gone = false;
    //! end
    if (!edit.gone) {
      for (Index i = 0; i < tensor.dim(edit.axis); ++i) {
        if (!cut->second.indices.contains(i)) edit.from.push_back(i);
      }
      //! solution
      tensor.set_value(kept(tensor.value(), edit), kept(tensor.grad(), edit));
      //! skeleton
      // tensor.set_value(chapter::todo("the value that is left"),
      //                  chapter::todo("the gradient that is left"));
      //! wrong gradient_dropped: its gradient is gone
      // tensor.set_value(kept(tensor.value(), edit));
      //! wrong gradient_left: the value was cut, the gradient was not
      // tensor.edit_value() = kept(tensor.value(), edit);
      //! wrong without_cuts: out.weight lost its columns, and the optimizer was not told
      //- edits.push_back(edit);
      //+ if (edit.gone) edits.push_back(edit);
      //! end
    }
    edits.push_back(edit);
  }
  return edits;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
