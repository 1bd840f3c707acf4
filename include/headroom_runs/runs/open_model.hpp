// open_model(): a trained model with what turns texts into its tokens, wherever it comes from.
#pragma once

#include <filesystem>

#include "headroom/nn/decoding.hpp"
#include "headroom/train/checkpoint.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Opens the folder of a run, a checkpoint, or a model folder of Transformers. Of the last,
/// `about` has the "name" and the "kind" of the model, the "folder", the "architecture" and, of a
/// classifier, the "classes"; `tokenizers` are those of the folder. A run that was trained from
/// such a folder has the member "folder", too, and gets the same tokenizers. Throws FileError, also
/// for a tokenizer with more tokens than the model; one line with the remedy if that folder is
/// gone.
SavedModel open_model(const std::filesystem::path& path);

/// Where outputs begin and end: those of an encoder-decoder, and continuations of a language model
/// that was opened from a model folder, or trained from one. Another language model has no end.
/// Throws FileError.
DecodingLimits limits_of(const SavedModel& saved);

/// Throws UsageError, naming what such models cannot do, for an architecture of Transformers
/// without outputs: BertModel and GPT2Model.
void require_outputs(const SavedModel& saved);
/// Whether it is one.
bool has_outputs(const SavedModel& saved);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
