// Writing folders: what stays the same stays the same to the bit, and removed heads stay removed.
#include "headroom_foreign/folders/write_folder.hpp"

#include <set>

#include "headroom/base/error.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/nn/head_share.hpp"
#include "headroom/ops/arithmetic.hpp"
#include "headroom/ops/losses.hpp"
#include "headroom/ops/reductions.hpp"
#include "headroom/optim/adam.hpp"
#include "support/catch.hpp"
#include "support/close.hpp"
#include "support/small_folders.hpp"

using namespace headroom;
using Catch::Contains;
using Catch::StartsWith;

namespace {

/// All outputs of a model on a small batch, with gates of its heads.
Tensor output_of(Module& model, HeadProbe* probe = nullptr) {
  const Ids ids({2, 4}, {1, 5, 2, 7, 3, 3, 9, 4}), target({2, 3}, {0, 4, 6, 2, 8, 1});
  const Ids lengths({2}, {4, 3});
  if (auto* seq2seq = dynamic_cast<Seq2Seq*>(&model)) {
    return (*seq2seq)(ids, lengths, target, probe);
  }
  if (auto* language = dynamic_cast<LanguageModel*>(&model)) return (*language)(ids, probe);
  if (auto* masked = dynamic_cast<MaskedLanguageModel*>(&model)) {
    return (*masked)(ids, lengths, probe);
  }
  if (auto* classifier = dynamic_cast<Classifier*>(&model)) {
    return (*classifier)(ids, lengths, probe);
  }
  auto& encoder = dynamic_cast<TextEncoder&>(model);
  return encoder.pooled(encoder(ids, lengths, probe), lengths);
}

std::vector<HeadId> all_heads(Module& model) { return live_heads(model); }

/// Gates that are 0 for some heads.
HeadProbe without(Module& model, const std::vector<HeadId>& heads) {
  HeadProbe probe;
  for (const NamedAttention& found : attentions(model)) {
    Array gates({found.attention->config().heads}, Real(1));
    for (const HeadId& head : heads) {
      if (found.id(head.head) == head) gates[head.head] = 0;
    }
    probe.gates[found.location()] = constant(gates);
  }
  return probe;
}

/// Gradients under the other program's names.
NamedArrays gradients_of(Module& model, const NameTable& names) {
  zero_grad(model);
  const Tensor y = output_of(model);
  sum(y * y).backward();
  NamedArrays gradients;
  for (const auto& [name, tensor] : parameters(model)) {
    if (tensor.requires_grad() && !tensor.grad().defined()) {
      Tensor(tensor).set_grad(zeros(tensor.shape()));
    }
  }
  return in_foreign_names(model, names, true, true);
}

/// A folder of 2 layers of 3 heads, 6 in all in the first kind of attention.
SmallFolder six_heads(const std::string& architecture) {
  SmallFolder folder{small_json(architecture), {}};
  ModelConfig config = small_config(architecture);
  config.block.width = 9;
  config.block.heads = 3;
  config.variant.decoder_heads = architecture == "MarianMTModel" ? 3 : 0;
  for (const char* key : {"hidden_size", "n_embd", "d_model"}) {
    if (folder.json.contains(key)) folder.json[key] = 9;
  }
  for (const char* key :
       {"num_attention_heads", "n_head", "encoder_attention_heads", "decoder_attention_heads"}) {
    if (folder.json.contains(key)) folder.json[key] = 3;
  }
  Rng rng(7, "init");
  const std::unique_ptr<Module> model = make_model(config, rng);
  const bool is_base = architecture == "BertModel" || architecture == "GPT2Model";
  for (const auto& [name, array] :
       in_foreign_names(*model, names_of_architecture(architecture, config), !is_base)) {
    Array numbers = array.clone();
    for (Real& x : numbers.span()) x += Real(float(0.2 * double(rng.normal())));  // biases, too
    folder.tensors.put(name, numbers);
  }
  return folder;
}

std::set<std::string> names_in(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) {
      names.insert(entry.path().lexically_relative(folder).string());
    }
  }
  return names;
}

}  // namespace

