// The loss as a game among heads.
#include "headroom_measure/importance/head_game.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "headroom/base/at.hpp"
#include "headroom/base/error.hpp"
#include "headroom/data/batches.hpp"
#include "headroom/ops/reductions.hpp"
#include "headroom/ops/softmax.hpp"
#include "headroom/statistics/intervals.hpp"
#include "headroom/train/evaluation.hpp"
#include "importance/subset_losses.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

HeadSet HeadSet::all(Index count) {
  HeadSet set;
  for (Index player = 0; player < count; ++player) set = set.with(player);
  return set;
}

HeadSet HeadSet::of_bits(std::uint64_t bits) {
  HeadSet set;
  set.words_[0] = bits;
  return set;
}

HeadSet HeadSet::with(Index player) const {
  HeadSet set = *this;
  at(set.words_, player / in_word) |= bit_of(player);
  return set;
}

HeadSet HeadSet::without(Index player) const {
  HeadSet set = *this;
  at(set.words_, player / in_word) &= ~bit_of(player);
  return set;
}

HeadSet HeadSet::operator&(const HeadSet& other) const {
  HeadSet set;
  for (std::size_t i = 0; i < words_.size(); ++i) set.words_[i] = words_[i] & other.words_[i];
  return set;
}

std::vector<double> mean_losses(std::span<const std::vector<double>> losses) {
  std::vector<double> means;
  for (const std::vector<double>& of_subset : losses) means.push_back(mean_of(of_subset));
  return means;
}

HeadGame::HeadGame(Learner& learner, ExampleSet set, Index most, std::vector<HeadId> players)
    : learner_(&learner), set_(set), most_(most), players_(std::move(players)) {
  const std::vector<HeadId> live = live_heads(learner.model());
  if (players_.empty()) players_ = live;
  if (players_.empty() || std::ssize(players_) > HeadSet::most) {
    throw UsageError(
        fmt::format("head game: {} players; 1 to {} can play", players_.size(), HeadSet::most));
  }
  for (const HeadId& head : players_) {
    if (std::find(live.begin(), live.end(), head) != live.end()) continue;
    throw UsageError(fmt::format("head game: {} is not alive", head.text()));
  }
}

HeadSet HeadGame::all_but(std::span<const HeadId> removed) const {
  HeadSet left = all();
  for (Index i = 0; i < size(); ++i) {
    const auto gone = std::find(removed.begin(), removed.end(), at(players_, i));
    if (gone != removed.end()) left = left.without(i);
  }
  return left;
}

std::map<AttentionLocation, Tensor> HeadGame::gates_of(HeadSet subset) const {
  std::map<AttentionLocation, Array> gates;
  for (const NamedAttention& found : attentions(model())) {
    gates[found.location()] = ones({found.attention->config().heads});
  }
  for (Index i = 0; i < size(); ++i) {
    const HeadId& head = at(players_, i);
    if (!subset.contains(i)) gates.at({head.kind, head.layer})[head.head] = 0;
  }
  std::map<AttentionLocation, Tensor> tensors;
  for (const auto& [location, values] : gates) tensors[location] = constant(values);
  return tensors;
}

Index HeadGame::examples() {
  Index count = 0;
  learner_->visit(set_, most_, [&](const ProbedBatch& batch) { count += batch.examples; });
  return count;
}

std::vector<std::vector<double>> HeadGame::example_losses(std::span<const HeadSet> subsets,
                                                          const Progress& progress) {
  const Evaluating now(model());
  std::vector<std::vector<double>> losses(subsets.size());
  const double all = double(examples()) * double(subsets.size());
  double done = 0;
  learner_->visit(set_, most_, [&](const ProbedBatch& batch) {
    SubsetLosses pass(model(), players_, batch);
    pass.run(subsets, [&](std::size_t subset, std::span<const Real> of_batch) {
      for (const Real loss : of_batch) losses[subset].push_back(double(loss));
      done += double(of_batch.size());
      if (progress) progress(done / all);
    });
  });
  passes_ += std::ssize(subsets);
  const std::vector<double> means = mean_losses(losses);
  for (std::size_t s = 0; s < subsets.size(); ++s) known_[subsets[s]] = means[s];
  return losses;
}

std::vector<double> HeadGame::values(std::span<const HeadSet> subsets) {
  std::vector<HeadSet> fresh;
  std::set<HeadSet> asked;
  for (const HeadSet& subset : subsets) {
    if (known_.contains(subset) || !asked.insert(subset).second) continue;
    fresh.push_back(subset);
  }
  // In parts, so that the losses of all examples need little memory.
  constexpr std::size_t part = 4096;
  for (std::size_t first = 0; first < fresh.size(); first += part) {
    const auto some = std::span(fresh).subspan(first, std::min(part, fresh.size() - first));
    example_losses(some);  // remembers their values
  }
  std::vector<double> values;
  for (const HeadSet& subset : subsets) values.push_back(known_.at(subset));
  return values;
}

