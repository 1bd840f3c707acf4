// One parity case: what PyTorch computed, read from a file, and the comparison with ours.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "headroom/base/record_json.hpp"
#include "headroom/base/rng.hpp"
#include "headroom/io/tensor_file.hpp"
#include "headroom/nn/module.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace parity {

/// A parameter of the file that is, in our model, `count` rows of `ours` from `begin` on; count -1:
/// the whole of it.
struct ParameterName {
  std::string theirs, ours;
  Index begin = 0, count = -1;
};

/// The computed tensor for an output of the case.
struct Output {
  std::string name;
  Tensor tensor;
};

/// The worst number of a tensor: the one that used up most of what is allowed.
struct Worst {
  std::string name;  // of the tensor
  double used = 0;   // |actual - expected| / allowed; above 1 is off
  double difference = 0, expected = 0, actual = 0;
  std::vector<Index> at;
  double moved = 0;  // how far nudged runs moved the tensor; 0 without any
};

/// A file with its metadata, tensors, and a memory of what was read and compared. Asking for what
/// is not there throws FileError.
class Case {
 public:
  explicit Case(const std::filesystem::path& path);

  /// The folder of the file: of a case that is a model folder, the model's.
  std::filesystem::path folder() const { return path_.parent_path(); }
  const std::string& kind() const { return kind_; }
  const Record& config() const { return config_; }

  /// in.NAME as a leaf that wants a gradient, as ids, as a mask.
  Tensor input(const std::string& name);
  Ids ids(const std::string& name);
  Bytes bytes(const std::string& name);
  /// in.NAME as numbers.
  Array numbers(const std::string& name) { return array("in." + name); }
  /// All tensors whose names start with `prefix`, by the rest of their names.
  std::map<std::string, Array> arrays(const std::string& prefix);
  /// The shape of param.NAME, from which layers take their sizes.
  Shape parameter_shape(const std::string& name) const;
  /// True when the file holds this tensor (full name).
  bool has(const std::string& name) const { return file_.has(name); }

  /// Sets the parameters of a model from param.*, all of them. `names` lists those that are called
  /// otherwise in the file.
  void load(Module& model, const std::vector<ParameterName>& names = {});
  /// In a nudged run: moves the parameters of a model that was read from elsewhere.
  void nudge(Module& model);
  /// Compares out.*, and starts the backward pass from cot.*.
  void compare_outputs(std::span<const Output> outputs);
  /// Compares grad.in.NAME.
  void compare_gradient(const std::string& name, const Tensor& input);
  /// Compares grad.param.*, all of them.
  void compare_gradients(Module& model, const std::vector<ParameterName>& names = {});
  /// Compares after.*: the parameters after training.
  void compare_after(Module& model);
  /// Compares any tensor of the file.
  void compare(const std::string& name, const Array& actual);
  /// The same without tolerance.
  void compare_exactly(const std::string& name, const Array& actual);

  /// Starts over: another layout is to compare everything again.
  void begin_run();
  /// Starts a run in which inputs and parameters are off by at most one unit in the last place,
  /// each at random. Its numbers are not held to the expected ones: how far they are from those of
  /// the run before says how far rounding alone can move each tensor (for instance where a ReLU's
  /// input is 0 but for rounding, or a gradient of which Adam makes a step of full length).
  void begin_nudged_run(std::uint64_t seed);
  /// Tensors of the file that were neither read nor compared since the last start.
  std::vector<std::string> left_over() const;
  /// How far any number of the last run that was not nudged is from the expected one.
  double largest_difference() const;
  /// The worst number of each of its tensors that is off, the worst of all first.
  std::vector<Worst> off() const;
  /// True when something is off, and every tensor that is, is off by at most twice what nudged runs
  /// moved it: then this precision cannot tell whether it is right.
  bool undecided() const;

 private:
  /// The computed numbers, and the distance from the file's that is allowed.
  struct Comparison {
    Array actual;
    double allowed, key_bias_allowed;  // the latter for gradients of key biases
    double moved = 0;                  // largest distance from `actual` in nudged runs
  };

  Array array(const std::string& name);
  void nudge(Array& numbers);
  /// Calls visit(element, actual, expected, in_key_bias) for every number that is held to
  /// something.
  template <class Visit>
  void each(const std::string& name, const Comparison& comparison, const Visit& visit) const;
  Worst worst_of(const std::string& name, const Comparison& comparison, double allowed) const;
  void compare_within(const std::string& name, const Array& actual, double allowed,
                      double key_bias_allowed);
  void use(const std::string& name) { used_.insert(name); }

  std::filesystem::path path_;
  TensorFile file_;
  std::string kind_;
  Record config_;
  std::set<std::string> used_;
  std::map<std::string, Comparison> compared_;
  std::optional<Rng> nudge_;
};

/// The shape of rows [begin, begin + count) of an array, and those rows themselves.
Array rows_of(const Array& array, Index begin, Index count);

}  // namespace parity
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
