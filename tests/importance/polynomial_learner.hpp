// A learner whose losses are a polynomial of the gates, so that everything about its game is known.
#pragma once

#include <functional>
#include <vector>

#include "headroom/base/at.hpp"
#include "headroom/ops/arithmetic.hpp"
#include "headroom/ops/reductions.hpp"
#include "headroom/ops/shaping.hpp"
#include "headroom_measure/importance/head_game.hpp"
#include "support/measured_learner.hpp"
#include "support/nn_support.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace test {

/// Its model is an encoder-decoder with three heads in each attention, so 9 in each layer, but is
/// never run. With r_i = 1 - g_i, the loss of example x = 0, 1, 2 is L(x) = 1 + sum_i (1 + (x - 1)
/// / 2) single_i r_i + sum_{i<j} pair_ij r_i r_j + sum_i curve_i (r_i^2 - r_i). So v, the mean, is
/// the same with factors 1 before single_i, and the last sum is 0 in every subset.
class PolynomialLearner : public MeasuredLearner {
 public:
  explicit PolynomialLearner(std::uint64_t seed, double pairs = 0, Index layers = 1)
      : rng_(seed), model_(config(layers), rng_), heads_(live_heads(model_)) {
    for (std::size_t i = 0; i < heads_.size(); ++i) {
      single.push_back(double(rng_.uniform(Real(-0.2), Real(1))));
      curve.push_back(double(rng_.uniform(-1, 1)));
      for (std::size_t j = 0; j < i; ++j) pair.push_back(pairs * double(rng_.uniform(-1, 1)));
    }
  }
  std::vector<double> single, curve, pair;  // pair: (1, 0), (2, 0), (2, 1), (3, 0) ...

  const std::vector<HeadId>& heads() const { return heads_; }
  double of_pair(Index i, Index j) const {
    if (i == j) return 0;
    return i > j ? at(pair, i * (i - 1) / 2 + j) : of_pair(j, i);
  }
  /// v at gates of any value.
  double value(const std::vector<double>& gates) const {
    double sum = 1;
    for (Index i = 0; i < std::ssize(heads_); ++i) {
      const double removed = 1 - at(gates, i);
      sum += at(single, i) * removed + at(curve, i) * (removed * removed - removed);
      for (Index j = 0; j < i; ++j) sum += of_pair(i, j) * removed * (1 - at(gates, j));
    }
    return sum;
  }
  double value(HeadSet present) const {
    std::vector<double> gates;
    for (Index i = 0; i < std::ssize(heads_); ++i) gates.push_back(present.contains(i) ? 1 : 0);
    return value(gates);
  }

  Module& model() override { return model_; }
  /// Two examples in one batch, then one.
  void visit(ExampleSet, Index, const std::function<void(const ProbedBatch&)>& see) override {
    for (const auto& examples : {std::vector<double>{0, 1}, {2}}) {
      see({.examples = std::ssize(examples),
           .losses = [&](HeadProbe& probe) { return losses_of(probe, examples); },
           .logits = {},
           .labels = {}});
    }
  }

 private:
  static ModelConfig config(Index layers) {
    ModelConfig config = small_config(ModelKind::seq2seq, Layout::fused);
    config.layers = layers;
    return config;
  }
  /// 1 - gate of each head, [examples, 1] each.
  std::vector<Tensor> removals(HeadProbe& probe, Index examples) const {
    std::vector<Tensor> all;
    for (const HeadId& head : heads_) {
      const Tensor& gates = probe.gates.at({head.kind, head.layer});
      const int axis = gates.rank() - 1;
      const Tensor one = slice(gates, axis, head.head, head.head + 1);
      const Tensor wide = constant(zeros({examples, 1}));
      all.push_back(wide + constant(ones({1})) - one);
    }
    return all;
  }
  Tensor losses_of(HeadProbe& probe, const std::vector<double>& examples) const {
    const Index count = std::ssize(examples);
    const std::vector<Tensor> removed = removals(probe, count);
    Tensor sum_of_all = constant(ones({count, 1}));
    for (Index i = 0; i < std::ssize(heads_); ++i) {
      Array factors({count, 1});
      for (Index x = 0; x < count; ++x) {
        factors[x] = Real((1 + (at(examples, x) - 1) / 2) * at(single, i));
      }
      const Tensor& r = at(removed, i);
      sum_of_all = sum_of_all + constant(factors) * r + (r * r - r) * Real(at(curve, i));
      for (Index j = 0; j < i; ++j) {
        sum_of_all = sum_of_all + r * at(removed, j) * Real(of_pair(i, j));
      }
    }
    return reshape(sum_of_all, {count});
  }

  Rng rng_;
  Seq2Seq model_;
  std::vector<HeadId> heads_;
};

}  // namespace test
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
