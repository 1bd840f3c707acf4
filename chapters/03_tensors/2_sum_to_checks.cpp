// Checks sum_to against plain loops over the copies, and what the library's operators make of it.
#include "2_sum_to.hpp"

#include <fmt/format.h>

#include "common/checks.hpp"
#include "headroom/ops/ops.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library
using chapter::random_array;

/// A value that reused memory may hold.
constexpr Real dirt = 64;

/// The position of element i of an array along each of its axes.
std::vector<Index> position(const Shape& shape, Index i) {
  std::vector<Index> at(std::size_t(shape.rank()));
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    at[std::size_t(axis)] = i % shape[axis];
    i /= shape[axis];
  }
  return at;
}

/// The element of an array of `shape` whose copy is at element i of an array of `large`.
Index original(const Shape& shape, const Shape& large, Index i) {
  const std::vector<Index> at = position(large, i);
  Index to = 0;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    to = to * shape[axis] +
         (shape[axis] == 1 ? 0 : at[std::size_t(axis + large.rank() - shape.rank())]);
  }
  return to;
}

Array right(const Array& dy, const Shape& shape) {
  Array sum = zeros(shape);
  for (Index i = 0; i < dy.size(); ++i) sum[original(shape, dy.shape(), i)] += dy[i];
  return sum;
}

/// Compares for one pair of shapes, with a buffer of the sum's size that was used before.
void compare(const Shape& large, const Shape& shape) {
  for (const std::uint64_t seed : chapter::seeds) {
    Rng rng(seed, "03/2");
    const Array dy = random_array(large, rng), before = dy.clone();
    { const Array used(shape, dirt); }
    const Array sum = sum_to(dy, shape);
    chapter::require(sum.defined(), "the function returned an undefined array.");
    const std::string text = chapter::difference("the sums", right(dy, shape), sum);
    const char* nothing = !sum.same_buffer(dy) || text.empty() ? ""
                          : dy.size() == shape.size()
                              ? "\nThis is dy itself: it has the size that is asked "
                                "for, but not the shape."
                              : "\nThis is dy: nothing was summed.";
    chapter::require(text.empty(),
                     fmt::format("{} to {}: {}{}", large.text(), shape.text(), text, nothing));
    chapter::require_equal("dy itself was changed: its elements", before, dy);
  }
}

double product(const Array& a, const Array& b) {
  double sum = 0;
  for (Index i = 0; i < a.size(); ++i) sum += double(a[i]) * double(b[i]);
  return sum;
}

}  // namespace

TEST_CASE("axes in front, as for a bias: [C] in [B, T, C]", "[03/2]") {
  compare({4, 4}, {4});
  compare({2, 5, 3}, {3});
  compare({2, 3, 4}, {3, 4});
  compare({3, 2}, Shape{});
}

TEST_CASE("axes of size 1: [R, 1] in [R, C]", "[03/2]") {
  compare({2, 3}, {2, 1});
  compare({3, 4}, {1, 4});
  compare({2, 4, 3}, {2, 1, 3});
  compare({2, 4, 3}, {1, 1, 1});
}

TEST_CASE("both, and neither", "[03/2]") {
  compare({2, 4, 3}, {4, 1});
  compare({3, 2, 4, 5}, {2, 1, 5});
  compare({2, 1, 3}, {1, 3});
  compare({2, 3}, {2, 3});
  compare({1, 3}, {1, 3});
}

TEST_CASE("axes of size 1 in front: [1, C] to [C]", "[03/2]") {
  compare({1, 3}, {3});
  compare({1, 1, 4}, {4});
  compare({1, 2, 3}, {2, 3});
  compare({1, 3, 1}, {3, 1});
  compare({1}, Shape{});
}

TEST_CASE("the transpose of broadcasting: <x repeated, dy> = <x, sum_to(dy)>", "[03/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Rng rng(seed, "03/2 transpose");
    const Shape large{3, 2, 4, 5};
    for (const Shape& shape : {Shape{5}, Shape{4, 1}, Shape{2, 1, 5}, Shape{3, 1, 1, 1}}) {
      const Array x = random_array(shape, rng), dy = random_array(large, rng);
      const Array repeated = (Tensor(x) + Tensor(zeros(large))).value();
      const double forth = product(repeated, dy), back = product(x, sum_to(dy, shape));
      chapter::require(std::abs(forth - back) < 100 * chapter::tolerance * (1 + std::abs(forth)),
                       fmt::format("{} to {}: {} and {} should be equal.", large.text(),
                                   shape.text(), forth, back));
    }
  }
}

TEST_CASE("in the library: y = (x + b) s, with b [C] and s [T, 1]", "[03/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Rng rng(seed, "03/2 library");
    const Tensor x = parameter(random_array({2, 4, 3}, rng)), b = parameter(random_array({3}, rng)),
                 s = parameter(random_array({4, 1}, rng));
    const Array dy = random_array({2, 4, 3}, rng);
    Array dx(x.shape()), db = zeros(b.shape()), ds = zeros(s.shape());
    for (Index i = 0; i < dx.size(); ++i) {
      const Index c = i % 3, t = i / 3 % 4;
      dx[i] = dy[i] * s.value()[t];
      db[c] += dx[i];
      ds[t] += dy[i] * (x.value()[i] + b.value()[c]);
    }
    chapter::require_gradients([&] { return (x + b) * s; }, dy,
                               {{"x", x, dx}, {"b", b, db}, {"s", s, ds}});
  }
}
