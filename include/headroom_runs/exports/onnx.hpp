// Exporting a model as ONNX, for runtimes that know nothing of headroom.
#pragma once

#include <filesystem>
#include <vector>

#include "headroom/train/checkpoint.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Writes a model, pruned or not, as ONNX (opset 17, single precision) into a folder and returns
/// the files. Sizes of batch and time are free; T is at most the model's longest length. Ids and
/// lengths are INT64, all else is FLOAT.
///
/// * encoder-decoder: encoder.onnx (source [B, Ts], source_lengths [B] -> memory [B, Ts, C]) and
///   decoder.onnx (target [B, Tt], memory, source_lengths -> logits [B, Tt, V])
/// * language model: model.onnx (ids [B, T] -> logits [B, T, V])
/// * classifier: model.onnx (ids [B, T], lengths [B] -> logits [B, classes])
///
/// Each file's metadata has `headroom.config`, `headroom.removed` and `headroom.task`: JSON of the
/// configuration, of the removed heads and of the task with its vocabularies. Removed heads are not
/// in the matrices. Throws FileError, and UsageError for attentions of another program's layout.
std::vector<std::filesystem::path> export_onnx(const SavedModel& saved,
                                               const std::filesystem::path& folder);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