TEST_CASE(
    "a model that did not change is written with the same bytes, with all that it came with") {
  for (const char* architecture : architectures) {
    const TemporaryFolder files, out;
    SmallFolder folder = small_folder(architecture);
    folder.json["a key of another program"] = {1, "two", Record()};
    folder.tensors.metadata["format"] = "pt";
    const std::filesystem::path path = folder.write(files);
    files.file("tokenizer.json", "{}");
    files.file("LICENSE", "Do what you like.\n");
    files.file("README.md", "# A model\n");
    files.file("1_Pooling/config.json", "{}");
    files.file("modules.json", R"([{"path": ""}, {"path": "1_Pooling"}, {"path": "2_Dense"}])");
    files.file("2_Dense/model.safetensors", "other weights, of this model");
    files.file("pytorch_model.bin", "other weights");
    files.file("onnx/model.onnx", "other weights");
    const ModelFolder source = open_model_folder(path);
    for (const FolderForm form : {FolderForm::dense, FolderForm::compact}) {
      const std::filesystem::path to = out / (std::string(architecture) + name_of(form));
      std::filesystem::create_directories(to);
      write_model_folder(source, *source.load(Layout::separate), form, to);
      CHECK(names_in(to) == std::set<std::string>{"1_Pooling/config.json",
                                                  "2_Dense/model.safetensors", "LICENSE",
                                                  "README.md", "config.json", "model.safetensors",
                                                  "modules.json", "tokenizer.json"});
      for (const std::string& name : names_in(to))
        CHECK(read_file(to / name) == read_file(path / name));
    }
  }
}

TEST_CASE("masked, compact and dense are one function, for all subsets of six heads", "[slow]") {
  for (const char* architecture : architectures) {
    const TemporaryFolder files;
    const ModelFolder source = open_model_folder(six_heads(architecture).write(files));
    const std::unique_ptr<Module> full = source.load();
    const std::vector<HeadId> heads = all_heads(*full);
    const bool has_compact = source.config.kind != ModelKind::seq2seq;
    for (unsigned subset = 1; subset < 64; ++subset) {
      INFO(architecture << ", subset " << subset);
      std::vector<HeadId> removed;
      for (std::size_t i = 0; i < 6; ++i) {
        if ((subset >> i & 1U) != 0) removed.push_back(heads[i]);
      }
      HeadProbe probe = without(*full, removed);
      const Array masked = output_of(*full, &probe).value();
      const std::unique_ptr<Module> cut =
          source.load(subset % 2 == 0 ? Layout::fused : Layout::separate);
      prune(*cut, removed);
      CHECK_THAT(output_of(*cut).value(),
                 test::close_at_scale(masked, test::tolerance(1e-12, 1e-5)));
      const TemporaryFolder to;
      std::filesystem::create_directories(to / "dense");
      write_model_folder(source, *cut, FolderForm::dense, to / "dense");
      const ModelFolder dense = open_model_folder(to / "dense");
      CHECK(dense.removed == removed);
      CHECK(dense.absent().empty());
      CHECK(removed_heads(*dense.load()) == removed);
      const std::unique_ptr<Module> grown = dense.load_with_zeroed(dense.config);
      CHECK(all_heads(*grown) == heads);
      CHECK_THAT(output_of(*grown).value(),
                 test::close_at_scale(masked, test::tolerance(1e-12, 1e-5)));
      NamedArrays of_dense = gradients_of(*grown, *source.names);
      std::filesystem::create_directories(to / "compact");
      if (!has_compact || (subset & 7U) == 7U || (subset & 56U) == 56U) {
        CHECK_THROWS_WITH(write_model_folder(source, *cut, FolderForm::compact, to / "compact"),
                          Contains("Transformers has no compact form of "));
        continue;
      }
      write_model_folder(source, *cut, FolderForm::compact, to / "compact");
      const ModelFolder compact = open_model_folder(to / "compact");
      CHECK(compact.removed == removed);
      const std::unique_ptr<Module> small = compact.load();
      const Array of_small = output_of(*small).value(), of_cut = output_of(*cut).value();
      CHECK_THAT(of_small, test::close_at_scale(of_cut, test::tolerance(1e-13, 1e-5)));
      for (const auto& [name, gradient] : gradients_of(*small, *source.names)) {
        if (gradient.shape() == of_dense.at(name).shape()) {  // of what is not in a cut attention
          CHECK_THAT(gradient, test::close_at_scale(of_dense.at(name), test::tolerance(1e-11, 1e-3),
                                                    Real(1e-3)));
        }
      }
      // A compact folder comes in and goes out dense.
      std::filesystem::create_directories(to / "rescued");
      write_model_folder(compact, *small, FolderForm::dense, to / "rescued");
      const std::unique_ptr<Module> rescued = open_model_folder(to / "rescued").load();
      CHECK_THAT(output_of(*rescued).value(),
                 test::close_at_scale(masked, test::tolerance(1e-12, 1e-5)));
    }
  }
}

