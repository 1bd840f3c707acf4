// Clipping by the global norm.
#include "headroom/optim/clipping.hpp"

#include <cmath>
#include <functional>
#include <limits>

#include "headroom/base/error.hpp"
#include "headroom/base/parallel.hpp"
#include "headroom/base/rng.hpp"
#include "support/bag.hpp"
#include "support/catch.hpp"
#include "support/random.hpp"

using namespace headroom;

TEST_CASE("gradients longer than the limit are scaled by limit / (norm + 1e-6)") {
  Bag bag;
  Tensor& a = bag.add("a", Array({2}, {0, 0}));
  Tensor& b = bag.add("b", Array({1}, {0}));
  bag.add("without gradient", Array({1}, {0}));
  a.set_grad(Array({2}, {1, 2}));
  b.set_grad(Array({1}, {-2}));
  CHECK(clip_grad_norm(bag, 0.5) == 3.0);
  const Real factor = Real(0.5 / (3 + 1e-6));
  CHECK(a.grad()[0] == factor);
  CHECK(a.grad()[1] == Real(2) * factor);
  CHECK(b.grad()[0] == Real(-2) * factor);
}

TEST_CASE("shorter gradients stay as they are, to the bit") {
  Bag bag;
  Tensor& a = bag.add("a", Array({2}, {0, 0}));
  a.set_grad(Array({2}, {Real(0.3), Real(0.4)}));
  clip_grad_norm(bag, 0.6);
  CHECK(a.grad()[0] == Real(0.3));
}

TEST_CASE("a norm that is not finite scales nothing") {
  Bag bag;
  Tensor& a = bag.add("a", Array({2}, {0, 0}));
  a.set_grad(Array({2}, {8, std::numeric_limits<Real>::quiet_NaN()}));
  CHECK(std::isnan(clip_grad_norm(bag, 1)));
  CHECK(a.grad()[0] == Real(8));
}

TEST_CASE("a gradient that somebody else holds is not changed for him") {
  Bag bag;
  Tensor& a = bag.add("a", Array({1}, {0}));
  const Array kept({1}, {4});
  a.set_grad(kept);
  clip_grad_norm(bag, 1);
  CHECK(kept[0] == Real(4));
  CHECK(a.grad()[0] < Real(1));
}

TEST_CASE("every element of a long gradient is scaled, whichever chunk it is in") {
  const Array gradient = test::noise({40'003}, "long gradient");
  long double squares = 0;
  for (const Real x : gradient.span()) {
    squares += static_cast<long double>(x) * static_cast<long double>(x);
  }
  const auto norm = double(std::sqrt(squares));
  const std::function<double(Module&)> ways[] = {
      [](Module& module) { return clip_grad_norm(module, 0.5); },
      [](Module& module) { return clip_block_norms(module, 0.5, Granularity::tensor); }};
  for (const auto& clip : ways) {
    INFO("way " << &clip - ways);
    Bag bag;
    Tensor& a = bag.add("a", zeros({40'003}));
    a.set_grad(gradient.clone());
    CHECK(std::abs(clip(bag) - norm) < 1e-10);
    const Array scaled = a.grad();
    Index wrong = 0;
    for (Index i = 0; i < gradient.size(); ++i) {
      const double expected = double(gradient[i]) * 0.5 / norm;
      if (std::abs(double(scaled[i]) - expected) > 1e-6 * std::abs(expected)) ++wrong;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("the norm has the same bits for any number of threads") {
  const int threads_before = num_threads();
  Bag bag;
  Tensor& a = bag.add("a", zeros({100003}));
  Array gradient({100003});
  Rng rng(5, "gradient");
  for (Real& x : gradient.span()) x = rng.normal();
  a.set_grad(gradient);
  set_num_threads(1);
  const double expected = grad_norm(bag);
  for (const int threads : {2, 3}) {
    set_num_threads(threads);
    CHECK(grad_norm(bag) == expected);
  }
  set_num_threads(threads_before);
  long double sum = 0;
  for (const Real x : gradient.span()) {
    sum += static_cast<long double>(x) * static_cast<long double>(x);
  }
  CHECK(std::abs(expected - double(std::sqrt(sum))) < 1e-10);
}

TEST_CASE("a limit that is not positive is refused") {
  Bag bag;
  CHECK_THROWS_AS(clip_grad_norm(bag, 0), UsageError);
  CHECK_THROWS_AS(clip_grad_norm(bag, std::nan("")), UsageError);
}
