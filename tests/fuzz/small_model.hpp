// The checkpoint of a small model, and the one of its sound forms that an input chooses.
#pragma once

#include <filesystem>
#include <string>

#include "headroom/train/checkpoint.hpp"

/// Saves a model that reads a, b, c, d. An encoder-decoder generates x, y, z, a language model the
/// tokens that it reads.
inline void save_small_model(headroom::ModelConfig config,
                             std::span<const headroom::HeadId> removed,
                             const std::filesystem::path& path) {
  using namespace headroom;
  const Specials specials =
      config.kind == ModelKind::language_model ? Specials::none : Specials::all;
  const Vocabulary read(TokenKind::characters, specials, {"a", "b", "c", "d"});
  const Vocabulary written(TokenKind::characters, specials, {"x", "y", "z"});
  config.block.width = config.block.hidden = 4;
  config.block.heads = 2;
  config.longest = 8;
  config.source_vocabulary = read.size();
  config.target_vocabulary = config.kind == ModelKind::classifier ? 3 : written.size();
  Rng rng(7, "small model");
  const std::unique_ptr<Module> model = make_model(config, rng, removed);
  Checkpoint checkpoint;
  checkpoint.about = {{"name", "letters"}};
  if (config.kind == ModelKind::seq2seq) {
    checkpoint.about["source"] = read.record();
    checkpoint.about["target"] = written.record();
  } else {
    checkpoint.about["tokens"] = read.record();
  }
  if (config.kind == ModelKind::classifier) checkpoint.about["classes"] = {"no", "yes", "perhaps"};
  checkpoint.add("model", *model);
  checkpoint.save(path);
}
