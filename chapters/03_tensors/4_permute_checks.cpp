// Checks permute on a cube, where every order fits and mistakes can be told apart, and on shapes
// with a different size for every axis.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "common/checks.hpp"
#include "headroom/base/at.hpp"
#include "headroom/ops/ops.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library
using chapter::random_array;

using Order = std::vector<int>;

Order inverse(const Order& order) {
  Order back(order.size());
  for (int j = 0; j < int(order.size()); ++j) at(back, at(order, j)) = j;
  return back;
}

Shape ordered(const Shape& shape, const Order& order) {
  Shape result;
  for (const int axis : order) result.push_back(shape[axis]);
  return result;
}

/// The number of the element at the positions that `place` has along the axes.
Index number(const Shape& shape, const std::vector<Index>& place) {
  Index result = 0;
  for (int axis = 0; axis < shape.rank(); ++axis) result = result * shape[axis] + at(place, axis);
  return result;
}

std::vector<Index> place_of(const Shape& shape, Index element) {
  std::vector<Index> place(std::size_t(shape.rank()));
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    at(place, axis) = element % shape[axis];
    element /= shape[axis];
  }
  return place;
}

/// The elements of x moved, one by one.
Array moved(const Array& x, const Order& order) {
  Array y(ordered(x.shape(), order));
  for (Index i = 0; i < x.size(); ++i) {
    const std::vector<Index> from = place_of(x.shape(), i);
    std::vector<Index> to(from.size());
    for (int j = 0; j < y.rank(); ++j) at(to, j) = at(from, at(order, j));
    y[number(y.shape(), to)] = x[i];
  }
  return y;
}

std::vector<Order> orders(int rank) {
  Order order(std::size_t(rank), 0);
  std::iota(order.begin(), order.end(), 0);
  std::vector<Order> all;
  do {
    all.push_back(order);
  } while (std::next_permutation(order.begin(), order.end()));
  return all;
}

std::string text(const Shape& shape, const Order& order) {
  return fmt::format("{} with the order {{{}}}", shape.text(), fmt::join(order, ", "));
}

void check_values(const Shape& shape, const Order& order) {
  for (const std::uint64_t seed : chapter::seeds) {
    Rng rng(seed, "03/4");
    const Array x = random_array(shape, rng), expected = moved(x, order);
    const Tensor y = permute(Tensor(x), order);
    chapter::require(y.defined(), "the function returned an undefined tensor: it needs a value.");
    const std::string wrong = chapter::difference("the values", expected, y.value());
    chapter::require(wrong.empty(), text(shape, order) + ": " + wrong);
  }
}

void check_gradients(const Shape& shape, const Order& order) {
  for (const std::uint64_t seed : chapter::seeds) {
    Rng rng(seed, "03/4 gradients");
    const Tensor x = parameter(random_array(shape, rng));
    const Array dy = random_array(ordered(shape, order), rng);
    chapter::require_gradients([&] { return permute(x, order); }, dy,
                               {{"x", x, moved(dy, inverse(order))}});
  }
}

const Shape cube{3, 3, 3};

}  // namespace

TEST_CASE("values: [3, 3, 3], where every order fits", "[03/4]") {
  for (const Order& order : orders(3)) check_values(cube, order);
}

TEST_CASE("values: a different size for every axis", "[03/4]") {
  check_values({2, 3}, {1, 0});
  for (const Order& order : orders(3)) check_values({2, 3, 4}, order);
  for (const Order& order : orders(4)) check_values({2, 3, 1, 4}, order);
}

TEST_CASE("gradients: [3, 3, 3]", "[03/4]") {
  for (const Order& order : orders(3)) check_gradients(cube, order);
}

TEST_CASE("gradients: a different size for every axis", "[03/4]") {
  check_gradients({2, 3}, {1, 0});
  for (const Order& order : orders(3)) check_gradients({2, 3, 4}, order);
  for (const Order& order : orders(4)) check_gradients({2, 3, 1, 4}, order);
}

TEST_CASE("in the library: transpose, and a negative axis", "[03/4]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Rng rng(seed, "03/4 library");
    const Array x = random_array({2, 3, 4}, rng);
    chapter::require_equal("transpose(x): the elements", moved(x, {0, 2, 1}),
                           transpose(Tensor(x)).value());
    chapter::require_equal("the order {-1, 0, -2}: the elements", moved(x, {2, 0, 1}),
                           permute(Tensor(x), {-1, 0, -2}).value());
  }
}
