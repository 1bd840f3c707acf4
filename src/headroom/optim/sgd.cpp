// SGD.
#include "headroom/optim/sgd.hpp"

#include <fmt/format.h>

#include "headroom/base/parallel.hpp"
#include "optim/option_checks.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Sgd::Sgd(Module& model, SgdOptions options)
    : ElementwiseOptimizer(model, {.first = options.momentum != 0, .second = false},
                           options.weight_decay, std::move(options.groups)),
      momentum_(options.momentum),
      weight_decay_(options.weight_decay) {
  check_fraction("sgd", "momentum", momentum_);
  check_not_negative("sgd", "weight decay", weight_decay_);
}

std::string Sgd::title() const {
  return fmt::format("sgd: momentum {}, weight decay {}", momentum_, weight_decay_);
}

void Sgd::update_run(const Run& run, Real* parameter, const Real* gradient, Real* first, Real*,
                     double rate, double weight_decay) const {
  const Real step_size = Real(rate), decay = Real(weight_decay), keep = Real(momentum_);
  parallel_for(run.size, 16384, [=](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      Real slope = gradient[i] + decay * parameter[i];
      if (first != nullptr) slope = first[i] = keep * first[i] + slope;
      parameter[i] -= step_size * slope;
    }
  });
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
