// TaskCheck: whether a model has learned its task at all. Importance of heads, regrets and
// comparisons of pruned models mean nothing where it has not.
#pragma once

#include <optional>
#include <string>

#include "headroom/io/fields.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

class Learner;

/// A model against the best constant answer, on the same examples.
struct TaskCheck {
  std::string measure{};           // "accuracy", "exact match", or "loss" in nats per example
  Index examples = 0;              // of the test set
  double model = 0, constant = 0;  // the measure of the model, and of the best constant answer
  std::optional<double> p{};       // see check_task(); none where the differences do not vary
  bool learned = false;            // the model is clearly better
  bool operator==(const TaskCheck&) const = default;

  using T = TaskCheck;
  using Fields = Listed<&T::measure, &T::examples, &T::model, &T::constant, &T::p, &T::learned>;

  /// "accuracy 51.4 %, best constant answer 50.3 %"
  std::string text() const;
  /// "The model has not learned the task: its accuracy of 51.4 % is not clearly better than the
  /// 50.3 % of the best constant answer (1,000 test examples)"; "may not have learned" if it is
  /// better on fewer than 30 examples, or compared by loss on so few. Empty if it has learned it.
  /// `name` is the model in words.
  std::string warning(const std::string& name = "The model") const;
};

/// Compares a model with the best answer that does not depend on the input, on at most `most`
/// examples of the test set. Neither training nor the choice of a checkpoint has seen them, except
/// those of a text: its test set is its validation part.
///
/// * A classifier (one label for each example) is compared by accuracy with the most frequent
///   class of these examples.
/// * An encoder-decoder is compared by exact match with the most frequent answer. Its answer is
///   right if every token of the first accepted answer is the most likely one after those before
///   it, and none is unknown: greedy decoding then writes this answer. A model that ignores its
///   input has one answer for all, however small its loss is.
/// * Any other model, such as one of a text, is compared by the loss of an example with the
///   distribution that gives every token its share of these examples' labels: no constant
///   prediction has a smaller loss on them. This is a weak test: a model that sees only the last
///   token passes it, without any use of attention.
///
/// The model has learned the task if the one-sided 95 % t-interval of the mean difference over the
/// examples is above 0; that is, if p of the one-sided t-test of "it is not better" is below 0.05.
/// A difference within rounding does not count. Throws what Learner::visit() throws.
TaskCheck check_task(Learner& learner, Index most = 1000);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
