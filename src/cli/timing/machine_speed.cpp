// The two speeds that bound every operation: arithmetic and memory.
#include "cli/timing/machine_speed.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>

#include "headroom/autograd/tape.hpp"
#include "headroom/ops/arithmetic.hpp"
#include "headroom/ops/matmul.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The shortest time of several calls of `work`, in seconds.
template <class F>
double least_seconds(int calls, F work) {
  double least = 1e9;
  for (int i = 0; i < calls; ++i) {
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
  return 2 * double(n * n * n) / least_seconds(5, [&] { matmul(a, b); }) / 1e9;
}

double memory_speed(Index bytes) {
  const NoGrad no_grad;
  const Shape shape{bytes / Index{sizeof(Real)}};
  const Tensor a(Array(shape, Real(1))), b(Array(shape, Real(2)));
  const int calls = bytes < Index{1} << 20 ? 100 : 5;  // short ones are disturbed more
  return 3 * double(bytes) / least_seconds(calls, [&] { a + b; }) / 1e9;
}

Index sum_size(double bytes) {
  const auto size = static_cast<std::uint64_t>(std::clamp(bytes / 3, 4096.0, 67108864.0));
  return Index(std::bit_floor(size));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
