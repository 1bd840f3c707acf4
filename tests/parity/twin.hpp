// Twin: a model in the layout that a case's parameters are written for, and one in the layout that
// is to run.
#pragma once

#include <memory>

#include "headroom/surgery/transplant.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace parity {

/// Parameters enter through `home`, are transplanted to `model`, which runs; its gradients (or its
/// parameters) are transplanted back and compared at home. In the layout of home both are the same.
template <class M>
class Twin {
 public:
  /// `make` builds a model of a given layout.
  template <class Make>
  Twin(Layout home_layout, Layout layout, Make make) : home_(make(home_layout)) {
    if (layout != home_layout) abroad_ = make(layout);
  }
  M& home() { return *home_; }
  M& model() { return abroad_ ? *abroad_ : *home_; }
  void bring_out() {
    if (abroad_) transplant(*home_, *abroad_);
  }
  void bring_gradients_home() {
    if (abroad_) transplant_gradients(*abroad_, *home_);
  }
  void bring_parameters_home() {
    if (abroad_) transplant(*abroad_, *home_);
  }

 private:
  std::unique_ptr<M> home_, abroad_;
};

}  // namespace parity
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
