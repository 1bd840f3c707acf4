// A small model of any kind with random weights, as if it had been loaded from a checkpoint.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "headroom/train/checkpoint.hpp"
#include "support/nn_support.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace test {

/// Reads a, b, c, d. An encoder-decoder generates x, y, z, a language model the tokens that it
/// reads.
inline SavedModel small_saved_model(ModelConfig config, std::span<const HeadId> removed = {}) {
  const Specials specials =
      config.kind == ModelKind::language_model ? Specials::none : Specials::all;
  const Vocabulary read(TokenKind::characters, specials, {"a", "b", "c", "d"});
  const Vocabulary written(TokenKind::characters, specials, {"x", "y", "z"});
  config.source_vocabulary = read.size();
  config.target_vocabulary = config.kind == ModelKind::classifier ? 3 : written.size();
  SavedModel saved;
  Rng rng(7, "small saved model");
  saved.model = make_model(config, rng, removed);
  saved.config = config;
  saved.removed.assign(removed.begin(), removed.end());
  saved.origin = "test";
  saved.about = {{"name", "letters"}};
  if (config.kind == ModelKind::seq2seq) {
    saved.about["source"] = read.record();
    saved.about["target"] = written.record();
  } else {
    saved.about["tokens"] = read.record();
  }
  if (config.kind == ModelKind::classifier) saved.about["classes"] = {"no", "yes", "perhaps"};
  randomise(*saved.model, rng);
  saved.model->eval();
  return saved;
}

}  // namespace test
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
