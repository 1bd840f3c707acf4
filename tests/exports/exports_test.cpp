// Files for other programs: their parts, read back as their formats say. exports_agree.py compares
// what PyTorch and onnxruntime compute from them.
#include <algorithm>
#include <array>
#include <map>
#include <protozero/pbf_reader.hpp>
#include <set>

#include "headroom/base/error.hpp"
#include "headroom/base/record_json.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/json.hpp"
#include "headroom/io/tensor_file.hpp"
#include "headroom_runs/exports/event_file.hpp"
#include "headroom_runs/exports/onnx.hpp"
#include "headroom_runs/exports/torch.hpp"
#include "support/catch.hpp"
#include "support/own_layouts.hpp"
#include "support/small_saved_model.hpp"
#include "support/temporary_folder.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace {

using protozero::pbf_reader;

/// What a test asks of an ONNX file.
struct OnnxFile {
  std::int64_t version = 0, opset = 0;
  std::vector<std::string> inputs, outputs, operators;
  std::set<std::string> values;  // that are there: inputs, constants, results
  std::map<std::string, std::vector<std::int64_t>> constants;
  std::map<std::string, std::string> metadata;
  std::vector<std::string> missing;  // inputs of an operator that are no earlier values
};

std::string name_in(pbf_reader message, protozero::pbf_tag_type tag) {
  while (message.next(tag)) return message.get_string();
  return "";
}

OnnxFile read_onnx(const std::filesystem::path& path) {
  OnnxFile file;
  const std::string bytes = read_file(path);
  pbf_reader graph;
  for (pbf_reader model(bytes); model.next();) {
    switch (model.tag()) {
      case 1: file.version = model.get_int64(); break;
      case 7: graph = model.get_message(); break;
      case 8: {
        pbf_reader set = model.get_message();
        REQUIRE(set.next(2));
        file.opset = set.get_int64();
        break;
      }
      case 14: {
        const pbf_reader entry = model.get_message();
        file.metadata[name_in(entry, 1)] = name_in(entry, 2);
        break;
      }
      default: model.skip();
    }
  }
  std::vector<pbf_reader> nodes;
  while (graph.next()) {
    switch (graph.tag()) {
      case 1: nodes.push_back(graph.get_message()); break;
      case 5: {
        const pbf_reader tensor = graph.get_message();
        std::vector<std::int64_t>& sizes = file.constants[name_in(tensor, 8)];
        std::size_t size = 1, stored = 0, width = 0;
        for (pbf_reader fields = tensor; fields.next();) {
          if (fields.tag() == 1) {
            sizes.push_back(fields.get_int64());
            size *= std::size_t(sizes.back());
          } else if (fields.tag() == 2) {
            width = fields.get_int32() == 1 ? 4 : 8;
          } else if (fields.tag() == 9) {
            stored = fields.get_view().size();
          } else {
            fields.skip();
          }
        }
        CHECK(stored == size * width);
        break;
      }
      case 11: file.inputs.push_back(name_in(graph.get_message(), 1)); break;
      case 12: file.outputs.push_back(name_in(graph.get_message(), 1)); break;
      default: graph.skip();
    }
  }
  for (const std::string& input : file.inputs) file.values.insert(input);
  for (const auto& [name, sizes] : file.constants) file.values.insert(name);
  for (pbf_reader node : nodes) {
    while (node.next()) {
      if (node.tag() == 1) {
        const std::string input = node.get_string();
        if (!file.values.contains(input)) file.missing.push_back(input);
      } else if (node.tag() == 2) {
        file.values.insert(node.get_string());
      } else if (node.tag() == 4) {
        file.operators.push_back(node.get_string());
      } else {
        node.skip();
      }
    }
  }
  return file;
}

SavedModel saved_model(ModelKind kind, Layout layout, std::span<const HeadId> removed = {}) {
  ModelConfig config;
  config.kind = kind;
  config.layers = 1;
  config.longest = 10;
  config.block = {.width = 8, .heads = 2, .hidden = 12};
  config.block.layout = layout;
  return test::small_saved_model(config, removed);
}

constexpr HeadId second_head{AttentionKind::encoder_self, 0, 1};

}  // namespace

TEST_CASE("a model as ONNX has the inputs, outputs and texts that its header promises") {
  const TemporaryFolder folder;
  using Names = std::vector<std::string>;
  const auto check_file = [](const OnnxFile& file, const Names& inputs, const char* output) {
    CHECK(file.version == 8);
    CHECK(file.opset == 17);
    CHECK(file.inputs == inputs);
    CHECK(file.outputs == Names{output});
    CHECK(file.missing.empty());
    CHECK(file.values.contains(output));
    CHECK(std::find(file.operators.begin(), file.operators.end(), "Softmax") !=
          file.operators.end());
    CHECK(parse_json(file.metadata.at("headroom.config"), "config").contains("longest"));
    CHECK(parse_json(file.metadata.at("headroom.task"), "task")["name"] == "letters");
  };
  export_onnx(saved_model(ModelKind::seq2seq, Layout::fused), folder.path());
  check_file(read_onnx(folder / "encoder.onnx"), {"source", "source_lengths"}, "memory");
  check_file(read_onnx(folder / "decoder.onnx"), {"target", "memory", "source_lengths"}, "logits");
  export_onnx(saved_model(ModelKind::language_model, Layout::separate), folder.path());
  check_file(read_onnx(folder / "model.onnx"), {"ids"}, "logits");
  export_onnx(saved_model(ModelKind::classifier, Layout::shared), folder.path());
  check_file(read_onnx(folder / "model.onnx"), {"ids", "lengths"}, "logits");
}

