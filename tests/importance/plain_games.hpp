// Metrics that play the game, in plain loops: one example and one set of gates at a time.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "headroom/base/at.hpp"
#include "headroom/base/rng.hpp"
#include "headroom/ops/softmax.hpp"
#include "support/fixed_learner.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace test {

/// The logits of example x with these gates; the other heads have gate 1.
inline Array gated_logits(FixedLearner& learner, std::size_t x,
                          const std::map<HeadId, double>& gates) {
  const NoGrad quiet;
  HeadProbe probe;
  for (const NamedAttention& found : attentions(learner.model())) {
    Array values = ones({found.attention->config().heads});
    for (const auto& [head, gate] : gates) {
      if (found.location() == AttentionLocation{head.kind, head.layer}) {
        values[head.head] = Real(gate);
      }
    }
    probe.gates[found.location()] = constant(values);
  }
  return logits_of(learner.model(), learner.examples()[x], &probe).value();
}

inline double gated_loss(FixedLearner& learner, std::size_t x,
                         const std::map<HeadId, double>& gates) {
  const Tensor logits = constant(gated_logits(learner, x, gates));
  return double(
      cross_entropy(logits, learner.examples()[x].labels, {.reduction = Reduction::sum}).item());
}

inline double mean_gated_loss(FixedLearner& learner, const std::map<HeadId, double>& gates) {
  double sum = 0;
  for (std::size_t x = 0; x < 3; ++x) sum += gated_loss(learner, x, gates);
  return sum / 3;
}

/// v(S) for the heads that are not in S.
inline double loss_without(FixedLearner& learner, const std::vector<HeadId>& gone) {
  std::map<HeadId, double> gates;
  for (const HeadId& head : gone) gates[head] = 0;
  return mean_gated_loss(learner, gates);
}

inline std::map<HeadId, double> equal_gates(FixedLearner& learner, double gate) {
  std::map<HeadId, double> gates;
  for (const HeadId& head : live_heads(learner.model())) gates[head] = gate;
  return gates;
}

/// The scores of all heads, computed once for a model and a metric. Learners of equal layout and
/// depth are equal.
inline double cached(FixedLearner& learner, const HeadId& head, const std::string& metric,
                     const std::function<std::map<HeadId, double>()>& compute) {
  const ModelConfig& config = learner.model().config;
  static std::map<std::string, std::map<HeadId, double>> known;
  auto& scores = known[metric + std::to_string(config.layers) + name_of(config.block.layout)];
  if (scores.empty()) scores = compute();
  return scores.at(head);
}

// ---------------------------------------------------------------- gradients

/// Gauss's nodes are the zeros of Legendre's polynomial P_8; Newton's method finds them.
inline double along_the_diagonal(FixedLearner& learner, const HeadId& head) {
  const double h = is_double ? 1e-4 : 1e-2;
  double sum = 0;
  for (int i = 0; i < 8; ++i) {
    double x = std::cos(std::acos(-1.0) * (i + 0.75) / 8.5), slope = 0;
    for (int step = 0; step < 20; ++step) {
      double before = 1, now = x;  // P_0 and P_1
      for (int n = 2; n <= 8; ++n) {
        const double next = ((2 * n - 1) * x * now - (n - 1) * before) / n;
        before = now;
        now = next;
      }
      slope = 8 * (x * now - before) / (x * x - 1);
      x -= now / slope;
    }
    const double gate = (1 + x) / 2, weight = 1 / ((1 - x * x) * slope * slope);
    std::map<HeadId, double> gates = equal_gates(learner, gate);
    const auto loss = [&](double change) {
      gates[head] = gate + change;
      return mean_gated_loss(learner, gates);
    };
    sum -= weight * (loss(h) - loss(-h)) / (2 * h);
  }
  return sum;
}

inline double under_masks(FixedLearner& learner, const HeadId& head) {
  const double h = is_double ? 1e-4 : 1e-2;
  double sum = 0;
  for (std::uint64_t mask = 0; mask < 8; ++mask) {
    for (Index x = 0; x < 3; ++x) {
      std::map<HeadId, double> gates;
      for (const HeadId& other : live_heads(learner.model())) {
        const MaskStream stream(1, mask, hash_name("random mask of " + other.text()));
        gates[other] = stream.uniform(x) < 0.75F ? 1 : 0;
      }
      const double gate = gates[head];
      const auto loss = [&](double change) {
        gates[head] = gate + change;
        return gated_loss(learner, std::size_t(x), gates);
      };
      sum += std::abs(loss(h) - loss(-h)) / (2 * h) / 24;
    }
  }
  return sum;
}

