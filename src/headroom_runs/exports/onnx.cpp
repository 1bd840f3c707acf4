// The forward pass of the models in operators of ONNX, in the order of nn/models.cpp.
#include "headroom_runs/exports/onnx.hpp"

#include <cmath>
#include <limits>

#include "exports/onnx_graph.hpp"
#include "exports/plain_attention.hpp"
#include "headroom/algebra/algebra.hpp"
#include "headroom/base/record_json.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/fields.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Builds the graph of one file. Its functions take and return names of values.
class OnnxModel {
 public:
  OnnxModel(const ModelConfig& config) : config_(config) {}
  OnnxGraph graph;

  std::string embedded(const std::string& ids, const Embedding& table, const Positions& positions) {
    graph.scope = table.path() + ".";
    std::string x = graph.apply("Gather", {weight(table, "weight", table.weight), ids});
    if (config_.positions == PositionKind::sinusoidal) {
      x = graph.apply("Mul", {x, graph.number(std::sqrt(double(config_.block.width)))});
    }
    if (config_.positions == PositionKind::none) return x;
    const std::string rows = weight(positions, "weight", positions.weight);
    return graph.apply("Add", {x, graph.apply("Gather", {rows, times(ids)})});
  }

  /// [B, 1, 1, T]: true before the length; `x` has the axes [B, T, ...].
  std::string before_length(const std::string& x, const std::string& lengths) {
    graph.scope = "mask.";
    const std::string valid =
        graph.apply("Less", {unsqueezed(times(x), {0}), unsqueezed(lengths, {1})});
    return unsqueezed(valid, {1, 2});
  }

  /// [T, T]: true where the key is not after the query.
  std::string causal(const std::string& ids) {
    graph.scope = "mask.";
    const std::string t = times(ids);
    return graph.apply("LessOrEqual", {unsqueezed(t, {0}), unsqueezed(t, {1})});
  }

  std::string encoder(const Encoder& stack, std::string x, const std::string& mask) {
    for (const auto& layer : stack.layers) {
      x = residual(*layer, layer->norm1, x,
                   [&](const std::string& v) { return attention(layer->self_attn(), v, v, mask); });
      x = residual(*layer, layer->norm2, x,
                   [&](const std::string& v) { return feed_forward(layer->feed_forward, v); });
    }
    return stack.norm ? norm(*stack.norm, x) : x;
  }

  std::string decoder(const Decoder& stack, std::string x, const std::string& mask,
                      const std::string& memory, const std::string& memory_mask) {
    for (const auto& layer : stack.layers) {
      x = residual(*layer, layer->norm1, x,
                   [&](const std::string& v) { return attention(layer->self_attn(), v, v, mask); });
      x = residual(*layer, layer->norm2, x, [&](const std::string& v) {
        return attention(layer->multihead_attn(), v, memory, memory_mask);
      });
      x = residual(*layer, layer->norm3, x,
                   [&](const std::string& v) { return feed_forward(layer->feed_forward, v); });
    }
    return stack.norm ? norm(*stack.norm, x) : x;
  }

  std::string logits(const Linear* output, const Embedding& table, const std::string& x) {
    if (output != nullptr) return linear(*output, x);
    graph.scope = "output.";
    return product(x, weight(table, "weight", table.weight));
  }

  /// The mean over the positions that the mask [B, 1, 1, T] leaves, [B, T, C] -> [B, C].
  std::string mean(const std::string& x, const std::string& mask, const std::string& lengths) {
    graph.scope = "mean.";
    const std::string ones = graph.apply("Cast", {mask}, {{"to", as_float}});  // [B, 1, 1, T]
    const std::string weights =
        graph.apply("Reshape", {ones, graph.integers({0, -1, 1})});  // [B, T, 1]
    const std::string sum =
        graph.apply("ReduceSum", {graph.apply("Mul", {x, weights}), graph.integers({1})},
                    {{"keepdims", std::int64_t{0}}});
    const std::string counts = graph.apply("Cast", {lengths}, {{"to", as_float}});
    return graph.apply("Div", {sum, unsqueezed(counts, {1})});
  }

  std::string linear(const Linear& module, const std::string& x) {
    return affine(module.path(), module.weight.value(),
                  module.bias.defined() ? module.bias.value() : Array(), x);
  }

 private:
  static constexpr std::int64_t as_float = std::int64_t(OnnxGraph::Type::number);

  std::string weight(const Module& module, const char* name, const Tensor& values) {
    return graph.weight(module.path() + "." + name, values.value());
  }

  std::string unsqueezed(const std::string& x, const std::vector<std::int64_t>& axes) {
    return graph.apply("Unsqueeze", {x, graph.integers(axes)});
  }

