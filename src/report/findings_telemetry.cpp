// What telemetry shows of a run's heads, in a sentence.
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "report/findings.hpp"
#include "report/records.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr double notable_entropy = 0.05;  // a change of the mean by less shows no pattern

/// Head -> its entropy, where there is one.
std::map<std::string, double> entropies(const Record& line) {
  std::map<std::string, double> result;
  for (std::size_t i = 0; i < line["heads"].size(); ++i) {
    const Record& entropy = line["entropy"][i];
    if (entropy.is_number()) result[line["heads"][i].get<std::string>()] = entropy.get<double>();
  }
  return result;
}

}  // namespace

Record telemetry_finding(const Record& run) {
  const Record& lines = list_of(run, "telemetry");
  if (lines.empty()) return {};
  const Record &first = lines.front(), &last = lines.back();
  std::string look =
      "Look for heads whose gradient and gate gradient fall away from their neighbours': the loss "
      "hardly depends on them. Gate gradient: how much the loss would change if the head's output "
      "were scaled. Entropy is 1 when a head looks at all keys alike, 0 when at one; "
      "confidence is its largest weight, on average. A line that ends in a dot is of a head that "
      "was removed.";
  if (first.contains("model")) {
    look += fmt::format(" Measured on the {} model.", first["model"].get<std::string>());
  }
  const std::map<std::string, double> start = entropies(first), end = entropies(last);
  double before = 0, after = 0, common = 0;
  for (const auto& [head, entropy] : end) {
    const auto found = start.find(head);
    if (found == start.end()) continue;
    before += found->second;
    after += entropy;
    ++common;
  }
  if (common == 0 || lines.size() < 2) return finding("How every head fared", look);
  before /= common;
  after /= common;
  look += fmt::format(
      " The mean is over the heads that lived to the end; a change by less than {} would not "
      "count.",
      notable_entropy);
  if (std::abs(after - before) < notable_entropy) {
    return finding(
        fmt::format("No clear pattern: the heads' mean entropy stays near {:.2f} of the largest",
                    after),
        look);
  }
  return finding(fmt::format("Heads {}: their mean entropy {} from {:.2f} to {:.2f} of the largest",
                             after < before ? "focus" : "spread",
                             after < before ? "falls" : "rises", before, after),
                 look);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
