// Bad model folders: each is refused with one line that names file, place and rule.
#include <functional>
#include <vector>

#include "headroom/base/error.hpp"
#include "support/catch.hpp"
#include "support/small_folders.hpp"

using namespace headroom;

namespace {

struct BadFolder {
  const char* architecture;
  std::function<void(SmallFolder&)> spoil;
  const char* answer;
};

auto key(const char* name, Record value) {
  return [=](SmallFolder& folder) { folder.json[name] = value; };
}

auto without(const char* name) {
  return [=](SmallFolder& folder) { folder.json.erase(name); };
}

auto tensor(const char* name, Shape shape) {
  return [=](SmallFolder& folder) { folder.put(name, zeros(shape)); };
}

auto without_tensor(const char* name) {
  return [=](SmallFolder& folder) { folder.erase(name); };
}

/// The message for a folder that was opened and read.
std::string answer_for(const std::filesystem::path& path) {
  try {
    open_model_folder(path).load();
  } catch (const FileError& error) {
    return error.what();
  }
  return "no error";
}

std::string answer_for(const BadFolder& bad) {
  const TemporaryFolder files;
  SmallFolder folder = small_folder(bad.architecture);
  bad.spoil(folder);
  return answer_for(folder.write(files));
}

constexpr const char *bert = "BertModel", *masked = "BertForMaskedLM", *gpt2 = "GPT2LMHeadModel",
                     *marian = "MarianMTModel";

}  // namespace

