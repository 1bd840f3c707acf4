// Exporting a model as PyTorch: its state dict, and the program that it belongs to.
#pragma once

#include <filesystem>
#include <vector>

#include "headroom/train/checkpoint.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Writes a model, pruned or not, into a folder and returns the files: model.safetensors, the state
/// dict in this build's precision; model.json, the configuration, the live heads of each attention
/// and the task with its vocabularies; model.py, the model in PyTorch, `load(folder)` of which
/// reads both. Attentions of all layouts have the parameters of torch.nn.MultiheadAttention, of the
/// live heads only. Throws FileError, and UsageError for attentions of another program's layout.
std::vector<std::filesystem::path> export_torch(const SavedModel& saved,
                                                const std::filesystem::path& folder);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
