// Counts of n-grams and their F-score.
#include "headroom_runs/use/chrf.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "headroom/base/utf8.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

using Grams = std::map<std::string, Index>;

std::vector<std::string> visible_characters(std::string_view text) {
  std::vector<std::string> all = code_points(text);
  std::erase_if(all, [](const std::string& c) { return c == " " || c == "\t" || c == "\n"; });
  return all;
}

Grams grams_of(const std::vector<std::string>& characters, std::size_t order) {
  Grams grams;
  for (std::size_t begin = 0; begin + order <= characters.size(); ++begin) {
    std::string gram;
    for (std::size_t i = 0; i < order; ++i) gram += characters[begin + i];
    ++grams[gram];
  }
  return grams;
}

Index total(const Grams& grams) {
  Index sum = 0;
  for (const auto& [gram, count] : grams) sum += count;
  return sum;
}

}  // namespace

ChrfCounts chrf_counts(std::string_view output, std::string_view reference) {
  const auto written = visible_characters(output), wanted = visible_characters(reference);
  ChrfCounts counts;
  for (std::size_t i = 0; i < ChrfCounts::orders; ++i) {
    const Grams mine = grams_of(written, i + 1), theirs = grams_of(wanted, i + 1);
    counts.reference[i] = double(total(theirs));
    // As sacrebleu: what no n-gram of the reference can match does not count.
    counts.output[i] = theirs.empty() ? 0 : double(total(mine));
    for (const auto& [gram, count] : mine) {
      const auto found = theirs.find(gram);
      if (found != theirs.end()) counts.matches[i] += double(std::min(count, found->second));
    }
  }
  return counts;
}

double chrf(const ChrfCounts& counts) {
  double precision = 0, recall = 0, orders = 0;
  for (std::size_t i = 0; i < ChrfCounts::orders; ++i) {
    if (counts.output[i] == 0 || counts.reference[i] == 0) continue;
    precision += counts.matches[i] / counts.output[i];
    recall += counts.matches[i] / counts.reference[i];
    ++orders;
  }
  if (precision + recall == 0) return 0;
  precision /= orders;
  recall /= orders;
  return 5 * precision * recall / (4 * precision + recall);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