  /// 0, 1, ... for each time of x, [B, T, ...] -> [T].
  std::string times(const std::string& x) {
    const std::string count = graph.apply("Gather", {graph.apply("Shape", {x}), graph.integer(1)});
    return graph.apply("Range", {graph.integer(0), count, graph.integer(1)});
  }

  /// x W^T for W [out, in].
  std::string product(const std::string& x, const std::string& matrix) {
    return graph.apply("MatMul", {x, graph.apply("Transpose", {matrix})});
  }

  std::string affine(const std::string& path, const Array& matrix, const Array& bias,
                     const std::string& x) {
    graph.scope = path + ".";
    const std::string y = product(x, graph.weight(path + ".weight", matrix));
    return bias.defined() ? graph.apply("Add", {y, graph.weight(path + ".bias", bias)}) : y;
  }

  std::string norm(const Norm& module, const std::string& x) {
    graph.scope = module.path() + ".";
    const std::string scale = weight(module, "weight", module.weight);
    if (module.kind == NormKind::layer) {
      return graph.apply("LayerNormalization", {x, scale, weight(module, "bias", module.bias)},
                         {{"epsilon", float(module.epsilon)}});
    }
    const std::string mean = graph.apply("ReduceMean", {graph.apply("Mul", {x, x})},
                                         {{"axes", std::vector<std::int64_t>{-1}}});
    const std::string root =
        graph.apply("Sqrt", {graph.apply("Add", {mean, graph.number(double(module.epsilon))})});
    return graph.apply("Mul", {graph.apply("Div", {x, root}), scale});
  }

  std::string activated(Activation kind, const std::string& x) {
    const auto times_half = [&](const std::string& factor) {
      const std::string more = graph.apply("Add", {factor, graph.number(1)});
      return graph.apply("Mul", {graph.apply("Mul", {x, graph.number(0.5)}), more});
    };
    switch (kind) {
      case Activation::relu: return graph.apply("Relu", {x});
      case Activation::tanh: return graph.apply("Tanh", {x});
      case Activation::sigmoid: return graph.apply("Sigmoid", {x});
      case Activation::silu: return graph.apply("Mul", {x, graph.apply("Sigmoid", {x})});
      case Activation::gelu: {
        const std::string scaled = graph.apply("Mul", {x, graph.number(std::sqrt(0.5))});
        return times_half(graph.apply("Erf", {scaled}));
      }
      case Activation::gelu_tanh: break;
    }
    const std::string cube = graph.apply("Mul", {graph.apply("Mul", {x, x}), x});
    const std::string sum =
        graph.apply("Add", {x, graph.apply("Mul", {cube, graph.number(0.044715)})});
    const double factor = std::sqrt(2 / std::acos(-1.0));  // sqrt(2 / pi)
    return times_half(graph.apply("Tanh", {graph.apply("Mul", {sum, graph.number(factor)})}));
  }

  std::string feed_forward(const FeedForward& module, const std::string& x) {
    return linear(module.linear2, activated(module.activation, linear(module.linear1, x)));
  }

  template <class Layer, class F>
  std::string residual(const Layer& layer, const Norm& around, const std::string& x, F f) {
    const std::string y = f(layer.norm_first ? norm(around, x) : x);
    graph.scope = layer.path() + ".";
    const std::string sum = graph.apply("Add", {x, y});
    return layer.norm_first ? sum : norm(around, sum);
  }

  /// The attention of `x` to `memory` where the mask is true.
  std::string attention(Attention& module, const std::string& x, const std::string& memory,
                        const std::string& mask) {
    const NamedArrays all = plain_attention(module);
    const auto part_of = [&](const char* name, Index part) {
      if (!all.contains(name)) return Array();
      const Index rows = all.at(name).dim(0) / 3;
      return slice(all.at(name), {0, part * rows, (part + 1) * rows});
    };
    const Index d = module.head_dim(), heads = std::ssize(module.alive());
    const Array bias = all.contains("out_proj.bias") ? all.at("out_proj.bias") : Array();
    const std::string out = module.path() + ".out_proj";
    if (heads == 0) {  // what remains is the same at every position
      return bias.defined() ? graph.weight(out + ".bias", bias) : graph.number(0);
    }
    using Axes = std::vector<std::int64_t>;
    const auto projected = [&](const char* name, Index part, const std::string& from, Axes order) {
      const std::string y = affine(module.path() + "." + name, part_of("in_proj_weight", part),
                                   part_of("in_proj_bias", part), from);
      const std::string apart = graph.apply("Reshape", {y, graph.integers({0, 0, heads, d})});
      return graph.apply("Transpose", {apart}, {{"perm", std::move(order)}});
    };
    const std::string query = projected("query", 0, x, {0, 2, 1, 3});
    const std::string key = projected("key", 1, memory, {0, 2, 3, 1});
    const std::string value = projected("value", 2, memory, {0, 2, 1, 3});
    graph.scope = module.path() + ".";
    const std::string scores =
        graph.apply("Mul", {graph.apply("MatMul", {query, key}),
                            graph.number(1 / std::sqrt(double(d)))});  // [B, heads, Tq, Tk]
    const std::string masked = graph.apply(
        "Where", {mask, scores, graph.number(-std::numeric_limits<double>::infinity())});
    const std::string weights = graph.apply("Softmax", {masked}, {{"axis", std::int64_t{-1}}});
    const std::string together = graph.apply("Transpose", {graph.apply("MatMul", {weights, value})},
                                             {{"perm", Axes{0, 2, 1, 3}}});
    return affine(out, all.at("out_proj.weight"), bias,
                  graph.apply("Reshape", {together, graph.integers({0, 0, heads * d})}));
  }

