// Gradients of frozen parameters. Private.
#pragma once

#include <vector>

#include "headroom/nn/module.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Lets frozen parameters have gradients while it lives: what a head is worth does not depend on
/// whether it is trained.
class Unfrozen {
 public:
  explicit Unfrozen(Module& model) {
    for (NamedParameter& one : parameters(model)) {
      if (!one.tensor.requires_grad()) frozen_.push_back(one.tensor);
    }
    set(true);
  }
  ~Unfrozen() { set(false); }
  Unfrozen(const Unfrozen&) = delete;
  Unfrozen& operator=(const Unfrozen&) = delete;

 private:
  void set(bool value) {
    for (Tensor& tensor : frozen_) tensor.set_requires_grad(value);
  }
  std::vector<Tensor> frozen_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
