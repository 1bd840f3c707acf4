// The small layers: embedding, norms, dropout, feed-forward.
#pragma once

#include "headroom/nn/linear.hpp"
#include "headroom/ops/activations.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A table of vectors, ids [...] -> [..., C]. Initialised normal with the given deviation.
class Embedding : public Module {
 public:
  Embedding(Index count, Index width, Rng& rng, Real deviation = Real(0.02));
  /// The rows of the table at the ids. Throws UsageError for an id outside the table.
  Tensor operator()(const Ids& ids) const;
  /// From now on, no gradient reaches this row from where it is looked up, as with PyTorch's
  /// padding_idx. Gradients by another use of the table do.
  void keep_row(Index row) { kept_row_ = row; }
  void members(Members& visit) override;
  std::string title() const override;

  Tensor weight;  // [V, C]

 private:
  Index kept_row_ = -1;
};

/// The normalisations of a Norm.
enum class NormKind { layer, rms };

/// Layer norm (weight and bias) or RMS norm (weight) over the last axis; see ops/normalisation.hpp.
class Norm : public Module {
 public:
  explicit Norm(Index width, NormKind kind = NormKind::layer, Real epsilon = Real(1e-5));
  /// x [..., C] -> [..., C]
  Tensor operator()(const Tensor& x) const;
  void members(Members& visit) override;
  std::string title() const override;

  NormKind kind;
  Real epsilon;
  Tensor weight;  // [C], starts at 1
  Tensor bias;    // [C], starts at 0; undefined for RMS norm
};

/// Zeroes elements with probability p in training, identity otherwise. The mask depends on the
/// current RandomStep and this module's random stream.
class Dropout : public Module {
 public:
  explicit Dropout(Real p);
  /// x of any shape. Throws UsageError in training outside a RandomStep.
  Tensor operator()(const Tensor& x) const;
  void members(Members&) override {}
  std::string title() const override;

  Real p;
};

/// linear2(dropout(activation(linear1(x)))), C -> F -> C. Vaswani et al. 2017, equation 2.
class FeedForward : public Module {
 public:
  FeedForward(Index width, Index hidden, Activation activation, Real dropout, bool bias, Rng& rng);
  /// x [..., C] -> [..., C]
  Tensor operator()(const Tensor& x) const;
  void members(Members& visit) override;
  std::string title() const override;

  Activation activation;
  Linear linear1;  // C -> F
  Dropout dropout;
  Linear linear2;  // F -> C
};

/// The position encodings of Positions.
enum class PositionKind { sinusoidal, learned, none, sinusoidal_halves };

/// Adds to x [B, T, C] a vector per position: a learned table, or sin and cos of position times
/// 10000^(-2i/C) in even and odd channels, or, in halves, all sines before all cosines (Marian).
/// Vaswani et al. 2017, section 3.5.
class Positions : public Module {
 public:
  Positions(PositionKind kind, Index longest, Index width, Rng& rng);
  /// `first` is the position of x's first token: the cached length when decoding step by step.
  /// Throws ShapeError beyond the longest length.
  Tensor operator()(const Tensor& x, Index first = 0) const;
  void members(Members& visit) override;
  std::string title() const override;

  PositionKind kind;
  Index longest;
  Tensor weight;  // [longest, C]; a parameter when learned
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
