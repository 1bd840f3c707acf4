// Attention::regrow, the inverse of prune: heads come back to a layer of any layout.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "headroom/algebra/algebra.hpp"
#include "headroom/base/error.hpp"
#include "headroom/nn/head_share.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Array ParameterEdit::applied_to(const Array& array, const Array& values) const {
  if (!array.defined()) return {};
  std::vector<Index> positions = from;
  Index next = array.dim(axis);  // the first of the fresh values, which are appended
  bool grows = false;
  for (Index& position : positions) {
    if (position != fresh) continue;
    grows = true;
    position = values.defined() ? next++ : next;
  }
  if (!grows) return gather(array, axis, positions);
  const Array more = values.defined() ? values : zeros(array.shape().with(axis, 1));
  return gather(concat({array, more}, axis), axis, positions);
}

namespace {

using Slices = std::vector<HeadSlice>;

/// The slices of one parameter, in the order of their indices.
Slices slices_of(const Slices& all, const std::string& name) {
  Slices some;
  std::copy_if(all.begin(), all.end(), std::back_inserter(some),
               [&](const HeadSlice& slice) { return slice.name == name; });
  std::stable_sort(some.begin(), some.end(),
                   [](const auto& a, const auto& b) { return a.begin < b.begin; });
  return some;
}

const HeadShare* share_for(std::span<const HeadShare> shares, Index head) {
  const auto found = std::find_if(shares.begin(), shares.end(),
                                  [&](const auto& share) { return share.head.head == head; });
  return found == shares.end() ? nullptr : &*found;
}

std::string in_words(const HeadPart& part) {
  return part.name.empty() ? std::string(name_of<HeadRole>(part.role)) : part.name;
}

/// Throws UsageError unless the heads exist, are removed, and are given once.
void check_heads(const Attention& attention, std::span<const HeadShare> shares) {
  const auto alive = attention.alive();
  for (const HeadShare& share : shares) {
    const Index head = share.head.head;
    if (head < 0 || head >= attention.config().heads) {
      throw UsageError(
          fmt::format("regrow: there is no head {} among {}", head, attention.config().heads));
    }
    if (std::find(alive.begin(), alive.end(), head) != alive.end()) {
      throw UsageError(
          fmt::format("regrow: head {} is alive; alive are {}", head, fmt::join(alive, ", ")));
    }
    if (share_for(shares, head) != &share) {
      throw UsageError(fmt::format("regrow: head {} is given twice", head));
    }
  }
}

/// The share that a slice comes back from: that of its head, or of the first head of its group, if
/// the whole group comes back. nullptr: the slice is there.
const HeadShare* source_of(const HeadSlice& slice, std::span<const HeadShare> shares) {
  const std::span<const Index> owners = slice.owners();
  const bool comes_back = !owners.empty() && std::ranges::all_of(owners, [&](Index head) {
    return share_for(shares, head) != nullptr;
  });
  return comes_back ? share_for(shares, owners.front()) : nullptr;
}

/// Whether a slice of the grown layer is the same part as one from before, of the same owner.
bool same_part(const HeadSlice& before, const HeadSlice& after) {
  return before.role == after.role && before.head == after.head &&
         (before.group.empty() || after.belongs_to(before.group.front()));
}

/// Throws UsageError unless a share has the parts that the layout's slices name, and no others.
void check_parts(const Attention& attention, const HeadShare& share, const Slices& slices) {
  std::size_t parts = 0;
  for (const HeadSlice& slice : slices) {
    if (!slice.belongs_to(share.head.head)) continue;
    ++parts;
    if (share.value.contains(slice.part())) continue;
    throw UsageError(fmt::format("regrow: the share of head {} has no {}, which {} needs",
                                 share.head.head, in_words(slice.part()), attention.title()));
  }
  if (parts == share.value.size()) return;
  throw UsageError(fmt::format("regrow: the share of head {} has {} parts, but a head of {} has {}",
                               share.head.head, share.value.size(), attention.title(), parts));
}

/// The change of one parameter: its edit, and the gradients of the fresh indices.
struct Growth {
  Tensor parameter;
  ParameterEdit edit;
  Array gradient;
};

/// The growth of a parameter from its slices before and after. Throws ShapeError for a part of
/// another shape, UsageError if the slices do not cover the parameter.
Growth growth_of(const NamedParameter& parameter, bool born, const Slices& before,
                 const Slices& after, std::span<const HeadShare> shares) {
  Growth growth{parameter.tensor, {.name = parameter.name, .axis = after.front().axis}, {}};
  ParameterEdit& edit = growth.edit;
  edit.born = born;
  const Shape& shape = parameter.tensor.shape();
  std::vector<Array> values, gradients;
  Index kept = 0;
  bool covered = true;
  for (const HeadSlice& slice : after) {
    if (const HeadShare* const share = source_of(slice, shares)) {
      const Array& value = share->value.at(slice.part());
      if (!(value.shape() == shape.with(slice.axis, slice.length()))) {
        throw ShapeError(fmt::format("regrow: the {} of head {} is {}, expected {}",
                                     in_words(slice.part()), share->head.head, value.shape().text(),
                                     shape.with(slice.axis, slice.length()).text()));
      }
      values.push_back(value);
      const auto gradient = share->gradient.find(slice.part());
      gradients.push_back(gradient == share->gradient.end() ? zeros(value.shape())
                                                            : gradient->second);
      edit.from.insert(edit.from.end(), std::size_t(slice.length()), ParameterEdit::fresh);
    } else {
      const auto old = std::find_if(before.begin(), before.end(), [&](const HeadSlice& other) {
        return same_part(other, slice);
      });
      covered = covered && old != before.end() && old->length() == slice.length();
      if (!covered) break;
      for (Index i = old->begin; i < old->end; ++i) edit.from.push_back(i);
      kept += slice.length();
    }
    covered = covered && slice.axis == edit.axis && std::ssize(edit.from) == slice.end;
  }
  if (!covered || kept != (born ? 0 : shape[edit.axis])) {
    throw UsageError(fmt::format(
        "regrow: the slices of {} before and after do not cover it; see HeadSlice", edit.name));
  }
  edit.fresh_values = concat(values, edit.axis);
  growth.gradient = concat(gradients, edit.axis);
  return growth;
}

/// Changes value and gradient of a parameter. One that had no elements has no gradient of its own:
/// it gets one if others of the layer have one.
void grow(Growth& growth, bool others_have_gradients) {
  const ParameterEdit& edit = growth.edit;
  Tensor& parameter = growth.parameter;
  Array value = edit.fresh_values, gradient;
  if (edit.born || parameter.size() == 0) {
    if (others_have_gradients && parameter.requires_grad()) gradient = growth.gradient;
  } else {
    value = edit.applied_to(parameter.value(), edit.fresh_values);
    gradient = edit.applied_to(parameter.grad(), growth.gradient);
  }
  parameter.set_value(value.clone(), gradient.clone());
}

}  // namespace

