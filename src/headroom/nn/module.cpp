// Functions derived from Module::members().
#include "headroom/nn/module.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <set>

#include "headroom/autograd/listing.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/rng.hpp"
#include "headroom/nn/layers.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

std::string joined(std::string_view path, std::string_view name) {
  return path.empty() ? std::string(name) : fmt::format("{}.{}", path, name);
}

/// Walks a tree of modules, parents first, and calls back with full paths.
class Walk : public Members {
 public:
  using OnParameter = std::function<void(const std::string&, Tensor&)>;
  using OnModule = std::function<void(const std::string&, Module&)>;
  Walk(Module& root, OnParameter parameter, OnModule module)
      : on_parameter_(std::move(parameter)), on_module_(std::move(module)) {
    enter("", root);
  }

 private:
  void enter(const std::string& path, Module& module) {
    if (on_module_) on_module_(path, module);
    const std::string outer = std::exchange(path_, path);
    module.members(*this);
    path_ = outer;
  }
  void on_parameter(std::string_view name, Tensor& parameter) override {
    if (on_parameter_) on_parameter_(joined(path_, name), parameter);
  }
  void on_child(std::string_view name, Module& child) override {
    enter(joined(path_, name), child);
  }

  OnParameter on_parameter_;
  OnModule on_module_;
  std::string path_;
};

/// The first occurrence of each parameter, or with `again` the repeated occurrences.
std::vector<NamedParameter> collect(Module& module, bool again) {
  std::vector<NamedParameter> first, repeated;
  Walk(
      module,
      [&](const std::string& name, Tensor& tensor) {
        const bool known = std::any_of(first.begin(), first.end(),
                                       [&](const auto& p) { return p.tensor.same(tensor); });
        (known ? repeated : first).push_back({name, tensor});
        set_listed(tensor);
      },
      nullptr);
  return again ? repeated : first;
}

}  // namespace

void Members::operator()(std::string_view name, Tensor& parameter) {
  if (parameter.defined()) on_parameter(name, parameter);
}

void Module::train(bool on) {
  Walk(*this, nullptr, [on](const std::string&, Module& module) { module.training_ = on; });
}

void Module::name_streams(const std::string& root) {
  check_names(*this);
  Walk(*this, nullptr, [&](const std::string& inner, Module& module) {
    module.path_ = inner.empty() ? root : joined(root, inner);
    module.stream_ = hash_name(module.path_);
  });
}

void check_names(Module& module) {
  std::set<std::string> names;
  const auto add = [&](const std::string& name) {
    if (names.insert(name).second) return;
    throw UsageError(
        fmt::format("module {}: two of its members are called \"{}\"; each needs a name "
                    "of its own in members()",
                    module.title(), name));
  };
  Walk(
      module, [&](const std::string& name, Tensor&) { add(name); },
      [&](const std::string& name, Module&) { add(name); });
}

std::vector<NamedParameter> parameters(Module& module) { return collect(module, false); }
std::vector<NamedParameter> tied_parameters(Module& module) { return collect(module, true); }

std::vector<NamedModule> modules(Module& module) {
  std::vector<NamedModule> result;
  Walk(module, nullptr, [&](const std::string& path, Module& child) {
    result.push_back({path, &child});
  });
  return result;
}

Index count_parameters(Module& module) {
  Index count = 0;
  for (const auto& [name, tensor] : parameters(module)) count += tensor.size();
  return count;
}

void zero_grad(Module& module) {
  Walk(
      module, [](const std::string&, Tensor& tensor) { tensor.zero_grad(); }, nullptr);
}

void copy_parameters(Module& from, Module& to) {
  const auto source = parameters(from);
  auto target = parameters(to);
  for (auto& [name, tensor] : target) {
    const auto match =
        std::find_if(source.begin(), source.end(),
                     [&, &wanted = name](const auto& p) { return p.name == wanted; });
    if (match == source.end()) {
      throw UsageError(fmt::format("copy_parameters: the source has no {}", name));
    }
    if (!(match->tensor.shape() == tensor.shape())) {
      throw ShapeError(fmt::format("copy_parameters: {} is {} in the source and {} in the target",
                                   name, match->tensor.shape().text(), tensor.shape().text()));
    }
    tensor.set_value(match->tensor.value().clone());
  }
  if (source.size() != target.size()) {
    throw UsageError(fmt::format("copy_parameters: the source has {} parameters, the target {}",
                                 source.size(), target.size()));
  }
}

std::string describe(Module& module) {
  std::string text;
  std::vector<std::string> parents;  // the paths of the modules around the next one
  for (const auto& [path, child] : modules(module)) {
    const auto* const dropout = dynamic_cast<const Dropout*>(child);
    if (dropout != nullptr && dropout->p == 0) continue;
    while (!parents.empty() && !parents.back().empty() && !path.starts_with(parents.back() + ".")) {
      parents.pop_back();
    }
    const std::size_t outer =
        parents.empty() || parents.back().empty() ? 0 : parents.back().size() + 1;
    text += fmt::format("{:{}}{}{}{}  {} parameters\n", "", 2 * parents.size(), path.substr(outer),
                        path.empty() ? "" : ": ", child->title(), count_parameters(*child));
    parents.push_back(path);
  }
  return text;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
