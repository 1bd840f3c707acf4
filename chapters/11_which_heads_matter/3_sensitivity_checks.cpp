// Checks sensitivity on batches with random gradients, then as the library measures it on a model
// whose losses have known gradients.
#include <fmt/format.h>

#include "common/small_learner.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom_measure/importance/head_metric.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library
using chapter::random_array;

/// Random gradients of some batches, [examples, heads] each.
struct Batches {
  Batches(std::uint64_t seed, const std::vector<Index>& sizes, Index live) {
    Rng rng(seed, "11/3");
    for (Index h = 0; h < live; ++h) heads.push_back({AttentionKind::encoder_self, 0, h});
    for (const Index examples : sizes) gradients.push_back(random_array({examples, live}, rng));
  }
  Index count() const { return std::ssize(heads); }
  Array expected() const {
    Array sums = zeros({count()});
    Index examples = 0;
    for (const Array& of_batch : gradients) {
      for (Index i = 0; i < of_batch.size(); ++i) sums[i % count()] += std::abs(of_batch[i]);
      examples += of_batch.dim(0);
    }
    for (Real& sum : sums.span()) sum /= Real(examples);
    return sums;
  }

  std::vector<HeadId> heads;
  std::vector<Array> gradients;
};

void check(const Batches& batches) {
  const auto metric = head_metric("sensitivity").make();
  const MetricNeeds needs = metric->needs();
  chapter::require(needs.gate_gradients,
                   "needs() does not ask for gate_gradients: see() was not given any gradients.");
  const HeadProbe probe;
  std::vector<Index> rows;
  for (Index h = 0; h < batches.count(); ++h) rows.push_back(h);
  for (const Array& gradients : batches.gradients) {
    metric->see({.heads = batches.heads,
                 .examples = gradients.dim(0),
                 .probe = probe,
                 .row_of_head = rows,
                 .gate_gradients = gradients});
  }
  const std::vector<double> scores = metric->scores();
  chapter::require(
      std::ssize(scores) == batches.count(),
      fmt::format("there are {} scores for {} heads.", scores.size(), batches.count()));
  Array yours({batches.count()});
  for (Index h = 0; h < batches.count(); ++h) yours[h] = Real(scores[std::size_t(h)]);
  chapter::require_equal("the scores", batches.expected(), yours, {{"head"}, {}});
}

constexpr Index examples = 5;

/// The loss of each example with this gate of one head.
std::vector<double> losses_at(Learner& learner, const HeadId& head, double gate) {
  const NoGrad quiet;
  std::vector<double> losses;
  learner.visit(ExampleSet::importance, examples, [&](const ProbedBatch& batch) {
    HeadProbe probe;
    Array gates({3}, 1);
    gates[head.head] = Real(gate);
    probe.gates[{head.kind, head.layer}] = Tensor(gates);
    const Tensor of_batch = batch.losses(probe);
    for (const Real loss : of_batch.value().span()) losses.push_back(double(loss));
  });
  return losses;
}

}  // namespace

TEST_CASE("two batches", "[11/3]") {
  for (const std::uint64_t seed : chapter::seeds) check(Batches(seed, {6, 6}, 4));
}

TEST_CASE("batches of different sizes", "[11/3]") {
  for (const std::uint64_t seed : chapter::seeds) check(Batches(seed, {6, 6, 2}, 5));
}

TEST_CASE("a model, against differences of its loss", "[11/3]") {
  for (const Layout layout : {Layout::separate, Layout::fused}) {
    const auto learner = chapter::small_learner(1, 1, layout);
    const ImportanceTable table =
        measure_importance(*learner, {"sensitivity"}, {.examples = examples});
    double worst = 0;
    for (std::size_t h = 0; h < table.heads.size(); ++h) {
      const double e = is_double ? 1e-3 : 0.05;  // the error of these differences is O(e^4)
      const auto losses = [&](double steps) {
        return losses_at(*learner, table.heads[h], 1 + steps * e);
      };
      const auto near_up = losses(1), near_down = losses(-1), up = losses(2), down = losses(-2);
      double mean = 0;
      for (std::size_t x = 0; x < up.size(); ++x) {
        mean += std::abs(8 * (near_up[x] - near_down[x]) - (up[x] - down[x])) / (12 * e) /
                double(up.size());
      }
      worst = std::max(worst, std::abs(mean - table.columns[0].scores[h]));
    }
    chapter::require(worst < (is_double ? 1e-6 : 1e-2),
                     fmt::format("a score differs from the slope of the loss by {:.2g}.", worst));
  }
}
