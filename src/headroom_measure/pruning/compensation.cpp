// Means of heads' outputs, and their addition to output biases.
#include "headroom_measure/pruning/compensation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "headroom/base/error.hpp"
#include "headroom/nn/head_share.hpp"
#include "headroom/train/evaluation.hpp"
#include "importance/evidence_pass.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The sum of a head's outputs over the queries that have been seen.
struct OutputSum {
  std::vector<double> sum;
  Index queries = 0;

  void add(const Evidence& batch, std::size_t head) {
    const HeadId& id = batch.heads[head];
    const Array& all = batch.probe.seen.at({id.kind, id.layer}).head_out.value();
    const Index live = all.dim(1), longest = all.dim(2), width = all.dim(3);  // [B, live, Tq, D]
    sum.resize(std::size_t(width));
    for (Index b = 0; b < batch.examples; ++b) {
      const Real* from = all.data() + (b * live + batch.row_of_head[head]) * longest * width;
      const Index real = real_queries(batch, id.kind, b, longest);
      for (Index i = 0; i < real * width; ++i) sum[std::size_t(i % width)] += double(from[i]);
      queries += real;
    }
  }
  Array mean() const {
    Array result({std::ssize(sum)});
    for (Index d = 0; d < result.size(); ++d) {
      result[d] = Real(sum[std::size_t(d)] / double(std::max<Index>(queries, 1)));
    }
    return result;
  }
};

/// One head's addition to an output bias.
struct Addition {
  Tensor bias;
  std::vector<double> values;  // W_O^h m_h, [C]
};

/// Throws ShapeError for a mean that does not fit. Returns no values if there is nothing to change.
Addition addition_of(const NamedAttention& attention, Index head, const Array& mean) {
  const HeadShare share = share_of(attention, head);
  if (!(mean.shape() == Shape{attention.attention->head_dim()})) {
    throw ShapeError(fmt::format("compensate: the mean of {} is {}, expected [{}]",
                                 share.head.text(), mean.shape().text(),
                                 attention.attention->head_dim()));
  }
  Addition addition;
  const std::vector<HeadSlice> slices = attention.attention->head_slices();
  const auto bias = std::find_if(slices.begin(), slices.end(), [](const HeadSlice& slice) {
    return slice.role == HeadRole::output_bias;
  });
  const auto output = share.value.find(HeadRole::output);
  const bool extra = std::any_of(share.value.begin(), share.value.end(), [](const auto& part) {
    return part.first.role == HeadRole::extra;
  });
  if (extra || bias == slices.end() || output == share.value.end()) return addition;
  for (const auto& [name, tensor] : parameters(*attention.attention)) {
    if (name == bias->name) addition.bias = tensor;
  }
  const Array& weight = output->second;  // [C, D]
  addition.values.resize(std::size_t(weight.dim(0)));
  for (Index i = 0; i < weight.size(); ++i) {
    addition.values[std::size_t(i / mean.size())] +=
        double(weight[i]) * double(mean[i % mean.size()]);
  }
  return addition;
}

}  // namespace

std::map<HeadId, Array> mean_head_outputs(Learner& learner, std::span<const HeadId> heads,
                                          ExampleSet set, Index examples) {
  const std::vector<HeadId> alive = live_heads(learner.model());
  for (const HeadId& head : heads) {
    if (std::find(alive.begin(), alive.end(), head) != alive.end()) continue;
    throw UsageError(fmt::format("mean_head_outputs: {} is not alive", head.text()));
  }
  const EvalMode now(learner.model());
  std::map<HeadId, OutputSum> sums;
  EvidencePass pass(learner.model(), {.head_outputs = true}, 1);
  learner.visit(set, examples, [&](const ProbedBatch& batch) {
    pass.run(batch, [&](const Evidence& evidence) {
      for (std::size_t h = 0; h < evidence.heads.size(); ++h) {
        if (std::find(heads.begin(), heads.end(), evidence.heads[h]) == heads.end()) continue;
        sums[evidence.heads[h]].add(evidence, h);
      }
    });
  });
  std::map<HeadId, Array> means;
  for (const auto& [head, sum] : sums) means[head] = sum.mean();
  return means;
}

void compensate(Module& model, const std::map<HeadId, Array>& means) {
  std::map<HeadId, Addition> additions;
  for (const NamedAttention& found : attentions(model)) {
    for (const Index head : found.attention->alive()) {
      const auto mean = means.find(found.id(head));
      if (mean != means.end()) additions[mean->first] = addition_of(found, head, mean->second);
    }
  }
  for (const auto& [head, mean] : means) {
    if (additions.contains(head)) continue;
    throw UsageError(fmt::format("compensate: {} is not alive", head.text()));
  }
  for (auto& [head, addition] : additions) {
    if (addition.values.empty()) continue;
    Array& bias = addition.bias.edit_value();
    if (bias.shared()) bias = bias.clone();
    for (Index c = 0; c < bias.size(); ++c) bias[c] += Real(addition.values[std::size_t(c)]);
  }
}

void compensate(Learner& learner, std::span<const HeadId> heads, Compensation how, Index examples) {
  if (how == Compensation::none || heads.empty()) return;
  compensate(learner.model(), mean_head_outputs(learner, heads, ExampleSet::importance, examples));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
