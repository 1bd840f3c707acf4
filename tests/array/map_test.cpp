// map(): an xtensor expression over whole arrays, chunk by chunk.
#include "array/map.hpp"

#include "support/close.hpp"
#include "support/random.hpp"

using namespace headroom;
using test::CloseTo;
using test::SameBits;

TEST_CASE("map equals a plain loop for sizes around its chunk and its SIMD width") {
  Rng rng(1);
  for (const Index n : {0, 1, 3, 15, 16, 17, 16383, 16384, 16385, 50000}) {
    const Array a = test::normal({n}, rng), b = test::normal({n}, rng);
    const Array y = map([](const auto& u, const auto& v) { return u * v + Real(2) * u; }, a, b);
    Array expected({n});
    for (Index i = 0; i < n; ++i) expected[i] = a[i] * b[i] + Real(2) * a[i];
    CHECK_THAT(y, CloseTo(expected, Real(1e-6), Real(1e-6)));
  }
}

TEST_CASE("map keeps the shape, and adds to a sum in one pass") {
  const Array x(Shape{2, 2}, {1, 2, 3, 4});
  const auto doubled = map([](const auto& v) { return v * Real(2); }, x);
  CHECK(Array(doubled).shape() == Shape{2, 2});
  Array sum(Shape{2, 2}, Real(100));
  doubled.add_to(sum);
  CHECK_THAT(sum, SameBits(Array(Shape{2, 2}, {102, 104, 106, 108})));
  CHECK_THAT(x, SameBits(Array(Shape{2, 2}, {1, 2, 3, 4})));
}

TEST_CASE("map gives the same bits for any number of threads") {
  Rng rng(2);
  const Array x = test::normal({100'003}, rng);
  const auto compute = [&](int threads) -> Array {
    set_num_threads(threads);
    return map([](const auto& v) { return xt::exp(v) / (Real(1) + v * v); }, x);
  };
  const int before = num_threads();
  const Array one = compute(1);
  CHECK_THAT(compute(2), SameBits(one));
  CHECK_THAT(compute(3), SameBits(one));
  set_num_threads(before);
}
