// `headroom inspect` of a model folder of Hugging Face Transformers.
#pragma once

#include <filesystem>

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Prints what the folder's config.json and the headers of its tensors say, or one JSON object. No
/// tensor is read. Throws FileError for a folder that cannot be read as a model.
void inspect_folder(const std::filesystem::path& folder, bool json);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
