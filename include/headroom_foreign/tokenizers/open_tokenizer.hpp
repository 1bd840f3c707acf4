// open_tokenizer(): the tokenizer in a folder of a model.
#pragma once

#include <filesystem>
#include <memory>

#include "headroom_foreign/tokenizers/foreign_tokenizer.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Reads the tokenizer that Hugging Face Transformers and its relatives keep beside a model: the
/// first of source.spm with target.spm and vocab.json (Marian), tokenizer.json, vocab.txt
/// (WordPiece), vocab.json with merges.txt (ByteBpe) that the folder has. tokenizer_config.json and
/// special_tokens_map.json say which tokens have which role. Truncation and padding are left to the
/// caller. Throws FileError, naming the file and what is wrong, for files that are broken and for
/// tokenizers that headroom does not compute.
std::unique_ptr<ForeignTokenizer> open_tokenizer(const std::filesystem::path& folder);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
