// Model folders of Transformers in the program: `inspect`, `export`, and the commands that use a
// model on texts.
#include <limits>

#include "cli/runs.hpp"
#include "support/small_folders.hpp"
#include "support/small_vocabularies.hpp"

using Catch::Matchers::Contains;
using headroom::small_folder;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// A model folder with the tokenizer of its family. Marian's here is WordPiece, too, so that the
/// test needs no SentencePiece.
struct UsableFolder {
  explicit UsableFolder(const std::string& architecture) {
    const bool is_gpt2 = architecture.starts_with("GPT2");
    const auto tokens = headroom::Index((is_gpt2 ? bpe_tokens() : bert_tokens).size());
    headroom::SmallFolder small = small_folder(architecture, tokens);
    if (architecture == "BertForSequenceClassification") {
      small.json["id2label"] = {{"0", "red"}, {"1", "green"}, {"2", "blue"}};
    }
    if (architecture == "MarianMTModel") {
      small.json.update({{"decoder_start_token_id", 0}, {"eos_token_id", 3}, {"pad_token_id", 0}});
    }
    path = small.write(files).string();
    if (is_gpt2) {
      write_gpt2(files);
    } else {
      files.file("vocab.txt", lines(bert_tokens));
    }
  }

  TemporaryFolder files;
  std::string path;
};

/// The record of `attend`.
json attended(const UsableFolder& model, const std::string& input) {
  const TemporaryFolder folder;
  const Finished run =
      headroom_program({"attend", "--model", model.path, "--input", input, "--json"}, folder);
  INFO(run.err);
  REQUIRE(run.code == 0);
  return json::parse(run.out);
}

}  // namespace

TEST_CASE("inspect shows a model folder from its headers") {
  const TemporaryFolder folder, model;
  small_folder("BertModel").write(model);
  model.file("vocab.txt", "[PAD]\n");
  const Finished text = headroom_program({"inspect", "--model", model.path().string()}, folder);
  CHECK(text.code == 0);
  CHECK_THAT(text.out, Contains("BertModel of Transformers") && Contains("8 of 8 alive") &&
                           Contains("vocab.txt") && Contains("pooler.dense.bias"));
  const Finished asked =
      headroom_program({"inspect", "--model", model.path().string(), "--json"}, folder);
  const json record = json::parse(asked.out);
  CHECK(record["architecture"] == "BertModel");
  CHECK(record["model"]["variant"]["token_types"] == 2);
  CHECK(record["tensors"].size() == 39);
}

TEST_CASE("export writes a model folder without some heads, in both forms") {
  const TemporaryFolder folder, model;
  const std::string path = small_folder("GPT2LMHeadModel").write(model).string();
  const auto exported = [&](const char* form, const char* out, const char* from) {
    return headroom_program({"export", "--model", from, "--form", form, "--remove",
                             "decoder 0.1, decoder 1.3", "--out", out},
                            folder);
  };
  const Finished dense = exported("dense", "dense", path.c_str());
  INFO(dense.err);
  CHECK(dense.code == 0);
  CHECK_THAT(dense.out, Contains("a GPT2LMHeadModel with 6 of 8 heads, dense"));
  CHECK_THAT(content(folder / "dense/README.md"),
             Contains("removed 2 attention heads") && Contains("* decoder 1: 3"));
  CHECK(exported("compact", "compact", path.c_str()).code == 0);
  CHECK(json::parse(content(folder / "compact/config.json"))["pruned_heads"].dump() ==
        R"({"0":[1],"1":[3]})");
  CHECK_THAT(content(folder / "compact/README.md"), Contains("version 5 cannot"));
  for (const char* form : {"compact", "dense"}) {
    const Finished inspected = headroom_program({"inspect", "--model", form}, folder);
    CHECK_THAT(inspected.out, Contains("6 of 8 alive"));
  }

  const Finished twice = exported("dense", "again", "compact");
  CHECK(twice.code == 2);
  CHECK_THAT(twice.err, Contains("decoder 0.1"));
  CHECK_FALSE(fs::exists(folder / "again"));
}

TEST_CASE("a command that computes warns once of values that are not finite, inspect does not") {
  const TemporaryFolder folder, model;
  headroom::SmallFolder small = small_folder("GPT2LMHeadModel");
  small.put("transformer.h.1.mlp.c_fc.bias",
            headroom::Array({12}, std::numeric_limits<headroom::Real>::quiet_NaN()));
  const std::string path = small.write(model).string();
  const Finished exported = headroom_program(
      {"export", "--model", path, "--form", "dense", "--remove", "decoder 0.1", "--out", "dense"},
      folder);
  CHECK(exported.code == 0);
  CHECK(exported.err == "warning: " + path +
                            "/model.safetensors: tensor \"transformer.h.1.mlp.c_fc.bias\": 12 of "
                            "12 values are NaN or infinite\n");
  CHECK(headroom_program({"inspect", "--model", path}, folder).err.empty());
}

