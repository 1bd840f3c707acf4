// Regrowth: heads that were removed come back, as they were or new, to the model and its optimizer.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "headroom/nn/head_share.hpp"
#include "headroom/optim/optimizer.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A head outside of its model: its parameters and the optimizer's memory of them. Training does
/// not change it: no gradient, momentum or weight decay reaches it.
struct HeadStash {
  HeadShare share;  // values only: a gradient belongs to a batch
  /// Moments and step counts of the parts of `share`. They are of the time when the head was
  /// removed, and come back as they were. Empty: they start at 0.
  std::map<HeadPart, OptimizerState> moments = {};
};

/// Copies a live head of the optimizer's model. Throws UsageError for a head that is not alive.
HeadStash stash(const Optimizer& optimizer, const HeadId& head);

/// Removes heads from the optimizer's model and from its memory, and returns them. Throws
/// UsageError, before anything changes, for a head that is not alive.
std::vector<HeadStash> cut(Optimizer& optimizer, std::span<const HeadId> heads);

/// Brings heads back: the inverse of cut(), to the bit, in parameters, moments and step counts. The
/// other heads keep theirs. Throws what regrow() of a model throws, and UsageError for moments of
/// another kind of optimizer, before anything changes.
void regrow(Optimizer& optimizer, std::span<const HeadStash> heads);

/// Removes heads and brings others back as one event: no step of the optimizer sees only one half.
/// A swap of as many heads keeps the size of the model, as in RigL (Evci et al. 2020), which swaps
/// single weights. What a group of heads shares stays as it is if heads of the group are in both
/// lists. Returns the removed heads. Throws, before anything changes, what cut() and regrow()
/// throw; a head cannot be in both lists.
std::vector<HeadStash> swap_heads(Optimizer& optimizer, std::span<const HeadId> out,
                                  std::span<const HeadStash> in);

/// Writes stashes as a part of a checkpoint, and reads them again.
void save_stashes(StateWriter to, std::span<const HeadStash> heads);
/// Throws FileError for what is missing or malformed. Whether a stash fits a model is for regrow()
/// to say.
std::vector<HeadStash> load_stashes(const StateReader& from);

/// A new head in place of a removed one: W_O^h = 0, so that the model stays the same function, and
/// all other parts as the layout's constructor draws them, from Rng(seed, "regrow HEAD", step). The
/// numbers do not depend on other heads. The gate of such a head has the gradient 0, and so have
/// W_Q, W_K, W_V and the biases in the first step; W_O moves first, and the others follow. Throws
/// UsageError for a head that the model was never built with, and for a layout whose heads have no
/// W_O.
HeadStash fresh_head(Module& model, const HeadId& head, std::uint64_t seed, Index step);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
