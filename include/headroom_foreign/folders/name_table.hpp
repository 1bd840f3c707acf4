// NameTable: how the parameters of an architecture of Hugging Face Transformers are called there
// and here.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "headroom/nn/attention.hpp"
#include "headroom/surgery/layout_conversion.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The kinds of rows of a NameTable.
enum class NameOf {
  parameter,  // one parameter
  row,        // a vector that is stored as a matrix of one row
  layer,      // `.weight` and `.bias` of a linear layer or a norm
  conv1d,     // the same, with a matrix [in, out]
  attention   // an attention; ours is a module, theirs the beginning of its parameters' names
};

/// One row. In a name, `#` is the number of a layer: the row stands for all layers.
struct NameRow {
  const char *theirs, *ours;
  NameOf what = NameOf::parameter;
  bool of_base = true;  // named with the prefix of the base model, where a file has that
};

/// The name of a tensor that a file may have besides a parameter that the model uses twice, and the
/// parameter's name here. Transformers reads the parameter from its first place.
struct SecondName {
  const char *theirs, *ours;
};

/// The names of an architecture. All that reads or writes its parameters, or their gradients, goes
/// through this table.
struct NameTable {
  const char* prefix;  // of the base model in a model with a head: "bert."
  ForeignLayout attention;
  std::vector<NameRow> rows;
  /// Names without that prefix.
  std::vector<SecondName> second_names = {};
  /// Tensors of files that no parameter of ours is read from, such as buffers. A name belongs to
  /// one if it contains it.
  std::vector<const char*> ignored = {};
};

/// The values of a model's parameters under their names, or their gradients. Parameters without a
/// gradient are left out then. Throws UsageError for an attention that the architecture cannot hold
/// (export_attention()).
NamedArrays in_foreign_names(Module& model, const NameTable& table, bool with_prefix,
                             bool gradients = false);

/// The names there of each parameter by its name here, with the prefix of the base model. A matrix
/// of queries, keys and values may have three.
std::map<std::string, std::vector<std::string>> foreign_names(Module& model,
                                                              const NameTable& table);

/// The second names of this model's parameters with the first ones. A name that is a parameter's
/// own, because the model does not use another one twice, is none.
std::map<std::string, std::string> second_names(Module& model, const NameTable& table,
                                                bool with_prefix);

/// The names and shapes that in_foreign_names() gives.
std::map<std::string, Shape> foreign_shapes(Module& model, const NameTable& table,
                                            bool with_prefix);

/// Sets all parameters of a model from arrays under their names. `array_of` is asked for one array
/// at a time. Throws what it throws, and ShapeError for an array of another shape.
void read_foreign_names(Module& model, const NameTable& table, bool with_prefix,
                        const std::function<Array(const std::string& name)>& array_of);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
