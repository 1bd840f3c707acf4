// Model folders that nobody wrote (configuration, index, headers, numbers): refused as a file, or a
// model that runs.
#include <fmt/format.h>

#include "fuzz/folder_files.hpp"
#include "fuzz/other_record.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/io/json.hpp"
#include "support/small_folders.hpp"

using namespace headroom;

namespace {

/// JSON of a record with names from an input, which may be no UTF-8.
std::string text_of(const Record& record) {
  return record.dump(-1, ' ', false, Record::error_handler_t::replace);
}

/// A safetensors file as its header and its data.
struct Shard {
  Record header = Record::object();
  std::string data;

  void put(const std::string& name, const StoredTensor& tensor) {
    header[name] = {{"dtype", name_of(tensor.type)},
                    {"shape", std::vector<Index>(tensor.shape.begin(), tensor.shape.end())},
                    {"data_offsets", {data.size(), data.size() + tensor.bytes.size()}}};
    data.append(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
  }

  std::string bytes() const {
    const std::string text = text_of(header);
    std::string all(8, '\0');
    for (std::size_t i = 0; i < 8; ++i) all[i] = char(text.size() >> 8 * i);
    return all + text + data;
  }
};

/// A folder before it is written: one file of tensors, or two and an index.
struct Folder {
  Record config, index;
  std::vector<Shard> shards;
};

constexpr const char* shard_names[] = {"a.safetensors", "b.safetensors"};

/// Folders of all architectures.
std::vector<Folder> sound_folders(bool with_index) {
  std::vector<Folder> all;
  for (const char* architecture : architectures) {
    const SmallFolder small = small_folder(architecture);
    Folder folder{small.json, {{"metadata", {{"total_size", 1}}}}, {}};
    folder.shards.resize(with_index ? 2 : 1);
    std::size_t number = 0;
    for (const std::string& name : small.tensors.names()) {
      const std::size_t shard = with_index ? number++ % 2 : 0;
      folder.shards[shard].put(name, small.tensors.tensor(name));
      folder.index["weight_map"][name] = shard_names[shard];
    }
    all.push_back(folder);
  }
  return all;
}

void change_config(Record& config, FuzzedDataProvider& bytes) {
  static constexpr const char* keys[] = {"architectures",
                                         "pruned_heads",
                                         "position_embedding_type",
                                         "type_vocab_size",
                                         "tie_word_embeddings",
                                         "decoder_vocab_size",
                                         "scale_embedding",
                                         "share_encoder_decoder_embeddings",
                                         "pad_token_id",
                                         "layer_norm_eps",
                                         "hidden_dropout_prob",
                                         "scale_attn_weights",
                                         "n_inner",
                                         "quantization_config",
                                         "max_position_embeddings",
                                         "n_positions"};
  const int what = config.is_object() ? bytes.ConsumeIntegralInRange(0, 3) : 3;
  if (what == 0) {
    config[bytes.PickValueInArray(keys)] = some_value(bytes);
  } else if (what == 1) {
    config[bytes.PickValueInArray(keys)] = bytes.ConsumeIntegralInRange(0, 10'000'001);
  } else if (what == 2) {
    const std::string layer = std::to_string(bytes.ConsumeIntegralInRange(0, 2));
    const int head = bytes.ConsumeIntegralInRange(0, 4);
    if (bytes.ConsumeBool()) {
      config["pruned_heads"] = {{layer, {head}}};
    } else {
      config[zeroed_heads_key] = Record::array({fmt::format("encoder {}.{}", layer, head)});
    }
  } else {
    change_some_member(config, bytes);
  }
}

/// Tensors that a folder may have besides, or under other names.
constexpr const char* other_names[] = {
    "model.encoder.embed_positions.weight", "model.shared.weight",     "lm_head.weight",
    "cls.predictions.decoder.bias",         "pooler.dense.weight",     "classifier.weight",
    "embeddings.LayerNorm.gamma",           "embeddings.position_ids", "h.0.attn.masked_bias"};

void change_tensor(Folder& folder, FuzzedDataProvider& bytes) {
  Shard& shard =
      folder.shards[bytes.ConsumeIntegralInRange<std::size_t>(0, folder.shards.size() - 1)];
  if (shard.header.empty() || !shard.header.is_object()) return;
  const auto some = std::next(shard.header.begin(), bytes.ConsumeIntegralInRange<std::ptrdiff_t>(
                                                        0, std::ssize(shard.header) - 1));
  const std::string name = some.key();
  const Record tensor = some.value();
  switch (bytes.ConsumeIntegralInRange(0, 5)) {
    case 0:
      shard.header.erase(name);
      shard.header[bytes.ConsumeRandomLengthString(20)] = tensor;
      return;
    case 1:
      shard.header.erase(name);
      shard.header[bytes.ConsumeBool() ? "bert." + name : bytes.PickValueInArray(other_names)] =
          tensor;
      return;
    case 2:
      if (!tensor.is_object()) return;
      shard.header[name]["dtype"] = bytes.PickValueInArray({"F64", "I64", "F32", "BF16", "BOOL"});
      return;
    case 3:
      if (!tensor.is_object() || !tensor.contains("shape") || !tensor["shape"].is_array()) return;
      shard.header[name]["shape"].push_back(
          bytes.PickValueInArray<std::int64_t>({0, 1, 2, 1'000'000, 4'000'000'000'000}));
      return;
    case 4:
      if (shard.data.empty()) return;
      shard.data[bytes.ConsumeIntegralInRange<std::size_t>(0, shard.data.size() - 1)] =
          bytes.ConsumeIntegral<char>();
      return;
    default: change_some_member(shard.header, bytes);
  }
}

/// The folder with the input's changes, in memory or on a disk.
void write_folder(const Folder& folder, bool with_index, FolderFiles& files) {
  files.put("config.json", text_of(folder.config));
  if (!with_index) {
    files.put("model.safetensors", folder.shards[0].bytes());
    return;
  }
  files.put("model.safetensors.index.json", text_of(folder.index));
  for (std::size_t i = 0; i < 2; ++i) files.put(shard_names[i], folder.shards[i].bytes());
}

/// Computes something of everything.
void run(Module& model) {
  const NoGrad no_grad;
  const Ids ids({1, 1}, {0}), length({1}, {1});
  if (auto* seq2seq = dynamic_cast<Seq2Seq*>(&model)) {
    (*seq2seq)(ids, length, ids);
  } else if (auto* language = dynamic_cast<LanguageModel*>(&model)) {
    (*language)(ids);
  } else if (auto* masked = dynamic_cast<MaskedLanguageModel*>(&model)) {
    (*masked)(ids, length);
  } else if (auto* classifier = dynamic_cast<Classifier*>(&model)) {
    (*classifier)(ids, length);
  } else {
    auto& encoder = dynamic_cast<TextEncoder&>(model);
    encoder.pooled(encoder(ids, length), length);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<Folder> single = sound_folders(false), sharded = sound_folders(true);
  static FolderFiles single_files, sharded_files;
  const InputCost cost(InputCost::of_foreign_files);
  FuzzedDataProvider bytes(data, size);
  const bool with_index = bytes.ConsumeBool();
  const std::vector<Folder>& sound = with_index ? sharded : single;
  Folder folder = sound[bytes.ConsumeIntegralInRange<std::size_t>(0, sound.size() - 1)];
  const Layout layout = bytes.ConsumeBool() ? Layout::fused : Layout::separate;
  const bool changed = bytes.remaining_bytes() > 0;
  while (bytes.remaining_bytes() > 0) {
    const int what = bytes.ConsumeIntegralInRange(0, 7);
    if (what < 4) {
      change_config(folder.config, bytes);
    } else if (what < 6 || !with_index) {
      change_tensor(folder, bytes);
    } else {
      change_some_member(folder.index, bytes);
    }
  }
  FolderFiles& files = with_index ? sharded_files : single_files;
  write_folder(folder, with_index, files);
  std::unique_ptr<Module> model;
  try {
    model = open_model_folder(files.path()).load(layout);
  } catch (const FileError&) {
    must(changed);
    return 0;
  }
  run(*model);
  return 0;
}
