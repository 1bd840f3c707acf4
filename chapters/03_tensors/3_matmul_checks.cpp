// Checks matmul against plain loops: first matrices, square ones and others, then axes in front.
#include <fmt/format.h>

#include "common/checks.hpp"
#include "headroom/algebra/algebra.hpp"
#include "headroom/base/error.hpp"
#include "headroom/ops/matmul.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library
using chapter::random_array;

/// The matrix of an array with the axes `own` in front that is used for product number `batch` of
/// the axes `all`.
Index matrix(const Shape& own, const Shape& all, Index batch) {
  Index number = 0, stride = 1;
  for (int axis = -1; axis >= -own.rank(); --axis) {
    if (own[axis] != 1) number += batch % all[axis] * stride;
    batch /= all[axis];
    stride *= own[axis];
  }
  return number;
}

/// a, b, y = a b and the gradients by plain loops.
struct Case {
  Case(const Shape& of_a, const Shape& of_b, std::uint64_t seed) : rng(seed, "03/3") {
    a = random_array(of_a, rng);
    b = random_array(of_b, rng);
    const Shape front_a = of_a.without(-1).without(-1), front_b = of_b.without(-1).without(-1);
    const Shape front = broadcast("the checks", front_a, front_b);
    Shape of_y = front;
    of_y.push_back(of_a[-2]);
    of_y.push_back(of_b[-1]);
    y = zeros(of_y);
    dy = random_array(of_y, rng);
    da = zeros(of_a);
    db = zeros(of_b);
    for (Index batch = 0; batch < front.size(); ++batch) {
      multiply(batch, matrix(front_a, front, batch), matrix(front_b, front, batch));
    }
  }

  chapter::Names names() const {
    chapter::Names result{axes(y), {}};
    if (y.rank() == 3) result.sizes = {{"B", double(y.dim(0))}};
    return result;
  }
  static std::vector<std::string> axes(const Array& of) {
    if (of.rank() == 2) return {"row", "column"};
    if (of.rank() == 3) return {"batch", "row", "column"};
    return {};
  }
  /// Checks the gradients. If the library refuses the shapes inside of the answer, the message
  /// begins with `advice`.
  void require_gradients(const std::string& advice) const {
    const Tensor left = parameter(a), right = parameter(b);
    const auto call = [&] { return matmul(left, right); };
    std::string refused;
    if (const Tensor result = call(); result.requires_grad() && result.shape() == dy.shape()) {
      try {
        result.backward(dy);
      } catch (const ShapeError& error) {
        refused = error.what();
      } catch (const Error&) {  // a gradient that is missing, which is found below
      }
    }
    chapter::require(refused.empty(), fmt::format("{}\nThe library: {}", advice, refused));
    for (Tensor tensor : {left, right}) tensor.zero_grad();
    chapter::require_gradients(
        call, dy, {{"a", left, da, {}, axes(a)}, {"b", right, db, {}, axes(b)}}, names());
  }

  Rng rng;
  Array a, b, y, dy, da, db;

 private:
  void multiply(Index batch, Index in_a, Index in_b) {
    const Index m = a.dim(-2), k = a.dim(-1), n = b.dim(-1);
    for (Index i = 0; i < m; ++i) {
      for (Index j = 0; j < n; ++j) {
        const Index to = (batch * m + i) * n + j;
        for (Index l = 0; l < k; ++l) {
          const Index from_a = (in_a * m + i) * k + l, from_b = (in_b * k + l) * n + j;
          y[to] += a[from_a] * b[from_b];
          da[from_a] += dy[to] * b[from_b];
          db[from_b] += dy[to] * a[from_a];
        }
      }
    }
  }
};

/// The gradients for all seeds.
void gradients(const Shape& a, const Shape& b, const std::string& advice) {
  for (const std::uint64_t seed : chapter::seeds) Case(a, b, seed).require_gradients(advice);
}

const char* const sizes_differ =
    "right for square matrices, wrong for [2, 4] and [4, 3]: the sizes inside do not fit.";

}  // namespace

TEST_CASE("values", "[03/3]") {
  const std::vector<std::pair<Shape, Shape>> shapes = {
      {{3, 3}, {3, 3}}, {{2, 4}, {4, 3}}, {{5, 2, 4}, {5, 4, 3}}, {{5, 2, 4}, {4, 3}}};
  for (const auto& [of_a, of_b] : shapes) {
    for (const std::uint64_t seed : chapter::seeds) {
      const Case c(of_a, of_b, seed);
      chapter::require_values([&] { return matmul(parameter(c.a), parameter(c.b)); }, c.y,
                              c.names());
    }
  }
}

TEST_CASE("gradients: [3, 3] and [3, 3], where every product fits", "[03/3]") {
  gradients({3, 3}, {3, 3}, "the sizes inside do not fit.");
}

TEST_CASE("gradients: [2, 4] and [4, 3]", "[03/3]") { gradients({2, 4}, {4, 3}, sizes_differ); }

TEST_CASE("gradients: a batch of both, [5, 2, 4] and [5, 4, 3]", "[03/3]") {
  gradients({5, 2, 4}, {5, 4, 3}, "right for two matrices, wrong with an axis in front.");
}

TEST_CASE("gradients: one b for all, [5, 2, 4] and [4, 3]", "[03/3]") {
  gradients({5, 2, 4}, {4, 3},
            "right while every matrix is used once. Here b [4, 3] is multiplied with 5 matrices, "
            "so 5 contributions to its gradient must become one.");
}

TEST_CASE("gradients: all ways to broadcast", "[03/3]") {
  const std::string advice = "right for a [5, 2, 4] and b [4, 3], wrong for other axes in front.";
  gradients({2, 4}, {5, 4, 3}, advice);
  gradients({5, 1, 2, 4}, {3, 4, 2}, advice);
  gradients({2, 1, 2, 4}, {1, 3, 4, 2}, advice);
}

TEST_CASE("one tensor as both factors, and a factor without a gradient", "[03/3]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Rng rng(seed, "03/3 both");
    const Array value = random_array({4, 4}, rng), dy = random_array({4, 4}, rng);
    const Tensor x = parameter(value);
    const Array da = matmul(dy, transposed(value)), db = matmul(transposed(value), dy);
    Array both(value.shape());
    for (Index i = 0; i < both.size(); ++i) both[i] = da[i] + db[i];
    chapter::require_gradients([&] { return matmul(x, x); }, dy, {{"x", x, both}},
                               {{"row", "column"}, {}});
    const Tensor a = parameter(value), b = parameter(value);
    chapter::require_gradients([&] { return matmul(a, Tensor(value)); }, dy, {{"a", a, da}},
                               {{"row", "column"}, {}});
    chapter::require_gradients([&] { return matmul(Tensor(value), b); }, dy, {{"b", b, db}},
                               {{"row", "column"}, {}});
  }
}
