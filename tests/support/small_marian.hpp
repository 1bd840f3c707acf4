// A small tokenizer of Marian: two models of SentencePiece and the ids of their pieces.
#pragma once

#include <protozero/pbf_writer.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "support/small_vocabularies.hpp"

/// A map of characters of SentencePiece that makes "c" of "C": a trie of 256 units, whose root has
/// its children at 1 ^ byte, and the text.
inline std::string character_map() {
  constexpr std::uint32_t is_value = 1U << 31, has_value = 1U << 8;
  const std::uint32_t leaf = 1 ^ 'C';
  std::vector<std::uint32_t> units(256);
  units[0] = 1U << 10;
  units[leaf] = 3U << 10 | has_value | 'C';
  units[leaf ^ 3U] = is_value | 0;
  units.insert(units.begin(), std::uint32_t(4 * units.size()));
  std::string map;
  for (const std::uint32_t unit : units) {
    for (int i = 0; i < 4; ++i) map += char(unit >> 8 * i);
  }
  return map + "c" + std::string(1, '\0');
}

/// A model of SentencePiece, its message ModelProto, with these pieces and their scores, and
/// perhaps a map of characters.
inline std::string sentence_piece_model(const std::vector<std::pair<std::string, float>>& pieces,
                                        const std::string& map = "") {
  std::string model;
  protozero::pbf_writer writer(model);
  const auto add = [&](const std::string& text, float score, int type) {
    protozero::pbf_writer piece(writer, 1);
    piece.add_string(1, text);
    piece.add_float(2, score);
    piece.add_enum(3, type);
  };
  add("<unk>", 0, 2);
  add("<s>", 0, 3);
  add("</s>", 0, 3);
  for (const auto& [text, score] : pieces) add(text, score, 1);
  {
    protozero::pbf_writer trainer(writer, 2);
    trainer.add_enum(3, 1);  // unigram
  }
  protozero::pbf_writer normalizer(writer, 3);
  normalizer.add_string(1, "identity");
  if (!map.empty()) normalizer.add_bytes(2, map);
  normalizer.commit();
  return model;
}

/// What SentencePiece writes for a space.
inline const std::string space_mark = "\u2581";

inline std::string marian_source(const std::string& map = character_map()) {
  return sentence_piece_model({{space_mark, -4}, {space_mark + "the", -1}, {"c", -3}, {"at", -2}},
                              map);
}
inline std::string marian_target() {
  return sentence_piece_model({{space_mark + "die", -1}, {space_mark, -3}, {"Katze", -2}});
}

/// The files of the tokenizer.
inline void write_marian(const TemporaryFolder& folder) {
  folder.file("source.spm", marian_source());
  folder.file("target.spm", marian_target());
  folder.file("vocab.json", ids_of({"</s>", "<unk>", space_mark + "the", "c", "at",
                                    space_mark + "die", "Katze", space_mark, ">>deu<<", "<pad>"})
                                .dump());
}
