// Findings about the telemetry of a run's heads.
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "headroom/base/text.hpp"
#include "report/findings.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr double notable_entropy = 0.05;  // a smaller change of the mean is no pattern

/// The entropy of each head that has one.
std::map<HeadId, double> entropies(const TelemetryLine& line) {
  std::map<HeadId, double> result;
  for (std::size_t i = 0; i < line.heads.size(); ++i) {
    if (std::isfinite(line.entropy[i])) result[line.heads[i]] = line.entropy[i];
  }
  return result;
}

}  // namespace

MaybeFinding telemetry_finding(const ReportRecord& run) {
  if (run.telemetry.empty()) return {};
  const TelemetryLine &first = run.telemetry.front(), &last = run.telemetry.back();
  std::string caption =
      "Gate gradient: derivative of the loss with respect to a factor on the head's output; near "
      "0, the loss hardly depends on the head. Entropy is 1 when a head's weights are uniform, 0 "
      "when one key has all weight; confidence is the largest weight, on average. A line that ends "
      "in a dot is of a removed head.";
  if (!first.model.empty()) caption += fmt::format(" Measured on the {} model.", first.model);
  const std::map<HeadId, double> start = entropies(first), end = entropies(last);
  double before = 0, after = 0, common = 0;
  for (const auto& [head, entropy] : end) {
    const auto found = start.find(head);
    if (found == start.end()) continue;
    before += found->second;
    after += entropy;
    ++common;
  }
  if (common == 0 || run.telemetry.size() < 2) return Finding{"Telemetry of every head", caption};
  before /= common;
  after /= common;
  caption += fmt::format(
      " The mean is over the heads that are alive at step {}; a change of less than {} counts as "
      "none.",
      with_commas(last.step), notable_entropy);
  if (std::abs(after - before) < notable_entropy) {
    return Finding{
        fmt::format("No clear pattern: the heads' mean entropy stays near {:.2f} of the maximum",
                    after),
        caption};
  }
  return Finding{fmt::format("Heads {}: their mean entropy {} from {:.2f} to {:.2f} of the maximum",
                             after < before ? "focus" : "spread",
                             after < before ? "falls" : "rises", before, after),
                 caption};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
