// A small tokenizer of Marian: two models of SentencePiece and the ids of their pieces.
#pragma once

#include <protozero/pbf_writer.hpp>

#include <string>
#include <utility>
#include <vector>

#include "support/small_vocabularies.hpp"

/// A model of SentencePiece, its message ModelProto, with these pieces and their scores.
inline std::string sentence_piece_model(const std::vector<std::pair<std::string, float>>& pieces) {
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
  return model;
}

/// What SentencePiece writes for a space.
inline const std::string space_mark = "\u2581";

inline std::string marian_source() {
  return sentence_piece_model({{space_mark, -4}, {space_mark + "the", -1}, {"c", -3}, {"at", -2}});
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
