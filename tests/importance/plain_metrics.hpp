// Metrics of importance in plain loops, one example at a time, so without batches and padding.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "headroom/base/rng.hpp"
#include "headroom_measure/importance/head_metric.hpp"
#include "support/fixed_learner.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace test {

/// The mean over the examples of f(dL/dg), by central differences.
inline double by_differences(FixedLearner& learner, const HeadId& head,
                             const std::function<double(double)>& f) {
  const double h = is_double ? 1e-4 : 1e-2;
  double sum = 0;
  for (const Seq2SeqBatch& example : learner.examples()) {
    sum += f((loss_of(learner.model(), example, head, 1 + h) -
              loss_of(learner.model(), example, head, 1 - h)) /
             (2 * h));
  }
  return sum / 3;
}

/// The mean of f over the rows of a head's maps, one example at a time, so without padding. f is
/// given the weights that are allowed: all, or the first i + 1 in the decoder.
inline double by_rows(FixedLearner& learner, const HeadId& head,
                      const std::function<double(const std::vector<double>&)>& f) {
  double sum = 0, count = 0;
  for (const Seq2SeqBatch& example : learner.examples()) {
    const NoGrad quiet;
    HeadProbe probe;
    probe.maps = true;
    logits_of(learner.model(), example, &probe);
    const Array& maps = probe.seen.at({head.kind, head.layer}).maps.value();
    const Index queries = maps.dim(2), keys = maps.dim(3);
    for (Index i = 0; i < queries; ++i) {
      std::vector<double> weights;
      const Index allowed = head.kind == AttentionKind::decoder_self ? i + 1 : keys;
      for (Index j = 0; j < allowed; ++j) {
        weights.push_back(double(maps[(head.head * queries + i) * keys + j]));
      }
      sum += f(weights);
      ++count;
    }
  }
  return sum / count;
}

inline double squares_of(const std::vector<double>& weights) {
  double sum = 0;
  for (const double weight : weights) sum += weight * weight;
  return sum;
}

inline double variance_of(const std::vector<double>& weights) {
  const auto count = double(weights.size());
  double sum = 0;
  for (const double weight : weights) sum += (weight - 1 / count) * (weight - 1 / count);
  return sum / count;
}

inline double entropy_of(const std::vector<double>& weights) {
  if (weights.size() == 1) return 0;
  double sum = 0;
  for (const double weight : weights) sum -= weight * std::log(weight);
  return sum / std::log(double(weights.size()));
}

/// Calls visit(tensor, element) for the parameters of a head whose names begin with `name`, such as
/// "query" for query.1.weight and query.1.bias, in the layout separate.
inline void for_elements(FixedLearner& learner, const HeadId& head, const std::string& name,
                         const std::function<void(const Tensor&, Index)>& visit) {
  for (const NamedAttention& found : attentions(learner.model())) {
    if (found.location() != AttentionLocation{head.kind, head.layer}) continue;
    const Index d = found.attention->config().head_dim;
    for (const auto& [full, tensor] : parameters(*found.attention)) {
      const bool own = full.starts_with(name + "." + std::to_string(head.head) + ".");
      const bool out = name == "out" && full == "out.weight";
      for (Index i = 0; i < tensor.size(); ++i) {
        const bool column = out && i % tensor.dim(1) / d == head.head;
        if (own || column) visit(tensor, i);
      }
    }
  }
}

inline double weights_of(FixedLearner& learner, const HeadId& head) {
  double squares = 0;
  for (const char* name : {"query", "key", "value", "out"}) {
    for_elements(learner, head, name, [&](const Tensor& tensor, Index i) {
      if (tensor.rank() == 2) squares += double(tensor.value()[i]) * double(tensor.value()[i]);
    });
  }
  return std::sqrt(squares);
}

/// A head's rows of A_h, one per query of all examples, one example at a time.
inline std::vector<std::vector<double>> outputs_of(FixedLearner& learner, const HeadId& head) {
  std::vector<std::vector<double>> rows;
  for (const Seq2SeqBatch& example : learner.examples()) {
    const NoGrad quiet;
    HeadProbe probe;
    probe.head_out = true;
    logits_of(learner.model(), example, &probe);
    const Array& all = probe.seen.at({head.kind, head.layer}).head_out.value();
    for (Index t = 0; t < all.dim(2); ++t) {
      const Real* from = all.data() + (head.head * all.dim(2) + t) * all.dim(3);
      rows.emplace_back(from, from + all.dim(3));
    }
  }
  return rows;
}

/// W_O^h as D columns of C numbers.
inline std::vector<std::vector<double>> output_columns(FixedLearner& learner, const HeadId& head) {
  std::map<Index, std::vector<double>> columns;
  for_elements(learner, head, "out", [&](const Tensor& tensor, Index i) {
    columns[i % tensor.dim(1)].push_back(double(tensor.value()[i]));
  });
  std::vector<std::vector<double>> list;
  for (const auto& [index, column] : columns) list.push_back(column);
  return list;
}