/// The sum of the gates of two fits, less 1. The logits of a fit move along the mean of their
/// slopes in units of its root mean square, both with decaying weights.
inline double pulled_gates(FixedLearner& learner, const HeadId& head) {
  const double h = is_double ? 1e-3 : 3e-2;
  return cached(learner, head, "causal_gating", [&] {
    std::map<HeadId, double> scores;
    for (const double pull : {0.01, -0.01}) {
      std::map<HeadId, double> logits = equal_gates(learner, 2), gates;
      std::map<HeadId, std::vector<double>> slopes;  // of all steps
      const auto gate = [](double logit) { return std::exp(logit) / (1 + std::exp(logit)); };
      for (int step = 0; step < 30; ++step) {
        for (const auto& [each, logit] : logits) gates[each] = gate(logit);
        for (const auto& [each, logit] : logits) {
          std::map<HeadId, double> moved = gates;
          const auto loss = [&](double change) {
            moved[each] = gate(logit + change);
            return mean_gated_loss(learner, moved);
          };
          // Errors of the slopes add up over the steps, so these have an error of h^4.
          const double rise = 8 * (loss(h) - loss(-h)) - (loss(2 * h) - loss(-2 * h));
          slopes[each].push_back(rise / (12 * h) - pull);
        }
        for (auto& [each, logit] : logits) {
          double mean = 0, square = 0, weights = 0, square_weights = 0;
          for (int past = 0; past <= step; ++past) {
            const double slope = slopes[each][std::size_t(past)];
            mean += slope * std::pow(0.9, step - past);
            weights += std::pow(0.9, step - past);
            square += slope * slope * std::pow(0.99, step - past);
            square_weights += std::pow(0.99, step - past);
          }
          const double root = std::sqrt(square / square_weights) + 1e-8;  // never 0
          logit -= 0.5 * (30 - step) / 30 * (mean / weights) / root;
          logit = std::min(4.0, std::max(-4.0, logit));
        }
      }
      for (const auto& [each, logit] : logits) scores[each] += gate(logit) - 0.5;
    }
    return scores;
  });
}

/// Slopes by central differences of the loss, at gates of 0.9, 1 and 1.1.
inline double parabola(FixedLearner& learner, const HeadId& head) {
  const double h = is_double ? 1e-4 : 1e-2;
  const auto slope = [&](double gate) {
    return (mean_gated_loss(learner, {{head, gate + h}}) -
            mean_gated_loss(learner, {{head, gate - h}})) /
           (2 * h);
  };
  return -slope(1) + (slope(1.1) - slope(0.9)) / 0.2 / 2;
}

// ---------------------------------------------------------------- losses of subsets

inline double alone_in_its_attention(FixedLearner& learner, const HeadId& head) {
  std::vector<HeadId> all, others;
  for (Index h = 0; h < 3; ++h) {
    all.push_back({head.kind, head.layer, h});
    if (h != head.head) others.push_back(all.back());
  }
  return loss_without(learner, all) - loss_without(learner, others);
}

inline double divergence_without(FixedLearner& learner, const HeadId& head) {
  double sum = 0;
  for (std::size_t x = 0; x < 3; ++x) {
    const Array whole = softmax(constant(gated_logits(learner, x, {}))).value();
    const Array part = softmax(constant(gated_logits(learner, x, {{head, 0}}))).value();
    for (Index i = 0; i < whole.size(); ++i) {
      sum += double(whole[i]) * std::log(double(whole[i]) / double(part[i]));
    }
  }
  return sum / 3;
}

inline double turn_of_removal(FixedLearner& learner, const HeadId& head) {
  return cached(learner, head, "greedy", [&] {
    std::map<HeadId, double> turns;
    std::vector<HeadId> gone;
    while (turns.size() < live_heads(learner.model()).size()) {
      std::map<double, HeadId> by_loss;
      for (const HeadId& next : live_heads(learner.model())) {
        if (turns.count(next) != 0) continue;
        std::vector<HeadId> without = gone;
        without.push_back(next);
        by_loss.emplace(loss_without(learner, without), next);
      }
      gone.push_back(by_loss.begin()->second);
      turns[gone.back()] = double(turns.size());
    }
    return turns;
  });
}