TEST_CASE("what cannot be done with a model folder is one line with a remedy") {
  const TemporaryFolder folder, model;
  const std::string path = small_folder("BertModel").write(model).string();
  const struct {
    std::vector<std::string> words;
    int code;
    const char* says;
  } bad[] = {
      {{"export", "--model", path}, 2, "give --form dense or --form compact"},
      {{"export", "--model", path, "--to", "onnx"}, 2, "--to writes models of headroom"},
      {{"export", "--model", path, "--form", "sparse"}, 2, "not one of dense, compact"},
      {{"export", "--model", path, "--form", "dense", "--out", path}, 2, "choose another"},
      {{"export", "--model", path, "--form", "dense", "--out", path, "--force"}, 2, "that is read"},
      {{"export", "--model", path, "--form", "dense", "--out", path + "/./in/it"}, 2, "or in it"},
      {{"export", "--model", path, "--form", "dense", "--remove", "encoder 7.1"}, 2, "encoder 7"},
      {{"importance", "--model", path}, 2, "name a file with --data"},
      {{"evaluate", "--model", path, "--data", "a.txt"}, 2, "is a model folder of Transformers"},
  };
  for (const auto& one : bad) {
    const Finished run = headroom_program(one.words, folder);
    INFO(one.says);
    CHECK(run.code == one.code);
    CHECK_THAT(run.err, Contains(one.says));
    CHECK(std::count(run.err.begin(), run.err.end(), '\n') == 1);
  }
  CHECK(headroom::open_model_folder(path).architecture == "BertModel");  // it is as it was
  CHECK_FALSE(fs::exists(fs::path(path) / "in"));
  model.file("config.json", "{\"model_type\": \"t5\"}");
  const Finished unknown = headroom_program({"inspect", "--model", path}, folder);
  CHECK(unknown.code == 5);
  CHECK_THAT(unknown.err, Contains("models of bert, gpt2 and marian are read"));
}

TEST_CASE("attend shows the maps and the answer of every kind of model folder") {
  for (const char* architecture : headroom::architectures) {
    INFO(architecture);
    const UsableFolder model(architecture);
    const std::string name = architecture;
    const json record = attended(model, name == "BertForMaskedLM" ? "the [MASK]" : "the cafe");
    CHECK(record["model"]["architecture"] == architecture);
    const bool is_marian = name == "MarianMTModel";
    CHECK(record["example"]["maps"].size() == (is_marian ? 12 : 8));
    const json& answer = record["answer"];
    if (name == "BertModel" || name == "GPT2Model") {
      CHECK(answer["note"] == "none: this model has no output");
      CHECK(answer["text"] == "");
    } else if (name == "BertForMaskedLM") {
      CHECK(record["example"]["source"] == json({"[CLS]", "the", "[MASK]", "[SEP]"}));
      CHECK(answer["classes"].size() == 5);
      CHECK(answer["classes"][0]["name"] == answer["text"]);
      CHECK(answer["classes"][0]["probability"] >= answer["classes"][1]["probability"]);
    } else if (name == "BertForSequenceClassification") {
      CHECK(record["example"]["source"] == json({"[CLS]", "the", "cafe", "[SEP]"}));
      CHECK(answer["classes"].size() == 3);
      CHECK_THAT("red green blue", Contains(answer["text"].get<std::string>()));
    } else if (is_marian) {
      CHECK(record["ids"]["target_in"][0] == 0);
      if (answer["finished"].get<bool>()) CHECK(record["example"]["target"].back() == "[SEP]");
    } else {
      CHECK(record["example"]["decoder_input"][1] == "he");
      CHECK(answer["probability"] > 0);
    }
  }
}

TEST_CASE("tokens of a model folder are shown as text, and special words only where they mask") {
  const UsableFolder words("GPT2LMHeadModel");
  const json example = attended(words, "ab the")["example"];
  CHECK(example["decoder_input"][0] == "ab");
  CHECK(example["decoder_input"][1] == " the");
  const UsableFolder masked("BertForMaskedLM");
  const json two = attended(masked, "[MASK][MASK] s");
  CHECK(two["ids"]["source"] == json({2, 4, 4, 17, 3}));
  CHECK(two["answer"]["classes"].size() == 4);
  CHECK_THAT(two["answer"]["classes"][2]["name"].get<std::string>(),
             Catch::Matchers::StartsWith("2: "));
  CHECK_THAT(attended(masked, "the")["answer"]["note"].get<std::string>(),
             Contains("no [MASK] to be guessed"));
  const UsableFolder classes("BertForSequenceClassification");
  CHECK(attended(classes, "[MASK]")["ids"]["source"] == json({2, 22, 24, 23, 3}));
}

TEST_CASE("attend writes a page of a model folder, without the model when it cannot be computed") {
  const TemporaryFolder folder;
  const UsableFolder model("BertForSequenceClassification");
  const Finished run = headroom_program(
      {"attend", "--model", model.path, "--input", "the cafe", "--out", "page"}, folder);
  INFO(run.err);
  CHECK(run.code == 0);
  CHECK_THAT(run.out, Contains("input   the cafe") && Contains("[CLS]"));
  const std::string page = content(folder / "page/report.html");
  CHECK_THAT(page, Contains("pages cannot compute the parts of a model that another program made"));
  CHECK_THAT(page, Contains("BertForSequenceClassification"));
}

