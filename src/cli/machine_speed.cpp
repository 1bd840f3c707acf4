// The two speeds that bound every operation: arithmetic and memory.
#include "cli/machine_speed.hpp"

#include <algorithm>
#include <chrono>

#include "headroom/autograd/tape.hpp"
#include "headroom/ops/arithmetic.hpp"
#include "headroom/ops/matmul.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The shortest time of several calls of `work`, in seconds.
template <class F>
double least_seconds(F work) {
  double least = 1e9;
  for (int i = 0; i < 5; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    least = std::min(least, seconds.count());
  }
  return least;
}

}  // namespace

double product_speed(Index n) {
  const NoGrad no_grad;
  const Tensor a(Array({n, n}, Real(0.5))), b(Array({n, n}, Real(0.25)));
  return 2 * double(n * n * n) / least_seconds([&] { matmul(a, b); }) / 1e9;
}

double memory_speed() {
  const NoGrad no_grad;
  constexpr Index bytes = Index{64} << 20;
  const Shape shape{bytes / Index{sizeof(Real)}};
  const Tensor a(Array(shape, Real(1))), b(Array(shape, Real(2)));
  return 3 * double(bytes) / least_seconds([&] { a + b; }) / 1e9;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
