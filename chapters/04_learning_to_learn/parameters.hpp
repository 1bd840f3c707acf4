// A module with named parameters only, for checks of code that works on parameters.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "headroom/nn/module.hpp"

namespace chapter {

class Parameters : public headroom::Module {
 public:
  void members(headroom::Members& visit) override {
    for (auto& [name, tensor] : tensors) visit(name, tensor);
  }
  std::string title() const override { return "Parameters"; }
  headroom::Tensor& add(const std::string& name, headroom::Array value) {
    return tensors[name] = headroom::parameter(std::move(value));
  }
  std::map<std::string, headroom::Tensor> tensors;
};

}  // namespace chapter
