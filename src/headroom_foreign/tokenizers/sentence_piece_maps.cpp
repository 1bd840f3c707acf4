// Checks the maps of characters in a model of SentencePiece.
#include "tokenizers/sentence_piece_maps.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <protozero/pbf_reader.hpp>
#include <string_view>
#include <vector>

#include "headroom/base/error.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

// Numbers of fields in sentencepiece_model.proto.
constexpr std::uint32_t normalizer_spec = 3, denormalizer_spec = 5, charsmap = 2;

std::uint32_t number_at(std::string_view bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    number |= std::uint32_t(static_cast<unsigned char>(bytes[at + i])) << 8 * i;
  }
  return number;
}

/// A map is the size of a trie, the trie, and texts that end with a zero each. The trie is a double
/// array of darts-clone: a unit has the offset of its children, which lie at unit ^ offset ^ byte,
/// and perhaps a value at unit ^ offset, the place of a text.
bool is_closed(std::string_view map) {
  if (map.empty()) return true;
  if (map.size() < 4) return false;
  const std::size_t size = number_at(map, 0);
  map.remove_prefix(4);
  if (size == 0 || size % 4 != 0 || size >= map.size() || map.back() != '\0') return false;
  const std::size_t units = size / 4, texts = map.size() - size;
  constexpr std::uint32_t is_value = 1U << 31, has_value = 1U << 8, far = 1U << 9;
  for (std::size_t i = 0; i < units; ++i) {
    const std::uint32_t unit = number_at(map, 4 * i);
    // No byte leads to a value, but each search begins at the root, whatever that is.
    if (i > 0 && (unit & is_value) != 0) continue;
    const std::size_t first = i ^ (std::size_t(unit >> 10) << ((unit & far) >> 6));
    if ((first | 0xFF) >= units) return false;
    const std::uint32_t value = number_at(map, 4 * first) & ~is_value;
    if ((unit & has_value) != 0 && value >= texts) return false;
  }
  return true;
}

/// All fields of that number in a message that have texts, bytes or messages.
std::vector<std::string_view> fields_of(std::string_view message, std::uint32_t number) {
  std::vector<std::string_view> found;
  protozero::pbf_reader reader(message.data(), message.size());
  while (reader.next()) {
    if (reader.tag() != number ||
        !reader.has_wire_type(protozero::pbf_wire_type::length_delimited)) {
      reader.skip();
      continue;
    }
    const protozero::data_view view = reader.get_view();
    found.emplace_back(view.data(), view.size());
  }
  return found;
}

}  // namespace

void check_character_maps(const std::string& model, const std::string& origin) {
  try {
    for (const std::uint32_t spec : {normalizer_spec, denormalizer_spec}) {
      for (const std::string_view rules : fields_of(model, spec)) {
        for (const std::string_view map : fields_of(rules, charsmap)) {
          if (is_closed(map)) continue;
          throw FileError(fmt::format(
              "{}: its map of characters leads out of itself; the file is broken", origin));
        }
      }
    }
  } catch (const protozero::exception&) {
    throw FileError(fmt::format("{}: this is not a model of SentencePiece", origin));
  }
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