/// Least squares by steps along conjugate directions, on the same subsets.
inline double fitted_presence(FixedLearner& learner, const HeadId& head) {
  return cached(learner, head, "regression", [&] {
    const std::vector<HeadId> heads = live_heads(learner.model());
    const std::size_t count = heads.size();
    Rng rng(1, "subsets of regression");
    std::vector<std::vector<double>> rows;
    std::vector<double> losses;
    for (std::size_t sample = 0; sample < 10 * count; ++sample) {
      std::vector<double>& row = rows.emplace_back();
      std::vector<HeadId> gone;
      for (const HeadId& each : heads) {
        row.push_back(double(rng.below(2)));
        if (row.back() == 0) gone.push_back(each);
      }
      row.push_back(1);
      losses.push_back(loss_without(learner, gone));
    }
    const auto product = [](const auto& a, const auto& b) {
      double sum = 0;
      for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
      return sum;
    };
    const auto squares = [&](const std::vector<double>& c) {  // X' X c
      std::vector<double> result(count + 1);
      for (const std::vector<double>& row : rows) {
        const double y = product(row, c);
        for (std::size_t i = 0; i <= count; ++i) result[i] += row[i] * y;
      }
      return result;
    };
    std::vector<double> fit(count + 1), rest(count + 1);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      for (std::size_t i = 0; i <= count; ++i) rest[i] += rows[r][i] * losses[r];
    }
    std::vector<double> direction = rest;
    for (std::size_t step = 0; step < 3 * count; ++step) {
      const double before = product(rest, rest);
      if (before < 1e-24) break;
      const std::vector<double> image = squares(direction);
      const double length = before / product(direction, image);
      for (std::size_t i = 0; i <= count; ++i) {
        fit[i] += length * direction[i];
        rest[i] -= length * image[i];
      }
      const double turn = product(rest, rest) / before;
      for (std::size_t i = 0; i <= count; ++i) direction[i] = rest[i] + turn * direction[i];
    }
    std::map<HeadId, double> scores;
    for (std::size_t i = 0; i < count; ++i) scores[heads[i]] = -fit[i];
    return scores;
  });
}

/// The mean over the orders that the metric draws.
inline double in_random_orders(FixedLearner& learner, const HeadId& head) {
  return cached(learner, head, "shapley_sampled", [&] {
    const std::vector<HeadId> heads = live_heads(learner.model());
    Rng rng(1, "orders of shapley_sampled");
    std::map<HeadId, double> scores;
    for (int pair = 0; pair < 10; ++pair) {
      std::vector<HeadId> order = heads;
      for (Index i = std::ssize(order); i > 1; --i) {
        std::swap(at(order, i - 1), at(order, rng.below(i)));
      }
      for (const bool reversed : {false, true}) {
        if (reversed) std::reverse(order.begin(), order.end());
        std::vector<HeadId> missing = order;
        double before = loss_without(learner, missing);
        for (const HeadId& next : order) {
          missing.erase(missing.begin());
          const double now = loss_without(learner, missing);
          scores[next] += (before - now) / 20;
          before = now;
        }
      }
    }
    return scores;
  });
}

/// The dividends of all subsets, each from the values of its own subsets, by recursion.
inline std::map<std::set<HeadId>, double> plain_dividends(FixedLearner& learner) {
  static std::map<std::string, std::map<std::set<HeadId>, double>> known;
  auto& all = known[name_of(learner.model().config.block.layout)];
  if (!all.empty()) return all;
  const std::vector<HeadId> heads = live_heads(learner.model());
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << heads.size(); ++bits) {
    std::set<HeadId> present;
    std::vector<HeadId> gone;
    for (Index i = 0; i < std::ssize(heads); ++i) {
      if ((bits >> i & 1) != 0) {
        present.insert(at(heads, i));
      } else {
        gone.push_back(at(heads, i));
      }
    }
    double dividend = loss_without(learner, gone);
    for (const auto& [part, value] : all) {
      if (std::includes(present.begin(), present.end(), part.begin(), part.end()))
        dividend -= value;
    }
    all[present] = dividend;
  }
  return all;
}

/// A dividend belongs to its players in equal parts; in half of the subsets of the others to each.
inline double by_dividends(FixedLearner& learner, const HeadId& head, bool equal_parts) {
  double sum = 0;
  for (const auto& [part, value] : plain_dividends(learner)) {
    if (part.count(head) == 0) continue;
    sum -= equal_parts ? value / double(part.size()) : value / std::exp2(double(part.size()) - 1);
  }
  return sum;
}

}  // namespace test
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
