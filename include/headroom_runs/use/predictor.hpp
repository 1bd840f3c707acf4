// Predictor: the outputs of a trained model for many texts at once.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "headroom/train/checkpoint.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// How predictions are made.
struct PredictOptions {
  Index beam = 1;          // width of beam search; 1 is greedy decoding (encoder-decoders)
  Index candidates = 1;    // most candidates of a text; an encoder-decoder needs as wide a beam
  Index length = 100;      // tokens by which a language model continues a text
  Index batch_size = 512;  // texts that are computed together
};

/// A target, a class or a continuation.
struct Candidate {
  std::string text;
  double log_probability = 0;  // natural; of the whole text, or of the class
  bool finished = true;        // false: the output was cut off at the model's longest length, or
                               // is the continuation of a language model
};

/// The prediction for one text.
struct Prediction {
  std::string problem = {};                // the reason why there is none
  std::vector<std::string> unknown = {};   // tokens that were read as <unk>
  std::vector<Candidate> candidates = {};  // best first
};

/// Predicts with every kind of model, pruned or not, in any layout: an encoder-decoder generates
/// targets, a classifier ranks its classes, a language model continues texts with the most probable
/// tokens. Texts of similar length are computed together. The prediction for a text depends on the
/// others by rounding only.
class Predictor {
 public:
  /// Throws UsageError for more candidates than an encoder-decoder's beam is wide, for more than
  /// one of a language model, for a beam of another kind than an encoder-decoder, and for a model
  /// without outputs.
  explicit Predictor(const SavedModel& saved, PredictOptions options = {});

  /// A prediction for each text, in their order. A text that is empty, too long, not UTF-8 or, for
  /// a language model, has an unknown token, has a `problem` instead.
  std::vector<Prediction> predict(std::span<const std::string> texts) const;

 private:
  /// The tokens of a text, or its problem and none.
  Tokens tokens_of(const std::string& text, Prediction& prediction) const;
  void generate(std::span<const Tokens> sources, std::span<Prediction* const> into) const;
  void classify(std::span<const Tokens> texts, std::span<Prediction* const> into) const;
  void continue_texts(std::span<const Tokens> texts, std::span<Prediction* const> into) const;

  const SavedModel* saved_;
  PredictOptions options_;
  const Tokenizer* read_;             // of the texts
  const Tokenizer* written_;          // of the outputs
  std::vector<std::string> classes_;  // of a classifier
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
