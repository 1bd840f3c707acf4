// Special tokens and class labels in the configuration of a model folder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "headroom/nn/decoding.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Where the outputs of a folder's model begin and end: `decoder_start_token_id` (of an
/// encoder-decoder) and `eos_token_id` of generation_config.json, or of config.json where that file
/// or its key is missing. An encoder-decoder never generates its padding, as `bad_words_ids` of
/// Marian's configurations says. Throws FileError for ids outside the vocabulary.
DecodingLimits folder_limits(const std::filesystem::path& folder, const ModelConfig& config);

/// The names of so many classes by `id2label` of config.json: "LABEL_3" for one that it does not
/// name. Throws FileError for a name that is no text, and if `problem_type` says that several
/// outputs are numbers.
std::vector<std::string> folder_classes(const std::filesystem::path& folder, Index classes);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
