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

/// The element of an array of `shape` whose copy is at element i of an array of `large`, with the
/// axes aligned `shift` to the right.
Index original(const Shape& shape, const Shape& large, Index i, int shift) {
  const std::vector<Index> at = position(large, i);
  Index to = 0;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    to = to * shape[axis] + (shape[axis] == 1 ? 0 : at[std::size_t(axis + shift)]);
  }
  return to;
}

Index original(const Shape& shape, const Shape& large, Index i) {
  return original(shape, large, i, large.rank() - shape.rank());
}

/// An array of `shape` that begins with `first` in each element; add(sum, i) for each i.
template <class Add>
Array summed(const Array& dy, const Shape& shape, Real first, Add add) {
  Array sum(shape, first);
  for (Index i = 0; i < dy.size(); ++i) add(sum, i);
  return sum;
}

Array right(const Array& dy, const Shape& shape, Real first = 0) {
  return summed(dy, shape, first,
                [&](Array& sum, Index i) { sum[original(shape, dy.shape(), i)] += dy[i]; });
}

std::vector<chapter::Hypothesis> hypotheses(const Array& dy, const Shape& shape) {
  const auto of = [&](auto add) { return [&dy, shape, add] { return summed(dy, shape, 0, add); }; };
  std::vector<chapter::Hypothesis> list = {
      {"the mean of the copies was taken. Each copy pulls at the element, and the pulls add up",
       [&dy, shape] {
         Array mean = right(dy, shape);
         for (Index i = 0; i < mean.size(); ++i) mean[i] /= Real(dy.size() / mean.size());
         return mean;
       }},
      {"only the last copy of each element counts: = replaces where += adds",
       of([&dy, shape](Array& sum, Index i) { sum[original(shape, dy.shape(), i)] = dy[i]; })},
      {"the sum began with what was in memory before: Array(shape) is not initialised",
       [&dy, shape] { return right(dy, shape, dirt); }}};
  if (shape.rank() < dy.rank()) {
    list.push_back({"the shapes were aligned at the first axis. Broadcasting aligns the last ones",
                    of([&dy, shape](Array& sum, Index i) {
                      const Index to = original(shape, dy.shape(), i, 0);
                      if (to < sum.size()) sum[to] += dy[i];
                    })});
  }
  list.push_back(
      {"the copies were taken to follow one after the other in memory. That is right "
       "for [3] in [2, 3] and wrong for [2, 1]: an axis of size 1 is repeated, too",
       of([&dy](Array& sum, Index i) { sum[i % sum.size()] += dy[i]; })});
  return list;
}

/// Compares for one pair of shapes, with a buffer of the sum's size that was used before.
void compare(const Shape& large, const Shape& shape) {
  for (const std::uint64_t seed : chapter::seeds) {
    Rng rng(seed, "03/2");
    const Array dy = random_array(large, rng), before = dy.clone();
    { const Array used(shape, dirt); }
    const Array sum = sum_to(dy, shape);
    chapter::require(sum.defined(), "the function returned an undefined array.");
    const std::string text =
        chapter::difference("the sums", right(dy, shape), sum, {}, hypotheses(dy, shape));
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
