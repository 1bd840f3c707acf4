// Marian's tokenizer: the pieces of SentencePiece, with the ids of vocab.json.
#include "headroom_foreign/tokenizers/sentence_piece.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "headroom/base/error.hpp"
#include "headroom/base/require.hpp"
#include "headroom/io/atomic_file.hpp"
#include "tokenizers/sentence_piece_maps.hpp"
#include "tokenizers/unicode.hpp"
#ifdef HEADROOM_HAS_SENTENCEPIECE
#include <sentencepiece_processor.h>
#endif

namespace headroom {
inline namespace HEADROOM_PRECISION {

#ifdef HEADROOM_HAS_SENTENCEPIECE

namespace {

constexpr std::string_view space_mark = "\u2581";  // what SentencePiece writes for a space
constexpr Index largest_model = 100'000'000;       // bytes

// The spaces of Python's strip(), which has four control characters among them.
bool is_python_space(char32_t c) { return is_space(c) || (c >= 0x1C && c <= 0x1F); }

std::string_view stripped(std::string_view text) {
  std::size_t begin = text.size(), end = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto [c, bytes] = code_point_at(text, at);
    if (!is_python_space(c)) {
      begin = std::min(begin, at);
      end = at + bytes;
    }
    at += bytes;
  }
  return end == 0 ? "" : text.substr(begin, end - begin);
}

}  // namespace

struct SentencePieceTokenizer::Models {
  sentencepiece::SentencePieceProcessor source, target;
};

namespace {

void load(sentencepiece::SentencePieceProcessor& model, const std::filesystem::path& path) {
  const std::string bytes = read_file(path, largest_model);
  check_character_maps(bytes, path.string());
  bool read = false;
  try {
    read = model.LoadFromSerializedProto(bytes).ok();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {  // of its trie of pieces: an empty one, for example
  }
  if (!read) {
    throw FileError(fmt::format("{}: this is not a model of SentencePiece", path.string()));
  }
}

std::vector<std::string> pieces_of(const sentencepiece::SentencePieceProcessor& model,
                                   std::string_view text) {
  std::vector<std::string> pieces;
  const auto status = model.Encode({text.data(), text.size()}, &pieces);
  if (!status.ok()) throw DataError(fmt::format("SentencePiece: {}", status.message()));
  return pieces;
}

std::string text_of(const sentencepiece::SentencePieceProcessor& model,
                    const std::vector<std::string>& pieces) {
  std::string text;
  const auto status = model.Decode(pieces, &text);
  if (!status.ok()) throw DataError(fmt::format("SentencePiece: {}", status.message()));
  return text;
}

// The pieces of a text, which may begin with a language.
std::vector<std::string> marian_pieces(const sentencepiece::SentencePieceProcessor& model,
                                       std::string_view text) {
  const std::size_t end = text.starts_with(">>") ? text.find("<<") : text.npos;
  if (end == text.npos) return pieces_of(model, text);
  std::vector<std::string> pieces = pieces_of(model, text.substr(end + 2));
  pieces.insert(pieces.begin(), std::string(text.substr(0, end + 2)));
  return pieces;
}

}  // namespace

SentencePieceTokenizer::SentencePieceTokenizer(TokenizerParts parts,
                                               const std::filesystem::path& source_model,
                                               const std::filesystem::path& target_model)
    : ForeignTokenizer(std::move(parts)), models_(std::make_unique<Models>()) {
  require(special_ids().unk.has_value(), "SentencePiece: no token is for unknown pieces");
  load(models_->source, source_model);
  load(models_->target, target_model);
}

void SentencePieceTokenizer::append_ids(std::string_view text, Tokens& ids) const {
  append_pieces(marian_pieces(models_->source, text), ids);
}

Tokens SentencePieceTokenizer::encode_target(std::string_view text) const {
  check_utf8(text);
  Tokens ids;
  append_pieces(marian_pieces(models_->target, text), ids);
  return ids;
}

void SentencePieceTokenizer::append_pieces(const std::vector<std::string>& pieces,
                                           Tokens& ids) const {
  for (const std::string& piece : pieces) {
    // SentencePiece keeps text that it does not know as a piece, which can spell </s>.
    const auto id = table().find(piece);
    ids.push_back(id && !is_special(*id) ? *id : *special_ids().unk);
  }
}

std::string SentencePieceTokenizer::joined(const std::vector<std::string_view>& tokens) const {
  const std::string text = text_of(models_->target, {tokens.begin(), tokens.end()});
  return std::string(stripped(replaced(repaired_utf8(text), space_mark, " ")));
}

#else

struct SentencePieceTokenizer::Models {};

SentencePieceTokenizer::SentencePieceTokenizer(TokenizerParts parts, const std::filesystem::path&,
                                               const std::filesystem::path&)
    : ForeignTokenizer(std::move(parts)) {
  throw UsageError(
      "this headroom was built without SentencePiece: install libsentencepiece-dev and build it "
      "again");
}

void SentencePieceTokenizer::append_ids(std::string_view, Tokens&) const {}
void SentencePieceTokenizer::append_pieces(const std::vector<std::string>&, Tokens&) const {}
Tokens SentencePieceTokenizer::encode_target(std::string_view) const { return {}; }
std::string SentencePieceTokenizer::joined(const std::vector<std::string_view>&) const {
  return {};
}

#endif

SentencePieceTokenizer::~SentencePieceTokenizer() = default;

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
