// FolderTask: examples for a model of a folder, as ids of its own tokenizer.
#pragma once

#include <string>
#include <vector>

#include "headroom/base/record_json.hpp"
#include "headroom/data/tokenizer.hpp"
#include "headroom/train/learner.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The training objective of a folder's model. It gives the loss of an example, in nats except for
/// `keep`.
///
/// * `text`: the cross-entropies of the next tokens (GPT-2).
/// * `masked`: those of masked tokens: of 15 % of the positions, at least one, 80 % become [MASK],
///   10 % a random token, and 10 % stay (BertForMaskedLM; Devlin et al. 2019, section 3.1).
/// * `classify`: the cross-entropy of the label (BertForSequenceClassification).
/// * `pairs`: the cross-entropies of a target's tokens and its end (Marian).
/// * `keep`: one minus the cosine between the embedding of a text and that of the model as it is in
///   its folder, which needs no labels (BertModel). The embedding is the mean hidden state. At the
///   model of the folder the cosine is 1, its maximum, so the first derivative by any gate is 0 and
///   says nothing about heads. Metrics of gradients and logits therefore use the contrast within
///   the batch: logits are 20 times the cosines to the former embeddings of all texts of the batch,
///   and the label is the text itself (van den Oord et al. 2018, equation 4, without its sum over
///   steps). Its derivative does not vanish there.
enum class FolderObjective { text, masked, classify, pairs, keep };

/// One example. `tokens` are what an encoder or a language model reads, specials included.
struct FolderExample {
  Tokens tokens;
  Tokens target = {};      // pairs; without begin and end
  std::int32_t label = 0;  // classify
};

/// The examples of a model, in sets.
struct FolderTask {
  FolderObjective objective = FolderObjective::text;
  std::vector<FolderExample> train, importance, selection, validation, test;
  std::vector<std::string> classes = {};  // classify
  SpecialIds ids = {};                    // the mask; of pairs begin and end of a target
  Index before = 0, after = 0;            // special tokens around each text, which are not masked
  Record about = {};                      // the entry in a checkpoint; see Learner::about()

  /// The examples of a set.
  const std::vector<FolderExample>& of(ExampleSet set) const;
};

/// A hash of what the model reads of an example.
std::uint64_t hash_of(const FolderExample& example);

/// The objectives that a kind of models can have, the usual one first. For `classify` an encoder
/// gets a new head.
std::vector<FolderObjective> objectives_of(ModelKind kind);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
