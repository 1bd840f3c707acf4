// Whole models: encoder-decoder, language model, classifier.
#pragma once

#include "headroom/base/listed.hpp"
#include "headroom/base/record.hpp"
#include "headroom/nn/transformer.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The models of this header: Seq2Seq, LanguageModel, Classifier.
enum class ModelKind { seq2seq, language_model, classifier };

/// Everything that determines a model's shapes. Stored in checkpoints.
struct ModelConfig {
  ModelKind kind = ModelKind::seq2seq;
  BlockConfig block;
  Index layers = 2;             // of each stack
  Index source_vocabulary = 0;  // V of the source, or of the only vocabulary
  Index target_vocabulary = 0;  // V of the target, or the number of classes
  Index longest = 256;          // maximum number of positions
  PositionKind positions = PositionKind::sinusoidal;
  bool tied_output = false;  // the output layer is the (target) embedding

  /// The fields by their names.
  Record to_record() const;
  /// Throws UsageError naming the key that is unknown, missing or of the wrong type.
  static ModelConfig from_record(const Record& record);

  using T = ModelConfig;
  using Fields = Listed<
      &T::kind, inside_of<&T::block, &BlockConfig::layout>, &T::layers,
      inside_of<&T::block, &BlockConfig::width>, inside_of<&T::block, &BlockConfig::heads>,
      inside_of<&T::block, &BlockConfig::head_dim>, inside_of<&T::block, &BlockConfig::hidden>,
      inside_of<&T::block, &BlockConfig::dropout>, inside_of<&T::block, &BlockConfig::norm_first>,
      inside_of<&T::block, &BlockConfig::activation>, inside_of<&T::block, &BlockConfig::norm>,
      inside_of<&T::block, &BlockConfig::epsilon>, inside_of<&T::block, &BlockConfig::bias>,
      &T::positions, &T::longest, &T::tied_output, &T::source_vocabulary, &T::target_vocabulary>;
};

/// Source ids to target ids. Vaswani et al. 2017, figure 1.
class Seq2Seq : public Module {
 public:
  Seq2Seq(const ModelConfig& config, Rng& rng);

  /// source [B, Ts], target [B, Tt] (shifted right) -> logits [B, Tt, V]: teacher forcing.
  /// source_lengths [B] tells where padding starts.
  Tensor operator()(const Ids& source, const Ids& source_lengths, const Ids& target,
                    HeadProbe* probe = nullptr) const;

  /// The same in steps. Embeddings with positions, [B, T, C]:
  Tensor embed_source(const Ids& source) const;
  Tensor embed_target(const Ids& target, Index first = 0) const;
  /// Encoder's output, [B, Ts, C].
  Tensor encode(const Tensor& embedded, const Ids& source_lengths,
                HeadProbe* probe = nullptr) const;
  /// Logits. With caches, `embedded` holds only the new positions.
  Tensor decode(const Tensor& embedded, const Tensor& memory, const Ids& source_lengths,
                HeadProbe* probe = nullptr, std::vector<DecoderLayerCache>* caches = nullptr) const;

  void members(Members& visit) override;
  std::string title() const override;

  ModelConfig config;
  Embedding source_embedding, target_embedding;
  Positions source_positions, target_positions;
  Dropout dropout;
  Encoder encoder;
  Decoder decoder;
  std::unique_ptr<Linear> output;  // nullptr when tied
};

/// Predicts the next token from those before (decoder-only): the layers of an encoder, without
/// cross-attention, under a causal mask.
class LanguageModel : public Module {
 public:
  LanguageModel(const ModelConfig& config, Rng& rng);
  /// ids [B, T] -> logits [B, T, V]. With caches, ids holds only the new positions.
  Tensor operator()(const Ids& ids, HeadProbe* probe = nullptr,
                    std::vector<KeyValueCache>* caches = nullptr) const;
  /// The same in two steps: embeddings with positions, and logits from them.
  Tensor embed(const Ids& ids, Index first = 0) const;
  Tensor predict(const Tensor& embedded, HeadProbe* probe = nullptr,
                 std::vector<KeyValueCache>* caches = nullptr) const;
  void members(Members& visit) override;
  std::string title() const override;

  ModelConfig config;
  Embedding embedding;
  Positions positions;
  Dropout dropout;
  Encoder decoder;
  std::unique_ptr<Linear> output;  // nullptr when tied
};

/// Predicts the class of a sequence: encoder, mean over positions without padding, linear layer.
class Classifier : public Module {
 public:
  Classifier(const ModelConfig& config, Rng& rng);
  /// ids [B, T], lengths [B] -> logits [B, classes]
  Tensor operator()(const Ids& ids, const Ids& lengths, HeadProbe* probe = nullptr) const;
  void members(Members& visit) override;
  std::string title() const override;

  ModelConfig config;
  Embedding embedding;
  Positions positions;
  Dropout dropout;
  Encoder encoder;
  Linear output;
};

/// Builds the model that a configuration describes, without the heads in `removed`.
std::unique_ptr<Module> make_model(const ModelConfig& config, Rng& rng,
                                   std::span<const HeadId> removed = {});

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
