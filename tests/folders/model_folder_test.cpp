// Model folders: what config.json and the tensors make of a model. The numbers are compared with
// Transformers in tests/parity.
#include "headroom_foreign/folders/model_folder.hpp"

#include <cstring>
#include <limits>

#include "headroom/base/error.hpp"
#include "support/catch.hpp"
#include "support/small_folders.hpp"

using namespace headroom;
using Catch::Contains;

namespace {

bool same_numbers(Module& a, Module& b) {
  const auto ours = parameters(a), theirs = parameters(b);
  if (ours.size() != theirs.size()) return false;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const Array &x = ours[i].tensor.value(), &y = theirs[i].tensor.value();
    if (ours[i].name != theirs[i].name || !(x.shape() == y.shape())) return false;
    if (!std::equal(x.span().begin(), x.span().end(), y.span().begin())) return false;
  }
  return true;
}

/// The tensors of a folder as a file, with changes, in the same folder.
template <class Change>
void rewrite(const std::filesystem::path& folder, Change change) {
  TensorFile file = TensorFile::read(folder / "model.safetensors");
  change(file);
  file.write(folder / "model.safetensors");
}

}  // namespace

TEST_CASE("every architecture is read: its configuration, and each number") {
  for (const char* architecture : architectures) {
    INFO(architecture);
    const TemporaryFolder files;
    const std::filesystem::path path = small_folder(architecture).write(files);
    REQUIRE(is_model_folder(path));
    const ModelFolder folder = open_model_folder(path);
    const ModelConfig expected = small_config(architecture);
    CHECK(folder.architecture == architecture);
    CHECK(folder.config.kind == expected.kind);
    CHECK(folder.config.layers == expected.layers);
    CHECK(folder.config.positions == expected.positions);
    CHECK(folder.config.block.hidden == expected.block.hidden);
    CHECK(folder.config.variant.decoder_heads == expected.variant.decoder_heads);
    CHECK(folder.removed.empty());

    Rng rng(5, "init");  // as small_folder() draws
    const std::unique_ptr<Module> drawn = make_model(expected, rng);
    const std::unique_ptr<Module> fused = folder.load(), separate = folder.load(Layout::separate);
    CHECK(same_numbers(*fused, *drawn));
    CHECK_FALSE(fused->training());
    const auto theirs = in_foreign_names(*separate, *folder.names, folder.with_prefix);
    CHECK(theirs.size() == folder.tensors.entries().size());
    for (const auto& [name, array] : theirs) {
      CHECK(array.shape() == folder.tensors.at(name).entry->shape);
    }
  }
}

TEST_CASE("a folder can be opened as another architecture of its type") {
  const TemporaryFolder files;
  const std::filesystem::path path = small_folder("BertForSequenceClassification").write(files);
  const std::unique_ptr<Module> base = open_model_folder(path, "BertModel").load();
  CHECK(dynamic_cast<TextEncoder*>(base.get()) != nullptr);
  CHECK(dynamic_cast<Classifier*>(base.get()) == nullptr);
  CHECK_THROWS_WITH(open_model_folder(path, "GPT2Model"), Contains("\"model_type\" is \"bert\""));
  CHECK_THROWS_WITH(open_model_folder(path, "BertForMaskedLM").load(),
                    Contains("tensor \"cls.predictions.bias\": is missing"));
}

TEST_CASE("names of other times, buffers and second names of tied parameters are understood") {
  const TemporaryFolder files;
  const std::filesystem::path path = small_folder("BertForMaskedLM").write(files);
  const std::unique_ptr<Module> before = open_model_folder(path).load();
  rewrite(path, [](TensorFile& file) {
    file.rename("bert.embeddings.LayerNorm.weight", "bert.embeddings.LayerNorm.gamma");
    file.rename("bert.embeddings.LayerNorm.bias", "bert.embeddings.LayerNorm.beta");
    file.put("bert.embeddings.position_ids", Ids(Shape{1, 7}, 0));
    file.put("bert.pooler.dense.weight", zeros({8, 8}));
    file.put("cls.seq_relationship.bias", zeros({2}));
    file.put("cls.predictions.decoder.weight", zeros({11, 8}));
  });
  CHECK(same_numbers(*before, *open_model_folder(path).load()));

  const TemporaryFolder others;
  const std::filesystem::path gpt2 = small_folder("GPT2LMHeadModel").write(others);
  const std::unique_ptr<Module> model = open_model_folder(gpt2).load();
  rewrite(gpt2, [](TensorFile& file) {
    file.put("transformer.h.0.attn.bias", Bytes(Shape{1, 1, 7, 7}, 1));
    file.put("transformer.h.1.attn.masked_bias", Array(Shape{}, -10000));
    file.put("lm_head.weight", zeros({11, 8}));
  });
  CHECK(same_numbers(*model, *open_model_folder(gpt2).load()));
}

TEST_CASE("heads that were pruned are absent, and keep their numbers") {
  const TemporaryFolder files;
  SmallFolder folder = small_folder("GPT2LMHeadModel");
  Rng rng(5, "init");
  const ModelConfig config = small_config("GPT2LMHeadModel");
  const std::vector<HeadId> removed{{AttentionKind::decoder_self, 0, 1},
                                    {AttentionKind::decoder_self, 0, 3},
                                    {AttentionKind::decoder_self, 1, 0}};
  const std::unique_ptr<Module> compact = make_model(config, rng, removed);
  folder.tensors = {};
  for (const auto& [name, array] :
       in_foreign_names(*compact, names_of_architecture("GPT2LMHeadModel", config), true)) {
    folder.tensors.put(name, array);
  }
  folder.json["pruned_heads"] = {{"0", {3, 1}}, {"1", {0}}};
  folder.json["headroom_removed_heads"] = {"decoder 0.3"};  // was 0 before it was pruned
  const ModelFolder opened = open_model_folder(folder.write(files));
  CHECK(opened.removed == removed);
  const std::unique_ptr<Module> model = opened.load();
  CHECK(same_numbers(*model, *compact));
  const std::vector<Index> alive{0, 2};
  CHECK(std::equal(alive.begin(), alive.end(), attentions(*model)[0].attention->alive().begin()));
  CHECK(opened.saved().removed == removed);
}