  ModelConfig config_;
};

using Type = OnnxGraph::Type;

OnnxModel encoder_of(const Seq2Seq& model) {
  OnnxModel onnx(model.config);
  onnx.graph.input("source", Type::integer, {"batch", "source_time"});
  onnx.graph.input("source_lengths", Type::integer, {"batch"});
  const std::string mask = onnx.before_length("source", "source_lengths");
  const std::string x = onnx.embedded("source", model.source_embedding, model.source_positions);
  onnx.graph.output("memory", onnx.encoder(model.encoder, x, mask),
                    {"batch", "source_time", std::to_string(model.config.block.width)});
  return onnx;
}

OnnxModel decoder_of(const Seq2Seq& model) {
  OnnxModel onnx(model.config);
  onnx.graph.input("target", Type::integer, {"batch", "target_time"});
  onnx.graph.input("memory", Type::number,
                   {"batch", "source_time", std::to_string(model.config.block.width)});
  onnx.graph.input("source_lengths", Type::integer, {"batch"});
  const std::string mask = onnx.causal("target");
  const std::string memory_mask = onnx.before_length("memory", "source_lengths");
  const std::string x = onnx.embedded("target", model.target_embedding, model.target_positions);
  const std::string y = onnx.decoder(model.decoder, x, mask, "memory", memory_mask);
  onnx.graph.output("logits", onnx.logits(model.output.get(), model.target_embedding, y),
                    {"batch", "target_time", std::to_string(model.config.target_vocabulary)});
  return onnx;
}

OnnxModel onnx_of(const LanguageModel& model) {
  OnnxModel onnx(model.config);
  onnx.graph.input("ids", Type::integer, {"batch", "time"});
  const std::string mask = onnx.causal("ids");
  const std::string x = onnx.embedded("ids", model.embedding, model.positions);
  const std::string y = onnx.encoder(model.decoder, x, mask);
  onnx.graph.output("logits", onnx.logits(model.output.get(), model.embedding, y),
                    {"batch", "time", std::to_string(model.config.source_vocabulary)});
  return onnx;
}

OnnxModel onnx_of(const Classifier& model) {
  OnnxModel onnx(model.config);
  onnx.graph.input("ids", Type::integer, {"batch", "time"});
  onnx.graph.input("lengths", Type::integer, {"batch"});
  const std::string mask = onnx.before_length("ids", "lengths");
  const std::string x = onnx.embedded("ids", model.embedding, model.positions);
  const std::string mean = onnx.mean(onnx.encoder(model.encoder, x, mask), mask, "lengths");
  onnx.graph.output("logits", onnx.linear(model.output, mean),
                    {"batch", std::to_string(model.config.target_vocabulary)});
  return onnx;
}

}  // namespace

std::vector<std::filesystem::path> export_onnx(const SavedModel& saved,
                                               const std::filesystem::path& folder) {
  require_plain_model(saved);
  std::vector<std::pair<const char*, OnnxModel>> models;
  switch (saved.config.kind) {
    case ModelKind::seq2seq:
      models.emplace_back("encoder.onnx", encoder_of(saved.seq2seq()));
      models.emplace_back("decoder.onnx", decoder_of(saved.seq2seq()));
      break;
    case ModelKind::language_model:
      models.emplace_back("model.onnx", onnx_of(saved.language_model()));
      break;
    case ModelKind::classifier:
      models.emplace_back("model.onnx", onnx_of(saved.classifier()));
      break;
    case ModelKind::encoder:
    case ModelKind::masked_language_model: break;  // refused above
  }
  const std::map<std::string, std::string> metadata{
      {"headroom.config", saved.config.to_record().dump()},
      {"headroom.removed", json_of(saved.removed).dump()},
      {"headroom.task", saved.about.dump()}};
  std::vector<std::filesystem::path> files;
  for (const auto& [name, onnx] : models) {
    files.push_back(folder / name);
    write_file(files.back(), onnx.graph.file(metadata));
  }
  return files;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
