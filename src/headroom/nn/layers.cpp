// Embedding, norms, dropout, feed-forward, positions.
#include "headroom/nn/layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headroom/base/error.hpp"
#include "headroom/nn/init.hpp"
#include "headroom/ops/arithmetic.hpp"
#include "headroom/ops/dropout.hpp"
#include "headroom/ops/embedding.hpp"
#include "headroom/ops/normalisation.hpp"
#include "headroom/ops/shaping.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

// ---------------------------------------------------------------- embedding

Embedding::Embedding(Index count, Index width, Rng& rng, Real deviation)
    : weight(parameter(normal({count, width}, deviation, rng))) {}

Tensor Embedding::operator()(const Ids& ids) const {
  const Tensor rows = embedding(weight, ids);
  if (std::find(ids.span().begin(), ids.span().end(), kept_row_) == ids.span().end()) return rows;
  // Kept rows are multiplied by 0, which ends the gradient, and added again as constants.
  Shape one_each = ids.shape();
  one_each.push_back(1);
  Array others(one_each);
  Array kept = zeros(rows.shape());
  const Index width = rows.dim(-1);
  for (Index n = 0; n < ids.size(); ++n) {
    others[n] = ids[n] == kept_row_ ? Real(0) : Real(1);
    if (ids[n] != kept_row_) continue;
    std::copy_n(rows.value().data() + n * width, width, kept.data() + n * width);
  }
  return rows * constant(others) + constant(kept);
}

void Embedding::members(Members& visit) { visit("weight", weight); }

std::string Embedding::title() const {
  return fmt::format("Embedding({} x {})", weight.dim(0), weight.dim(1));
}

// ---------------------------------------------------------------- norms

Norm::Norm(Index width, NormKind kind_, Real epsilon_)
    : kind(kind_), epsilon(epsilon_), weight(parameter(ones({width}))) {
  if (kind == NormKind::layer) bias = parameter(zeros({width}));
}

Tensor Norm::operator()(const Tensor& x) const {
  return kind == NormKind::layer ? layer_norm(x, weight, bias, epsilon)
                                 : rms_norm(x, weight, epsilon);
}

void Norm::members(Members& visit) {
  visit("weight", weight);
  visit("bias", bias);
}

std::string Norm::title() const {
  return fmt::format("{}({})", kind == NormKind::layer ? "LayerNorm" : "RmsNorm", weight.dim(0));
}

// ---------------------------------------------------------------- dropout

Dropout::Dropout(Real probability) : p(probability) {
  if (!(p >= 0 && p <= 1)) {
    throw UsageError(fmt::format("dropout: probability {} is not in [0, 1]", p));
  }
}

Tensor Dropout::operator()(const Tensor& x) const {
  return training() && p > 0 ? dropout(x, p, mask_stream(stream())) : x;
}

std::string Dropout::title() const { return fmt::format("Dropout({})", p); }

// ---------------------------------------------------------------- feed-forward

FeedForward::FeedForward(Index width, Index hidden, Activation kind, Real p, bool bias, Rng& rng)
    : activation(kind),
      linear1(width, hidden, rng, bias),
      dropout(p),
      linear2(hidden, width, rng, bias) {}

Tensor FeedForward::operator()(const Tensor& x) const {
  return linear2(dropout(activate(activation, linear1(x))));
}

void FeedForward::members(Members& visit) {
  visit("linear1", linear1);
  visit("dropout", dropout);
  visit("linear2", linear2);
}

std::string FeedForward::title() const {
  return fmt::format("FeedForward({})", name_of(activation));
}

// ---------------------------------------------------------------- positions

namespace {

/// PE(t, 2i) = sin(t / 10000^(2i/C)), PE(t, 2i + 1) = cos of the same. In halves the sine is in
/// channel i and the cosine in channel ceil(C / 2) + i.
Array sinusoids(Index longest, Index width, bool halves) {
  Array table({longest, width});
  for (Index c = 0; c < width; ++c) {
    const double pair = double(c - c % 2) / double(width);
    const double scale = std::pow(10000.0, pair);
    const Index channel = !halves ? c : c / 2 + (c % 2 == 0 ? 0 : (width + 1) / 2);
    for (Index t = 0; t < longest; ++t) {
      const double angle = double(t) / scale;
      table[t * width + channel] = Real(float(c % 2 == 0 ? std::sin(angle) : std::cos(angle)));
    }
  }
  return table;
}

}  // namespace

Positions::Positions(PositionKind kind_, Index longest_, Index width, Rng& rng)
    : kind(kind_), longest(longest_) {
  if (kind == PositionKind::learned) {
    weight = parameter(normal({longest, width}, Real(0.02), rng));
  } else if (kind != PositionKind::none) {
    weight = constant(sinusoids(longest, width, kind == PositionKind::sinusoidal_halves));
  }
}

Tensor Positions::operator()(const Tensor& x, Index first) const {
  if (kind == PositionKind::none) return x;
  const Index end = first + x.dim(-2);
  if (end > longest) {
    throw ShapeError(fmt::format(
        "positions: {} positions requested, the model has {}; build it with a larger 'longest'",
        end, longest));
  }
  return x + slice(weight, 0, first, end);
}

void Positions::members(Members& visit) {
  if (kind == PositionKind::learned) visit("weight", weight);
}

std::string Positions::title() const {
  return fmt::format("Positions({}, {})", name_of(kind), longest);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
