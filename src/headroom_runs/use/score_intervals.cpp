// Measures of scored examples: values, intervals, groups and order.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "headroom/base/error.hpp"
#include "headroom/base/rng.hpp"
#include "headroom_runs/use/scores.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

void add(std::vector<double>& sums, const ScoredExample& example) {
  for (const auto& [place, value] : example.sums) sums[place] += value;
}

std::vector<std::size_t> all_of(const Scores& scores) {
  std::vector<std::size_t> all(scores.examples.size());
  std::iota(all.begin(), all.end(), std::size_t(0));
  return all;
}

/// The value below which a share of the sorted values is.
double percentile(const std::vector<double>& sorted, double share) {
  return sorted[std::size_t(std::lround(share * double(sorted.size() - 1)))];
}

}  // namespace

Interval measured(const Scores& scores, const Rule& rule, std::span<const std::size_t> examples) {
  if (examples.empty()) throw UsageError("a measure needs at least one example");
  std::vector<double> sums(scores.sums);
  for (const std::size_t i : examples) add(sums, scores.examples[i]);
  const double value = rule.value(sums);
  if (rule.is_share) {
    const auto part = Index(sums[rule.part]), whole = Index(sums[rule.whole]);
    return whole == 0 ? Interval{value, 0, 1} : rate_interval(part, whole);
  }
  Rng draws(1, "bootstrap");
  std::vector<double> values;
  for (Index sample = 0; sample < bootstrap_samples; ++sample) {
    std::fill(sums.begin(), sums.end(), 0);
    for (std::size_t i = 0; i < examples.size(); ++i) {
      add(sums, scores.examples[examples[std::size_t(draws.below(std::ssize(examples)))]]);
    }
    values.push_back(rule.value(sums));
  }
  std::sort(values.begin(), values.end());
  return {value, percentile(values, 0.025), percentile(values, 0.975)};
}

Interval measured(const Scores& scores, const Rule& rule) {
  return measured(scores, rule, all_of(scores));
}

std::vector<std::vector<Index>> confusions(const Scores& scores) {
  const std::vector<std::string>& classes = scores.classes;
  std::vector<std::vector<Index>> table(classes.size(), std::vector<Index>(classes.size()));
  const auto place = [&](const std::string& name) {
    return std::size_t(std::find(classes.begin(), classes.end(), name) - classes.begin());
  };
  for (const ScoredExample& example : scores.examples) {
    ++table[place(example.expected.front())][place(example.output)];
  }
  return table;
}

std::vector<std::size_t> worst_examples(const Scores& scores, std::size_t most) {
  std::vector<std::size_t> order = all_of(scores);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const ScoredExample &one = scores.examples[a], &other = scores.examples[b];
    return one.right != other.right ? !one.right : one.loss > other.loss;
  });
  order.resize(std::min(order.size(), most));
  return order;
}

std::vector<std::vector<std::size_t>> by_length(const Scores& scores) {
  std::map<Index, std::vector<std::size_t>> of_length;
  for (const std::size_t i : all_of(scores)) of_length[scores.examples[i].length].push_back(i);
  std::vector<std::vector<std::size_t>> groups;
  std::size_t before = 0;  // examples in the groups so far
  for (const auto& [length, examples] : of_length) {
    // A group begins where the last one has its quarter of all.
    if (groups.empty() || before * 4 >= groups.size() * scores.examples.size()) {
      groups.emplace_back();
    }
    groups.back().insert(groups.back().end(), examples.begin(), examples.end());
    before += examples.size();
  }
  return groups;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
