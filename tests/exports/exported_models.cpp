// Exports several models, each with a batch of sequences and its logits, for exports_agree.py.
#include <cstdlib>
#include <filesystem>

#include "headroom/autograd/tape.hpp"
#include "headroom/base/record_json.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/files.hpp"
#include "headroom_runs/exports/onnx.hpp"
#include "headroom_runs/exports/torch.hpp"
#include "support/catch.hpp"
#include "support/small_saved_model.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace {

struct Case {
  const char* name;
  ModelConfig config;
  std::vector<HeadId> removed;
};

ModelConfig config_of(ModelKind kind, Layout layout, Activation activation) {
  ModelConfig config;
  config.kind = kind;
  config.layers = 2;
  config.longest = 16;
  config.block = {.width = 12, .heads = 3, .hidden = 20, .activation = activation};
  config.block.layout = layout;
  return config;
}

/// Every kind of model, layout, activation, norm and kind of positions; some attentions have lost
/// all heads.
std::vector<Case> cases() {
  constexpr auto encoder = AttentionKind::encoder_self, decoder = AttentionKind::decoder_self,
                 cross = AttentionKind::cross;
  constexpr auto seq2seq = ModelKind::seq2seq, language_model = ModelKind::language_model,
                 classifier = ModelKind::classifier;
  std::vector<Case> all;
  all.push_back({"whole", config_of(seq2seq, Layout::fused, Activation::relu), {}});
  all.push_back({"pruned",
                 config_of(seq2seq, Layout::separate, Activation::tanh),
                 {{encoder, 0, 1}, {decoder, 1, 0}, {cross, 1, 0}, {cross, 1, 1}, {cross, 1, 2}}});
  all.back().config.block.norm_first = false;
  all.back().config.block.norm = NormKind::rms;
  all.back().config.positions = PositionKind::learned;
  all.push_back({"tied", config_of(seq2seq, Layout::shared, Activation::silu), {{cross, 0, 1}}});
  all.back().config.tied_output = true;
  all.push_back({"text",
                 config_of(language_model, Layout::fused, Activation::gelu),
                 {{decoder, 0, 0}, {decoder, 0, 1}, {decoder, 0, 2}, {decoder, 1, 1}}});
  all.back().config.positions = PositionKind::learned;
  all.back().config.tied_output = true;
  all.back().config.block.head_dim = 5;
  all.push_back({"places", config_of(language_model, Layout::separate, Activation::sigmoid), {}});
  all.back().config.positions = PositionKind::none;
  all.back().config.layers = 12;  // more than ten: names are not in the order of numbers
  all.push_back({"classes",
                 config_of(classifier, Layout::shared, Activation::gelu_tanh),
                 {{encoder, 1, 2}, {encoder, 0, 0}}});
  all.push_back({"plain",
                 config_of(classifier, Layout::fused, Activation::relu),
                 {{encoder, 1, 0}, {encoder, 1, 1}, {encoder, 1, 2}}});
  all.back().config.block.bias = false;
  all.back().config.block.norm = NormKind::rms;
  return all;
}

/// The inputs by the names of model.onnx or decoder.onnx, and the logits.
Record expected(const SavedModel& saved) {
  const Ids source(Shape{2, 5}, {5, 3, 1, 0, 2, 2, 1, 3, 0, 0}), lengths(Shape{2}, {5, 3}),
      target(Shape{2, 4}, {1, 4, 6, 5, 1, 5, 5, 0}), text(Shape{2, 4}, {1, 0, 3, 2, 3, 3, 0, 1});
  const auto rows = [](const Ids& ids) {
    Record all = Record::array();
    for (Index row = 0; row < ids.dim(0); ++row) {
      Record& one = all.emplace_back(Record::array());
      for (Index i = 0; i < ids.dim(1); ++i) one.push_back(ids[row * ids.dim(1) + i]);
    }
    return all;
  };
  const std::vector<Index> counts{5, 3};
  const NoGrad no_tape;
  Record record;
  Tensor logits;
  switch (saved.config.kind) {
    case ModelKind::seq2seq:
      logits = saved.seq2seq()(source, lengths, target);
      record = {{"source", rows(source)}, {"source_lengths", counts}, {"target", rows(target)}};
      break;
    case ModelKind::language_model:
      logits = saved.language_model()(text);
      record = {{"ids", rows(text)}};
      break;
    case ModelKind::classifier:
      logits = saved.classifier()(source, lengths);
      record = {{"ids", rows(source)}, {"lengths", counts}};
      break;
    default: break;  // no such cases
  }
  const auto values = logits.value().span();
  record["logits"] = std::vector<double>(values.begin(), values.end());
  return record;
}

}  // namespace

TEST_CASE("exported models are written into the folder HEADROOM_EXPORTED", "[.exported]") {
  const char* folder_name = std::getenv("HEADROOM_EXPORTED");
  REQUIRE(folder_name != nullptr);
  for (const Case& one : cases()) {
    const SavedModel saved = test::small_saved_model(one.config, one.removed);
    const std::filesystem::path folder = std::filesystem::path(folder_name) / one.name;
    make_folder(folder);
    export_onnx(saved, folder);
    export_torch(saved, folder);
    write_file(folder / "expected.json", expected(saved).dump());
  }
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
