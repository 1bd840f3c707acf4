// OnnxGraph: a graph of ONNX operators, and the file that holds it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "headroom/array/array.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A graph of the standard operators of opset 17 (https://onnx.ai/onnx/operators). Values are known
/// by their names. Numbers are stored in single precision, which runtimes compute in.
class OnnxGraph {
 public:
  using Attribute = std::variant<std::int64_t, float, std::vector<std::int64_t>>;
  using Attributes = std::map<std::string, Attribute>;
  enum class Type { number = 1, integer = 7 };  // FLOAT and INT64 of TensorProto.DataType

  /// Sizes of an axis: a number, or a name if it differs from call to call.
  using Sizes = std::vector<std::string>;
  void input(const std::string& name, Type type, const Sizes& sizes);
  /// Makes `value` an output of numbers, called `name`.
  void output(const std::string& name, const std::string& value, const Sizes& sizes);

  /// A constant; returns its name.
  std::string weight(const std::string& name, const Array& values);
  std::string number(double value);
  std::string integers(const std::vector<std::int64_t>& values);
  std::string integer(std::int64_t value);

  /// Applies an operator; returns the name of its result, which begins with `scope`.
  std::string apply(const char* op, const std::vector<std::string>& inputs,
                    const Attributes& attributes = {});
  /// The part of the model that the next operators belong to, "encoder.layers.0.".
  std::string scope;

  /// The file: the graph as ModelProto, with texts that runtimes hand through.
  std::string file(const std::map<std::string, std::string>& metadata) const;

 private:
  struct Value {
    std::string name;
    Type type;
    Sizes sizes;
  };
  struct Constant {
    Type type;
    std::vector<std::int64_t> sizes;
    std::string bytes;
  };
  struct Node {
    std::string op;
    std::vector<std::string> inputs;
    std::string output;
    Attributes attributes;
  };
  std::string constant(const std::string& name, Constant values);

  std::vector<Value> inputs_, outputs_;
  std::map<std::string, Constant> constants_;
  std::vector<Node> nodes_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
