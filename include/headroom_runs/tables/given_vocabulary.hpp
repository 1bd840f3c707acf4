// The vocabulary of a trained model for data that it was not trained on.
#pragma once

#include <string>

#include "headroom/data/task.hpp"
#include "headroom/train/checkpoint.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// What a trained model reads and predicts, as config.json keeps it: "kind" and, of an
/// encoder-decoder, "source" and "target"; of a classifier, "tokens" and "classes"; of a language
/// model, "tokens". Throws FileError.
Record vocabulary_of(const SavedModel& saved);

/// The task with the numbers of tokens and classes that they have in `vocabulary`. Tokens that it
/// lacks become <unk>. Throws UsageError for a task of another kind; DataError for a class, for
/// tokens of another kind (characters, words), and for a token where there is no <unk>, if the
/// vocabulary lacks it; FileError naming `origin` for a malformed record.
Task in_vocabulary(Task task, const Record& vocabulary, const std::string& origin);

/// The text of tokens with "<unk>" where a symbol is unknown, which Vocabulary::decode() leaves
/// out.
std::string text_with_unknown(const Vocabulary& vocabulary, const Tokens& tokens);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
