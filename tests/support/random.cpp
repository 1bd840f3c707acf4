// Random arrays and shapes for tests.
#include "support/random.hpp"

#include <algorithm>
#include <cmath>

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace test {

Array normal(const Shape& shape, Rng& rng) {
  Array result(shape);
  for (Real& x : result.span()) x = rng.normal();
  return result;
}

Array noise(const Shape& shape, const char* stream, std::uint64_t substream) {
  Rng rng(11, stream, substream);
  return normal(shape, rng);
}

Array uniform(const Shape& shape, Rng& rng, Real low, Real high) {
  Array result(shape);
  for (Real& x : result.span()) x = rng.uniform(low, high);
  return result;
}

Array away_from(const Shape& shape, Rng& rng, std::initializer_list<Real> kinks, Real gap) {
  const auto too_near = [&](Real x) {
    return std::any_of(kinks.begin(), kinks.end(),
                       [&](Real kink) { return std::abs(x - kink) < gap; });
  };
  Array result(shape);
  for (Real& x : result.span()) {
    do x = rng.uniform(Real(-3), Real(3));
    while (too_near(x));
  }
  return result;
}

Array distinct(const Shape& shape, Rng& rng) {
  Array result(shape);
  for (Index i = 0; i < result.size(); ++i) {
    result[i] = Real(0.1) * Real(i - result.size() / 2) + rng.uniform(Real(0), Real(0.05));
  }
  for (Index i = result.size() - 1; i > 0; --i) std::swap(result[i], result[rng.below(i + 1)]);
  return result;
}

Ids random_ids(const Shape& shape, Rng& rng, Index n) {
  Ids result(shape);
  for (std::int32_t& id : result.span()) id = static_cast<std::int32_t>(rng.below(n));
  return result;
}

Bytes random_bytes(const Shape& shape, Rng& rng, Real probability) {
  Bytes result(shape);
  for (std::uint8_t& byte : result.span()) byte = rng.uniform() < probability ? 1 : 0;
  return result;
}

}  // namespace test
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
