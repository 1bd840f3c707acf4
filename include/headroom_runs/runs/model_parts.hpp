// Parts of a model that are trained in another way than the rest.
#pragma once

#include <string>
#include <vector>

#include "headroom/optim/optimizer.hpp"
#include "headroom/train/learner.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Frozen parameters, and learning rates of parameter groups. A part is every parameter whose name
/// contains a text: its name here or, for a model of a folder, its name there.
struct PartRules {
  std::string freeze = {};  // parts that are not trained: "embeddings,encoder.layer.0."
  std::string rates = {};   // factors of the learning rate: "classifier=10,embeddings=0.1"
};

/// Throws UsageError, with the names that `freeze` and `rates` have for the user, unless the texts
/// are lists of that form with positive factors.
void check(const PartRules& rules, const std::string& freeze, const std::string& rates);

/// Throws UsageError for a part that no parameter belongs to (with some names), and if nothing is
/// left to train.
void check(const PartRules& rules, Learner& learner);

/// Takes the frozen parts out of the training, and returns the groups of the parts with their own
/// rates. Throws what check() throws.
std::vector<ParameterGroup> apply_rules(const PartRules& rules, Learner& learner);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
