// FolderBatch: examples of a FolderTask, padded to arrays.
#pragma once

#include <span>
#include <vector>

#include "headroom/array/array.hpp"
#include "headroom/nn/models.hpp"
#include "headroom_foreign/learning/folder_task.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The arrays that the models read, and what they should predict. Padding has the label -100.
struct FolderBatch {
  Ids ids, lengths;               // [B, T], [B]
  Ids target_in, target_lengths;  // pairs: [B, U], [B]
  Ids labels;                     // text, masked [B, T]; pairs [B, U]; classify, keep [B]
  Array former;                   // keep: the former embeddings of R texts, [R, C]

  /// The batch of these of its examples, in this order.
  FolderBatch picked(std::span<const Index> rows) const;
  /// How many labels count.
  Index label_count() const;
};

/// Pads examples. `round` stands for the masks of `masked`: the same round masks the same tokens of
/// a text. FolderBatch::former stays undefined.
FolderBatch make_folder_batch(const FolderTask& task, std::span<const FolderExample> examples,
                              Index vocabulary, std::uint64_t seed, std::uint64_t round);

/// The logits [..., V] of a batch, on the tape; of `keep`, 20 times the cosines to `former`,
/// [B, R]. The probe is told which queries are padding.
Tensor folder_logits(const Module& model, FolderObjective objective, const FolderBatch& batch,
                     HeadProbe* probe);
/// The loss of each example, [B]; see FolderObjective.
Tensor folder_losses(const Module& model, FolderObjective objective, const FolderBatch& batch,
                     HeadProbe* probe);
/// The embeddings of the texts of a batch, [B, C]; see text_embeddings().
Tensor folder_embeddings(const Module& model, const FolderBatch& batch, HeadProbe* probe);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