TEST_CASE("heads of a dense folder stay removed while it is trained on") {
  const TemporaryFolder files, to;
  const ModelFolder source = open_model_folder(six_heads("GPT2LMHeadModel").write(files));
  const std::unique_ptr<Module> cut = source.load();
  const std::vector<HeadId> removed{{AttentionKind::decoder_self, 0, 1},
                                    {AttentionKind::decoder_self, 1, 2}};
  prune(*cut, removed);
  write_model_folder(source, *cut, FolderForm::dense, to.path());
  const auto grown_after = [&](bool zero_output_only) {
    const ModelFolder dense = open_model_folder(to.path());
    const std::unique_ptr<Module> model =
        zero_output_only ? source.load() : dense.load_with_zeroed(dense.config);
    if (zero_output_only) {
      for (const HeadId& head : removed) {
        const NamedAttention found = attention_at(*model, {head.kind, head.layer}, "test");
        HeadShare share = share_of(found, head.head);
        share.value[HeadRole::output] = zeros(share.value[HeadRole::output].shape());
        share.gradient.clear();
        found.attention->prune(std::vector<Index>{head.head});
        found.attention->regrow(std::vector<HeadShare>{share});
      }
    }
    AdamW optimizer(*model, {.weight_decay = 0.1});
    for (int step = 0; step < 20; ++step) {
      zero_grad(*model);
      const Tensor y = output_of(*model);
      sum(y * y).backward();
      optimizer.step(0.01);
    }
    double largest = 0;
    for (const HeadId& head : removed) {
      const HeadShare share =
          share_of(attention_at(*model, {head.kind, head.layer}, "test"), head.head);
      for (const auto& [part, array] : share.value) {
        if (part.role != HeadRole::output && part.role != HeadRole::value) continue;
        if (zero_output_only && part.role == HeadRole::value) continue;
        for (const Real x : array.span()) largest = std::max(largest, std::abs(double(x)));
      }
    }
    return largest;
  };
  CHECK(grown_after(false) == 0);
  CHECK(grown_after(true) > 0.01);
}

TEST_CASE("the compact form of Marian and a model of another folder are refused") {
  const TemporaryFolder files, to;
  const ModelFolder source = open_model_folder(six_heads("MarianMTModel").write(files));
  const std::unique_ptr<Module> cut = source.load();
  prune(*cut, std::vector<HeadId>{{AttentionKind::cross, 0, 1}});
  CHECK_THROWS_WITH(write_model_folder(source, *cut, FolderForm::compact, to.path()),
                    Contains("Transformers has no compact form of MarianMTModel"));
  CHECK_FALSE(exists(to / "config.json"));
}

TEST_CASE("a folder that cannot be written has no config.json") {
  const TemporaryFolder files, to;
  const std::filesystem::path path = small_folder("GPT2Model").write(files);
  files.file("LICENSE", "free");
  std::filesystem::create_directory(to / "LICENSE");
  const ModelFolder source = open_model_folder(path);
  CHECK_THROWS_AS(write_model_folder(source, *source.load(), FolderForm::dense, to.path()),
                  FileError);
  CHECK_FALSE(exists(to / "config.json"));
}

TEST_CASE("training is not rounded away in a folder of half precision") {
  for (const StoredType type : {StoredType::f16, StoredType::bf16}) {
    const TemporaryFolder files, trained, cut;
    SmallFolder folder = small_folder("GPT2LMHeadModel");
    folder.convert(type);
    if (type == StoredType::bf16) folder.json["torch_dtype"] = "bfloat16";
    const ModelFolder source = open_model_folder(folder.write(files));
    const std::unique_ptr<Module> model = source.load();
    const std::string changed = "transformer.h.0.ln_1.weight";
    for (const NamedParameter& one : parameters(*model)) {
      if (one.name == "decoder.layers.0.norm1.weight") {
        Tensor(one.tensor).set_value(Array(one.tensor.shape(), Real(float(1.0001))));
      }
    }
    write_model_folder(source, *model, FolderForm::dense, trained.path());
    const ModelFolder read = open_model_folder(trained.path());
    for (const auto& [name, where] : read.tensors.entries()) {
      CHECK(where.entry->type == (name == changed ? StoredType::f32 : type));
    }
    CHECK(read.json["torch_dtype"] == "float32");
    CHECK(read.tensors.array(changed)[0] == Real(float(1.0001)));

    // What half precision holds stays so: 0 is one of its numbers.
    const std::unique_ptr<Module> smaller = source.load();
    prune(*smaller, std::vector<HeadId>{{AttentionKind::decoder_self, 1, 2}});
    write_model_folder(source, *smaller, FolderForm::dense, cut.path());
    const ModelFolder zeros = open_model_folder(cut.path());
    for (const auto& [name, where] : zeros.tensors.entries()) CHECK(where.entry->type == type);
    CHECK(zeros.json.value("torch_dtype", "") == source.json.value("torch_dtype", ""));
  }
}

