// Whole models: encoder-decoder, language model, and those of an encoder alone: its hidden states,
// a masked language model, a classifier.
#pragma once

#include <optional>

#include "headroom/base/listed.hpp"
#include "headroom/base/record.hpp"
#include "headroom/nn/transformer.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The models of this header: Seq2Seq, LanguageModel, Classifier, TextEncoder, MaskedLanguageModel.
enum class ModelKind { seq2seq, language_model, classifier, encoder, masked_language_model };

/// How one vector is made of a sequence's hidden states: their mean over positions without padding,
/// or tanh(W x + b) of the first (Devlin et al. 2019).
enum class Pooling { mean, first };

/// The parts by which BERT, GPT-2 and Marian differ from our models. The default has none of them,
/// and configurations are written without them then.
struct ModelVariant {
  // Of the decoder's stack; 0: as in the encoder's.
  Index decoder_layers = 0, decoder_heads = 0, decoder_hidden = 0;
  Index token_types = 0;            // rows of a second embedding, by the type of a token (BERT)
  bool embedding_norm = false;      // a norm after the embeddings
  bool unscaled_embedding = false;  // not multiplied by sqrt(C), although positions are sinusoids
  bool shared_embedding = false;    // one table for source and target
  std::optional<bool> output_bias = {};  // of logits; if not given, as in the layers, none if tied
  Pooling pooling = Pooling::mean;
  std::optional<Index> kept_token = {};        // its row is not trained by look-ups: padding
  std::optional<Real> embedding_dropout = {};  // if it differs from the other dropout
  std::optional<Real> output_dropout = {};     // before a classifier's output; none if not given

  bool operator==(const ModelVariant&) const = default;
  using T = ModelVariant;
  using Fields = Listed<&T::decoder_layers, &T::decoder_heads, &T::decoder_hidden, &T::token_types,
                        &T::embedding_norm, &T::unscaled_embedding, &T::shared_embedding,
                        if_any<&T::output_bias>, &T::pooling, if_any<&T::kept_token>,
                        if_any<&T::embedding_dropout>, if_any<&T::output_dropout>>;
};
Record json_of(const ModelVariant& variant);

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
  ModelVariant variant = {};

  /// The fields by their names.
  Record to_record() const;
  /// Throws UsageError naming the key that is unknown, missing or of the wrong type.
  static ModelConfig from_record(const Record& record);

  using T = ModelConfig;
  using Fields =
      Listed<&T::kind, inside_of<&T::block, &BlockConfig::layout>, &T::layers,
             inside_of<&T::block, &BlockConfig::width>, inside_of<&T::block, &BlockConfig::heads>,
             inside_of<&T::block, &BlockConfig::head_dim>,
             inside_of<&T::block, &BlockConfig::hidden>,
             inside_of<&T::block, &BlockConfig::dropout>,
             if_any<inside_of<&T::block, &BlockConfig::attention_dropout>>,
             if_any<inside_of<&T::block, &BlockConfig::hidden_dropout>>,
             inside_of<&T::block, &BlockConfig::norm_first>,
             inside_of<&T::block, &BlockConfig::activation>,
             inside_of<&T::block, &BlockConfig::norm>, inside_of<&T::block, &BlockConfig::epsilon>,
             inside_of<&T::block, &BlockConfig::bias>, &T::positions, &T::longest, &T::tied_output,
             &T::source_vocabulary, &T::target_vocabulary, if_any<&T::variant>>;
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
  Tensor encode(const Tensor& embedded, const AttentionMask& mask,
                HeadProbe* probe = nullptr) const;
  Tensor encode(const Tensor& embedded, const Ids& source_lengths,
                HeadProbe* probe = nullptr) const {
    return encode(embedded, AttentionMask::lengths(source_lengths), probe);
  }
  /// Logits. With caches, `embedded` holds only the new positions.
  Tensor decode(const Tensor& embedded, const Tensor& memory, const AttentionMask& memory_mask,
                HeadProbe* probe = nullptr, std::vector<DecoderLayerCache>* caches = nullptr) const;
  Tensor decode(const Tensor& embedded, const Tensor& memory, const Ids& source_lengths,
                HeadProbe* probe = nullptr,
                std::vector<DecoderLayerCache>* caches = nullptr) const {
    return decode(embedded, memory, AttentionMask::lengths(source_lengths), probe, caches);
  }

  void members(Members& visit) override;
  std::string title() const override;

  ModelConfig config;
  Embedding source_embedding, target_embedding;
  Positions source_positions, target_positions;
  Dropout dropout;
  Encoder encoder;
  Decoder decoder;
  std::unique_ptr<Linear> output;  // nullptr when tied
  // [V] of a tied output. If the variant names a bias of the output, tied or not, it is not
  // trained.
  Tensor output_bias;
};

