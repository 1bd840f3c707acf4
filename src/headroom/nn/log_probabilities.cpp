// Log-probabilities and checks shared by greedy decoding, sampling and beam search.
#include "nn/log_probabilities.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headroom/base/error.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

std::span<const Real> row_of(const Array& logits, Index b) {
  return logits.span().subspan(static_cast<std::size_t>(b * logits.dim(1)),
                               static_cast<std::size_t>(logits.dim(1)));
}

double log_sum_exp(std::span<const Real> logits) {
  double max = -std::numeric_limits<double>::infinity();
  for (const Real logit : logits) max = std::max(max, double(logit));
  double sum = 0;
  for (const Real logit : logits) sum += std::exp(double(logit) - max);
  const double result = max + std::log(sum);
  if (!std::isfinite(result)) {
    throw NumericError("decoding: the model's logits contain a NaN or infinity");
  }
  return result;
}

void check_room(const Writer& writer, Index tokens, const DecodingLimits& limits) {
  if (limits.longest < 0) {
    throw UsageError(fmt::format(
        "decoding: longest {} is negative; give the maximum number of tokens", limits.longest));
  }
  if (tokens > writer.room()) {
    throw UsageError(fmt::format(
        "decoding: the prompt has {} tokens but the model has room for {}; shorten the prompt or "
        "build the model with a larger 'longest'",
        tokens, writer.room()));
  }
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
