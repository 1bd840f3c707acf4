// The learner of a model of a folder.
#pragma once

#include <functional>
#include <memory>

#include "headroom_foreign/learning/folder_task.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Makes a Learner of a model and its examples. Of the options it takes batch_size, accumulate,
/// seed, label_smoothing and quick. `original` makes the model as it is in its folder, which `keep`
/// compares with; it is called once, when it is first needed. Throws UsageError for a model of
/// another kind than the objective's, and for a task without examples for training when a batch is
/// drawn.
std::unique_ptr<Learner> make_folder_learner(
    FolderTask task, std::unique_ptr<Module> model, const LearnerOptions& options,
    std::function<std::unique_ptr<Module>()> original = {});

/// Embeddings of texts, [B, C], of length 1: the mean of the hidden states [B, T, C] of the first
/// `lengths` [B] positions, divided by its norm (Reimers and Gurevych 2019, section 3).
Tensor text_embeddings(const Tensor& hidden, const Ids& lengths);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
