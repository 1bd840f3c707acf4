// Checkpoints of models that nobody wrote: refused, or a model that runs, and the page of its
// attention.
#include "fuzz/other_checkpoint.hpp"
#include "fuzz/small_model.hpp"
#include "headroom_lab/report/attend.hpp"
#include "headroom_runs/records/attention_record.hpp"

using namespace headroom;

namespace {

/// Checkpoints of all kinds of models, layouts and position encodings; some heads are removed.
std::vector<TensorFile> sound_checkpoints() {
  std::vector<TensorFile> all;
  for (const ModelKind kind :
       {ModelKind::seq2seq, ModelKind::language_model, ModelKind::classifier}) {
    for (const Layout layout : all_of<Layout>()) {
      ModelConfig config;
      config.kind = kind;
      config.block.layout = layout;
      config.positions = layout == Layout::fused ? PositionKind::learned : PositionKind::sinusoidal;
      const AttentionKind first = kind == ModelKind::language_model ? AttentionKind::decoder_self
                                                                    : AttentionKind::encoder_self;
      const HeadId removed[] = {{first, 0, 1}};
      const std::filesystem::path path = file_of("");
      save_small_model(config, std::span(removed, layout == Layout::separate ? 0 : 1), path);
      all.push_back(TensorFile::read(path));
    }
  }
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<TensorFile> sound = sound_checkpoints();
  FuzzedDataProvider bytes(data, size);
  const bool checksums = bytes.ConsumeIntegralInRange(0, 3) != 0;
  OtherCheckpoint other(sound[bytes.ConsumeIntegralInRange<std::size_t>(0, sound.size() - 1)]);
  const bool changed = bytes.remaining_bytes() > 0;
  while (bytes.remaining_bytes() > 0) other.change(bytes);
  const std::filesystem::path path = file_of("");
  if (!reads([&] { other.file(checksums).write(path); })) return 0;  // two tensors of one name
  const bool runs = reads([&] {
    const SavedModel saved = load_model(path);
    AttentionRecord record = attention_record(saved, {.input = "ab", .write = 2});
    attend_text(record, {}, TerminalStyle());
    record.title = "model";
    record.page_model = page_model_record(saved, record.ids);
    attend_page(record);
  });
  must(runs || changed);
  return 0;
}