TEST_CASE(
    "heads that a dense folder has as zeros stay removed when it is opened and written again") {
  const TemporaryFolder files, first, second, third;
  const std::string own = "# A model\n\n## Removed heads\n\nThose of a paper.\n";
  files.file("README.md", own);
  const ModelFolder source = open_model_folder(six_heads("MarianMTModel").write(files));
  const std::unique_ptr<Module> cut = source.load();
  const std::vector<HeadId> removed{{AttentionKind::encoder_self, 1, 0},
                                    {AttentionKind::cross, 0, 1}};
  prune(*cut, removed);
  write_model_folder(source, *cut, FolderForm::dense, first.path());
  const ModelFolder dense = open_model_folder(first.path());
  CHECK(dense.removed == removed);
  CHECK(dense.json["headroom_removed_heads"] == Record{"encoder 1.0", "cross 0.1"});
  CHECK(dense.saved().removed == removed);
  const std::unique_ptr<Module> model = dense.load();
  CHECK(removed_heads(*model) == removed);
  write_model_folder(dense, *model, FolderForm::dense, second.path());
  for (const std::string& name : names_in(first.path())) {
    CHECK(read_file(first / name) == read_file(second / name));
  }
  const std::string card = read_file(first / "README.md");
  CHECK(card.starts_with(own + "\n## Removed heads\n\nheadroom removed 2 attention heads"));
  first.file("README.md", card + "\nWhat somebody wrote below.\n");

  prune(*model, std::vector<HeadId>{{AttentionKind::decoder_self, 0, 2}});
  write_model_folder(dense, *model, FolderForm::dense, third.path());
  CHECK(open_model_folder(third.path()).removed.size() == 3);
  CHECK_THAT(read_file(third / "README.md"), StartsWith(own + "\nWhat somebody wrote below.\n") &&
                                                 Contains("removed 3 attention heads") &&
                                                 !Contains("removed 2 attention heads"));
}

TEST_CASE("a second name of a tied parameter gets the numbers of the first") {
  const std::vector<std::array<const char*, 3>> all{
      {"BertForMaskedLM", "bert.embeddings.word_embeddings.weight",
       "cls.predictions.decoder.weight"},
      {"BertForMaskedLM", "cls.predictions.bias", "cls.predictions.decoder.bias"},
      {"GPT2LMHeadModel", "transformer.wte.weight", "lm_head.weight"},
      {"MarianMTModel", "model.shared.weight", "model.decoder.embed_tokens.weight"},
      {"MarianMTModel", "model.shared.weight", "lm_head.weight"}};
  for (const auto& [architecture, one, other] : all) {
    for (const bool equal : {true, false}) {
      INFO(architecture << ": " << other);
      const TemporaryFolder files, to;
      SmallFolder folder = small_folder(architecture);
      const Array before = folder.tensors.array(one);
      folder.put(other, equal ? before : Array(before.shape(), Real(7)));
      const ModelFolder source = open_model_folder(folder.write(files));
      const std::unique_ptr<Module> model = source.load();
      for (const NamedParameter& each : parameters(*model)) {
        Tensor(each.tensor).set_value(Array(each.tensor.shape(), Real(0.5)));
      }
      write_model_folder(source, *model, FolderForm::dense, to.path());
      const ModelFolder read = open_model_folder(to.path());
      CHECK(read.tensors.array(one)[3] == Real(0.5));
      CHECK(read.tensors.array(other)[3] == (equal ? Real(0.5) : Real(7)));
    }
  }
}

TEST_CASE("a new classifier leaves the head of a masked language model behind") {
  const TemporaryFolder files, to;
  SmallFolder folder = small_folder("BertForMaskedLM");
  folder.put("cls.predictions.decoder.weight",
             folder.tensors.array("bert.embeddings.word_embeddings.weight"));
  folder.put("cls.predictions.decoder.bias", folder.tensors.array("cls.predictions.bias"));
  const ModelFolder source =
      with_new_classifier(open_model_folder(folder.write(files), "BertModel"), {"low", "high"});
  write_model_folder(source, *source.load(), FolderForm::dense, to.path());
  const ModelFolder read = open_model_folder(to.path());
  CHECK(read.architecture == "BertForSequenceClassification");
  CHECK(read.tensors.has("classifier.bias"));
  for (const auto& [name, where] : read.tensors.entries()) CHECK_FALSE(name.starts_with("cls."));
}
