// Checks the pruned weights of 12/5 against plain loops.
#include "5_sparse.hpp"

#include <fmt/format.h>

#include "common/checks.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library
using chapter::random_array;

constexpr Index rows = 4, columns = 6, size = rows * columns;
const Real rate = Real(0.1);
const chapter::Names names{{"row", "column"}, {}};

/// Weights and a momentum, as they are in the middle of a training, and the gradients to come.
struct Training {
  explicit Training(std::uint64_t seed)
      : rng(seed, "12/5"), value(random()), momentum(random()), gradients{random(), random()} {}
  Array random() { return random_array({rows, columns}, rng); }

  SparseWeight start() const {
    return {parameter(value.clone()), Array({rows, columns}, 1), momentum.clone()};
  }
  /// The weight after the answer's prune and one step with each gradient.
  SparseWeight trained(double share) const {
    SparseWeight weight = start();
    prune(weight, share);
    for (const Array& gradient : gradients) {
      weight.weight.set_grad(gradient.clone());
      step(weight, rate);
    }
    return weight;
  }
  /// The same in plain loops.
  Array expected(double share) const {
    const std::vector<bool> pruned = smallest(share);
    Array p = value.clone();
    for (Index i = 0; i < size; ++i) {
      if (pruned[std::size_t(i)]) p[i] = 0;
      Real v = momentum[i];
      for (const Array& gradient : gradients) {
        v = Real(0.9) * v + gradient[i];
        if (!pruned[std::size_t(i)]) p[i] -= rate * v;
      }
    }
    return p;
  }
  /// Which weights are pruned: those that the share 1 - `share` of all exceeds.
  std::vector<bool> smallest(double share) const {
    std::vector<bool> pruned;
    for (Index i = 0; i < size; ++i) {
      Index larger = 0;
      for (Index j = 0; j < size; ++j) larger += std::abs(value[j]) > std::abs(value[i]);
      pruned.push_back(double(larger) >= (1 - share) * double(size));
    }
    return pruned;
  }

  Rng rng;
  Array value, momentum;
  std::vector<Array> gradients;
};

void check_steps(const Training& training, double share) {
  chapter::require_equal(fmt::format("the weights after pruning {:g} % and two steps", 100 * share),
                         training.expected(share), training.trained(share).weight.value(), names);
}

}  // namespace

TEST_CASE("nothing is pruned", "[12/5]") {
  for (const std::uint64_t seed : chapter::seeds) check_steps(Training(seed), 0);
}

TEST_CASE("steps after the pruning", "[12/5]") {
  for (const std::uint64_t seed : chapter::seeds) {
    for (const double share : {0.5, 0.75}) check_steps(Training(seed), share);
  }
}

TEST_CASE("a kept weight that is 0", "[12/5]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Training training(seed);
    training.value[7] = training.value[16] = 0;
    check_steps(training, 0);  // nothing is pruned
  }
}

TEST_CASE("pruned again", "[12/5]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Training training(seed);
    SparseWeight weight = training.start();
    for (const double share : {0.25, 0.5, 0.75}) {
      prune(weight, share);
      Array expected = training.value.clone();
      const std::vector<bool> pruned = training.smallest(share);
      for (Index i = 0; i < size; ++i) {
        if (pruned[std::size_t(i)]) expected[i] = 0;
      }
      chapter::require_equal(fmt::format("the weights after pruning {:g} %", 100 * share), expected,
                             weight.weight.value(), names);
    }
  }
}

TEST_CASE("sparsity", "[12/5]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Training training(seed);
    std::vector<SparseWeight> weights;
    for (const double share : {0.25, 0.75, 0.5, 0.5}) {
      weights.push_back(training.start());
      prune(weights.back(), share);
    }
    // The third weight is loaded from a checkpoint, and the mask is not; the fourth one is small.
    weights[2].weight.set_value(training.random());
    Array small = weights[3].weight.value().clone();
    for (Index i = 0; i < size; ++i) small[i] *= Real(1e-6);
    weights[3].weight.set_value(small);
    Array zeros({4}, 0), yours({4});
    for (Index w = 0; w < 4; ++w) {
      const SparseWeight& weight = weights[std::size_t(w)];
      for (const Real value : weight.weight.value().span()) {
        if (value == 0) zeros[w] += Real(1) / size;
      }
      yours[w] = Real(sparsity(weight));
    }
    chapter::require_equal("the sparsities of four weights", zeros, yours, {{"weight"}, {}});
  }
}
