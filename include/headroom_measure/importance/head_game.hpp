// HeadGame: the loss of a model as a function of the set of heads that are present.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "headroom/base/at.hpp"
#include "headroom/train/learner.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A set of at most 1,024 players, which are numbered from 0: a bit for each.
class HeadSet {
 public:
  static constexpr Index most = 1024;
  HeadSet() = default;
  /// The players 0 to count - 1.
  static HeadSet all(Index count);
  /// The first 64 players in the bits of a word, and the other way round; of games so small that
  /// all subsets can be numbered.
  static HeadSet of_bits(std::uint64_t bits);
  std::uint64_t bits() const { return words_[0]; }

  bool contains(Index player) const { return (word_of(player) & bit_of(player)) != 0; }
  /// The set with one more player, or with one less.
  HeadSet with(Index player) const;
  HeadSet without(Index player) const;  ///< See with().
  /// The players of both sets.
  HeadSet operator&(const HeadSet& other) const;
  /// An order of sets, which is that of the bits of small games.
  auto operator<=>(const HeadSet&) const = default;

 private:
  static constexpr Index in_word = 64;
  static std::uint64_t bit_of(Index player) { return std::uint64_t{1} << (player % in_word); }
  std::uint64_t word_of(Index player) const { return at(words_, player / in_word); }

  std::array<std::uint64_t, std::size_t(most / in_word)> words_{};
};

/// The mean of each subset's losses, which are summed in their order: v(S) from the losses of the
/// examples.
std::vector<double> mean_losses(std::span<const std::vector<double>> losses);

/// v(S): the mean loss of the examples of a set when the gates of the heads in S are 1 and those of
/// the other players 0. Heads that do not play keep gate 1. The model is in evaluation mode and
/// nothing is put on the tape. Learner and model must outlive the game, and the model must not
/// change: a value is computed once and remembered.
class HeadGame {
 public:
  /// Players: the given live heads, by default all. Throws UsageError for more than 1,024, for
  /// none, and for a head that is not alive.
  HeadGame(Learner& learner, ExampleSet set, Index most, std::vector<HeadId> players = {});

  const std::vector<HeadId>& players() const { return players_; }
  Index size() const { return std::ssize(players_); }
  HeadSet all() const { return HeadSet::all(size()); }
  /// The players that are left without these heads.
  HeadSet all_but(std::span<const HeadId> removed) const;
  Learner& learner() const { return *learner_; }
  Module& model() const { return learner_->model(); }
  /// The examples: at most `most()` of this set.
  ExampleSet set() const { return set_; }
  Index most() const { return most_; }

  /// v(S) of each subset: one pass over the examples for each that was not asked for before. It is
  /// faster to ask for many at once, because they share forward passes. The bits of a value depend
  /// neither on the subsets that are asked for with it nor on the number of threads: the losses of
  /// the examples are summed in double, in the order of Learner::visit().
  std::vector<double> values(std::span<const HeadSet> subsets);
  double value(HeadSet subset) { return values(std::span(&subset, 1))[0]; }
  /// Is told the share of the work that is done.
  using Progress = std::function<void(double share)>;
  /// The losses of the examples for each subset, in the order of Learner::visit(). They are
  /// computed each time; only the values are remembered.
  std::vector<std::vector<double>> example_losses(std::span<const HeadSet> subsets,
                                                  const Progress& progress = {});
  std::vector<double> example_losses(HeadSet subset) {
    return example_losses(std::span(&subset, 1))[0];
  }
  /// The number of examples.
  Index examples();

  /// For each subset, the mean over the examples of the sum over their labels of KL(p_all, p_S),
  /// the divergence of the predicted distributions from those with all players: one pass for each.
  std::vector<double> divergences(std::span<const HeadSet> subsets);
  /// For each subset, the mean over the examples of the sum over their labels of the entropy of the
  /// predicted distribution, in nats: one pass for each.
  std::vector<double> entropies(std::span<const HeadSet> subsets);

  /// For each subset, the mean over the examples of the sum over their labels of the label's logit,
  /// less the mean of the logits, which softmax ignores: one pass for each.
  std::vector<double> correct_logits(std::span<const HeadSet> subsets);

  /// The gate of a player in the forward pass of one example; examples are numbered in the order of
  /// Learner::visit().
  using GateOf = std::function<double(Index example, Index player)>;
  /// dL(x)/dg_h at these gates, [examples][players], by one forward and backward pass. Gradients of
  /// parameters are left as zero_grad() leaves them.
  std::vector<std::vector<double>> example_gradients(const GateOf& gate);
  /// dL/dg of the mean loss, when the players have these gates in every example; remembered, like
  /// values. Throws UsageError unless there is one gate for each player.
  std::vector<double> gradient(std::span<const double> gates);
  /// Passes over the examples so far: forward, and forward and backward.
  Index passes() const { return passes_; }
  Index gradient_passes() const { return gradient_passes_; }

 private:
  std::map<AttentionLocation, Tensor> gates_of(HeadSet subset) const;
  /// The mean over the examples of the sum of term(log p_all, log p_S) over the classes of their
  /// labels.
  std::vector<double> prediction_sums(std::span<const HeadSet> subsets,
                                      const std::function<double(double, double)>& term);

  Learner* learner_;
  ExampleSet set_;
  Index most_;
  std::vector<HeadId> players_;
  std::map<HeadSet, double> known_;                                     // values of subsets
  std::map<std::vector<double>, std::vector<double>> known_gradients_;  // by the gates
  Index passes_ = 0, gradient_passes_ = 0;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