TEST_CASE("a config.json that is wrong or not computed here is refused by its key") {
  const std::vector<BadFolder> all{
      {bert, key("hidden_size", 0), "\"hidden_size\" must be a whole number from 1 to 10000000"},
      {bert, key("hidden_size", "8"), "\"hidden_size\" must be a whole number"},
      {bert, key("hidden_size", 8.5), "\"hidden_size\" must be a whole number"},
      {bert, key("hidden_size", -8), "\"hidden_size\" must be a whole number"},
      {bert, key("hidden_size", Record::array()), "\"hidden_size\" must be a whole number"},
      {bert, key("hidden_size", 1e300), "\"hidden_size\" must be a whole number"},
      {bert, key("hidden_size", 16), "is [8], but config.json needs [16]"},
      {bert, key("num_attention_heads", 5), "a width of 8 cannot be divided among 5 heads"},
      {bert, key("num_hidden_layers", 3),
       "tensor \"encoder.layer.2.attention.output.LayerNorm.bias\": is missing"},
      {bert, key("num_hidden_layers", 1), "no such parameter"},
      {bert, key("num_hidden_layers", 9'000'000), "describes a larger model"},
      {masked,
       [](SmallFolder& f) {
         for (const char* name : {"hidden_size", "num_attention_heads", "num_hidden_layers"}) {
           f.json[name] = 30;  // 900 heads of one number each
         }
       },
       "describes a larger model"},
      {bert, key("vocab_size", 12), "is [11, 8], but config.json needs [12, 8]"},
      {bert, key("vocab_size", 10'000'000), "describes a larger model"},
      {bert, key("intermediate_size", 9'999'999), "describes a larger model"},
      {bert, key("type_vocab_size", 9'999'999), "describes a larger model"},
      {bert, key("max_position_embeddings", 8), "is [7, 8], but config.json needs [8, 8]"},
      {bert, key("hidden_act", "gelu_fast2"), "\"hidden_act\" is \"gelu_fast2\", which is not"},
      {bert, key("hidden_act", 3), "\"hidden_act\" must be a text"},
      {bert, key("layer_norm_eps", 0), "\"layer_norm_eps\" must be a number above 0"},
      {bert, key("layer_norm_eps", "1e-12"), "\"layer_norm_eps\" must be a number"},
      {bert, key("hidden_dropout_prob", 1.5), "must be a number from 0 to 1, not 1.5"},
      {bert, key("pad_token_id", 11), "\"pad_token_id\" must be the id of a token, from 0 to 10"},
      {bert, key("pad_token_id", -1), "\"pad_token_id\" must be the id of a token"},
      {bert, key("position_embedding_type", "relative_key"),
       "is \"relative_key\", which is not computed here, only \"absolute\""},
      {bert, key("is_decoder", true), "\"is_decoder\" is true, which is not computed here"},
      {bert, key("is_decoder", 1), "\"is_decoder\" must be true or false"},
      {bert, key("add_cross_attention", true), "\"add_cross_attention\" is true"},
      {bert, key("quantization_config", {{"bits", 8}}), "quantised weights are not read"},
      {bert, key("model_type", "brt"), "\"model_type\" is \"brt\", but BertModel is a model of"},
      {bert, key("architectures", {"BertForQuestionAnswering"}),
       "names BertForQuestionAnswering, which is not read"},
      {bert, key("architectures", {"BertModle"}), "(did you mean BertModel?)"},
      {bert,
       [](SmallFolder& f) {
         f.json = {{"model_type", "bertt"}};
       },
       "(did you mean bert?)"},
      {bert, [](SmallFolder& f) { f.json = Record::object(); }, "\"model_type\" is \"\""},
      {bert, [](SmallFolder& f) { f.json = 3; }, "config.json: is not an object"},
      {bert, key("pruned_heads", 3), "\"pruned_heads\" must be an object of layers"},
      {bert, key("pruned_heads", {{"2", {0}}}), "names layer 2; the model has layers 0 to 1"},
      {bert, key("pruned_heads", {{"-1", {0}}}), "names layer -1"},
      {bert, key("pruned_heads", {{"one", {0}}}), "names layer one"},
      {bert, key("pruned_heads", {{"0", {4}}}), "names head 4; a layer has heads 0 to 3"},
      {bert, key("pruned_heads", {{"0", {1, 1}}}), "names head 1 of layer 0 twice"},
      {bert, key("pruned_heads", {{"0", {"1"}}}), "names head \"1\""},
      {bert, key("pruned_heads", {{"0", 1}}), "of layer 0 must be a list of heads"},
      {bert, key("pruned_heads", {{"0", {1}}}), "but config.json needs [8, 6]"},
      {gpt2, key("n_head", 3), "a width of 8 cannot be divided among 3 heads"},
      {gpt2, key("n_inner", 13), "but config.json needs"},
      {gpt2, key("scale_attn_by_inverse_layer_idx", true),
       "\"scale_attn_by_inverse_layer_idx\" is true, which is not computed here"},
      {gpt2, key("reorder_and_upcast_attn", true), "\"reorder_and_upcast_attn\" is true"},
      {gpt2, key("scale_attn_weights", false), "\"scale_attn_weights\" is false"},
      {gpt2, key("add_cross_attention", true), "\"add_cross_attention\" is true"},
      {gpt2, key("tie_word_embeddings", false), "tensor \"lm_head.weight\": is missing"},
      {marian, key("decoder_attention_heads", 3), "cannot be divided among 3 heads"},
      {marian, key("decoder_layers", 9'999'999), "describes a larger model"},
      {marian, key("decoder_vocab_size", 12), "differs from vocab_size"},
      {marian, key("encoder_layerdrop", 0.1),
       "\"encoder_layerdrop\" is 0.1, which is not computed"},
      {marian, key("decoder_layerdrop", 1), "\"decoder_layerdrop\" is 1, which is not computed"},
      {"BertForSequenceClassification", key("problem_type", "multi_label_classification"),
       "which is not computed here, only \"single_label_classification\""},
      {bert, key("headroom_removed_heads", "encoder 0.1"), "must be a list of heads"},
      {bert, key("headroom_removed_heads", {"encoder 0.4"}), "names \"encoder 0.4\", which is no"},
      {bert, key("headroom_removed_heads", {"decoder 0.1"}), "which is no head of the model"},
      {bert, key("headroom_removed_heads", {7}), "names 7, which is no head of the model"},
      {bert, key("headroom_removed_heads", {"encoder 0.1", "encoder 0.1"}), "0.1\" twice"},
      {bert, key("headroom_removed_heads", {"encoder 0.1"}), "but its weights are not 0"},
      {marian, key("share_encoder_decoder_embeddings", false),
       "tensor \"model.decoder.embed_tokens.weight\": is missing"},
      {marian, without("pad_token_id"), "\"pad_token_id\" must be the id of a token"},
  };
  for (const BadFolder& bad : all) {
    const std::string answer = answer_for(bad);
    INFO(bad.answer);
    CHECK_THAT(answer, Catch::Contains(bad.answer));
    CHECK(answer.find('\n') == std::string::npos);
  }
}

