// Arithmetic: values and gradients at chosen points, and the texts of errors. The table of
// operations checks gradients on random shapes.
#include "headroom/ops/arithmetic.hpp"

#include <cmath>
#include <limits>

#include "headroom/base/error.hpp"
#include "ops/values.hpp"
#include "support/catch.hpp"

using namespace headroom;

TEST_CASE("arithmetic broadcasts, and the gradient is summed back to the input's shape") {
  const Tensor a = parameter(Array({2, 3}, {1, 2, 3, 4, 5, 6}));
  const Tensor b = parameter(Array({3}, {1, 2, 4}));
  const Array dy({2, 3}, {1, 10, 100, 2, 20, 200});

  CHECK(values((a + b).value()) == Values{2, 4, 7, 5, 7, 10});
  CHECK(values((a - b).value()) == Values{0, 0, -1, 3, 3, 2});
  CHECK(values((a * b).value()) == Values{1, 4, 12, 4, 10, 24});
  CHECK(values((a / b).value()) == Values{1, 1, Real(0.75), 4, Real(2.5), Real(1.5)});

  (a - b).backward(dy);
  CHECK(values(a.grad()) == values(dy));
  CHECK(values(b.grad()) == Values{-3, -30, -300});
  Tensor(b).zero_grad();
  (a * b).backward(dy);
  CHECK(values(b.grad()) == Values{9, 120, 1500});
  Tensor(b).zero_grad();
  (a / b).backward(dy);
  CHECK(values(b.grad()) == Values{-9, -30, Real(-93.75)});
}

TEST_CASE("a tensor added to itself gets both gradients") {
  const Tensor a = parameter(Array({2}, {3, 5}));
  (a + a).backward(Array({2}, {1, 10}));
  CHECK(values(a.grad()) == Values{2, 20});
  (a * a).backward(Array({2}, {1, 10}));
  CHECK(values(a.grad()) == Values{8, 120});
}

TEST_CASE("arithmetic with a number on either side") {
  const Tensor x = parameter(Array({2}, {2, 4}));
  CHECK(values((x + Real(1)).value()) == Values{3, 5});
  CHECK(values((Real(1) + x).value()) == Values{3, 5});
  CHECK(values((x - Real(1)).value()) == Values{1, 3});
  CHECK(values((Real(1) - x).value()) == Values{-1, -3});
  CHECK(values((x * Real(3)).value()) == Values{6, 12});
  CHECK(values((Real(3) * x).value()) == Values{6, 12});
  CHECK(values((x / Real(2)).value()) == Values{1, 2});
  CHECK(values((-x).value()) == Values{-2, -4});
  const Tensor y = Real(8) / x;
  CHECK(values(y.value()) == Values{4, 2});
  y.backward(Array({2}, {1, 1}));
  CHECK(values(x.grad()) == Values{-2, Real(-0.5)});
}

TEST_CASE("a tie of maximum and minimum shares the gradient equally") {
  for (const bool larger : {true, false}) {
    const Tensor a = parameter(Array({3}, {1, 2, 3})), b = parameter(Array({3}, {2, 2, 2}));
    const Tensor y = larger ? maximum(a, b) : minimum(a, b);
    CHECK(values(y.value()) == (larger ? Values{2, 2, 3} : Values{1, 2, 2}));
    y.backward(Array({3}, {10, 20, 30}));
    CHECK(values(a.grad()) == (larger ? Values{0, 10, 30} : Values{10, 10, 0}));
    CHECK(values(b.grad()) == (larger ? Values{10, 10, 0} : Values{0, 10, 30}));
  }
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  const Tensor one{Real(1)}, bad{nan};
  CHECK(std::isnan(maximum(one, bad).item()));
  CHECK(std::isnan(minimum(bad, one).item()));
}

TEST_CASE("where takes from both sides and broadcasts all three") {
  const Bytes condition({2, 1}, {1, 0});
  const Tensor a = parameter(Array({2}, {1, 2})), b = parameter(Array(Shape{}, {9}));
  const Tensor y = where(condition, a, b);
  CHECK(y.shape() == Shape{2, 2});
  CHECK(values(y.value()) == Values{1, 2, 9, 9});
  y.backward(Array({2, 2}, {1, 2, 30, 40}));
  CHECK(values(a.grad()) == Values{1, 2});
  CHECK(values(b.grad()) == Values{70});
}

TEST_CASE("elementwise functions are right at their edges") {
  const Real infinity = std::numeric_limits<Real>::infinity();
  // More elements than a SIMD register, to test both the SIMD loop and its remainder.
  const Array edge({20}, Real(0));
  CHECK(values(log(Tensor(edge)).value()) == Values(20, -infinity));
  CHECK(values(exp(Tensor(Array({20}, -infinity))).value()) == Values(20, 0));
  CHECK(values(exp(Tensor(Array({20}, Real(1e5)))).value()) == Values(20, infinity));
  CHECK(std::isnan(log(Tensor(Real(-1))).item()));

  const Tensor zero = parameter(Array(Shape{}, {0}));
  abs(zero).backward();
  CHECK(zero.grad()[0] == 0);
  pow(zero, Real(0)).backward();
  CHECK(zero.grad()[0] == 0);
  pow(zero, Real(1)).backward();
  CHECK(zero.grad()[0] == 1);
  sqrt(zero).backward();
  CHECK(zero.grad()[0] == infinity);
  CHECK(pow(Tensor(Real(-2)), Real(3)).item() == -8);
}

TEST_CASE("shapes that do not broadcast are named") {
  const Tensor a(zeros({2, 3})), b(zeros({4}));
  CHECK_THROWS_WITH(a + b,
                    "add: shapes [2, 3] and [4] do not broadcast: axis 1 from the end has 3 and 4");
  CHECK_THROWS_WITH(
      a * b, "multiply: shapes [2, 3] and [4] do not broadcast: axis 1 from the end has 3 and 4");
  CHECK_THROWS_AS(a - b, ShapeError);
  CHECK_THROWS_AS(a / b, ShapeError);
  CHECK_THROWS_AS(maximum(a, b), ShapeError);
  CHECK_THROWS_AS(where(Bytes({2}, {1, 0}), a, a), ShapeError);
}
