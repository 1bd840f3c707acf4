// Adam and AdamW: options around one kernel.
#include "headroom/optim/adam.hpp"

#include <fmt/format.h>

#include "kernels/adam.hpp"
#include "optim/option_checks.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Adam::Adam(Module& model, AdamOptions options) : Adam(model, std::move(options), false) {}

Adam::Adam(Module& model, AdamOptions options, bool decoupled)
    : ElementwiseOptimizer(model, {.first = true, .second = true}, options.weight_decay,
                           std::move(options.groups)),
      beta1_(options.beta1),
      beta2_(options.beta2),
      epsilon_(options.epsilon),
      weight_decay_(options.weight_decay),
      decoupled_(decoupled) {
  check_fraction("adam", "beta1", beta1_);
  check_fraction("adam", "beta2", beta2_);
  check_not_negative("adam", "epsilon", epsilon_);
  check_not_negative("adam", "weight decay", weight_decay_);
}

AdamW::AdamW(Module& model, AdamOptions options) : Adam(model, std::move(options), true) {}

std::string Adam::title() const {
  return fmt::format("{}: beta1 {}, beta2 {}, epsilon {}, weight decay {}",
                     decoupled_ ? "adamw" : "adam", beta1_, beta2_, epsilon_, weight_decay_);
}

void Adam::update_run(const Run& run, Real* parameter, const Real* gradient, Real* first,
                      Real* second, double rate, double weight_decay) const {
  adam(adam_step(rate, beta1_, beta2_, epsilon_, weight_decay, decoupled_, run.step), run.size,
       parameter, gradient, first, second);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
