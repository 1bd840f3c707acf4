// Sensitivity of the loss to the gates of heads, and the loss with one gate at 0.
#include "headroom/heads/importance.hpp"

#include <algorithm>
#include <cmath>

#include "headroom/autograd/tape.hpp"
#include "headroom/base/error.hpp"
#include "headroom/ops/reductions.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Sums over examples as means, in the order of heads.
std::vector<HeadScore> means(const std::map<HeadId, double>& sums, Index examples,
                             const char* of_what) {
  if (examples == 0) throw UsageError(std::string(of_what) + ": no batch was added");
  std::vector<HeadScore> scores;
  for (const auto& [head, sum] : sums) {
    scores.push_back({head, sum / double(examples)});
  }
  return scores;
}

/// The sum of the losses of a batch's examples, added in double.
double total_loss(const ProbedBatch& batch, HeadProbe& probe) {
  double total = 0;
  for (const Real loss : batch.losses(probe).value().span()) total += double(loss);
  return total;
}

}  // namespace

Sensitivity::Sensitivity(Module& model) : model_(model), attentions_(attentions(model)) {
  for (const HeadId& head : live_heads(model)) sums_[head] = 0;
}

void Sensitivity::add(const ProbedBatch& batch) {
  const Index examples = batch.examples;
  HeadProbe probe;
  for (const NamedAttention& found : attentions_) {
    probe.gates[found.location()] = parameter(ones({examples, found.attention->config().heads}));
  }
  zero_grad(model_);
  sum(batch.losses(probe)).backward();
  zero_grad(model_);
  for (auto& [head, total] : sums_) {
    const Tensor& gates = probe.gates.at({head.kind, head.layer});
    if (!gates.grad().defined()) {
      // Without any head in the cross-attentions, the encoder does not change the loss.
      if (gates.reached_by_backward()) continue;
      throw UsageError(
          "sensitivity: the loss does not depend on the gates; give the probe to the model's "
          "forward pass");
    }
    const Index heads = gates.dim(1);
    for (Index b = 0; b < examples; ++b) {
      total += std::abs(double(gates.grad()[b * heads + head.head]));
    }
  }
  examples_ += examples;
}

std::vector<HeadScore> Sensitivity::scores() const {
  return means(sums_, examples_, "sensitivity");
}

RemovalCost::RemovalCost(Module& model) : attentions_(attentions(model)) {
  for (const HeadId& head : live_heads(model)) sums_[head] = 0;
}

void RemovalCost::add(const ProbedBatch& batch) {
  const NoGrad quiet;
  HeadProbe whole;
  const double before = total_loss(batch, whole);
  for (const NamedAttention& found : attentions_) {
    for (const Index head : found.attention->alive()) {
      Array gates = ones({found.attention->config().heads});
      gates[head] = 0;
      HeadProbe probe;
      probe.gates[found.location()] = constant(gates);
      sums_[found.id(head)] += total_loss(batch, probe) - before;
    }
  }
  examples_ += batch.examples;
}

std::vector<HeadScore> RemovalCost::scores() const {
  return means(sums_, examples_, "removal cost");
}

std::vector<HeadScore> added(const std::vector<HeadScore>& a, const std::vector<HeadScore>& b) {
  const bool same = std::equal(a.begin(), a.end(), b.begin(), b.end(),
                               [](const auto& x, const auto& y) { return x.head == y.head; });
  if (!same) throw UsageError("added: the scores are of different heads");
  std::vector<HeadScore> sums = a;
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i].score += b[i].score;
  return sums;
}

std::vector<HeadId> least_important_first(std::vector<HeadScore> scores) {
  std::stable_sort(scores.begin(), scores.end(),
                   [](const auto& a, const auto& b) { return a.score < b.score; });
  std::vector<HeadId> heads;
  for (const HeadScore& score : scores) heads.push_back(score.head);
  return heads;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
