// Parity with Hugging Face Transformers on whole model folders: outputs, loss, gradients of all
// parameters, and the logits of decoding with a cache.
#include <algorithm>
#include <vector>

#include "headroom/autograd/tape.hpp"
#include "headroom/base/error.hpp"
#include "headroom/nn/models.hpp"
#include "headroom/ops/activations.hpp"
#include "headroom/ops/arithmetic.hpp"
#include "headroom/ops/losses.hpp"
#include "headroom/ops/reductions.hpp"
#include "headroom/ops/shaping.hpp"
#include "headroom_foreign/folders/model_folder.hpp"
#include "parity/kinds.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace parity {

namespace {

std::unique_ptr<Module> model_of(Case& c, const ModelFolder& folder, Layout layout) {
  std::unique_ptr<Module> model = folder.load(layout);
  c.nudge(*model);
  return model;
}

/// attention_mask [B, T] for so many queries, [B, count, T]; none without padding.
AttentionMask key_mask(Case& c, Index count) {
  if (!c.has("in.attention_mask")) return AttentionMask::none();
  const Bytes given = c.bytes("attention_mask");
  const Index batch = given.dim(0), time = given.dim(1);
  Bytes allowed({batch, count, time});
  for (Index b = 0; b < batch; ++b) {
    for (Index i = 0; i < count; ++i) {
      std::copy_n(given.data() + b * time, time, allowed.data() + (b * count + i) * time);
    }
  }
  return AttentionMask::allow(allowed);
}

/// x [B, T, ...] with zeros at padded positions, as the file has them.
Tensor without_padding(Case& c, const Tensor& x) {
  if (!c.has("in.attention_mask")) return x;
  const Bytes given = c.bytes("attention_mask");
  Array weights({given.dim(0), given.dim(1), 1});
  for (Index i = 0; i < given.size(); ++i) weights[i] = Real(given[i]);
  return x * constant(weights);
}

Ids token_types(Case& c) { return c.has("in.token_type_ids") ? c.ids("token_type_ids") : Ids(); }

/// Compares the gradients of all parameters, under the names of the class that the kind stands for.
void compare_gradients(Case& c, Module& model, const ModelFolder& folder, bool with_prefix) {
  for (const auto& [name, gradient] : in_foreign_names(model, *folder.names, with_prefix, true)) {
    c.compare("grad.param." + name, gradient);
  }
}

/// The hidden states of a BERT.
Tensor hidden_states(Case& c, const TextEncoder& model) {
  const Ids ids = c.ids("input_ids");
  return model.encode(model.embed(ids, token_types(c)), key_mask(c, ids.dim(1)));
}

/// The loss that Transformers chooses for a classifier's logits.
Tensor classifier_loss(Case& c, const Tensor& logits) {
  const auto problem = c.config().at("problem_type").get<std::string>();
  if (problem == "single_label_classification") return cross_entropy(logits, c.ids("labels"));
  const Tensor labels = constant(c.numbers("labels").reshaped(logits.shape()));
  if (problem == "regression") return squared_error(logits, labels);
  // Binary cross-entropy: max(x, 0) - x y + log(1 + exp(-|x|)).
  return mean(relu(logits) - logits * labels + log(1 + exp(-abs(logits))));
}

/// Logits [B, T, V] of one token after the other, step(t) [B, 1, V].
template <class Step>
Tensor one_by_one(Index time, Step step) {
  const NoGrad quiet;
  std::vector<Tensor> logits;
  for (Index t = 0; t < time; ++t) logits.push_back(step(t));
  return concat(logits, 1);
}

/// Column t of ids [B, T].
Ids column(const Ids& ids, Index t) {
  Ids one({ids.dim(0), 1});
  for (Index b = 0; b < ids.dim(0); ++b) one[b] = ids[b * ids.dim(1) + t];
  return one;
}

/// Labels [B, T] of the next token: those of the file without the first, and none for the last.
Ids shifted(const Ids& labels) {
  const Index time = labels.dim(1);
  Ids next(labels.shape(), CrossEntropyOptions().ignore_index);
  for (Index b = 0; b < labels.dim(0); ++b) {
    std::copy_n(labels.data() + b * time + 1, time - 1, next.data() + b * time);
  }
  return next;
}

}  // namespace

