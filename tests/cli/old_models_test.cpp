// Runs that an older version of the program wrote: they open, give the same numbers, and go on.
#include <cmath>

#include "cli/runs.hpp"
#include "headroom/ops/losses.hpp"
#include "headroom/train/checkpoint.hpp"

using headroom::HeadId;
using headroom::Layout;
using headroom::ModelConfig;
using headroom::ModelKind;
using headroom::PositionKind;
using headroom::SavedModel;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr const char* names[] = {"seq2seq", "language_model", "classifier"};

fs::path old_models() { return fs::path(HEADROOM_SOURCE) / "tests/runs/old_models"; }

json expected() { return json::parse(content(old_models() / "expected.json")); }

/// A copy of an old run and the data of one, in a folder.
void copy_run(const char* name, const TemporaryFolder& to) {
  fs::copy(old_models() / name, to / name);
  fs::copy(old_models() / "fox.txt", to / "fox.txt");
}

bool close(double a, double b, double tolerance) {
  return std::abs(a - b) <= tolerance * std::max(1.0, std::abs(b));
}

json printed(const std::vector<std::string>& arguments, const TemporaryFolder& folder) {
  const Finished run = headroom_program(arguments, folder);
  INFO(run.err);
  REQUIRE(run.code == 0);
  return json::parse(run.out);
}

}  // namespace

TEST_CASE("checkpoints from before models had variants are models without one") {
  for (const char* name : names) {
    for (const char* file : {"best.safetensors", "checkpoint.safetensors"}) {
      INFO(name << ", " << file);
      const SavedModel saved = headroom::load_model(old_models() / name / file);
      const ModelConfig& config = saved.config;
      CHECK(config.kind == headroom::from_name<ModelKind>("kind", name));
      CHECK(config.variant == headroom::ModelVariant());
      CHECK_FALSE(config.to_record().contains("variant"));
      CHECK(config.layers == 1);
      CHECK(config.block.width == 8);
      CHECK(config.block.heads == 2);
      CHECK(config.block.hidden == 8);
      const bool language = config.kind == ModelKind::language_model;
      CHECK(config.tied_output == language);
      CHECK(config.positions == (language ? PositionKind::learned : PositionKind::sinusoidal));
      CHECK(config.block.layout ==
            (config.kind == ModelKind::classifier ? Layout::shared : Layout::fused));
      std::vector<HeadId> lost;
      if (config.kind == ModelKind::seq2seq) {
        lost = {{headroom::AttentionKind::encoder_self, 0, 1},
                {headroom::AttentionKind::decoder_self, 0, 1}};
      }
      CHECK(saved.removed == lost);
      CHECK(headroom::live_heads(*saved.model).size() ==
            (config.kind == ModelKind::seq2seq ? 4 : 2));
    }
  }
  const SavedModel saved = headroom::load_model(old_models() / "classifier/best.safetensors");
  const headroom::Array logits =
      saved.classifier()(headroom::Ids({1, 4}, {4, 4, 5, 5}), headroom::Ids({1}, {4})).value();
  CHECK(saved.about["classes"] == headroom::Record({"unbalanced", "balanced"}));
  const double probability = 1 / (1 + std::exp(double(logits[0] - logits[1])));
  CHECK(close(probability, expected()["classifier"]["predict"]["probability"], 1e-5));
}

TEST_CASE("predictions and attention of an old run are those of the version that wrote it") {
  const TemporaryFolder folder;
  const json all = expected();
  for (const char* name : names) {
    INFO(name);
    copy_run(name, folder);
    fs::remove(folder / "fox.txt");
    const json& old = all[name];
    const std::string input = old["input"];
    folder.file("input.txt", input + "\n");
    const json predicted = printed({"predict", "--model", name, "--json", "--length", "5",
                                    "--quiet", "--threads", "1", "input.txt"},
                                   folder);
    for (const auto& [key, value] : old["predict"].items()) {
      INFO(key);
      if (value.is_number()) {
        CHECK(close(predicted[key], value, 1e-5));
      } else {
        CHECK(predicted[key] == value);
      }
    }
    const json maps = printed(
        {"attend", "--model", name, "--input", input, "--json", "--length", "1", "--threads", "1"},
        folder)["example"]["maps"];
    REQUIRE(maps.size() == old["maps"].size());
    for (std::size_t i = 0; i < maps.size(); ++i) {
      const json now = maps[i].flatten(), before = old["maps"][i].flatten();
      REQUIRE(now.size() == before.size());
      for (const auto& [place, value] : before.items()) {
        if (value.is_number_float()) {
          CHECK(close(now[place], value, 2e-4));  // they have four digits
        } else {
          CHECK(now[place] == value);
        }
      }
    }
  }
}

TEST_CASE("an old run that was killed goes on as in the version that wrote it") {
  const json all = expected();
  for (const char* name : names) {
    INFO(name);
    const TemporaryFolder folder;
    copy_run(name, folder);
    const Finished run =
        headroom_program({"train", "--resume", "--out", name, "--threads", "1"}, folder);
    INFO(run.err);
    REQUIRE(run.code == 0);
    const json& old = all[name]["resumed"];
    const std::vector<json> lines = measurements(folder / name / "metrics.jsonl");
    const auto last = std::find_if(lines.begin(), lines.end(), [&](const json& line) {
      return line["step"] == old["step"] && line.contains("loss");
    });
    REQUIRE(last != lines.end());
    for (const auto& [key, value] : old.items()) {
      INFO(key);
      CHECK(close((*last)[key], value, 1e-4));
    }
  }
}
