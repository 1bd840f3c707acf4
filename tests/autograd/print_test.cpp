// Tensors as text.
#include "headroom/autograd/print.hpp"

#include <sstream>

#include "autograd/toy_operations.hpp"
#include "headroom/autograd/tape.hpp"
#include "support/catch.hpp"

using namespace headroom;
using namespace headroom::test;

TEST_CASE("a tensor prints with its shape, its origin and its elements") {
  const Array values({1, 2}, {1, 2});
  const Tensor x = parameter(values), product = times(x, 2);
  CHECK(text(x) == "Tensor [1, 2], a parameter\n[[1. 2.]]");
  CHECK(text(product) == "Tensor [1, 2], a result of 'times'\n[[2. 4.]]");
  CHECK(text(Tensor(values, true)) == "Tensor [1, 2], a leaf with gradient\n[[1. 2.]]");
  CHECK(text(constant(values)) == "Tensor [1, 2]\n[[1. 2.]]");
  CHECK(text(Tensor()) == "Tensor, undefined");
  std::ostringstream out;
  out << product;
  CHECK(out.str() == text(product));
}
