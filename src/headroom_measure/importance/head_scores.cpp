// Scores of heads, and how a checkpoint keeps them.
#include "headroom_measure/importance/head_scores.hpp"

#include <algorithm>

#include "headroom/base/error.hpp"
#include "headroom/io/fields.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {
constexpr const char* entry_name = "scores";
}  // namespace

std::vector<HeadScore> added(const std::vector<HeadScore>& a, const std::vector<HeadScore>& b) {
  const bool same = std::equal(a.begin(), a.end(), b.begin(), b.end(),
                               [](const auto& x, const auto& y) { return x.head == y.head; });
  if (!same) throw UsageError("added: the scores are of different heads");
  std::vector<HeadScore> sums = a;
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i].score += b[i].score;
  return sums;
}

std::vector<HeadId> least_important_first(std::vector<HeadScore> scores) {
  std::stable_sort(scores.begin(), scores.end(),
                   [](const auto& a, const auto& b) { return a.score < b.score; });
  std::vector<HeadId> heads;
  for (const HeadScore& score : scores) heads.push_back(score.head);
  return heads;
}

void save_scores(StateWriter to, const RecordedScores& scores) {
  to.record(entry_name, json_of(scores));
}

RecordedScores recorded_scores(const std::filesystem::path& checkpoint) {
  const TensorFile file = TensorFile::read(checkpoint);
  const std::string ending = std::string(".") + entry_name;
  RecordedScores all;
  for (const auto& [name, text] : file.metadata) {
    if (!name.ends_with(ending)) continue;
    const StateReader part(file, name.substr(0, name.size() - ending.size() + 1));
    try {
      all.merge(struct_of<RecordedScores>(part.record(entry_name), part.where(entry_name)));
    } catch (const DataError& error) {
      throw FileError(error.what());
    }
  }
  return all;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
