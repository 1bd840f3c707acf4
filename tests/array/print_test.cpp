// Arrays and shapes as text. Below the line of the shape stands what NumPy prints with
// np.set_printoptions(precision=4, linewidth=76, floatmode="maxprec_equal"), but for the scientific
// notation, which here has all four decimals.
#include "headroom/array/print.hpp"

#include <limits>
#include <sstream>

#include "support/catch.hpp"

using namespace headroom;
using Catch::Contains;

namespace {
template <class Printed>
std::string printed(const Printed& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}
}  // namespace

TEST_CASE("an array prints as its shape and NumPy's rows") {
  CHECK(text(Array({2, 3}, {1, -2.5, 3, 10, 0, 6.25})) ==
        "Array [2, 3]\n"
        "[[ 1.00 -2.50  3.00]\n"
        " [10.00  0.00  6.25]]");
  CHECK(text(Array({3}, {1, 2, -3})) == "Array [3]\n[ 1.  2. -3.]");
  CHECK(text(Array({2, 1, 2}, {1, 2, 3, 4})) ==
        "Array [2, 1, 2]\n"
        "[[[1. 2.]]\n"
        "\n"
        " [[3. 4.]]]");
  CHECK(text(Array(Shape{}, {0.5})) == "Array []\n0.5");
  CHECK(text(zeros({0, 3})) == "Array [0, 3]\n[]");
  CHECK(text(Array()) == "Array, undefined");
  CHECK(text(Ids({2, 2}, {1, -20, 3, 4})) == "Ids [2, 2]\n[[  1 -20]\n [  3   4]]");
  CHECK(text(Bytes({2}, {1, 200})) == "Bytes [2]\n[  1 200]");
}

TEST_CASE("small, large and far apart numbers print in scientific notation") {
  CHECK(text(Array({2}, {1, 0.0625e-4})) == "Array [2]\n[1.0000e+00 6.2500e-06]");
  CHECK(text(Array({2}, {-2e8, 1e8})) == "Array [2]\n[-2.0000e+08  1.0000e+08]");
  CHECK(text(Array({2}, {1001, 1})) == "Array [2]\n[1.0010e+03 1.0000e+00]");
  CHECK(text(Array({2}, {1000, 1})) == "Array [2]\n[1000.    1.]");
  constexpr Real nan = std::numeric_limits<Real>::quiet_NaN();
  constexpr Real infinity = std::numeric_limits<Real>::infinity();
  CHECK(text(Array({3}, {1, nan, -infinity})) == "Array [3]\n[  1.  nan -inf]");
  CHECK(text(Array({2}, {-nan, nan})) == "Array [2]\n[nan nan]");
}

TEST_CASE("a large array prints its first and last rows and columns") {
  Array large({1000, 9});
  for (Index i = 0; i < large.size(); ++i) large[i] = Real(i);
  CHECK(text(large) ==
        "Array [1000, 9]\n"
        "[[0.0000e+00 1.0000e+00 2.0000e+00 ... 6.0000e+00 7.0000e+00 8.0000e+00]\n"
        " [9.0000e+00 1.0000e+01 1.1000e+01 ... 1.5000e+01 1.6000e+01 1.7000e+01]\n"
        " [1.8000e+01 1.9000e+01 2.0000e+01 ... 2.4000e+01 2.5000e+01 2.6000e+01]\n"
        " ...\n"
        " [8.9730e+03 8.9740e+03 8.9750e+03 ... 8.9790e+03 8.9800e+03 8.9810e+03]\n"
        " [8.9820e+03 8.9830e+03 8.9840e+03 ... 8.9880e+03 8.9890e+03 8.9900e+03]\n"
        " [8.9910e+03 8.9920e+03 8.9930e+03 ... 8.9970e+03 8.9980e+03 8.9990e+03]]");
  // 1000 elements are printed whole, in lines of at most 76 columns.
  const std::string whole = text(zeros({1000}));
  CHECK_THAT(whole, !Contains("..."));
  CHECK(whole.find('\n', whole.find('\n') + 1) == sizeof "Array [1000]" + 1 + 25 * 3 - 1);
  CHECK_THAT(text(zeros({1001})), Contains("[0. 0. 0. ... 0. 0. 0.]"));
}

TEST_CASE("arrays and shapes can be streamed") {
  const Array array({2}, {1, 2});
  CHECK(printed(array) == text(array));
  CHECK(printed(Ids({3}, {0, 1, 2})) == "Ids [3]\n[0 1 2]");
  CHECK(printed(Bytes({1}, {1})) == "Bytes [1]\n[1]");
  CHECK(printed(Shape{2, 3}) == "[2, 3]");
}
