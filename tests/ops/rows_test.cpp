// Softmax, norms, embedding, dropout and losses: edge cases and the texts of errors.
#include <cmath>

#include "headroom/base/error.hpp"
#include "headroom/ops/composed.hpp"
#include "headroom/ops/ops.hpp"
#include "support/catch.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

TEST_CASE("softmax and its relatives say what they cannot take") {
  const Tensor number(Real(1)), x(zeros({2, 3}));
  CHECK_THROWS_WITH(softmax(number), "softmax: x [] is a single number; it needs a last axis");
  CHECK_THROWS_WITH(log_softmax(number),
                    "log_softmax: x [] is a single number; it needs a last axis");
  CHECK_THROWS_WITH(masked_softmax(x, Bytes(Shape{3, 3})),
                    "masked_softmax: allowed [3, 3] does not broadcast to x [2, 3]");
  CHECK_THROWS_WITH(
      layer_norm(x, Tensor(ones({2})), {}),
      "layer_norm: x [2, 3] ends in 3 features but weight [2] does not have shape [3]");
  CHECK_THROWS_WITH(layer_norm(x, {}, Tensor(ones({4}))),
                    "layer_norm: x [2, 3] ends in 3 features but bias [4] does not have shape [3]");
  CHECK_THROWS_WITH(rms_norm(x, Tensor(ones({2}))),
                    "rms_norm: x [2, 3] ends in 3 features but weight [2] does not have shape [3]");
}

TEST_CASE("masked softmax repeats a mask with fewer axes") {
  const Tensor x = parameter(Array(Shape{2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}));
  const Tensor y = masked_softmax(x, Bytes(Shape{2, 1, 2}, {1, 0, 0, 1}));
  const Array wanted(Shape{2, 2, 2}, {1, 0, 1, 0, 0, 1, 0, 1});
  for (Index i = 0; i < 8; ++i) CHECK(y.value()[i] == wanted[i]);
}

TEST_CASE("embedding says which id has no row") {
  const Tensor table(zeros({5, 2}));
  CHECK_THROWS_WITH(embedding(table, Ids(Shape{3}, {0, 9, 1})),
                    "embedding: id 9 at position 1 is outside the table's 5 rows");
  CHECK_THROWS_AS(embedding(table, Ids(Shape{1}, {-1})), UsageError);
  CHECK_THROWS_WITH(embedding(Tensor(zeros({5})), Ids(Shape{1}, {0})),
                    "embedding: table [5] must be [rows, width]");
}

TEST_CASE("dropout is the identity at p = 0, zeros at p = 1, and keeps the expectation between") {
  const Tensor x = parameter(ones({100, 100}));
  const MaskStream stream(1, 2, 3);
  CHECK(dropout(x, 0, stream).same(x));
  const Array none = dropout(x, 1, stream).value(), some = dropout(x, Real(0.25), stream).value();
  Index kept = 0;
  for (Index i = 0; i < x.size(); ++i) {
    CHECK(none[i] == 0);
    const bool keep = Real(stream.uniform(i)) >= Real(0.25);
    CHECK(some[i] == (keep ? Real(1) / Real(0.75) : Real(0)));
    kept += keep ? 1 : 0;
  }
  CHECK(std::abs(kept - 7500) < 200);
  CHECK_THROWS_WITH(dropout(x, Real(1.5), stream),
                    "dropout: p = 1.5 is not a probability; it must be in [0, 1]");
}

TEST_CASE("dropout masks follow the open training step and need one") {
  CHECK_THROWS_AS(mask_stream(5), UsageError);
  const RandomStep outer(7, 1);
  const float at_outer = mask_stream(5).uniform(3);
  {
    const RandomStep inner(7, 2);
    CHECK(mask_stream(5).uniform(3) == MaskStream(7, 2, 5).uniform(3));
    CHECK(mask_stream(5).uniform(3) != at_outer);
  }
  CHECK(mask_stream(5).uniform(3) == at_outer);
}

TEST_CASE("cross-entropy with all targets ignored is 0 with zero gradients") {
  const Tensor x = parameter(Array(Shape{2, 3}, {1, 2, 3, 4, 5, 6}));
  const Tensor loss = cross_entropy(x, Ids(Shape{2}, {-100, -100}));
  CHECK(loss.item() == 0);
  loss.backward();
  for (Index i = 0; i < 6; ++i) CHECK(x.grad()[i] == 0);
}

TEST_CASE("losses agree with their composed twins in every reduction") {
  Rng rng(3);
  Array numbers(Shape{2, 3, 5}), others(Shape{2, 3, 5});
  for (Index i = 0; i < 30; ++i) {
    numbers[i] = rng.normal();
    others[i] = rng.normal();
  }
  const Ids targets(Shape{2, 3}, {0, 4, -1, 2, 2, 1});
  for (const Reduction reduction : {Reduction::none, Reduction::sum, Reduction::mean}) {
    const CrossEntropyOptions options{
        .label_smoothing = Real(0.1), .ignore_index = -1, .reduction = reduction};
    const auto compare = [](const auto& f, const auto& g, const Array& at) {
      const Tensor x = parameter(at.clone()), z = parameter(at.clone());
      const Tensor y = f(x), twin = g(z);
      REQUIRE(y.shape() == twin.shape());
      Array dy(y.shape());
      for (Index i = 0; i < dy.size(); ++i) dy[i] = Real(i) - Real(1.5);
      y.backward(dy);
      twin.backward(dy);
      const Real tolerance = is_double ? Real(1e-12) : Real(1e-5);
      for (Index i = 0; i < y.size(); ++i) {
        CHECK(std::abs(y.value()[i] - twin.value()[i]) <= tolerance);
      }
      for (Index i = 0; i < at.size(); ++i) CHECK(std::abs(x.grad()[i] - z.grad()[i]) <= tolerance);
    };
    compare([&](const Tensor& x) { return cross_entropy(x, targets, options); },
            [&](const Tensor& x) { return composed::cross_entropy(x, targets, options); }, numbers);
    const Tensor other(others);
    compare([&](const Tensor& x) { return squared_error(other, x, reduction); },
            [&](const Tensor& x) { return composed::squared_error(other, x, reduction); }, numbers);
  }
}

TEST_CASE("losses say what does not fit") {
  const Tensor x(zeros({2, 3}));
  CHECK_THROWS_WITH(cross_entropy(x, Ids(Shape{3}, {0, 0, 0})),
                    "cross_entropy: logits [2, 3] take targets [2], one per row, but got [3]");
  CHECK_THROWS_WITH(cross_entropy(x, Ids(Shape{2}, {0, 3})),
                    "cross_entropy: target 3 at position 1 is not one of the 3 classes; ignored "
                    "targets have the value ignore_index = -100");
  CHECK_THROWS_AS(cross_entropy(x, Ids(Shape{2}, {0, 0}), {.label_smoothing = 2}), UsageError);
  CHECK_THROWS_WITH(squared_error(x, Tensor(zeros({3}))),
                    "squared_error: x [2, 3] and y [3] must have the same shape");
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
