// Rows of embedding, dropout and the losses.
#include <cmath>

#include "headroom/ops/composed.hpp"
#include "headroom/ops/dropout.hpp"
#include "headroom/ops/embedding.hpp"
#include "headroom/ops/losses.hpp"
#include "ops/table/operation.hpp"
#include "support/random.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace test {

namespace {

using Long = long double;

Case draw_embedding(Draw& draw) {
  const Index rows = draw.some(), width = draw.size();
  const Ids ids =
      random_ids(draw.large() ? Shape{draw.between(20, 30), 40} : draw.shape(0, 2), draw.rng, rows);
  const auto scattered = [=](const BackwardView& b, bool overwrite, Index shift) {
    Array table = zeros(b.x[0].shape());
    for (Index i = 0; i < ids.size(); ++i) {
      for (Index c = 0; c < width; ++c) {
        Real& sum = table[(ids[i] + shift) % rows * width + c];
        sum = b.dy[i * width + c] + (overwrite ? 0 : sum);
      }
    }
    return Arrays{table};
  };
  return {{normal({rows, width}, draw.rng)},
          [ids](const Tensors& x) { return embedding(x[0], ids); },
          [=](const Arrays& x) {
            Shape shape = ids.shape();
            shape.push_back(width);
            Array y(shape);
            for (Index e = 0; e < y.size(); ++e) y[e] = x[0][ids[e / width] * width + e % width];
            return y;
          },
          [ids](const Tensors& x) { return composed::embedding(x[0], ids); },
          {{"of equal ids the last one overwrites",
            [=](const BackwardView& b) { return scattered(b, true, 0); }},
           {"one row too far", [=](const BackwardView& b) { return scattered(b, false, 1); }}}};
}

Case draw_dropout(Draw& draw) {
  const std::vector<Real> rates{0, Real(0.25), Real(0.5), Real(0.9), 1};
  const Real p = rates[static_cast<std::size_t>(draw.rng.below(5))];
  const MaskStream stream(7, draw.rng.word(), draw.rng.word());
  const auto kept = [=](Index e) {
    return Real(stream.uniform(e)) >= p && p < 1 ? Real(1) / (Real(1) - p) : 0;
  };
  const auto fault = [](const char* name, auto factor) {
    return Fault{name, [factor](const BackwardView& b) {
                   Array dx(b.dy.shape());
                   for (Index e = 0; e < dx.size(); ++e) dx[e] = b.dy[e] * factor(e);
                   return Arrays{dx};
                 }};
  };
  const MaskStream other(7, draw.rng.word(), 1);
  return {
      {normal(draw.shape(), draw.rng)},
      [=](const Tensors& x) { return dropout(x[0], p, stream); },
      [=](const Arrays& x) {
        Array y(x[0].shape());
        for (Index e = 0; e < y.size(); ++e) y[e] = x[0][e] * kept(e);
        return y;
      },
      [=](const Tensors& x) { return composed::dropout(x[0], p, stream); },
      {fault("the scale 1/(1 - p) is missing", [=](Index e) { return kept(e) > 0 ? Real(1) : 0; }),
       fault("the mask is ignored", [=](Index) { return p < 1 ? 1 / (1 - p) : 0; }),
       fault("the mask is drawn again",
             [=](Index e) { return Real(other.uniform(e)) >= p && p < 1 ? 1 / (1 - p) : 0; })}};
}

// ---------------------------------------------------------------- cross-entropy

/// d(sum of dy_i loss_i)/dlogits; faults leave out parts of the formula.
struct CrossEntropyGradient {
  bool one_hot = true, smoothing = true, ignores = true, scale = true;