std::vector<double> HeadGame::divergences(std::span<const HeadSet> subsets) {
  return prediction_sums(
      subsets, [](double whole, double part) { return std::exp(whole) * (whole - part); });
}

std::vector<double> HeadGame::entropies(std::span<const HeadSet> subsets) {
  return prediction_sums(subsets,
                         [](double /*whole*/, double part) { return -std::exp(part) * part; });
}

std::vector<double> HeadGame::prediction_sums(std::span<const HeadSet> subsets,
                                              const std::function<double(double, double)>& term) {
  const Evaluating now(model());
  std::vector<double> sums(subsets.size(), 0);
  Index examples = 0;
  learner_->visit(set_, most_, [&](const ProbedBatch& batch) {
    const auto predicted = [&](HeadSet subset) {
      HeadProbe probe;
      probe.gates = gates_of(subset);
      return log_softmax(batch.logits(probe)).value();
    };
    const Array whole = predicted(all());
    const Index classes = whole.dim(whole.rank() - 1);
    for (std::size_t s = 0; s < subsets.size(); ++s) {
      const Array part = predicted(subsets[s]);
      for (Index i = 0; i < part.size(); ++i) {
        if (batch.labels[i / classes] == ignored_label) continue;
        sums[s] += term(double(whole[i]), double(part[i]));
      }
    }
    examples += batch.examples;
  });
  passes_ += 1 + std::ssize(subsets);
  for (double& sum : sums) sum /= double(examples);
  return sums;
}

std::vector<double> HeadGame::correct_logits(std::span<const HeadSet> subsets) {
  const Evaluating now(model());
  std::vector<double> sums(subsets.size(), 0);
  Index examples = 0;
  learner_->visit(set_, most_, [&](const ProbedBatch& batch) {
    for (std::size_t s = 0; s < subsets.size(); ++s) {
      HeadProbe probe;
      probe.gates = gates_of(subsets[s]);
      const Array logits = batch.logits(probe).value();
      const Index classes = logits.dim(logits.rank() - 1);
      for (Index row = 0; row < batch.labels.size(); ++row) {
        if (batch.labels[row] == ignored_label) continue;
        double sum = 0;
        for (Index v = 0; v < classes; ++v) sum += double(logits[row * classes + v]);
        sums[s] += double(logits[row * classes + batch.labels[row]]) - sum / double(classes);
      }
    }
    examples += batch.examples;
  });
  passes_ += std::ssize(subsets);
  for (double& sum : sums) sum /= double(examples);
  return sums;
}

std::vector<std::vector<double>> HeadGame::example_gradients(const GateOf& gate) {
  const EvalMode now(model());
  zero_grad(model());
  std::vector<std::vector<double>> gradients;
  learner_->visit(set_, most_, [&](const ProbedBatch& batch) {
    HeadProbe probe;
    for (const NamedAttention& found : attentions(model())) {
      probe.gates[found.location()] =
          Tensor(ones({batch.examples, found.attention->config().heads}), true);
    }
    const auto element_of = [&](Index example, Index player) {
      const HeadId& head = at(players_, player);
      const Tensor& gates = probe.gates.at({head.kind, head.layer});
      return std::pair(gates, example * gates.dim(1) + head.head);
    };
    const auto first = std::ssize(gradients);
    for (Index b = 0; b < batch.examples; ++b) {
      for (Index player = 0; player < size(); ++player) {
        auto [gates, index] = element_of(b, player);
        gates.edit_value()[index] = Real(gate(first + b, player));
      }
    }
    sum(batch.losses(probe)).backward();
    for (Index b = 0; b < batch.examples; ++b) {
      std::vector<double>& row = gradients.emplace_back();
      for (Index player = 0; player < size(); ++player) {
        const auto [gates, index] = element_of(b, player);
        // Undefined where nothing flows: the encoder, if there are no heads in cross-attentions.
        row.push_back(gates.grad().defined() ? double(gates.grad()[index]) : 0);
      }
    }
    zero_grad(model());
  });
  ++gradient_passes_;
  return gradients;
}

std::vector<double> HeadGame::gradient(std::span<const double> gates) {
  if (std::ssize(gates) != size()) {
    throw UsageError(fmt::format("head game: {} gates of {} players", gates.size(), size()));
  }
  const std::vector<double> key(gates.begin(), gates.end());
  const auto known = known_gradients_.find(key);
  if (known != known_gradients_.end()) return known->second;
  const auto rows = example_gradients([&](Index, Index player) { return at(gates, player); });
  std::vector<double> mean(gates.size());
  for (const std::vector<double>& row : rows) {
    for (std::size_t h = 0; h < mean.size(); ++h) mean[h] += row[h] / double(rows.size());
  }
  return known_gradients_[key] = mean;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
