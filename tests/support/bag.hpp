// Bag: a module with named parameters only, for tests of code that works on parameters.
#pragma once

#include <map>
#include <string>

#include "headroom/nn/module.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

class Bag : public Module {
 public:
  void members(Members& visit) override {
    for (auto& [name, tensor] : tensors) visit(name, tensor);
  }
  std::string title() const override { return "Bag"; }
  Tensor& add(const std::string& name, Array value) {
    return tensors[name] = parameter(std::move(value));
  }
  std::map<std::string, Tensor> tensors;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
