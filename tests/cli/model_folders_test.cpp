// Model folders of Transformers in the program: `inspect` and `export`.
#include <limits>

#include "cli/runs.hpp"
#include "support/small_folders.hpp"

using Catch::Matchers::Contains;
using headroom::small_folder;
using nlohmann::json;
namespace fs = std::filesystem;

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
                             "decoder 0.1,decoder 1.3", "--out", out},
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
  const Finished inspected = headroom_program({"inspect", "--model", "compact"}, folder);
  CHECK_THAT(inspected.out, Contains("6 of 8 alive"));

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
      {{"attend", "--model", path, "--input", "a"}, 2, "is a model folder of Transformers"},
      {{"sample", "--model", path}, 2, "is a model folder of Transformers"},
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