void bert_model(Case& c, Layout layout) {
  const ModelFolder folder = open_model_folder(c.folder(), "BertModel");
  const std::unique_ptr<Module> owner = model_of(c, folder, layout);
  const auto& model = dynamic_cast<const TextEncoder&>(*owner);
  const Tensor hidden = hidden_states(c, model);
  std::vector<Output> outputs{{"last_hidden_state", without_padding(c, hidden)}};
  if (c.config().at("pooler").get<bool>()) {
    outputs.push_back({"pooler_output", model.pooled(hidden, {})});
  }
  c.compare_outputs(outputs);
  compare_gradients(c, *owner, folder, false);
}

void bert_mlm(Case& c, Layout layout) {
  const ModelFolder folder = open_model_folder(c.folder());
  const std::unique_ptr<Module> owner = model_of(c, folder, layout);
  const auto& model = dynamic_cast<const MaskedLanguageModel&>(*owner);
  const Tensor logits = model.predict(hidden_states(c, model));
  c.compare_outputs(std::vector<Output>{{"logits", without_padding(c, logits)},
                                        {"loss", cross_entropy(logits, c.ids("labels"))}});
  compare_gradients(c, *owner, folder, true);
}

void bert_classifier(Case& c, Layout layout) {
  const ModelFolder folder = open_model_folder(c.folder());
  const std::unique_ptr<Module> owner = model_of(c, folder, layout);
  const auto& model = dynamic_cast<const Classifier&>(*owner);
  const Tensor logits = model.classify(hidden_states(c, model), {});
  c.compare_outputs(std::vector<Output>{{"logits", logits}, {"loss", classifier_loss(c, logits)}});
  compare_gradients(c, *owner, folder, true);
}

void gpt2_lm(Case& c, Layout layout) {
  const ModelFolder folder = open_model_folder(c.folder(), "GPT2LMHeadModel");
  const std::unique_ptr<Module> owner = model_of(c, folder, layout);
  const auto& model = dynamic_cast<const LanguageModel&>(*owner);
  const Ids ids = c.ids("input_ids");
  const Index time = ids.dim(1);
  const Tensor logits = model(ids, nullptr, nullptr, key_mask(c, time));
  c.compare_outputs(std::vector<Output>{{"logits", without_padding(c, logits)},
                                        {"loss", cross_entropy(logits, shifted(c.ids("labels")))}});
  compare_gradients(c, *owner, folder, true);

  std::vector<KeyValueCache> caches(std::size_t(folder.config.layers));
  for (KeyValueCache& cache : caches) cache.reserve(time);
  const Tensor cached = one_by_one(
      time, [&](Index t) { return model(column(ids, t), nullptr, &caches, key_mask(c, 1)); });
  c.compare("out.cached_logits", without_padding(c, cached).value());
}

void marian_mt(Case& c, Layout layout) {
  const ModelFolder folder = open_model_folder(c.folder());
  const std::unique_ptr<Module> owner = model_of(c, folder, layout);
  const auto& model = dynamic_cast<const Seq2Seq&>(*owner);
  const Ids source = c.ids("input_ids"), target = c.ids("decoder_input_ids");
  const Index from = source.dim(1), time = target.dim(1);
  const Tensor memory = model.encode(model.embed_source(source), key_mask(c, from));
  const Tensor logits = model.decode(model.embed_target(target), memory, key_mask(c, time));
  c.compare_outputs(
      std::vector<Output>{{"logits", logits}, {"loss", cross_entropy(logits, c.ids("labels"))}});
  compare_gradients(c, *owner, folder, true);

  std::vector<DecoderLayerCache> caches(std::size_t(folder.config.variant.decoder_layers));
  for (DecoderLayerCache& cache : caches) {
    cache.self.reserve(time);
    cache.cross.fixed = true;
  }
  const Tensor cached = one_by_one(time, [&](Index t) {
    return model.decode(model.embed_target(column(target, t), t), memory, key_mask(c, 1), nullptr,
                        &caches);
  });
  c.compare("out.cached_logits", cached.value());
}

}  // namespace parity
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
