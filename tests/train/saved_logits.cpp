// Writes checkpoints of several models into a folder, each with a token sequence and its logits,
// for load_in_pytorch.py. usage: saved_logits FOLDER
#include <cstdio>
#include <filesystem>

#include "headroom/autograd/tape.hpp"
#include "headroom/base/record_json.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/train/checkpoint.hpp"

using namespace headroom;

namespace {

struct Case {
  std::string name;
  ModelConfig config;
  std::vector<HeadId> removed;
};

ModelConfig config_of(ModelKind kind, Layout layout) {
  ModelConfig config;
  config.kind = kind;
  config.source_vocabulary = 9;
  config.target_vocabulary = 7;
  config.block = {.width = 12, .heads = 3, .hidden = 20, .layout = layout};
  config.longest = 16;
  return config;
}

std::vector<Case> cases() {
  constexpr auto encoder = AttentionKind::encoder_self, decoder = AttentionKind::decoder_self,
                 cross = AttentionKind::cross;
  std::vector<Case> all;
  all.push_back({"dates", config_of(ModelKind::seq2seq, Layout::fused), {}});
  all.push_back({"pruned",
                 config_of(ModelKind::seq2seq, Layout::separate),
                 {{encoder, 0, 1}, {decoder, 1, 0}, {cross, 1, 0}, {cross, 1, 1}, {cross, 1, 2}}});
  all.back().config.block.norm_first = false;
  all.back().config.block.norm = NormKind::rms;
  all.back().config.positions = PositionKind::learned;
  all.push_back({"text",
                 config_of(ModelKind::language_model, Layout::fused),
                 {{decoder, 0, 0}, {decoder, 0, 1}, {decoder, 0, 2}, {decoder, 1, 1}}});
  all.back().config.positions = PositionKind::learned;
  all.back().config.tied_output = true;
  all.back().config.block.activation = Activation::gelu;
  all.back().config.block.head_dim = 5;
  all.push_back({"brackets", config_of(ModelKind::classifier, Layout::fused), {{encoder, 1, 2}}});
  all.back().config.block.bias = false;
  return all;
}

/// Parameters that are all different from those of a new model, where biases are 0.
void shake(Module& model, Rng& rng) {
  for (NamedParameter& parameter : parameters(model)) {
    for (Real& value : parameter.tensor.edit_value().span()) value += Real(0.2) * rng.normal();
  }
}

Ids ids_of(std::initializer_list<std::int32_t> ids) { return {Shape{1, Index(ids.size())}, ids}; }

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  const NoGrad no_grad;
  for (const Case& one : cases()) {
    Rng rng(1, "init");
    const std::unique_ptr<Module> model = make_model(one.config, rng, one.removed);
    shake(*model, rng);
    model->eval();
    const Ids source = ids_of({5, 3, 8, 0, 2, 5}), target = ids_of({1, 6, 6, 4});
    const Ids lengths(Shape{1}, {6});
    Tensor logits;
    if (const auto* m = dynamic_cast<const Seq2Seq*>(model.get())) {
      logits = (*m)(source, lengths, target);
    } else if (const auto* t = dynamic_cast<const LanguageModel*>(model.get())) {
      logits = (*t)(source);
    } else {
      logits = dynamic_cast<const Classifier&>(*model)(source, lengths);
    }
    const std::filesystem::path folder = arguments[1];
    Checkpoint checkpoint;
    checkpoint.add("model", *model);
    checkpoint.save(folder / (one.name + ".safetensors"));
    Record record{{"source", source.span()}, {"logits", logits.value().span()}};
    if (one.config.kind == ModelKind::seq2seq) record["target"] = target.span();
    write_file(folder / (one.name + ".json"), record.dump() + "\n");
    std::printf("%s\n", one.name.c_str());
  }
  return 0;
}