TEST_CASE("tensors that do not fit config.json are refused by name") {
  const std::vector<BadFolder> all{
      {bert, without_tensor("pooler.dense.bias"), "tensor \"pooler.dense.bias\": is missing"},
      {bert, without_tensor("encoder.layer.1.attention.self.key.bias"),
       "tensor \"encoder.layer.1.attention.self.key.bias\": is missing"},
      {bert, tensor("encoder.layer.1.attention.self.key.weight", {8, 6}),
       "is [8, 6], but config.json needs [8, 8]"},
      {bert, tensor("embeddings.LayerNorm.weight", {8, 1}), "is [8, 1], but"},
      {bert, tensor("encoder.layer.7.output.dense.bias", {8}), "no such parameter"},
      {bert, tensor("adapter.weight", {2, 2}), "no such parameter"},
      {bert, [](SmallFolder& f) { f.tensors.put("weight_scale", Bytes(Shape{1}, 1)); },
       "no such parameter"},
      {bert, [](SmallFolder& f) { f.tensors = {}; }, "describes a larger model"},
      {masked, without_tensor("cls.predictions.bias"), "\"cls.predictions.bias\": is missing"},
      {"BertForSequenceClassification", tensor("classifier.weight", {}), "is [], not a row for"},
      {"BertForSequenceClassification", tensor("classifier.weight", {0, 8}),
       "is [0, 8], not a row"},
      {"BertForSequenceClassification", tensor("classifier.weight", {4, 8}),
       "tensor \"classifier.bias\": is [3], but config.json needs [4]"},
      {gpt2, tensor("transformer.h.0.mlp.c_proj.weight", {8, 12}),
       "is [8, 12], but config.json needs [12, 8]"},
      {marian, tensor("final_logits_bias", {11}), "is [11], but config.json needs [1, 11]"},
      {marian, tensor("model.encoder.embed_positions.weight", {7, 8}),
       "is not the table of sinusoids"},
      {gpt2,
       [](SmallFolder& f) {
         StoredTensor eighths{StoredType::i8, Shape{7, 8}, std::vector<std::byte>(56)};
         f.erase("transformer.wpe.weight");
         f.tensors.put("transformer.wpe.weight", eighths);
       },
       "is I8; quantised weights are not read"},
  };
  for (const BadFolder& bad : all) {
    INFO(bad.answer);
    CHECK_THAT(answer_for(bad), Catch::Contains(bad.answer));
  }
}

