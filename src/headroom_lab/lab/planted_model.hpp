// Models in which some heads have weights written by hand for a role, mixed with random ones, among
// heads with random weights. Private.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "headroom/base/rng.hpp"
#include "headroom/nn/fused_heads.hpp"
#include "lab/fixed_examples.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The tasks that the planted heads solve. D is the number of letters and of positions.
///   previous_token   the letter before each position
///   induction        the letter that followed the only earlier occurrence of this one
///   bracket_partner  at each closing bracket, the letter at its opening one
///   copying          the source's letter at each position, by an encoder and a cross-attention
enum class PlantedTask { previous_token, induction, bracket_partner, copying };
inline constexpr PlantedTask planted_tasks[] = {PlantedTask::previous_token, PlantedTask::induction,
                                                PlantedTask::bracket_partner, PlantedTask::copying};
const char* name_of(PlantedTask task);

/// A head with a role.
struct PlantedHead {
  std::string role;  // "previous token"
  HeadId head;
  double strength;  // the share of the hand-written weights, in [0, 1]
};

/// Examples of a task. The features of a token are four parts of D numbers each: its letter, its
/// position, brackets or the letter before, and the answer, which is empty at first.
struct PlantedExamples {
  Array x;       // [B, D, C]: the tokens that have labels
  Array memory;  // [B, D, C]: the source; undefined without an encoder
  Ids labels;    // [B, D]: a letter or ignored_label
  /// For each planted head [B D]: the key that a query with a label must attend to; in the other
  /// queries -1.
  std::vector<std::vector<Index>> keys;
};

/// Draws examples with the features of a width of at least 4 `letters`; each has a label at least.
PlantedExamples draw_examples(PlantedTask task, Index count, Index letters, Index width, Rng& rng);

/// A residual stream with two attentions and nothing else: two causal ones, or an encoder's and a
/// cross-attention. A planted head has W = s R + sqrt(1 - s^2) N for each of W_Q, W_K, W_V, W_O,
/// scaled to the Frobenius norm of R. R copies parts of the stream (0 except one element in each
/// row or column), N is normal with the norm of R, and the strength s is drawn for each head,
/// uniform in [0.3, 0.9], or in [0.6, 1] for induction, whose two heads need each other. Layer and
/// index are drawn, too. All other heads are noise: normal, with the planted heads' norms. The
/// logits are the answer part times a constant.
class PlantedModel : public Module {
 public:
  /// Width at least 4 D, D = width / heads, at least 4.
  PlantedModel(PlantedTask task, Index width, Index heads, Rng& rng);
  /// Logits [B, D, D].
  Tensor operator()(const PlantedExamples& examples, HeadProbe* probe = nullptr) const;
  /// In the order of PlantedExamples::keys.
  const std::vector<PlantedHead>& planted() const { return planted_; }
  void members(Members& visit) override;
  std::string title() const override { return "PlantedModel"; }

 private:
  Index letters_;
  std::vector<std::unique_ptr<FusedHeads>> attentions_;  // two, in the order of the forward pass
  std::vector<PlantedHead> planted_;
};

/// The examples of a planted model; the loss is the sum of the cross-entropies of the labels.
class PlantedLearner : public FixedExamples {
 public:
  /// The model must outlive it.
  PlantedLearner(PlantedModel& model, PlantedExamples examples)
      : FixedExamples(model), model_(&model), examples_(std::move(examples)) {}
  const PlantedExamples& examples() const { return examples_; }

 private:
  ProbedBatch batch() override { return batch_of(examples_); }
  ProbedBatch batch_of(const PlantedExamples& examples) const;

  PlantedModel* model_;
  PlantedExamples examples_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