TEST_CASE("sample continues a text with a model folder") {
  const TemporaryFolder folder;
  const UsableFolder model("GPT2LMHeadModel");
  const auto sampled = [&](const char* temperature) {
    return headroom_program({"sample", "--model", model.path, "--prompt", "ab the", "--temperature",
                             temperature, "--length", "9", "--seed", "4"},
                            folder);
  };
  const Finished greedy = sampled("0"), drawn = sampled("1");
  INFO(greedy.err);
  CHECK(greedy.code == 0);
  CHECK_THAT(greedy.out, Catch::Matchers::StartsWith("ab the"));
  CHECK(greedy.out.size() > 8);
  CHECK(drawn.out != greedy.out);
  CHECK(sampled("1").out == drawn.out);
}

TEST_CASE("translate and predict use model folders") {
  const TemporaryFolder folder;
  const UsableFolder marian("MarianMTModel"), bert("BertForSequenceClassification");
  const Finished greedy =
      headroom_program({"translate", "--model", marian.path, "the cafe", "a"}, folder);
  INFO(greedy.err);
  CHECK(greedy.code == 0);
  CHECK(std::count(greedy.out.begin(), greedy.out.end(), '\n') == 2);
  const std::string text = attended(marian, "the cafe")["answer"]["text"];
  CHECK(greedy.out.substr(0, greedy.out.find('\n')) == text);
  const Finished beam = headroom_program(
      {"translate", "--model", marian.path, "--beam", "3", "--candidates", "3", "the"}, folder);
  CHECK(std::count(beam.out.begin(), beam.out.end(), '\n') == 3);

  folder.file("lines.txt", "the cafe\na\n");
  const Finished classes =
      headroom_program({"predict", "--model", bert.path, "--candidates", "3", "lines.txt"}, folder);
  INFO(classes.err);
  CHECK(classes.code == 0);
  CHECK(std::count(classes.out.begin(), classes.out.end(), '\n') == 6);
  CHECK_THAT(classes.out, Contains("green\t0."));
}

TEST_CASE("texts and folders that cannot be used are one line") {
  const TemporaryFolder folder;
  const UsableFolder bert("BertModel"), gpt2("GPT2LMHeadModel"), bare("GPT2Model"),
      marian("MarianMTModel"), masked("BertForMaskedLM"), few("BertModel"), none("BertModel"),
      starts("MarianMTModel");
  few.files.file("vocab.txt", lines(bert_tokens) + "one\nmore\n");
  fs::remove(fs::path(none.path) / "vocab.txt");
  json config = json::parse(content(fs::path(starts.path) / "config.json"));
  config["decoder_start_token_id"] = 26;
  starts.files.file("config.json", config.dump());
  const struct {
    std::vector<std::string> words;
    int code;
    const char* says;
  } bad[] = {
      {{"attend", "--model", bert.path, "--input", "a a a a a a a"},
       2,
       "the input has 7 tokens and 2 around them; the model reads at most 7"},
      {{"attend", "--model", bert.path, "--input", ""}, 2, "the input is empty"},
      {{"attend", "--model", bert.path, "--input", "\xC3("}, 4, "not well-formed UTF-8"},
      {{"attend", "--model", bert.path, "--input", "a", "--output", "b"},
       2,
       "a BertModel has no output text"},
      {{"attend", "--model", bert.path, "--input", "a", "--layer", "7"}, 2, "layers 0 to 1"},
      {{"attend", "--model", gpt2.path, "--input", "abcdefghijklm"}, 2, "reads at most 7"},
      {{"attend", "--model", few.path, "--input", "a"},
       5,
       "the tokenizer has 28 tokens, but the model only 26"},
      {{"attend", "--model", none.path, "--input", "a"}, 5, "vocab.txt"},
      {{"attend", "--model", starts.path, "--input", "a"}, 5, "\"decoder_start_token_id\" must be"},
      {{"sample", "--model", bare.path, "--prompt", "a"}, 2, "a GPT2Model has no outputs"},
      {{"sample", "--model", bert.path, "--prompt", "a"}, 2, "not a language_model"},
      {{"translate", "--model", gpt2.path, "a"}, 2, "not a seq2seq"},
      {{"predict", "--model", masked.path, "a.txt"}, 2, "predicts no outputs"},
      {{"predict", "--model", bert.path, "a.txt"}, 2, "a BertModel has no outputs"},
  };
  for (const auto& one : bad) {
    const Finished run = headroom_program(one.words, folder);
    INFO(one.says << "\n" << run.err);
    CHECK(run.code == one.code);
    CHECK_THAT(run.err, Contains(one.says));
    CHECK(std::count(run.err.begin(), run.err.end(), '\n') == 1);
  }
  const Finished lines =
      headroom_program({"translate", "--model", marian.path, "a a a a a a a"}, folder);
  CHECK(lines.code == 4);
  CHECK_THAT(lines.err, Contains("line 1: 9 tokens; the model reads at most 7"));
}
