// open_model(): model folders, and runs that were trained from one.
#include "headroom_runs/runs/open_model.hpp"

#include "headroom/base/error.hpp"
#include "support/catch.hpp"
#include "support/small_folders.hpp"
#include "support/small_vocabularies.hpp"

using namespace headroom;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

/// Writes a language model as a run that was trained from a model folder would.
fs::path save_run(const TemporaryFolder& to, Module& model, const fs::path& from) {
  Checkpoint checkpoint;
  checkpoint.about = {{"name", "text"}, {"kind", "language_model"}, {"folder", from.string()}};
  checkpoint.add("model", model);
  checkpoint.save(to / "checkpoint.safetensors");
  return to / "checkpoint.safetensors";
}

}  // namespace

TEST_CASE("a model folder is opened with its tokenizer, names and limits") {
  const TemporaryFolder folder;
  SmallFolder small = small_folder("BertForSequenceClassification", Index(bert_tokens.size()));
  small.json["id2label"] = {{"1", "green"}};
  small.write(folder);
  folder.file("vocab.txt", lines(bert_tokens));
  const SavedModel saved = open_model(folder.path());
  CHECK(saved.about["architecture"] == "BertForSequenceClassification");
  CHECK(saved.about["folder"] == folder.path().string());
  CHECK(saved.about["classes"] == Record({"LABEL_0", "green", "LABEL_2"}));
  CHECK(saved.tokenizer("tokens").encode("the cafe") == Tokens{8, 9});
  CHECK(has_outputs(saved));
}

TEST_CASE("ids of begin and end come from generation_config.json, then from config.json") {
  const TemporaryFolder folder;
  SmallFolder small = small_folder("MarianMTModel", Index(bert_tokens.size()));
  small.json.update({{"decoder_start_token_id", 5}, {"eos_token_id", 6}, {"pad_token_id", 7}});
  small.write(folder);
  folder.file("vocab.txt", lines(bert_tokens));
  const auto limits = [&] { return limits_of(open_model(folder.path())); };
  CHECK(limits().begin == 5);
  CHECK(limits().end == 6);
  CHECK(limits().never == 7);
  folder.file("generation_config.json", R"({"eos_token_id": 9, "pad_token_id": null})");
  CHECK(limits().begin == 5);
  CHECK(limits().end == 9);
  CHECK(limits().never == -1);
  folder.file("generation_config.json", R"({"eos_token_id": [9, 10]})");
  CHECK_THROWS_WITH(limits(), Contains("generation_config.json") && Contains("eos_token_id"));
}

TEST_CASE("a run that was trained from a model folder is read with its tokenizer") {
  const TemporaryFolder run, from;
  const auto tokens = Index(bpe_tokens().size());
  const SmallFolder small = small_folder("GPT2LMHeadModel", tokens);
  small.write(from);
  write_gpt2(from);
  SavedModel trained = open_model(from.path());
  const fs::path checkpoint = save_run(run, *trained.model, from.path());
  const SavedModel saved = open_model(checkpoint);
  CHECK(saved.tokenizer("tokens").encode("ab") == trained.tokenizer("tokens").encode("ab"));
  CHECK(limits_of(saved).end == -1);  // the usual end is no token of this vocabulary
  fs::remove_all(from.path());
  CHECK_THROWS_WITH(open_model(checkpoint), Contains("which is gone; put it there again") &&
                                                Contains(from.path().string()));
}