/// Predicts the next token from those before (decoder-only): the layers of an encoder, without
/// cross-attention, under a causal mask.
class LanguageModel : public Module {
 public:
  LanguageModel(const ModelConfig& config, Rng& rng);
  /// ids [B, T] -> logits [B, T, V]. With caches, ids holds only the new positions. `keys` leaves
  /// out keys in addition to the causal mask, such as padding on the left.
  Tensor operator()(const Ids& ids, HeadProbe* probe = nullptr,
                    std::vector<KeyValueCache>* caches = nullptr,
                    const AttentionMask& keys = AttentionMask::none()) const;
  /// The same in two steps: embeddings with positions, and logits from them.
  Tensor embed(const Ids& ids, Index first = 0) const;
  Tensor predict(const Tensor& embedded, HeadProbe* probe = nullptr,
                 std::vector<KeyValueCache>* caches = nullptr,
                 const AttentionMask& keys = AttentionMask::none()) const;
  void members(Members& visit) override;
  std::string title() const override;

  ModelConfig config;
  Embedding embedding;
  Positions positions;
  Dropout dropout;
  Encoder decoder;
  std::unique_ptr<Linear> output;  // nullptr when tied
};

/// A sequence to vectors: embeddings and an encoder. Base of the models below.
class TextEncoder : public Module {
 public:
  TextEncoder(const ModelConfig& config, Rng& rng);
  /// ids [B, T], lengths [B] -> hidden states [B, T, C]
  Tensor operator()(const Ids& ids, const Ids& lengths, HeadProbe* probe = nullptr) const;
  /// The same in steps. Embeddings with positions, [B, T, C]; `types` [B, T], all 0 if undefined.
  /// Throws UsageError for types that the model does not have.
  Tensor embed(const Ids& ids, const Ids& types = {}) const;
  /// Hidden states [B, T, C].
  Tensor encode(const Tensor& embedded, const AttentionMask& mask,
                HeadProbe* probe = nullptr) const;
  /// One vector for each sequence, [B, C], as the configuration says (Pooling).
  Tensor pooled(const Tensor& hidden, const Ids& lengths) const;
  void members(Members& visit) override;
  std::string title() const override;

  ModelConfig config;
  Embedding embedding;
  std::unique_ptr<Embedding> token_types;  // nullptr without
  Positions positions;
  std::unique_ptr<Norm> embedding_norm;  // nullptr without
  Dropout dropout;
  Encoder encoder;
  std::unique_ptr<Linear> pooler;  // nullptr unless Pooling::first
};

/// Predicts the class of a sequence from its pooled vector, by a linear layer.
class Classifier : public TextEncoder {
 public:
  Classifier(const ModelConfig& config, Rng& rng);
  /// ids [B, T], lengths [B] -> logits [B, classes]
  Tensor operator()(const Ids& ids, const Ids& lengths, HeadProbe* probe = nullptr) const;
  /// The last step: hidden states [B, T, C] -> logits [B, classes].
  Tensor classify(const Tensor& hidden, const Ids& lengths) const;
  void members(Members& visit) override;
  std::string title() const override;

  Dropout output_dropout;
  Linear output;
};

/// Predicts the tokens that were masked: norm(activation(linear(x))) of each hidden state, then
/// scores of all tokens. Devlin et al. 2019, section 3.1.
class MaskedLanguageModel : public TextEncoder {
 public:
  MaskedLanguageModel(const ModelConfig& config, Rng& rng);
  /// ids [B, T], lengths [B] -> logits [B, T, V]
  Tensor operator()(const Ids& ids, const Ids& lengths, HeadProbe* probe = nullptr) const;
  /// The last step: hidden states [B, T, C] -> logits [B, T, V].
  Tensor predict(const Tensor& hidden) const;
  void members(Members& visit) override;
  std::string title() const override;

  Linear transform;
  Norm transform_norm;
  std::unique_ptr<Linear> output;  // nullptr when tied
  Tensor output_bias;              // [V] of a tied output, if it has one
};

/// Builds the model that a configuration describes, without the heads in `removed`.
std::unique_ptr<Module> make_model(const ModelConfig& config, Rng& rng,
                                   std::span<const HeadId> removed = {});

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
