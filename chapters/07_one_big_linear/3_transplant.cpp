//! title: transplant
//! replaces: headroom::transplant
//! minutes: 25
//! difficulty: 3
//! path: short
//! needs: 07/1
//! hint: Which two facts about a slice say whose it is, whatever the layout calls the parameter?
//! hint: For each attention, and for each of its slices: find the slice of the other attention with
//!   the same role and head, and copy run by run. What is left over has the same name on both
//!   sides.
//! hint: std::copy_n(source.data() + a.first + i * a.stride, a.length,
//!   target.data() + b.first + i * b.stride) for each run i of runs_of(source.shape(), old) and
//!   runs_of(target.shape(), now).
//! after: The library's transplant, in src/headroom/surgery/transplant.cpp, checks first that
//!   everything has a counterpart, and moves gradients and Adam's moments by the same list.
// Exercise 07/3, transplant: the same heads in another layout.
#include "3_transplant.hpp"

//! solution
#include "headroom/surgery/transplant.hpp"
//! skeleton
//! end

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Parameters without elements are left out: one layout may have them where the other has none.
std::map<std::string, Tensor> parameters_of(Module& module) {
  std::map<std::string, Tensor> tensors;
  for (const auto& [name, tensor] : parameters(module)) {
    if (tensor.size() > 0) tensors[name] = tensor;
  }
  return tensors;
}

Array& values_of(Tensor& tensor) {
  Array& values = tensor.edit_value();
  if (values.shared()) values = values.clone();  // other holders keep the old elements
  return values;
}

/// The full name of a parameter of an attention.
std::string full_name(const NamedAttention& attention, const std::string& name) {
  return attention.name.empty() ? name : attention.name + "." + name;
}

/// Copies the part `old` of one parameter into the part `now` of another one.
void move_part(const Array& source, const AxisRange& old, Array& target, const AxisRange& now) {
  //! solution
  const Runs a = runs_of(source.shape(), old), b = runs_of(target.shape(), now);
  for (Index i = 0; i < a.count; ++i) {
    std::copy_n(source.data() + a.first + i * a.stride, a.length,
                target.data() + b.first + i * b.stride);
  }
  //! skeleton
  // throw chapter::NotImplemented{"move_part: copy one run after the other"};
  //! mistake rows_of_output: W_O's rows were moved; a head owns columns of W_O: use the axis of the
  //!   slice
  //- const Runs a = runs_of(source.shape(), old), b = runs_of(target.shape(), now);
  //+ const Runs a = runs_of(source.shape(), {0, old.begin, old.end});
  //+ const Runs b = runs_of(target.shape(), {0, now.begin, now.end});
  //! mistake first_run_only: of every head only the first row of W_O was moved: a block of columns
  //!   has one run in each row
  // const Runs a = runs_of(source.shape(), old), b = runs_of(target.shape(), now);
  // std::copy_n(source.data() + a.first, a.length, target.data() + b.first);
  //! mistake moves_nothing: nothing was moved into it
  //- std::copy_n(source.data() + a.first + i * a.stride, a.length,
  //-             target.data() + b.first + i * b.stride);
  //! end
}

}  // namespace

void transplant(Module& from, Module& to) {
  std::map<std::string, Tensor> source = parameters_of(from), target = parameters_of(to);
  const std::vector<NamedAttention> old_homes = attentions(from), new_homes = attentions(to);
  std::set<std::string> moved;  // parameters of `from` that heads own
  //! solution
  matching_blocks(from,
                  to);  // throws if the models do not correspond; the checks do not ask for it
  //! skeleton
  //! end
  for (std::size_t i = 0; i < old_homes.size(); ++i) {
    //! solution
    for (const HeadSlice& old : old_homes[i].attention->head_slices()) {
      for (const HeadSlice& now : new_homes[i].attention->head_slices()) {
        if (old.role != now.role || old.owner_text() != now.owner_text()) continue;
        const std::string name = full_name(old_homes[i], old.name);
        move_part(source.at(name).value(), old,
                  values_of(target.at(full_name(new_homes[i], now.name))), now);
        moved.insert(name);
      }
    }
    //! skeleton
    // for (const HeadSlice& old : old_homes[i].attention->head_slices()) {
    //   const HeadSlice now = chapter::todo("the slice of the same role and head in the other");
    //   const std::string name = full_name(old_homes[i], old.name);
    //   move_part(source.at(name).value(), old,
    //             values_of(target.at(full_name(new_homes[i], now.name))), now);
    //   moved.insert(name);
    // }
    //! mistake by_list: the slices were matched by their position in the lists; role and head say
    //!   which ones belong together
    // const std::vector<HeadSlice> all_old = old_homes[i].attention->head_slices();
    // const std::vector<HeadSlice> all_now = new_homes[i].attention->head_slices();
    // for (std::size_t j = 0; j < all_old.size(); ++j) {
    //   const std::string name = full_name(old_homes[i], all_old[j].name);
    //   move_part(source.at(name).value(), all_old[j],
    //             values_of(target.at(full_name(new_homes[i], all_now[j].name))), all_now[j]);
    //   moved.insert(name);
    // }
    //! mistake by_role: every head has the parameters of head 3
    //- if (old.role != now.role || old.owner_text() != now.owner_text()) continue;
    //+ if (old.role != now.role) continue;
    //! wrong by_position: wrong after head 1 was removed
    // const auto count = Index(old_homes[i].attention->alive().size());
    // for (Index head = HeadSlice::of_none; head < count; ++head) {
    //   for (const HeadSlice& old : old_homes[i].attention->head_slices()) {
    //     for (const HeadSlice& now : new_homes[i].attention->head_slices()) {
    //       if (old.role != now.role || old.head != head || now.head != head) continue;
    //       const std::string name = full_name(old_homes[i], old.name);
    //       move_part(source.at(name).value(), old,
    //                 values_of(target.at(full_name(new_homes[i], now.name))), now);
    //       moved.insert(name);
    //     }
    //   }
    // }
    //! end
  }
  for (const auto& [name, tensor] : source) {
    if (moved.contains(name)) continue;
    //! solution
    Array& values = values_of(target.at(name));
    std::copy_n(tensor.value().data(), values.size(), values.data());
    //! skeleton
    // throw chapter::NotImplemented{"a parameter that no head owns: copy all of it"};
    //! wrong heads_only: embeddings, norms and feed-forward layers stayed behind
    //! wrong shares: now share their elements
    // target.at(name).edit_value() = tensor.value();
    //! end
  }
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