TEST_CASE("a small folder cannot ask for a large model") {
  const auto keys = [](Record more) {
    return [=](SmallFolder& folder) { folder.json.update(more); };
  };
  const auto with_table = [](Index rows, Index width) {
    return [=](SmallFolder& folder) {
      folder.put("model.encoder.embed_positions.weight", zeros({7, 8}));
      folder.json["max_position_embeddings"] = rows;
      folder.json["d_model"] = width;
    };
  };
  const Record thin{{"n_embd", 1}, {"n_head", 1}, {"n_inner", 1}, {"vocab_size", 1}};
  const std::vector<BadFolder> all{
      {marian, with_table(10'000'000, 8), "needs [10000000, 8] for model.encoder.embed_positions"},
      {marian, with_table(10'000'000, 9'999'996), "needs [10000000, 9999996] for model.encoder"},
      {marian, key("max_position_embeddings", 1'000'000), "describes a larger model"},
      {gpt2, key("n_positions", 1'000'000), "describes a larger model"},
      {gpt2, keys({{"n_embd", 1000}, {"n_inner", 1}, {"vocab_size", 1}}), "a larger model"},
      {"BertForSequenceClassification", tensor("classifier.weight", {1'000'000, 0}),
       "describes a larger model"},
      {gpt2,
       [=](SmallFolder& folder) {
         folder.json.update(thin);
         folder.json["n_layer"] = 100;
       },
       "describes a larger model"},
  };
  for (const BadFolder& bad : all) {
    INFO(bad.answer);
    CHECK_THAT(answer_for(bad), Catch::Contains(bad.answer));
  }
}

TEST_CASE("files of a folder that are missing or name others are refused") {
  const TemporaryFolder files;
  const std::filesystem::path path = small_folder(bert).write(files);
  const auto index = [&](const Record& map) {
    files.file("model.safetensors.index.json", Record{{"weight_map", map}}.dump());
    return answer_for(path);
  };
  std::filesystem::rename(path / "model.safetensors", path / "a.safetensors");
  CHECK_THAT(answer_for(path), Catch::Contains("has no model.safetensors and no"));
  files.file("pytorch_model.bin", "x");
  CHECK_THAT(answer_for(path), Catch::Contains("can run any program when it is opened"));

  Record all = Record::object();
  for (const std::string& name : TensorFile::read(path / "a.safetensors").names()) {
    all[name] = "a.safetensors";
  }
  CHECK(index(all) == "no error");
  for (const char* bad : {"../a.safetensors", "/a.safetensors", "a.bin", "", "b/a.safetensors"}) {
    Record changed = all;
    changed["pooler.dense.bias"] = bad;
    CHECK_THAT(index(changed), Catch::Contains("not the name of a .safetensors file"));
  }
  Record changed = all;
  changed["pooler.dense.bias"] = 3;
  CHECK_THAT(index(changed), Catch::Contains("the file of pooler.dense.bias is 3"));
  changed["pooler.dense.bias"] = "b.safetensors";
  CHECK_THAT(index(changed), Catch::Contains("b.safetensors is listed, but the folder has no"));
  changed = all;
  changed.erase("pooler.dense.bias");
  CHECK_THAT(index(changed), Catch::Contains("the index lists no such tensor"));
  changed = all;
  changed["pooler.more"] = "a.safetensors";
  CHECK_THAT(index(changed), Catch::Contains("pooler.more is listed in a.safetensors, which has"));
  TensorFile second;
  second.put("pooler.dense.bias", zeros({8}));
  second.put("more", zeros({8}));
  second.write(path / "b.safetensors");
  changed = all;
  changed["more"] = "b.safetensors";
  CHECK_THAT(index(changed), Catch::Contains("but the index lists it in a.safetensors"));
  CHECK_THAT(index(Record::array()), Catch::Contains("weight_map, the file of each tensor"));
  CHECK_THAT(index(Record::object()), Catch::Contains("0 files"));
  files.file("model.safetensors.index.json", "{\"weight_map\": {\"a\": \"x\", \"a\": \"y\"}}");
  CHECK_THAT(answer_for(path), Catch::Contains("JSON key \"a\" occurs twice"));
  files.file("config.json", "{");
  CHECK_THAT(answer_for(path), Catch::Contains("malformed JSON"));
  std::filesystem::remove(path / "config.json");
  CHECK_THAT(answer_for(path), Catch::Contains("config.json"));
  CHECK_FALSE(is_model_folder(path));
}
