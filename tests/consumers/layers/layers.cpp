// User-defined attentions in the framework's models: the laws, training, pruning, saving, loading,
// transplant, decoding with a cache, replacement in one layer.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>

#include "alibi_attention.hpp"
#include "gated_attention.hpp"

using namespace headroom;

namespace {

void require(bool right, const char* what) {
  if (right) return;
  std::printf("failed: %s\n", what);
  std::exit(1);
}

/// Sequences whose next token is the one before the last: 8 tokens, 12 positions.
Ids sequences(Rng& rng) {
  Ids ids(Shape{16, 13});
  for (Index e = 0; e < ids.size(); ++e) {
    ids[e] = e % 13 < 2 ? static_cast<std::int32_t>(rng.below(8)) : ids[e - 2];
  }
  return ids;
}

Ids columns(const Ids& ids, Index begin) {
  Ids part(Shape{16, 12});
  for (Index e = 0; e < part.size(); ++e) part[e] = ids[e / 12 * 13 + e % 12 + begin];
  return part;
}

double train(LanguageModel& model, Adam& optimizer, Rng& rng, int steps) {
  double loss_now = 0;
  for (int step = 0; step < steps; ++step) {
    const Ids ids = sequences(rng);
    const Tensor loss = cross_entropy(model(columns(ids, 0)), columns(ids, 1));
    loss_now = double(loss.item());
    optimizer.zero_grad();
    loss.backward();
    optimizer.step(0.01);
  }
  return loss_now;
}

double apart(const Array& a, const Array& b) {
  double worst = 0;
  for (Index e = 0; e < a.size(); ++e) {
    worst = std::max(worst, std::abs(double(a[e] - b[e])));
  }
  return a.shape() == b.shape() ? worst : 1e30;
}

void try_layout(Layout layout) {
  ModelConfig config;
  config.kind = ModelKind::language_model;
  config.source_vocabulary = 8;
  config.longest = 16;
  config.positions = PositionKind::learned;
  config.block = {.width = 16, .heads = 4, .layout = layout};
  Rng rng(1, "init"), data(2, "data");
  check_layout(*make_attention(layout, {.width = 8, .heads = 4}, rng));
  LanguageModel model(ModelConfig::from_record(config.to_record()), rng);
  Adam optimizer(model);
  const double before = train(model, optimizer, data, 1);
  train(model, optimizer, data, 150);

  const std::vector<HeadId> gone{{AttentionKind::decoder_self, 0, 1},
                                 {AttentionKind::decoder_self, 1, 0},
                                 {AttentionKind::decoder_self, 1, 3}};
  std::vector<HeadShare> shares;
  for (const NamedAttention& found : attentions(model)) {
    for (const HeadId& head : gone) {
      if (found.id(head.head) == head) shares.push_back(share_of(found, head.head));
    }
  }
  const Ids probe = columns(sequences(data), 0);
  const Array with_all = model(probe).value();
  optimizer.apply(prune(model, gone));
  require(live_heads(model).size() == 5, "three of eight heads are removed");
  regrow(model, shares);
  require(apart(model(probe).value(), with_all) == 0, "a regrown model is the same");
  prune(model, gone);
  const double after = train(model, optimizer, data, 150);
  std::printf("%s: loss %.3f, then %.3f without three heads\n", name_of(layout), before, after);
  require(after < before / 2, "the model learns, before and after pruning");

  const auto path = std::filesystem::temp_directory_path() /
                    ("headroom_layers_" + std::to_string(std::random_device()()));
  Checkpoint checkpoint;
  checkpoint.add("model", model);
  checkpoint.add("optimizer", optimizer);
  checkpoint.save(path);
  const SavedModel loaded = load_model(path);
  std::filesystem::remove(path);
  model.eval();
  const NoGrad quiet;
  const Ids ids = columns(sequences(data), 0);
  const Array logits = model(ids).value();
  require(apart(loaded.language_model()(ids).value(), logits) == 0, "a loaded model is the same");

  LanguageModel other(config, rng);
  prune(other, gone);
  other.eval();
  transplant(model, other);
  require(apart(other(ids).value(), logits) == 0, "a transplanted model is the same");

  std::vector<KeyValueCache> caches(2);
  for (KeyValueCache& cache : caches) cache.reserve(12);
  Array in_steps(logits.shape());
  for (Index t = 0; t < 12; ++t) {
    Ids now(Shape{16, 1});
    for (Index b = 0; b < 16; ++b) now[b] = ids[b * 12 + t];
    const Array step = model(now, nullptr, &caches).value();
    for (Index e = 0; e < step.size(); ++e) {
      in_steps[(e / 8 * 12 + t) * 8 + e % 8] = step[e];
    }
  }
  require(apart(in_steps, logits) < (is_double ? 1e-12 : 1e-4), "cached decoding is the same");
}

/// Replaces the attention of one layer: the others keep their locations and heads.
void try_set_attention() {
  ModelConfig config;
  config.kind = ModelKind::language_model;
  config.source_vocabulary = 8;
  config.block = {.width = 16, .heads = 4};
  Rng rng(1, "init"), data(2, "data");
  LanguageModel model(config, rng);
  model.decoder.layers[1]->set_attention(
      make_attention(GatedAttention::registered(), {.width = 16, .heads = 4}, rng));
  Adam optimizer(model);
  optimizer.apply(prune(model, std::vector<HeadId>{{AttentionKind::decoder_self, 1, 2}}));
  require(model.decoder.layers[0]->self_attn().alive().size() == 4,
          "the other layer keeps its heads");
  require(model.decoder.layers[1]->self_attn().alive().size() == 3, "this layer loses its head");
  train(model, optimizer, data, 2);
}

}  // namespace

int main() {
  if (sizeof(Real) != EXPECTED_BYTES) return 2;
  try_layout(AlibiAttention::registered());
  try_layout(GatedAttention::registered());
  try_set_attention();
  return 0;
}
