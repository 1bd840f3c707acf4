// Each plain operation against its composed twin: values and gradients, on chosen shapes. The table
// of operations repeats this on random shapes.
#include "headroom/ops/composed.hpp"

#include <functional>

#include "headroom/base/rng.hpp"
#include "headroom/ops/ops.hpp"
#include "support/catch.hpp"
#include "support/close.hpp"
#include "support/random.hpp"

using namespace headroom;

namespace {

using Operation = std::function<Tensor(const std::vector<Tensor>&)>;

void check_twins(const std::vector<Shape>& shapes, const Operation& fused, const Operation& twin) {
  std::vector<Tensor> a, b;
  for (const Shape& shape : shapes) {
    a.push_back(parameter(test::noise(shape, "composed", a.size())));
    b.push_back(parameter(a.back().value()));
  }
  const Tensor y = fused(a), z = twin(b);
  CHECK_THAT(z.value(), test::close_at_scale(y.value(), test::tolerance(1e-12, 2e-6)));
  const Array dy = test::noise(y.shape(), "composed", 99);
  y.backward(dy);
  z.backward(dy);
  for (std::size_t i = 0; i < a.size(); ++i) {
    CHECK_THAT(b[i].grad(), test::close_at_scale(a[i].grad(), test::tolerance(1e-10, 2e-5)));
  }
}

}  // namespace

TEST_CASE("activations and mean equal their composed twins") {
  const auto unary = [](Tensor (*f)(const Tensor&)) {
    return [f](const std::vector<Tensor>& x) { return f(x[0]); };
  };
  for (const Shape& shape : {Shape{3, 7}, Shape{}, Shape{2, 1, 33}}) {
    INFO(shape.text());
    check_twins({shape}, unary(relu), unary(composed::relu));
    check_twins({shape}, unary(gelu_tanh), unary(composed::gelu_tanh));
    check_twins({shape}, unary(silu), unary(composed::silu));
    check_twins({shape}, unary(sigmoid), unary(composed::sigmoid));
  }
  check_twins(
      {{4, 5, 6}},
      [](const auto& x) {
        return mean(x[0], {0, 2});
      },
      [](const auto& x) {
        return composed::mean(x[0], {0, 2});
      });
}

TEST_CASE("matrix products and linear maps equal their composed twins") {
  for (const auto& [a, b] : {std::pair<Shape, Shape>{{3, 4}, {4, 5}},
                             {{1, 4}, {4, 1}},
                             {{3, 1}, {1, 5}},
                             {{2, 3, 4}, {4, 5}},
                             {{2, 1, 3, 4}, {6, 4, 5}},
                             {{3, 0}, {0, 2}}}) {
    INFO(a.text() << " " << b.text());
    check_twins(
        {a, b}, [](const auto& x) { return matmul(x[0], x[1]); },
        [](const auto& x) { return composed::matmul(x[0], x[1]); });
  }
  check_twins(
      {{2, 3, 4}, {5, 4}, {5}}, [](const auto& x) { return linear(x[0], x[1], x[2]); },
      [](const auto& x) { return composed::linear(x[0], x[1], x[2]); });
  check_twins(
      {{2, 3, 4}, {5, 4}, {1, 4}, {5}, {1}},
      [](const auto& x) {
        return linear_side_by_side(x[0], {x[1], x[2]}, {x[3], x[4]});
      },
      [](const auto& x) {
        return composed::linear_side_by_side(x[0], {x[1], x[2]}, {x[3], x[4]});
      });
}

TEST_CASE("split_heads takes the heads' columns apart, merge_heads puts them side by side again") {
  const Tensor x = parameter(test::noise({2, 3, 10}, "x"));  // columns 1 ... 8 are the heads'
  const Tensor heads = composed::split_heads({x, 1}, 2, 4);
  REQUIRE(heads.shape() == Shape{2, 2, 3, 4});
  CHECK(heads.value()[((1 * 2 + 1) * 3 + 2) * 4 + 3] == x.value()[(1 * 3 + 2) * 10 + 1 + 4 + 3]);
  CHECK_THAT(composed::merge_heads(heads).value(), test::SameBits(slice(x, 2, 1, 9).value()));
}

TEST_CASE("the scale of the scores is 1 / sqrt(head_dim)") {
  CHECK(attention_scale(16) == Real(0.25));
  CHECK(attention_scale(1) == 1);
}