TEST_CASE("half precision is read") {
  const TemporaryFolder files;
  const SmallFolder folder = small_folder("GPT2Model");
  const std::unique_ptr<Module> exact = open_model_folder(folder.write(files)).load();
  for (const StoredType type : {StoredType::f16, StoredType::bf16}) {
    SmallFolder halves = folder;
    halves.convert(type);
    const std::filesystem::path path = halves.write(files);
    const std::unique_ptr<Module> rounded = open_model_folder(path).load();
    double worst = 0;
    for (std::size_t i = 0; i < parameters(*exact).size(); ++i) {
      const Array &x = parameters(*exact)[i].tensor.value(),
                  &y = parameters(*rounded)[i].tensor.value();
      for (Index k = 0; k < x.size(); ++k) {
        worst = std::max(worst, std::abs(double(x[k] - y[k])) / (std::abs(double(x[k])) + 1e-6));
      }
    }
    CHECK(worst > 0);
    CHECK(worst < (type == StoredType::f16 ? 0.06 : 0.01));
  }
}

TEST_CASE("an index joins shards") {
  const TemporaryFolder files;
  const std::filesystem::path path = small_folder("BertModel").write(files);
  const std::unique_ptr<Module> whole = open_model_folder(path).load();
  const TensorFile file = TensorFile::read(path / "model.safetensors");
  TensorFile shards[2];
  Record map = Record::object();
  std::size_t next = 0;
  for (const std::string& name : file.names()) {
    shards[next % 2].put(name, file.tensor(name));
    map[name] = next++ % 2 == 0 ? "model-1.safetensors" : "model-2.safetensors";
  }
  shards[0].write(path / "model-1.safetensors");
  shards[1].write(path / "model-2.safetensors");
  std::filesystem::remove(path / "model.safetensors");
  files.file("model.safetensors.index.json", Record{{"weight_map", map}}.dump());
  CHECK(same_numbers(*whole, *open_model_folder(path).load()));
}

TEST_CASE("sinusoids in halves are the same numbers in another order") {
  for (const Index width : {8, 5}) {
    Rng rng(1);
    const Array pairs = Positions(PositionKind::sinusoidal, 4, width, rng).weight.value(),
                halves = Positions(PositionKind::sinusoidal_halves, 4, width, rng).weight.value();
    for (Index t = 0; t < 4; ++t) {
      for (Index c = 0; c < width; ++c) {
        const Index there = c % 2 == 0 ? c / 2 : (width + 1) / 2 + c / 2;
        CHECK(halves[t * width + there] == pairs[t * width + c]);
      }
    }
  }
}

TEST_CASE("values that are not finite are kept and warned of in one line") {
  const TemporaryFolder files;
  SmallFolder small = small_folder("BertModel");
  const std::filesystem::path path = small.write(files);
  std::vector<std::string> lines;
  on_folder_warning([&](const std::string& line) { lines.push_back(line); });
  open_model_folder(path).load();
  CHECK(lines.empty());

  Array bias({8}, {0, 1, 2, 3, 4, 5, 6, 7});
  bias[5] = -std::numeric_limits<Real>::infinity();
  small.put("pooler.dense.bias", bias);
  small.write(files);
  const ModelFolder folder = open_model_folder(path);
  CHECK(lines.empty());  // it has read headers only
  const std::unique_ptr<Module> model = folder.load();
  const std::string origin = (path / "model.safetensors").string();
  REQUIRE(lines.size() == 1);
  CHECK(lines[0] == origin + ": tensor \"pooler.dense.bias\": 1 of 8 values is NaN or infinite");
  const auto& names = *folder.names;
  CHECK(in_foreign_names(*model, names, false)["pooler.dense.bias"][5] == bias[5]);

  const std::string matrix = "encoder.layer.0.attention.self.value.weight";
  small.put(matrix, Array({8, 8}, std::numeric_limits<Real>::quiet_NaN()));
  small.write(files);
  for (const Layout layout : {Layout::fused, Layout::separate}) {
    open_model_folder(path).saved(layout);
    CHECK(lines.size() == 2);
    CHECK_THAT(lines.back(), Contains(" NaN or infinite, and values of 1 other tensor"));
    lines.pop_back();
  }
  on_folder_warning({});
  CHECK_NOTHROW(open_model_folder(path).load());
  CHECK(lines.size() == 1);
}

TEST_CASE("only the head of a new classifier may be missing in the file") {
  const std::vector<std::string> classes{"a", "b"};
  for (const char* name : {"pooler.dense.weight", "encoder.layer.1.output.dense.weight"}) {
    SmallFolder small = small_folder("BertModel");
    const bool of_head = std::string(name).starts_with("pooler");
    if (of_head) {
      small.erase("pooler.dense.weight");
      small.erase("pooler.dense.bias");
    } else {
      small.erase(name);
    }
    const TemporaryFolder place;
    const ModelFolder folder =
        with_new_classifier(open_model_folder(small.write(place), "BertModel"), classes);
    INFO(name);
    if (of_head) {
      CHECK_NOTHROW(folder.load());
    } else {
      CHECK_THROWS_WITH(folder.load(), Contains("encoder.layer.1.output.dense.weight"));
    }
  }
}
