// The attention weights of a trained model's heads on one text, as a record.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "headroom/heads/model_record.hpp"
#include "headroom/train/run_record.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// An input text, and the output whose attention is recorded.
struct AttentionQuestion {
  std::string input{};
  std::optional<std::string> output{};  // default: the model's output, decoded greedily
  Index write = 32;                     // most tokens that a language model generates
};

/// The facts about a model that the page of its attention shows.
struct ModelFacts {
  std::string task{};
  ModelKind family = ModelKind::seq2seq;
  Layout layout = Layout::fused;
  Index parameters = 0, heads = 0, alive = 0, longest = 0;
  std::string file{};  // the checkpoint; added by the program
  template <class Visit>
  static void fields(Visit visit) {
    visit("task", &ModelFacts::task);
    visit("family", &ModelFacts::family);
    visit("layout", &ModelFacts::layout);
    visit("parameters", &ModelFacts::parameters);
    visit("heads", &ModelFacts::heads);
    visit("alive", &ModelFacts::alive);
    visit("longest", &ModelFacts::longest);
    visit("file", &ModelFacts::file, Presence::if_any);
  }
};

/// A head that the model has or had.
struct HeadState {
  AttentionKind kind = AttentionKind::encoder_self;
  Index layer = 0, head = 0;
  bool removed = false;
  HeadId id() const { return {kind, layer, head}; }
  template <class Visit>
  static void fields(Visit visit) {
    visit("kind", &HeadState::kind);
    visit("layer", &HeadState::layer);
    visit("head", &HeadState::head);
    visit("removed", &HeadState::removed);
  }
};

struct ClassProbability {
  std::string name{};
  double probability = 0;
  template <class Visit>
  static void fields(Visit visit) {
    visit("name", &ClassProbability::name);
    visit("probability", &ClassProbability::probability);
  }
};

/// The output, or the most probable class.
struct Answer {
  std::string text{};
  double probability = 0;                   // of the whole text, or of the class
  std::optional<bool> finished{};           // none for a classifier
  std::vector<ClassProbability> classes{};  // of a classifier, in descending order
  template <class Visit>
  static void fields(Visit visit) {
    visit("text", &Answer::text);
    visit("probability", &Answer::probability);
    visit("finished", &Answer::finished, Presence::if_any);
    visit("classes", &Answer::classes, Presence::if_any);
  }
};

/// The attention weights of every live head on one text. Special tokens are shown as ^ (begin) and
/// $ (end). An encoder-decoder reads `source` and predicts `target`; row i of its decoder's maps
/// belongs to the prediction of target[i] after decoder_input[i]. A language model has no source:
/// decoder_input is input and output without the last token, target the same without the first
/// token. A classifier has a source only.
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
  template <class Visit>
  static void fields(Visit visit) {
    visit("kind", &AttentionRecord::kind);
    visit("model", &AttentionRecord::model);
    visit("input", &AttentionRecord::input);
    visit("write", &AttentionRecord::write);
    visit("heads", &AttentionRecord::heads);
    visit("output", &AttentionRecord::output, Presence::if_any);
    visit("example", &AttentionRecord::example);
    visit("answer", &AttentionRecord::answer);
    visit("ids", &AttentionRecord::ids);
    visit("title", &AttentionRecord::title, Presence::if_any);
    visit("environment", &AttentionRecord::environment, Presence::if_any);
    visit("page_model", &AttentionRecord::page_model, Presence::if_any);
  }
};

/// Runs the model on the input with its output (or the given one). Works for every kind of model,
/// in any layout, pruned or not. Throws UsageError for a text that is empty, too long or has a
/// token that the model does not know, and for an output where the model has none; DataError for
/// malformed UTF-8.
AttentionRecord attention_record(const SavedModel& saved, const AttentionQuestion& question);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