/// The rows of A_h W_O^h.
inline std::vector<std::vector<double>> contributions_of(FixedLearner& learner,
                                                         const HeadId& head) {
  const auto columns = output_columns(learner, head);
  std::vector<std::vector<double>> rows;
  for (const auto& output : outputs_of(learner, head)) {
    std::vector<double>& row = rows.emplace_back(columns[0].size());
    for (std::size_t d = 0; d < columns.size(); ++d) {
      for (std::size_t c = 0; c < row.size(); ++c) row[c] += output[d] * columns[d][c];
    }
  }
  return rows;
}

inline double norm_of_outputs(FixedLearner& learner, const HeadId& head) {
  const auto rows = contributions_of(learner, head);
  double sum = 0;
  for (const auto& row : rows) sum += std::sqrt(squares_of(row));
  return sum / double(rows.size());
}

inline double variance_of_outputs(FixedLearner& learner, const HeadId& head) {
  const auto columns = output_columns(learner, head);
  const auto rows = outputs_of(learner, head);
  const auto count = double(rows.size());
  double sum = 0;
  for (std::size_t d = 0; d < columns.size(); ++d) {
    double mean = 0, squares = 0;
    for (const auto& row : rows) mean += row[d] / count;
    for (const auto& row : rows) squares += (row[d] - mean) * (row[d] - mean);
    sum += squares / count * squares_of(columns[d]);
  }
  return sum;
}

inline double largest_cosine(FixedLearner& learner, const HeadId& head) {
  const auto product = [](const auto& a, const auto& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      for (std::size_t c = 0; c < a[i].size(); ++c) sum += a[i][c] * b[i][c];
    }
    return sum;
  };
  const auto mine = contributions_of(learner, head);
  double largest = -1;
  for (Index other = 0; other < 3; ++other) {
    if (other == head.head) continue;
    const auto theirs = contributions_of(learner, {head.kind, head.layer, other});
    largest = std::max(
        largest, product(mine, theirs) / std::sqrt(product(mine, mine) * product(theirs, theirs)));
  }
  return largest;
}

/// The mean over the examples of the sum over queries of |dL/dg_t|, by central differences.
inline double by_tokens(FixedLearner& learner, const HeadId& head) {
  const double h = is_double ? 1e-4 : 1e-2;
  double sum = 0;
  for (const Seq2SeqBatch& example : learner.examples()) {
    const Index queries =
        head.kind == AttentionKind::encoder_self ? example.source.size() : example.target_in.size();
    const auto loss = [&](Index t, double gate) {
      const NoGrad quiet;
      HeadProbe probe;
      Array gates = ones({1, 3, queries});
      gates[head.head * queries + t] = Real(gate);
      probe.gates[{head.kind, head.layer}] = constant(gates);
      const Tensor logits = logits_of(learner.model(), example, &probe);
      return double(cross_entropy(logits, example.labels, {.reduction = Reduction::sum}).item());
    };
    for (Index t = 0; t < queries; ++t) sum += std::abs(loss(t, 1 + h) - loss(t, 1 - h)) / (2 * h);
  }
  return sum / 3;
}

/// The sum over batches of |dL/ds|, divided by the number of examples, for the sum L of the batch's
/// losses and a factor s; `slope` is that of one example. The learner's batches are {0, 1} and {2}.
inline double by_batches(FixedLearner& learner,
                         const std::function<double(const Seq2SeqBatch&)>& slope) {
  const auto& examples = learner.examples();
  return (std::abs(slope(examples[0]) + slope(examples[1])) + std::abs(slope(examples[2]))) / 3;
}

inline double by_batch_gates(FixedLearner& learner, const HeadId& head) {
  const double h = is_double ? 1e-4 : 1e-2;
  return by_batches(learner, [&](const Seq2SeqBatch& example) {
    return (loss_of(learner.model(), example, head, 1 + h) -
            loss_of(learner.model(), example, head, 1 - h)) /
           (2 * h);
  });
}

/// The same for a factor of the head's parameters whose names begin with `name`.
inline double by_batch_scaling(FixedLearner& learner, const HeadId& head, const std::string& name) {
  const double h = is_double ? 1e-4 : 1e-2;
  const auto scaled_loss = [&](const Seq2SeqBatch& example, double factor) {
    const auto multiply = [&](double by) {
      for_elements(learner, head, name, [&](Tensor tensor, Index i) {
        tensor.edit_value()[i] = Real(double(tensor.value()[i]) * by);
      });
    };
    multiply(factor);
    const double loss = loss_of(learner.model(), example, head, 1);
    multiply(1 / factor);
    return loss;
  };
  return by_batches(learner, [&](const Seq2SeqBatch& example) {
    return (scaled_loss(example, 1 + h) - scaled_loss(example, 1 - h)) / (2 * h);
  });
}

