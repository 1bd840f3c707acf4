// Adam and AdamW: options around one kernel.
#include "headroom/optim/adam.hpp"

#include <fmt/format.h>

#include "headroom/base/error.hpp"
#include "kernels/adam.hpp"

namespace headroom::inline HEADROOM_PRECISION {

namespace {

void check_fraction(const char* name, double value) {
  if (!(value >= 0 && value < 1)) {
    throw UsageError(fmt::format("adam: {} {} is not in [0, 1)", name, value));
  }
}

void check_not_negative(const char* name, double value) {
  if (!(value >= 0)) throw UsageError(fmt::format("adam: {} {} is negative", name, value));
}

}  // namespace

Adam::Adam(Module& model, AdamOptions options) : Adam(model, std::move(options), false) {}

Adam::Adam(Module& model, AdamOptions options, bool decoupled)
    : Optimizer(model, {.first = true, .second = true}, options.weight_decay,
                std::move(options.groups)),
      beta1_(options.beta1),
      beta2_(options.beta2),
      epsilon_(options.epsilon),
      weight_decay_(options.weight_decay),
      decoupled_(decoupled) {
  check_fraction("beta1", beta1_);
  check_fraction("beta2", beta2_);
  check_not_negative("epsilon", epsilon_);
  check_not_negative("weight decay", weight_decay_);
}

AdamW::AdamW(Module& model, AdamOptions options) : Adam(model, std::move(options), true) {}

std::string Adam::title() const {
  return fmt::format("{}: beta1 {}, beta2 {}, epsilon {}, weight decay {}",
                     decoupled_ ? "adamw" : "adam", beta1_, beta2_, epsilon_, weight_decay_);
}

void Adam::update(const Run& run, Real* parameter, const Real* gradient, Real* first, Real* second,
                  double rate, double weight_decay) const {
  adam(adam_step(rate, beta1_, beta2_, epsilon_, weight_decay, decoupled_, run.step), run.size,
       parameter, gradient, first, second);
}

}  // namespace headroom::inline HEADROOM_PRECISION