TEST_CASE("exported matrices have no rows of removed heads") {
  const TemporaryFolder folder;
  for (const Layout layout : all_of<Layout>()) {
    const SavedModel saved = saved_model(ModelKind::classifier, layout, std::array{second_head});
    export_onnx(saved, folder.path());
    const OnnxFile onnx = read_onnx(folder / "model.onnx");
    using Sizes = std::vector<std::int64_t>;
    CHECK(onnx.constants.at("encoder.layers.0.self_attn.query.weight") == Sizes{4, 8});
    CHECK(onnx.constants.at("encoder.layers.0.self_attn.out_proj.weight") == Sizes{8, 4});
    CHECK(onnx.metadata.at("headroom.removed") == R"(["encoder 0.1"])");
    export_torch(saved, folder.path());
    const TensorFile torch = TensorFile::read(folder / "model.safetensors");
    CHECK(torch.tensor("encoder.layers.0.self_attn.in_proj_weight").shape == Shape{12, 8});
    CHECK(torch.tensor("encoder.layers.0.self_attn.out_proj.weight").shape == Shape{8, 4});
    const Record model = parse_json(read_file(folder / "model.json"), "model.json");
    CHECK(model["live_heads"]["encoder.layers.0.self_attn"] == Record{0});
    CHECK(model["model"]["head_dim"] == 4);
    CHECK(model["task"]["classes"][2] == "perhaps");
  }
}

TEST_CASE("a state dict has every parameter once, and the table of sinusoids") {
  const TemporaryFolder folder;
  const SavedModel saved = saved_model(ModelKind::seq2seq, Layout::separate);
  export_torch(saved, folder.path());
  const TensorFile torch = TensorFile::read(folder / "model.safetensors");
  Index elements = 0;
  for (const std::string& name : torch.names()) elements += torch.tensor(name).shape.size();
  CHECK(elements == count_parameters(*saved.model) + 2 * 10 * 8);
  CHECK(torch.tensor("source_positions.weight").shape == Shape{10, 8});
  CHECK(read_file(folder / "model.py").find("def load(folder)") != std::string::npos);
}

TEST_CASE("a layout of another program is not exported") {
  const TemporaryFolder folder;
  const SavedModel saved = saved_model(ModelKind::language_model, test::slopes_layout());
  const auto says = Catch::Matchers::Contains("only separate, fused and shared are exported");
  CHECK_THROWS_WITH(export_onnx(saved, folder.path()), says);
  CHECK_THROWS_WITH(export_torch(saved, folder.path()), says);
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("an event file has a record for the format and one for each measurement") {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "events.out.tfevents.1.test";
  write_event_file(path, std::vector<Measurement>{{"loss", 10, 0.5}, {"fused/loss", 20, -2}}, 100);
  const std::string bytes = read_file(path);
  const auto number = [&](std::size_t at, int count) {
    std::uint64_t value = 0;
    for (int i = count; i-- > 0;) value = value << 8 | std::uint8_t(bytes[at + std::size_t(i)]);
    return value;
  };
  // The message is what the Python package tensorboard makes of wall_time 100 and this version; the
  // checksums are those of its bytes by another implementation of CRC-32C.
  CHECK(number(0, 8) == 24);
  CHECK(number(8, 4) == 0x224B7FA3);
  CHECK(number(12 + 24, 4) == 0xE4D5A1B0);
  std::vector<std::tuple<std::int64_t, std::string, float>> found;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = number(at, 8);
    for (pbf_reader event(bytes.data() + at + 12, length); event.next();) {
      if (event.tag() == 1)
        CHECK(event.get_double() == 100);
      else if (event.tag() == 2)
        found.emplace_back(event.get_int64(), "", 0);
      else if (event.tag() == 5) {
        pbf_reader summary = event.get_message();
        REQUIRE(summary.next(1));
        pbf_reader value = summary.get_message();
        REQUIRE(value.next(1));
        std::get<1>(found.back()) = value.get_string();
        REQUIRE(value.next(2));
        std::get<2>(found.back()) = value.get_float();
      } else {
        event.skip();
      }
    }
    at += 12 + length + 4;
    REQUIRE(at <= bytes.size());
  }
  CHECK(found == decltype(found){{10, "loss", 0.5f}, {20, "fused/loss", -2.0f}});
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
