// Heads between model, optimizer and stash.
#include "headroom/surgery/regrowth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "headroom/algebra/algebra.hpp"
#include "headroom/base/error.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

NamedAttention attention_of(Module& model, const HeadId& head) {
  return attention_at(model, {head.kind, head.layer}, "regrowth");
}

/// Calls visit(slice, full name of its parameter) for each slice of a live head.
void for_each_slice(Module& model, const HeadId& head,
                    const std::function<void(const HeadSlice&, const std::string&)>& visit) {
  const NamedAttention found = attention_of(model, head);
  for (const HeadSlice& part : found.attention->head_slices()) {
    if (!part.belongs_to(head.head)) continue;
    visit(part, found.full_name(part.name));
  }
}

/// The memory of one slice of a parameter.
OptimizerState part_of(const OptimizerState& whole, const HeadSlice& part) {
  OptimizerState some;
  some.axis = part.axis;
  if (whole.first.defined()) some.first = slice(whole.first, part);
  if (whole.second.defined()) some.second = slice(whole.second, part);
  some.steps.assign(whole.steps.begin() + part.begin, whole.steps.begin() + part.end);
  return some;
}

void put_block(Array& whole, const AxisRange& range, const Array& block) {
  const Real* from = block.data();
  for_each_run(whole.shape(), range, [&](Index first, Index count) {
    std::copy_n(from, count, whole.data() + first);
    from += count;
  });
}

/// The inverse of part_of(). Throws UsageError when the two keep different moments.
void restore(OptimizerState& whole, const HeadSlice& part, const OptimizerState& some,
             const std::string& name) {
  for (const auto moment : {&OptimizerState::first, &OptimizerState::second}) {
    const Array &from = some.*moment, &to = whole.*moment;
    if (from.defined() != to.defined() ||
        (to.defined() && !(from.shape() == to.shape().with(part.axis, part.length())))) {
      throw UsageError(fmt::format(
          "regrow: the stash has other moments of {} than this optimizer keeps; without moments "
          "the head starts at step 0",
          name));
    }
    if (to.defined()) put_block(whole.*moment, part, from);
  }
  if (std::ssize(some.steps) != part.length()) {
    throw UsageError(fmt::format("regrow: the stash has {} step counts for {} indices of {}",
                                 some.steps.size(), part.length(), name));
  }
  std::copy(some.steps.begin(), some.steps.end(), whole.steps.begin() + part.begin);
}

/// Restores the moments of the slices that came back from this stash; `back` are the heads of the
/// same attention that did. A group came back from its first head, if it was gone.
void restore_moments(Optimizer& optimizer, const HeadStash& stash, std::span<const Index> back) {
  if (stash.moments.empty()) return;
  for_each_slice(optimizer.model(), stash.share.head,
                 [&](const HeadSlice& part, const std::string& name) {
                   if (part.owners().front() != stash.share.head.head || !part.leaves_with(back)) {
                     return;
                   }
                   const auto found = stash.moments.find(part.part());
                   if (found == stash.moments.end()) {
                     throw UsageError(fmt::format("regrow: the stash has no moments of {}", name));
                   }
                   restore(optimizer.state(name), part, found->second, name);
                 });
}

std::vector<HeadStash> stashes_of(const Optimizer& optimizer, std::span<const HeadId> heads) {
  std::vector<HeadStash> stashes;
  for (const HeadId& head : heads) stashes.push_back(stash(optimizer, head));
  return stashes;
}

}  // namespace

HeadStash stash(const Optimizer& optimizer, const HeadId& head) {
  HeadStash result{share_of(attention_of(optimizer.model(), head), head.head)};
  result.share.gradient.clear();
  for_each_slice(optimizer.model(), head, [&](const HeadSlice& part, const std::string& name) {
    result.moments[part.part()] = part_of(optimizer.state(name), part);
  });
  return result;
}

std::vector<HeadStash> cut(Optimizer& optimizer, std::span<const HeadId> heads) {
  std::vector<HeadStash> removed = stashes_of(optimizer, heads);
  optimizer.apply(prune(optimizer.model(), heads));
  return removed;
}

void regrow(Optimizer& optimizer, std::span<const HeadStash> heads) {
  std::vector<HeadShare> shares;
  std::vector<HeadId> ids;
  std::map<AttentionLocation, std::vector<Index>> back;
  for (const HeadStash& stash : heads) {
    const HeadId& head = ids.emplace_back(stash.share.head);
    shares.push_back(stash.share);
    back[{head.kind, head.layer}].push_back(head.head);
  }
  Module& model = optimizer.model();
  const std::vector<ParameterEdit> edits = regrow(model, shares);
  bool applied = false;
  try {
    optimizer.apply(edits);
    applied = true;
    for (const HeadStash& stash : heads) {
      const HeadId& head = stash.share.head;
      restore_moments(optimizer, stash, back.at({head.kind, head.layer}));
    }
  } catch (...) {
    const std::vector<ParameterEdit> undo = prune(model, ids);
    if (applied) optimizer.apply(undo);
    throw;
  }
}

std::vector<HeadStash> swap_heads(Optimizer& optimizer, std::span<const HeadId> out,
                                  std::span<const HeadStash> in) {
  std::vector<HeadStash> removed = stashes_of(optimizer, out);
  regrow(optimizer, in);
  optimizer.apply(prune(optimizer.model(), out));
  return removed;
}

HeadStash fresh_head(Module& model, const HeadId& head, std::uint64_t seed, Index step) {
  const Attention& old = *attention_of(model, head).attention;
  if (head.head < 0 || head.head >= old.config().heads) {
    throw UsageError(fmt::format("fresh_head: {} has {} heads and no head {}",
                                 old.location().text(), old.config().heads, head.head));
  }
  Rng rng(seed, "regrow " + head.text(), static_cast<std::uint64_t>(step));
  const std::unique_ptr<Attention> drawn = make_attention(old.layout(), old.config(), rng);
  drawn->set_location(old.location());
  HeadStash result{share_of({"", drawn.get()}, head.head)};
  const auto output = result.share.value.find(HeadRole::output);
  if (output == result.share.value.end()) {
    throw UsageError(fmt::format("fresh_head: a head of {} has no W_O", old.title()));
  }
  output->second = zeros(output->second.shape());
  return result;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