/// Leaves the gradient of the mean loss, from one example at a time.
inline void backward_of_examples(FixedLearner& learner) {
  zero_grad(learner.model());
  Array third = ones({});
  third[0] /= 3;
  for (const Seq2SeqBatch& example : learner.examples()) {
    const Tensor logits = logits_of(learner.model(), example, nullptr);
    cross_entropy(logits, example.labels, {.reduction = Reduction::sum}).backward(third);
  }
}

inline double taylor_of_parameters(FixedLearner& learner, const HeadId& head) {
  backward_of_examples(learner);
  double sum = 0;
  for (const char* name : {"query", "key", "value", "out"}) {
    for_elements(learner, head, name, [&](const Tensor& tensor, Index i) {
      sum += std::abs(double(tensor.value()[i]) * double(tensor.grad()[i]));
    });
  }
  return sum;
}

inline double product_of_norms(FixedLearner& learner, const HeadId& head) {
  backward_of_examples(learner);
  double product = 1;
  for (const char* name : {"query", "key", "value"}) {
    double squares = 0;
    for_elements(learner, head, name, [&](const Tensor& tensor, Index i) {
      if (tensor.rank() == 2) squares += double(tensor.grad()[i]) * double(tensor.grad()[i]);
    });
    product *= std::sqrt(squares);
  }
  return product;
}

/// The change of an example's logits with a gate, dz(x)/dg.
inline std::vector<double> change_of_logits(FixedLearner& learner, std::size_t x,
                                            const HeadId& head) {
  const double h = is_double ? 1e-4 : 1e-2;
  const auto logits = [&](double gate) {
    const NoGrad quiet;
    HeadProbe probe;
    Array gates = ones({3});
    gates[head.head] = Real(gate);
    probe.gates[{head.kind, head.layer}] = constant(gates);
    return logits_of(learner.model(), learner.examples()[x], &probe).value();
  };
  const Array above = logits(1 + h), below = logits(1 - h);
  std::vector<double> change;
  for (Index i = 0; i < above.size(); ++i) {
    change.push_back((double(above[i]) - double(below[i])) / (2 * h));
  }
  return change;
}

inline double squared_change_of_logits(FixedLearner& learner, std::size_t x, const HeadId& head) {
  return squares_of(change_of_logits(learner, x, head));
}

/// Projections of the change onto the directions that the metric draws.
inline double by_logits(FixedLearner& learner, const HeadId& head) {
  double sum = 0;
  for (std::size_t x = 0; x < 3; ++x) {
    const std::vector<double> change = change_of_logits(learner, x, head);
    for (std::uint64_t number = 0; number < 4; ++number) {
      Rng rng(1, "directions of logits", 4 * x + number);
      double product = 0;
      for (const double slope : change) product += double(rng.normal()) * slope;
      sum += product * product / 4;
    }
  }
  return sum / 3;
}

inline double removal_cost(FixedLearner& learner, const HeadId& head) {
  double rise = 0;
  FixedLearner pruned(Layout::separate);
  prune(pruned.model(), std::vector<HeadId>{head});
  for (const Seq2SeqBatch& example : learner.examples()) {
    rise += loss_of(pruned.model(), example, {AttentionKind::cross, 0, head.head == 0 ? 1 : 0}, 1) -
            loss_of(learner.model(), example, head, 1);
  }
  return rise / 3;
}

inline double mean_entropy(FixedLearner& learner, const HeadId& head) {
  return by_rows(learner, head, entropy_of);
}

inline double sensitivity_of(FixedLearner& learner, const HeadId& head) {
  return by_differences(learner, head, [](double g) { return std::abs(g); });
}

/// Of the unit vector in the direction of the sensitivities of the attention's three heads.
inline double share_of_attention(FixedLearner& learner, const HeadId& head) {
  double squares = 0;
  for (Index other = 0; other < 3; ++other) {
    squares += std::pow(sensitivity_of(learner, {head.kind, head.layer, other}), 2);
  }
  return sensitivity_of(learner, head) / std::sqrt(squares);
}

inline double half_and_half(FixedLearner& learner, const HeadId& head) {
  const auto scaled = [&](double (*f)(FixedLearner&, const HeadId&)) {
    double least = 1e300, most = -1e300;
    for (const HeadId& other : live_heads(learner.model())) {
      least = std::min(least, f(learner, other));
      most = std::max(most, f(learner, other));
    }
    return (f(learner, head) - least) / (most - least);
  };
  return 0.5 * scaled(sensitivity_of) + 0.5 * (1 - scaled(mean_entropy));
}

inline double recorded_score(FixedLearner&, const HeadId& head) {
  return 0.5 * double(head.head) - double(head.layer) - 3 * double(head.kind);
}

/// With a record of training in which every head has its recorded_score().
inline ImportanceOptions options_for(FixedLearner& learner) {
  std::vector<HeadScore> scores;
  for (const HeadId& head : live_heads(learner.model())) {
    scores.push_back({head, recorded_score(learner, head)});
  }
  return {.recorded = {{"running_sensitivity", scores},
                       {"movement", scores},
                       {"hard_concrete", scores},
                       {"subset", scores},
                       {"frozen_gates", scores}}};
}

}  // namespace test
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