  Arrays operator()(const BackwardView& b, const Ids& targets,
                    const CrossEntropyOptions& options) const {
    const Array& logits = b.x[0];
    const Index classes = logits.dim(-1);
    Array dx = zeros(logits.shape());
    Index counted = 0;
    for (const std::int32_t target : targets.span()) {
      counted += !ignores || target != options.ignore_index ? 1 : 0;
    }
    const Real epsilon = smoothing ? options.label_smoothing : 0;
    for (Index row = 0; row < targets.size(); ++row) {
      if (targets[row] == options.ignore_index) continue;
      Long sum = 0;
      for (Index v = 0; v < classes; ++v) {
        sum += std::exp(static_cast<Long>(logits[row * classes + v]));
      }
      Real dy = b.dy[options.reduction == Reduction::none ? row : 0];
      if (options.reduction == Reduction::mean && scale) dy /= Real(counted);
      for (Index v = 0; v < classes; ++v) {
        const Real p = Real(std::exp(static_cast<Long>(logits[row * classes + v])) / sum);
        const Real q = (v == targets[row] ? 1 - epsilon : 0) + epsilon / Real(classes);
        dx[row * classes + v] = dy * (one_hot ? p - q : p);
      }
    }
    return {dx};
  }
};

Array plain_cross_entropy(const Array& logits, const Ids& targets,
                          const CrossEntropyOptions& options) {
  const Index classes = logits.dim(-1);
  Array losses = zeros(targets.shape());
  Long total = 0;
  Index counted = 0;
  for (Index row = 0; row < targets.size(); ++row) {
    if (targets[row] == options.ignore_index) continue;
    ++counted;
    Long sum = 0, smooth = 0;
    for (Index v = 0; v < classes; ++v) {
      sum += std::exp(static_cast<Long>(logits[row * classes + v]));
    }
    const auto loss = [&](Index v) {
      return std::log(sum) - static_cast<Long>(logits[row * classes + v]);
    };
    for (Index v = 0; v < classes; ++v) smooth += loss(v) / classes;
    const auto epsilon = static_cast<Long>(options.label_smoothing);
    const Long value = (1 - epsilon) * loss(targets[row]) + epsilon * smooth;
    losses[row] = Real(value);
    total += value;
  }
  if (options.reduction == Reduction::none) return losses;
  if (options.reduction == Reduction::mean && counted > 0) total /= counted;
  return {Shape{}, {Real(total)}};
}

Reduction draw_reduction(Draw& draw) {
  const Reduction all[] = {Reduction::none, Reduction::sum, Reduction::mean};
  return all[draw.rng.below(3)];
}

Case draw_cross_entropy(Draw& draw) {
  const Index classes = draw.some();
  Shape shape = draw.large() ? Shape{draw.between(500, 1000)} : draw.shape(0, 2);
  CrossEntropyOptions options;
  options.label_smoothing = draw.chance(0.5) ? Real(0.1) : 0;
  options.ignore_index = draw.chance(0.5) ? -100 : 0;
  options.reduction = draw_reduction(draw);
  const Ids targets = random_ids(shape, draw.rng, classes);
  const double ignored = draw.chance(0.1) ? 1 : 0.2;
  for (std::int32_t& target : Ids(targets).span()) {
    if (draw.chance(ignored)) target = options.ignore_index;
  }
  shape.push_back(classes);
  const auto fault = [=](const char* name, CrossEntropyGradient gradient) {
    return Fault{name, [=](const BackwardView& b) { return gradient(b, targets, options); }};
  };
  return {{normal(shape, draw.rng)},
          [=](const Tensors& x) { return cross_entropy(x[0], targets, options); },
          [=](const Arrays& x) { return plain_cross_entropy(x[0], targets, options); },
          [=](const Tensors& x) { return composed::cross_entropy(x[0], targets, options); },
          {fault("the one-hot target is not taken off", {.one_hot = false}),
           fault("label smoothing is ignored", {.smoothing = false}),
           fault("ignored targets count in the mean", {.ignores = false}),
           fault("the scale 1/count is missing", {.scale = false})}};
}

Case draw_squared_error(Draw& draw) {
  Shape shape = draw.shape();
  const Reduction reduction = draw_reduction(draw);
  if (shape.size() == 0 && reduction == Reduction::mean) shape = Shape{2, 1};
  const auto fault = [=](const char* name, Real for_x, Real for_y) {
    return Fault{name, [=](const BackwardView& b) {
                   Arrays result{b.right[0].clone(), b.right[1].clone()};
                   for (Real& d : result[0].span()) d *= for_x;
                   for (Real& d : result[1].span()) d *= for_y;
                   return result;
                 }};
  };
  const auto count = Real(std::max<Index>(1, shape.size()));
  return {{normal(shape, draw.rng), normal(shape, draw.rng)},
          [=](const Tensors& x) { return squared_error(x[0], x[1], reduction); },
          [=](const Arrays& x) {
            const Array squares =
                plain([](Long u, Long v) { return (u - v) * (u - v); }, x[0], x[1]);
            if (reduction == Reduction::none) return squares;
            Long total = 0;
            for (const Real s : squares.span()) total += static_cast<Long>(s);
            if (reduction == Reduction::mean) total /= static_cast<Long>(squares.size());
            return Array(Shape{}, {Real(total)});
          },
          [=](const Tensors& x) { return composed::squared_error(x[0], x[1], reduction); },
          {fault("the factor 2 is missing", Real(0.5), Real(0.5)), fault("y's sign is lost", 1, -1),
           fault("the mean's 1/n is missing", reduction == Reduction::mean ? count : 1,
                 reduction == Reduction::mean ? count : 1)}};
}

}  // namespace

std::vector<Row> lookup_and_loss_rows() {
  return {{"embedding", "embedding", draw_embedding},
          {"dropout", "dropout", draw_dropout},
          {"cross_entropy", "cross_entropy", draw_cross_entropy},
          {"squared_error", "squared_error", draw_squared_error}};
}

}  // namespace test
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
