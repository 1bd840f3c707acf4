// One forward pass and its backward passes, for all metrics.
#include "importance/evidence_pass.hpp"

#include <cmath>
#include <optional>

#include "headroom/autograd/tape.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/rng.hpp"
#include "headroom/data/batches.hpp"
#include "headroom/ops/reductions.hpp"
#include "importance/unfrozen.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

[[noreturn]] void refuse_unused_probe() {
  throw UsageError(
      "importance: the loss does not depend on the gates; give the probe to the model's forward "
      "pass");
}

/// The results of the attention of a head. Throws UsageError if the probe did not get there.
const AttentionOut& results_of(const HeadProbe& probe, const HeadId& head) {
  const auto seen = probe.seen.find({head.kind, head.layer});
  if (seen == probe.seen.end()) refuse_unused_probe();
  return seen->second;
}

}  // namespace

EvidencePass::EvidencePass(Module& model, const MetricNeeds& needs, std::uint64_t seed)
    : model_(model), needs_(needs), seed_(seed), attentions_(attentions(model)) {
  for (const NamedAttention& found : attentions_) {
    Index row = 0;
    for (const Index head : found.attention->alive()) {
      heads_.push_back(found.id(head));
      rows_.push_back(row++);
    }
  }
}

void EvidencePass::run(const ProbedBatch& batch, const std::function<void(const Evidence&)>& see) {
  std::optional<Unfrozen> all;
  if (needs_.parameter_gradients) all.emplace(model_);
  HeadProbe probe = asked(batch.examples);
  Evidence evidence{heads_, batch.examples, probe, rows_, batch.labels};
  if (!needs_.loss_gradients() && !needs_.logit_gradients) {
    const NoGrad quiet;
    batch.logits(probe);
  } else {
    zero_grad(model_);
    const Tensor logits = batch.logits(probe);
    if (needs_.token_gate_gradients) keep_output_gradients(probe);
    if (needs_.loss_gradients()) {
      sum(example_losses(logits, batch.labels)).backward({}, needs_.logit_gradients);
    }
    if (needs_.gate_gradients) {
      evidence.gate_gradients = taken_gate_gradients(probe, batch.examples);
    }
    if (needs_.token_gate_gradients) {
      evidence.token_gate_gradients = token_gate_gradients(probe, batch.examples);
    }
    if (needs_.parameter_gradients) {
      for (const NamedAttention& found : attentions_) {
        for (const Index head : found.attention->alive()) {
          evidence.shares.push_back(share_of(found, head));
        }
      }
    }
    if (needs_.logit_gradients) {
      for (Index number = 0; number < logit_directions; ++number) {
        logits.backward(directions(logits, batch.labels, number), number + 1 < logit_directions);
        evidence.logit_gradients.push_back(taken_gate_gradients(probe, batch.examples));
      }
    }
  }
  if (probe.maps || probe.head_out) {
    for (const HeadId& head : heads_) results_of(probe, head);  // throws
  }
  see(evidence);
  zero_grad(model_);
  done_ += batch.examples;
}

HeadProbe EvidencePass::asked(Index examples) const {
  HeadProbe probe;
  probe.maps = probe.rows = needs_.maps;
  probe.head_out = needs_.head_outputs || needs_.token_gate_gradients;
  if (!needs_.gate_gradients && !needs_.logit_gradients) return probe;
  for (const NamedAttention& found : attentions_) {
    probe.gates[found.location()] = Tensor(ones({examples, found.attention->config().heads}), true);
  }
  return probe;
}

Array EvidencePass::taken_gate_gradients(HeadProbe& probe, Index examples) const {
  Array gradients = zeros({examples, std::ssize(heads_)});
  for (std::size_t h = 0; h < heads_.size(); ++h) {
    const Tensor& gates = probe.gates.at({heads_[h].kind, heads_[h].layer});
    if (!gates.grad().defined()) {
      // Without any head in the cross-attentions, the encoder does not change the loss.
      if (gates.reached_by_backward()) continue;
      refuse_unused_probe();
    }
    for (Index b = 0; b < examples; ++b) {
      gradients[b * std::ssize(heads_) + Index(h)] =
          gates.grad()[b * gates.dim(1) + heads_[h].head];
    }
  }
  for (auto& [location, gates] : probe.gates) gates.zero_grad();
  return gradients;
}

void EvidencePass::keep_output_gradients(const HeadProbe& probe) const {
  for (const HeadId& head : heads_) Tensor(results_of(probe, head).head_out).retain_grad();
}

/// A gate g_ht of 1 multiplies a_ht, the head's output at query t. So its gradient is <a_ht,
/// dL/da_ht>.
std::vector<Array> EvidencePass::token_gate_gradients(const HeadProbe& probe,
                                                      Index examples) const {
  std::vector<Array> all;
  for (std::size_t h = 0; h < heads_.size(); ++h) {
    const Tensor& outputs = results_of(probe, heads_[h]).head_out;
    const Index live = outputs.dim(1), queries = outputs.dim(2), width = outputs.dim(3);
    Array& gradients = all.emplace_back(zeros({examples, queries}));
    if (!outputs.grad().defined()) continue;  // nothing flows
    for (Index i = 0; i < gradients.size(); ++i) {
      const Index row = (i / queries * live + rows_[h]) * queries + i % queries;
      double sum = 0;
      for (Index d = row * width; d < (row + 1) * width; ++d) {
        sum += double(outputs.value()[d]) * double(outputs.grad()[d]);
      }
      gradients[i] = Real(sum);
    }
  }
  return all;
}

/// Standard normal numbers of the shape of the logits, 0 where the label is ignored. Each example
/// has its own streams, so padding and the division into batches change nothing.
Array EvidencePass::directions(const Tensor& logits, const Ids& labels, Index number) const {
  Array u = zeros(logits.shape());
  const Index classes = logits.dim(logits.rank() - 1);
  const Index labels_of_one = labels.size() / labels.dim(0);
  for (Index b = 0; b < labels.dim(0); ++b) {
    const Index stream = (done_ + b) * logit_directions + number;
    Rng rng(seed_, "directions of logits", static_cast<std::uint64_t>(stream));
    for (Index i = b * labels_of_one; i < (b + 1) * labels_of_one; ++i) {
      if (labels[i] == ignored_label) continue;
      for (Index v = 0; v < classes; ++v) u[i * classes + v] = rng.normal();
    }
  }
  return u;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