std::vector<ParameterEdit> Attention::regrow(std::span<const HeadShare> heads) {
  check_heads(*this, heads);
  const std::vector<NamedParameter> before = parameters(*this);
  const Slices old_slices = head_slices();
  const std::vector<Index> old_heads = alive_;
  for (const HeadShare& share : heads) alive_.push_back(share.head.head);
  std::sort(alive_.begin(), alive_.end());
  std::vector<Index> old_positions, new_positions;
  for (Index i = 0; i < live(); ++i) {
    (share_for(heads, alive_[std::size_t(i)]) != nullptr ? new_positions : old_positions)
        .push_back(i);
  }

  std::vector<Growth> growths;
  bool added = false;
  try {
    const Slices slices = head_slices();
    for (const HeadShare& share : heads) check_parts(*this, share, slices);
    add_modules(new_positions);
    const std::vector<NamedParameter> after = parameters(*this);
    for (const HeadSlice& slice : slices) {
      if (std::any_of(after.begin(), after.end(),
                      [&](const auto& p) { return p.name == slice.name; }))
        continue;
      throw UsageError(fmt::format(
          "regrow: {} has no parameter {}; a layout with drop_modules() also needs add_modules()",
          title(), slice.name));
    }
    added = true;
    for (const NamedParameter& parameter : after) {
      const Slices own = slices_of(slices, parameter.name);
      if (std::none_of(own.begin(), own.end(),
                       [&](const HeadSlice& slice) { return source_of(slice, heads) != nullptr; }))
        continue;
      const bool born = std::none_of(before.begin(), before.end(), [&](const auto& p) {
        return p.tensor.same(parameter.tensor);
      });
      growths.push_back(
          growth_of(parameter, born, slices_of(old_slices, parameter.name), own, heads));
    }
  } catch (...) {
    if (added) drop_modules(old_positions);
    alive_ = old_heads;
    throw;
  }

  const bool gradients = std::any_of(before.begin(), before.end(), [](const auto& parameter) {
    return parameter.tensor.grad().defined();
  });
  std::vector<ParameterEdit> edits;
  for (Growth& growth : growths) {
    grow(growth, gradients);
    edits.push_back(std::move(growth.edit));
  }
  if (stream() != 0) name_streams(path());  // of new modules; it was never called if 0
  train(training());
  return edits;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
