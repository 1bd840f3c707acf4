// Greedy decoding and sampling: one token per sequence and step.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "headroom/base/at.hpp"
#include "headroom/base/error.hpp"
#include "headroom/nn/decoding.hpp"
#include "nn/log_probabilities.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// A token with its unnormalised probability.
struct Candidate {
  std::int32_t id;
  double weight;
};

/// Draws tokens from rows of logits.
class Sampler {
 public:
  Sampler(const SamplingOptions& options, Rng& rng) : options_(options), rng_(rng) {
    if (!(options.temperature >= 0)) {
      throw UsageError(fmt::format(
          "sample: temperature {} is negative; 0 is greedy, 1 is the model", options.temperature));
    }
    if (options.top_k < 0) {
      throw UsageError(fmt::format("sample: top_k {} is negative; 0 keeps all", options.top_k));
    }
    if (!(options.top_p > 0 && options.top_p <= 1)) {
      throw UsageError(
          fmt::format("sample: top_p {} is not in (0, 1]; 1 keeps all", options.top_p));
    }
  }

  std::int32_t operator()(std::span<const Real> logits) {
    const auto best = std::max_element(logits.begin(), logits.end());
    if (options_.temperature == 0) return static_cast<std::int32_t>(best - logits.begin());
    weigh(logits, *best);
    cut_off();
    return draw();
  }

 private:
  /// Computes the weights e^((logit - max) / temperature).
  void weigh(std::span<const Real> logits, Real max) {
    candidates_.clear();
    for (std::size_t id = 0; id < logits.size(); ++id) {
      const double distance = double(logits[id]) - double(max);
      candidates_.push_back(
          {static_cast<std::int32_t>(id), std::exp(distance / double(options_.temperature))});
    }
  }

  /// Keeps the k most probable tokens, then the most probable of them that reach the share p.
  void cut_off() {
    const auto k = options_.top_k == 0
                       ? candidates_.size()
                       : std::min(candidates_.size(), static_cast<std::size_t>(options_.top_k));
    if (k == candidates_.size() && options_.top_p == 1) return;
    const auto likelier = [](const Candidate& a, const Candidate& b) {
      return a.weight > b.weight || (a.weight == b.weight && a.id < b.id);
    };
    const auto kept = candidates_.begin() + static_cast<std::ptrdiff_t>(k);
    std::partial_sort(candidates_.begin(), kept, candidates_.end(), likelier);
    candidates_.resize(k);
    if (options_.top_p == 1) return;
    const double wanted = double(options_.top_p) * total();
    double sum = 0;
    std::size_t count = 0;
    while (count < k && sum < wanted) sum += candidates_[count++].weight;
    candidates_.resize(count);
  }

  double total() const {
    return std::accumulate(candidates_.begin(), candidates_.end(), 0.0,
                           [](double sum, const Candidate& c) { return sum + c.weight; });
  }

  std::int32_t draw() {
    double left = double(rng_.uniform()) * total();
    for (const Candidate& candidate : candidates_) {
      left -= candidate.weight;
      if (left < 0) return candidate.id;
    }
    // Rounding can leave a remainder; it selects the last token with positive probability.
    const auto last = std::find_if(candidates_.rbegin(), candidates_.rend(),
                                   [](const Candidate& c) { return c.weight > 0; });
    return last->id;
  }

  SamplingOptions options_;
  Rng& rng_;
  std::vector<Candidate> candidates_;
};

/// The input of the first step: the prompt, or the begin token for each sequence.
Ids first_tokens(const Writer& writer, const DecodingLimits& limits, const Ids& prompt) {
  if (!prompt.defined()) return Ids({writer.batch(), 1}, limits.begin);
  if (prompt.rank() != 2 || prompt.dim(0) != writer.batch() || prompt.dim(1) < 1) {
    throw UsageError(fmt::format("sample: prompt {} for {} sequences; it must be [{}, n], n >= 1",
                                 prompt.shape().text(), writer.batch(), writer.batch()));
  }
  return prompt;
}

}  // namespace

std::vector<Written> sample(Writer& writer, const DecodingLimits& limits,
                            const SamplingOptions& options, Rng& rng, const Ids& prompt,
                            const StepListener& each) {
  Sampler choose(options, rng);
  Ids newest = first_tokens(writer, limits, prompt);
  check_room(writer, newest.dim(1), limits);

  std::vector<Written> results(static_cast<std::size_t>(writer.batch()));
  std::vector<Index> live(results.size());  // the result that each row of the writer belongs to
  std::iota(live.begin(), live.end(), Index{0});
  std::vector<std::int32_t> step(results.size());

  for (Index written = 0; written < limits.longest && !live.empty(); ++written) {
    if (writer.room() < newest.dim(1) && !writer.slide()) break;
    Array logits = writer.next(newest);
    std::vector<Index> going_on;  // rows that are not finished
    std::fill(step.begin(), step.end(), -1);
    for (std::size_t row = 0; row < live.size(); ++row) {
      Written& result = results[static_cast<std::size_t>(live[row])];
      const double normaliser = log_sum_exp(row_of(logits, Index(row)));
      if (limits.never >= 0) {
        logits[Index(row) * logits.dim(1) + limits.never] = -std::numeric_limits<Real>::infinity();
      }
      const std::span<const Real> mine = row_of(logits, Index(row));
      const std::int32_t id = choose(mine);
      step[static_cast<std::size_t>(live[row])] = id;
      result.log_probability += double(at(mine, id)) - normaliser;
      result.finished = id == limits.end;
      if (result.finished) continue;
      result.ids.push_back(id);
      going_on.push_back(Index(row));
    }
    if (each) each(step);
    if (going_on.size() < live.size()) {  // drop the finished rows
      writer.reorder(going_on);
      std::vector<Index> left;
      for (const Index row : going_on) left.push_back(at(live, row));
      live = std::move(left);
    }
    newest = Ids({Index(live.size()), 1});
    for (std::size_t row = 0; row < live.size(); ++row) {
      newest[Index(row)] = step[static_cast<std::size_t>(live[row])];
    }
  }
  return results;
}

std::vector<Written> greedy(Writer& writer, const DecodingLimits& limits) {
  Rng unused(0, "greedy");
  return sample(writer, limits, {.temperature = 0}, unused);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
