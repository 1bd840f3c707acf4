// The direct effect of a head by its definition: the correct logits with and without what the head
// adds to the residual stream, with the scale of the last norm as it is with the head.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "headroom/nn/head_share.hpp"
#include "importance/plain_games.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace test {

using Row = std::vector<double>;

/// The last norm of a model and its output layer.
struct PlainReadout {
  const Norm& norm;
  Array weight, bias;  // [V, C], and [V] or undefined

  /// The norm of a row, with the scale that another row has.
  Row normed(const Row& row, const Row& scaled_by) const {
    const auto mean_of = [&](const Row& x) {
      double sum = 0;
      for (const double value : x) sum += value / double(x.size());
      return norm.kind == NormKind::layer ? sum : 0;
    };
    double squares = 0;
    for (const double value : scaled_by) squares += std::pow(value - mean_of(scaled_by), 2);
    const double scale = std::sqrt(squares / double(row.size()) + double(norm.epsilon));
    Row result;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const double offset = norm.bias.defined() ? double(norm.bias.value()[Index(c)]) : 0;
      result.push_back((row[c] - mean_of(row)) / scale * double(norm.weight.value()[Index(c)]) +
                       offset);
    }
    return result;
  }
  Row logits(const Row& normed) const {
    Row result;
    for (Index v = 0; v < weight.dim(0); ++v) {
      result.push_back(bias.defined() ? double(bias[v]) : 0);
      for (std::size_t c = 0; c < normed.size(); ++c) {
        result.back() += double(weight[v * weight.dim(1) + Index(c)]) * normed[c];
      }
    }
    return result;
  }
};

/// z_y less the mean of z.
inline double centred(const Row& logits, std::int32_t label) {
  double sum = 0;
  for (const double logit : logits) sum += logit;
  return logits[std::size_t(label)] - sum / double(logits.size());
}

/// Row t of example b of an array [B, T, C].
inline Row row_of(const Array& array, Index b, Index t) {
  const Real* from = array.data() + (b * array.dim(1) + t) * array.dim(2);
  return {from, from + array.dim(2)};
}

/// A row of the residual stream without what a head adds there. `live`: the head's place among the
/// live ones.
inline Row without_head(const HeadProbe& probe, const NamedAttention& found, Index head, Index live,
                        Index b, Index t) {
  Row row = row_of(probe.residual.value(), b, t);
  const Array& outputs = probe.seen.at(found.location()).head_out.value();
  const Array matrix = share_of(found, head).value.at(HeadRole::output);  // [C, D]
  const Index depth = matrix.dim(1);
  const Real* output = outputs.data() + ((b * outputs.dim(1) + live) * outputs.dim(2) + t) * depth;
  for (std::size_t c = 0; c < row.size(); ++c) {
    for (Index d = 0; d < depth; ++d) {
      row[c] -= double(matrix[Index(c) * depth + d]) * double(output[d]);
    }
  }
  return row;
}

inline double direct_effect_of(FixedLearner& learner, const HeadId& head) {
  if (head.kind == AttentionKind::encoder_self) return 0;
  Seq2Seq& model = learner.model();
  const PlainReadout readout{*model.decoder.norm, model.output->weight.value(),
                             model.output->bias.value()};
  const NamedAttention found = attention_at(model, {head.kind, head.layer}, "test");
  double sum = 0;
  for (const Seq2SeqBatch& example : learner.examples()) {
    const NoGrad quiet;
    HeadProbe probe;
    probe.head_out = true;
    logits_of(model, example, &probe);
    for (Index t = 0; t < example.labels.size(); ++t) {
      const Row whole = row_of(probe.residual.value(), 0, t);
      const Row part = without_head(probe, found, head.head, head.head, 0, t);
      sum += centred(readout.logits(readout.normed(whole, whole)), example.labels[t]) -
             centred(readout.logits(readout.normed(part, whole)), example.labels[t]);
    }
  }
  return sum / 3;
}

inline double repaired_part(FixedLearner& learner, const HeadId& head) {
  double fall = 0;
  for (std::size_t x = 0; x < 3; ++x) {
    const Ids& labels = learner.examples()[x].labels;
    for (const double gate : {1, 0}) {
      const Array logits = gated_logits(learner, x, {{head, gate}});  // [1, T, V]
      for (Index t = 0; t < labels.size(); ++t) {
        fall += (gate == 1 ? 1 : -1) * centred(row_of(logits, 0, t), labels[t]) / 3;
      }
    }
  }
  return direct_effect_of(learner, head) - fall;
}

}  // namespace test
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
