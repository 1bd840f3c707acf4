// The attention weights of a trained model's heads on one text, as a record.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "headroom/base/listed.hpp"
#include "headroom_runs/records/model_record.hpp"
#include "headroom_runs/runs/run_record.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// An input text, and the output whose attention is recorded.
struct AttentionQuestion {
  std::string input{};
  std::optional<Tokens> tokens{};  // of the input, which may be <unk>; default: those of `input`
  std::optional<std::string> output{};  // default: the model's output, decoded greedily
  Index write = 32;                     // most tokens that a language model generates
};

/// The facts about a model that the page of its attention shows.
struct ModelFacts {
  std::string task{};
  std::string architecture{};  // of a model of Transformers: "BertModel"
  ModelKind family = ModelKind::seq2seq;
  Layout layout = Layout::fused;
  Index parameters = 0, heads = 0, alive = 0, longest = 0;
  std::string file{};  // the checkpoint; added by the program
  using T = ModelFacts;
  using Fields = Listed<&T::task, if_any<&T::architecture>, &T::family, &T::layout, &T::parameters,
                        &T::heads, &T::alive, &T::longest, if_any<&T::file>>;
};

/// A head that the model has or had.
struct HeadState {
  HeadId id{};
  bool removed = false;
  using T = HeadState;
  using Fields = Listed<fields_of<&T::id>, &T::removed>;
};

/// A class, or a token of a masked place, and its probability.
struct ClassProbability {
  std::string name{};
  double probability = 0;
  using T = ClassProbability;
  using Fields = Listed<&T::name, &T::probability>;
};

/// The output, the most probable class, or the most probable tokens of the masked places.
struct Answer {
  std::string text{};
  double probability = 0;          // of the whole text, or of the class
  std::optional<bool> finished{};  // none without an output text
  /// Of a classifier, in descending order; of a masked language model the best tokens of each
  /// place, with the number of the place if there are several.
  std::vector<ClassProbability> classes{};
  std::string note{};  // in place of a probability: why there is none
  using T = Answer;
  using Fields = Listed<&T::text, &T::probability, if_any<&T::finished>, if_any<&T::classes>,
                        if_any<&T::note>>;
};

/// The attention weights of every live head on one text. Special tokens are shown as ^ (begin) and
/// $ (end). An encoder-decoder reads `source` and predicts `target`; row i of its decoder's maps
/// belongs to the prediction of target[i] after decoder_input[i]. A language model has no source:
/// decoder_input is input and output without the last token, target the same without the first
/// token. A model of an encoder alone has a source only.
struct AttentionRecord {
  std::string kind = "attend";
  ModelFacts model{};
  std::string input{};
  Index write = 0;                      // as in the question
  std::vector<HeadState> heads{};       // all, in order
  std::optional<std::string> output{};  // if it was given
  ExampleRecord example{};
  Answer answer{};
  ExampleIds ids{};
  // Added by the program for the page.
  std::string title{};
  Record environment{};
  std::optional<ModelRecord> page_model{};  // page_model_record()
  using T = AttentionRecord;
  using Fields = Listed<&T::kind, &T::model, &T::input, &T::write, &T::heads, if_any<&T::output>,
                        &T::example, &T::answer, &T::ids, if_any<&T::title>,
                        if_any<&T::environment>, if_any<&T::page_model>>;
};

/// Runs the model on the input with its output (or the given one). Works for every kind of model,
/// in any layout, pruned or not. In the input of a masked language model every "[MASK]" (as its
/// tokenizer spells it) is a token to be guessed. Throws UsageError for a text that is empty, too
/// long for the model or for maps of all its heads, or has a token that the model does not know,
/// and for an output where the model has none; DataError for malformed UTF-8.
AttentionRecord attention_record(const SavedModel& saved, const AttentionQuestion& question);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
