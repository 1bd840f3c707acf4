// Byte pair encoding of bytes: the pair of neighbours that comes first in the list of merges
// becomes one token, until no pair is in the list.
#include "headroom_foreign/tokenizers/byte_bpe.hpp"

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <queue>

#include "headroom/base/at.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/utf8.hpp"
#include "tokenizers/unicode.hpp"
#include "tokenizers/word_cache.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

// The character that a vocabulary writes for each byte: the byte itself where that is printable in
// Latin-1, and for the others, in their order, the characters from U+0100.
std::array<char32_t, 256> byte_characters() {
  std::array<char32_t, 256> characters;
  char32_t next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const bool printable = (byte > ' ' && byte < 0x7F) || (byte > 0xA0 && byte != 0xAD);
    characters[byte] = printable ? byte : next++;
  }
  return characters;
}

// The bytes that a token stands for. A token with other characters than those of bytes was added by
// hand and stands for itself.
std::string bytes_of_token(std::string_view token) {
  static const std::array<char32_t, 256> characters = byte_characters();
  static const auto byte_of = [] {
    std::unordered_map<char32_t, char> bytes;
    for (unsigned byte = 0; byte < 256; ++byte) bytes[characters[byte]] = static_cast<char>(byte);
    return bytes;
  }();
  std::string result;
  for (std::size_t at = 0; at < token.size();) {
    const auto [c, bytes] = code_point_at(token, at);
    const auto found = byte_of.find(c);
    if (found == byte_of.end()) return std::string(token);
    result += found->second;
    at += bytes;
  }
  return result;
}

std::uint64_t pair_key(std::int32_t left, std::int32_t right) {
  return std::uint64_t(left) << 32 | std::uint64_t(right);
}

// Merges the tokens of one word after the other. The tokens of a word are a linked list, and all
// pairs that may be merged wait in a heap, so that a word of n bytes takes O(n log n).
class WordMerger {
 public:
  explicit WordMerger(const ByteBpe& bpe) : bpe_(bpe) {}

  /// Adds a token at the end of the word.
  void push_back(std::int32_t id) {
    const Index place = std::ssize(links_);
    links_.push_back({id, place - 1, place + 1});
  }

  /// Merges the word and appends its tokens; the next word begins empty.
  void append_merged(Tokens& ids) {
    for (Index left = 0; left + 1 < std::ssize(links_); ++left) propose(left);
    while (!proposals_.empty()) {
      const Proposal first = proposals_.top();
      proposals_.pop();
      if (still_stands(first)) merge(first);
    }
    for (Index i = 0; i < std::ssize(links_); i = at(links_, i).next) {
      ids.push_back(at(links_, i).id);
    }
    links_.clear();
  }

 private:
  static constexpr std::int32_t gone = -1;
  struct Link {
    std::int32_t id;       // `gone` once it is a part of the token before it
    Index previous, next;  // -1 and the number of links at the ends
  };
  // To merge the token at `left` with its right neighbour. The lowest rank comes first, and of
  // equal ranks the leftmost pair.
  struct Proposal {
    std::int32_t rank;
    Index left;
    std::int32_t merged;
    auto operator<=>(const Proposal&) const = default;
  };

  const ByteBpe::Merge* merge_at(Index left) const {
    const Link& link = at(links_, left);
    if (link.id == gone || link.next == std::ssize(links_)) return nullptr;
    return bpe_.merge_of(link.id, at(links_, link.next).id);
  }

  void propose(Index left) {
    const ByteBpe::Merge* found = merge_at(left);
    if (found != nullptr) proposals_.push({found->rank, left, found->merged});
  }

  // Other merges may have taken one of the two tokens since the proposal was made.
  bool still_stands(const Proposal& proposal) const {
    const ByteBpe::Merge* now = merge_at(proposal.left);
    return now != nullptr && now->merged == proposal.merged;
  }

  void merge(const Proposal& proposal) {
    Link& left = at(links_, proposal.left);
    Link& right = at(links_, left.next);
    left.id = proposal.merged;
    right.id = gone;
    left.next = right.next;
    if (left.next < std::ssize(links_)) at(links_, left.next).previous = proposal.left;
    if (left.previous >= 0) propose(left.previous);
    propose(proposal.left);
  }

  const ByteBpe& bpe_;
  std::vector<Link> links_;
  std::priority_queue<Proposal, std::vector<Proposal>, std::greater<>> proposals_;
};

}  // namespace

std::size_t ByteBpe::PairHash::operator()(std::uint64_t pair) const {
  pair *= 0x9E3779B97F4A7C15U;  // 2^64 over the golden ratio spreads neighbours
  return pair ^ pair >> 32;
}

ByteBpe::ByteBpe(TokenizerParts parts, const std::vector<MergedPair>& merges, bool space_before,
                 const std::string& origin)
    : ForeignTokenizer(std::move(parts)),
      space_before_(space_before),
      cache_(std::make_unique<WordCache>()) {
  const auto characters = byte_characters();
  for (unsigned byte = 0; byte < 256; ++byte) {
    std::string character;
    append_utf8(characters[byte], character);
    const auto id = table().find(character);
    if (!id) {
      throw FileError(fmt::format("{}: the vocabulary lacks \"{}\", which is byte {}", origin,
                                  character, byte));
    }
    byte_ids_[byte] = *id;
  }
  for (const MergedPair& pair : merges) {
    const std::string &left = pair.first, &right = pair.second;
    const auto id_of = [&](const std::string& token) {
      if (const auto id = table().find(token)) return *id;
      throw FileError(fmt::format("{}: merge {}, \"{} {}\": the vocabulary has no \"{}\"", origin,
                                  merges_.size() + 1, printable(left), printable(right),
                                  printable(token)));
    };
    const auto rank = static_cast<std::int32_t>(merges_.size());
    const Merge merge = {rank, id_of(left + right)};
    if (!merges_.emplace(pair_key(id_of(left), id_of(right)), merge).second) {
      throw FileError(fmt::format("{}: merge {}, \"{} {}\", occurs twice", origin, rank + 1,
                                  printable(left), printable(right)));
    }
  }
}

ByteBpe::~ByteBpe() = default;

const ByteBpe::Merge* ByteBpe::merge_of(std::int32_t left, std::int32_t right) const {
  const auto found = merges_.find(pair_key(left, right));
  return found == merges_.end() ? nullptr : &found->second;
}

void ByteBpe::append_ids(std::string_view text, Tokens& ids) const {
  std::string with_space;
  if (space_before_ && !text.starts_with(' ')) {
    with_space.append(" ").append(text);
    text = with_space;
  }
  WordMerger merger(*this);
  const auto append_word = [&](std::string_view word, Tokens& into) {
    for (const char byte : word) merger.push_back(byte_ids_[static_cast<unsigned char>(byte)]);
    merger.append_merged(into);
  };
  WordCache::Use cache(*cache_);
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end) {
    end = gpt2_word_end(text, begin);
    cache.append_ids(text.substr(begin, end - begin), ids, append_word);
  }
}

std::string ByteBpe::joined(const std::vector<std::string_view>& tokens) const {
  std::string bytes;
  for (const std::string_view token : tokens) bytes += bytes_of_token(token);
  return repaired_utf8(bytes);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
