// Writing a graph as the messages of onnx.proto. The numbers below are its field numbers.
#include "exports/onnx_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <protozero/pbf_writer.hpp>

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

using protozero::pbf_writer;

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

bool is_number(const std::string& size) {
  return std::all_of(size.begin(), size.end(), [](char c) { return '0' <= c && c <= '9'; });
}

/// AttributeProto
void write_attribute(pbf_writer& node, const std::string& name,
                     const OnnxGraph::Attribute& attribute) {
  enum Kind { a_float = 1, an_integer = 2, integers = 7 };
  pbf_writer to(node, 5);
  to.add_string(1, name);
  if (const auto* one = std::get_if<std::int64_t>(&attribute)) {
    to.add_int64(3, *one);
    to.add_enum(20, an_integer);
  } else if (const auto* real = std::get_if<float>(&attribute)) {
    to.add_float(2, *real);
    to.add_enum(20, a_float);
  } else {
    for (const std::int64_t each : std::get<std::vector<std::int64_t>>(attribute)) {
      to.add_int64(8, each);
    }
    to.add_enum(20, integers);
  }
}

}  // namespace

void OnnxGraph::input(const std::string& name, Type type, const Sizes& sizes) {
  inputs_.push_back({name, type, sizes});
}

void OnnxGraph::output(const std::string& name, const std::string& value, const Sizes& sizes) {
  nodes_.push_back({"Identity", {value}, name, {}});
  outputs_.push_back({name, Type::number, sizes});
}

std::string OnnxGraph::constant(const std::string& name, Constant values) {
  constants_.emplace(name, std::move(values));
  return name;
}

std::string OnnxGraph::weight(const std::string& name, const Array& values) {
  std::vector<float> numbers;
  for (const Real value : values.span()) numbers.push_back(float(value));
  return constant(
      name, {Type::number, {values.shape().begin(), values.shape().end()}, bytes_of(numbers)});
}

std::string OnnxGraph::number(double value) {
  return constant(fmt::format("number_{}", value),
                  {Type::number, {}, bytes_of(std::vector{float(value)})});
}

std::string OnnxGraph::integers(const std::vector<std::int64_t>& values) {
  std::string name = "integers";
  for (const std::int64_t value : values) name += fmt::format("_{}", value);
  return constant(name, {Type::integer, {std::ssize(values)}, bytes_of(values)});
}

std::string OnnxGraph::integer(std::int64_t value) {
  return constant(fmt::format("integer_{}", value),
                  {Type::integer, {}, bytes_of(std::vector{value})});
}

std::string OnnxGraph::apply(const char* op, const std::vector<std::string>& inputs,
                             const Attributes& attributes) {
  std::string name = fmt::format("{}{}_{}", scope, op, nodes_.size());
  nodes_.push_back({op, inputs, name, attributes});
  return name;
}

std::string OnnxGraph::file(const std::map<std::string, std::string>& metadata) const {
  std::string bytes;
  pbf_writer model(bytes);
  model.add_int64(1, 8);  // the version of the format that came with opset 17
  model.add_string(2, "headroom");
  {
    pbf_writer graph(model, 7);
    for (const Node& node : nodes_) {
      pbf_writer to(graph, 1);
      for (const std::string& input : node.inputs) to.add_string(1, input);
      to.add_string(2, node.output);
      to.add_string(3, node.output);
      to.add_string(4, node.op);
      for (const auto& [name, value] : node.attributes) write_attribute(to, name, value);
    }
    graph.add_string(2, "headroom");
    for (const auto& [name, values] : constants_) {
      pbf_writer to(graph, 5);
      for (const std::int64_t size : values.sizes) to.add_int64(1, size);
      to.add_int32(2, std::int32_t(values.type));
      to.add_string(8, name);
      to.add_bytes(9, values.bytes);
    }
    const auto write_value = [&graph](protozero::pbf_tag_type tag, const Value& value) {
      pbf_writer to(graph, tag);
      to.add_string(1, value.name);
      pbf_writer type(to, 2), tensor(type, 1);
      tensor.add_enum(1, std::int32_t(value.type));
      pbf_writer shape(tensor, 2);
      for (const std::string& size : value.sizes) {
        pbf_writer axis(shape, 1);
        if (is_number(size)) {
          axis.add_int64(1, std::stoll(size));
        } else {
          axis.add_string(2, size);
        }
      }
    };
    for (const Value& input : inputs_) write_value(11, input);
    for (const Value& output : outputs_) write_value(12, output);
  }
  pbf_writer(model, 8).add_int64(2, 17);  // the opset
  for (const auto& [key, value] : metadata) {
    pbf_writer to(model, 14);
    to.add_string(1, key);
    to.add_string(2, value);
  }
  return bytes;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
