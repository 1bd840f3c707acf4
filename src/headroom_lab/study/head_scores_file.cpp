// Reads the scores of a trunk's heads.
#include "study/head_scores_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headroom/base/utf8.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/json.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

HeadScoresFile head_scores_in(const std::filesystem::path& file) {
  const std::string origin = file.string();
  const auto scores = struct_of<HeadScoresFile>(parse_json(read_file(file), origin), origin);
  for (const HeadScoresFile::Metric& metric : scores.metrics) {
    const bool finite = std::all_of(metric.scores.begin(), metric.scores.end(),
                                    [](double score) { return std::isfinite(score); });
    if (finite && metric.scores.size() == scores.heads.size()) continue;
    throw DataError(fmt::format("{}: metric {} must have a finite score for each of the {} heads",
                                origin, printable(metric.name), scores.heads.size()));
  }
  return scores;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
