// The cross-entropy kernel against its reference.
#include "kernels/cross_entropy.hpp"

#include "kernels/against_reference.hpp"
#include "kernels/cross_entropy_reference.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

TEST_CASE("cross-entropy agrees with its reference in values and gradients") {
  Rng rng(1);
  for (const Index classes : {1, 2, 7, 33}) {
    for (const double smoothing : {0.0, 0.1, 1.0}) {
      constexpr Index rows = 6;
      constexpr std::int32_t ignore = -100;
      const Array x = random_array(rng, {rows, classes}), dloss = random_array(rng, {rows});
      xt::xtensor<std::int32_t, 1> targets = xt::zeros<std::int32_t>({std::size_t{rows}});
      for (auto& target : targets) target = static_cast<std::int32_t>(rng.below(classes));
      targets(2) = ignore;
      const kernels::Targets what{targets.data(), ignore, Real(smoothing)};

      Array loss(Shape{rows}), log_sum_exp(Shape{rows}), dx(x.shape(), Real(1));
      kernels::cross_entropy(x.data(), what, rows, classes, loss.data(), log_sum_exp.data());
      require_close(
          loss,
          reference::cross_entropy(matrix_of<double>(x), targets, double(what.smoothing), ignore),
          value_tolerance);
      kernels::cross_entropy_backward(x.data(), what, log_sum_exp.data(), dloss.data(), rows,
                                      classes, false, dx.data());
      require_close(dx,
                    complex_step_gradient(x, dloss,
                                          [&](const auto& at) {
                                            return reference::cross_entropy(at, targets, smoothing,
                                                                            ignore);
                                          }),
                    gradient_tolerance);
      for (Index c = 0; c < classes; ++c) CHECK(dx[2 * classes + c] == 0);
    }
  }
}

TEST_CASE("cross-entropy of huge logits is finite") {
  const Array x(Shape{1, 2}, {Real(3e4), Real(-3e4)});
  const std::int32_t target = 1;
  Array loss(Shape{1}), log_sum_exp(Shape{1});
  kernels::cross_entropy(x.data(), {&target, -100, 0}, 1, 2, loss.data(), log_sum_exp.data());
  CHECK(loss[0] == Real(6e4));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
