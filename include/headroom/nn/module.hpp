// Module: base of layers and models. members() names each parameter once; all else follows from it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "headroom/autograd/tensor.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

class Module;

/// Visits the members of a module in the order of their declaration: `visit("weight", weight)`.
class Members {
 public:
  virtual ~Members() = default;
  /// A parameter. Skips an undefined tensor (for example, no bias).
  void operator()(std::string_view name, Tensor& parameter);
  /// A child; its parameter p is called name.p.
  void operator()(std::string_view name, Module& child) { on_child(name, child); }
  /// Children in a row, called name.0, name.1, ...
  template <class M>
  void operator()(std::string_view name, std::vector<std::unique_ptr<M>>& children) {
    for (std::size_t i = 0; i < children.size(); ++i) {
      on_child(std::string(name) + "." + std::to_string(i), *children[i]);
    }
  }

 private:
  virtual void on_parameter(std::string_view name, Tensor& parameter) = 0;
  virtual void on_child(std::string_view name, Module& child) = 0;
};

/// Base of every layer and model. A module holds no state of a batch.
class Module {
 public:
  Module() = default;
  virtual ~Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  /// Names every parameter and child once. Names equal PyTorch's state dict wherever PyTorch
  /// has the module. A parameter that is missing here is not trained, saved or pruned; see
  /// check_names() and Optimizer::step().
  virtual void members(Members& visit) = 0;
  /// The class's name for printing: "Linear(64 -> 128)".
  virtual std::string title() const = 0;

  /// Switches this module and everything in it to training (dropout on) or evaluation.
  void train(bool on = true);
  void eval() { train(false); }
  bool training() const { return training_; }

  /// Gives this module and everything in it a path, and derives the random stream from the path:
  /// removing a head or changing the layout changes no other module's dropout mask. Models call it
  /// in their constructors. `path` is the path of this module, "" for a model.
  void name_streams(const std::string& path = "");
  /// The path that name_streams() gave, "encoder.layers.0.self_attn".
  const std::string& path() const { return path_; }
  std::uint64_t stream() const { return stream_; }

 private:
  bool training_ = true;
  std::string path_;
  std::uint64_t stream_ = 0;
};

/// A parameter with its path, "encoder.layers.0.self_attn.out_proj.weight".
struct NamedParameter {
  std::string name;
  Tensor tensor;
};

/// A module with its path; the root's is "".
struct NamedModule {
  std::string name;
  Module* module;
};

/// Throws UsageError naming two members that have the same name: an optimizer, a checkpoint and the
/// random streams know a member by its name. Optimizers and name_streams() call it.
void check_names(Module& module);
/// All parameters, each once: a tied one under the first of its names.
std::vector<NamedParameter> parameters(Module& module);
/// The second and further names of tied parameters, each with its tensor.
std::vector<NamedParameter> tied_parameters(Module& module);
/// The module and everything in it, parents first.
std::vector<NamedModule> modules(Module& module);
Index count_parameters(Module& module);
void zero_grad(Module& module);
/// Copies values by name. Throws ShapeError or UsageError that names the mismatch.
void copy_parameters(Module& from, Module& to);
/// The tree of modules with their names in the parent, titles and numbers of parameters, one line
/// each; without dropout of probability 0.
std::string describe(Module& module);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
