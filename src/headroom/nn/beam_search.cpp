// Beam search.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "headroom/base/error.hpp"
#include "headroom/nn/decoding.hpp"
#include "nn/log_probabilities.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// One of an example's prefixes with one more token.
struct Extension {
  double log_probability;  // of the prefix with the token
  Index beam;              // index of the prefix
  std::int32_t id;
};

/// Orders extensions from best to worst; of equals the earlier beam, then the lower id is better.
bool better(const Extension& a, const Extension& b) {
  if (a.log_probability != b.log_probability) return a.log_probability > b.log_probability;
  return a.beam != b.beam ? a.beam < b.beam : a.id < b.id;
}

/// The search for one example.
class Beam {
 public:
  Beam(Index width, const DecodingLimits& limits, Real length_penalty)
      : width_(static_cast<std::size_t>(width)),
        limits_(limits),
        length_penalty_(double(length_penalty)),
        prefixes_(1) {}

  bool done() const { return finished_.size() >= width_ || prefixes_.empty(); }

  /// Extends the prefixes by the logits [rows, V] in rows `first`, `first` + 1, ...
  void extend(const Array& logits, Index first) {
    std::vector<Written> longer;
    std::vector<Index> origins;
    std::size_t rank = 0;
    for (const Extension& best : best_extensions(logits, first)) {
      Written written = prefixes_[static_cast<std::size_t>(best.beam)];
      written.log_probability = best.log_probability;
      if (best.id == limits_.end) {
        written.finished = true;
        if (rank < width_) finished_.push_back(std::move(written));
      } else if (longer.size() < width_) {
        written.ids.push_back(best.id);
        longer.push_back(std::move(written));
        origins.push_back(best.beam);
      }
      ++rank;
    }
    prefixes_ = std::move(longer);
    origins_ = std::move(origins);
  }

  /// The former copy that copy number `copy` of `width` continues, and its newest token. With fewer
  /// prefixes than copies the last copies repeat the first prefix.
  Index origin(std::size_t copy) const { return origins_[at(copy)]; }
  std::int32_t newest(std::size_t copy) const { return prefixes_[at(copy)].ids.back(); }

  std::vector<Written> result() const {
    std::vector<Written> all = sorted(finished_);
    for (Written& written : sorted(prefixes_)) all.push_back(std::move(written));
    all.resize(std::min(all.size(), width_));
    return all;
  }

 private:
  std::size_t at(std::size_t copy) const { return copy < prefixes_.size() ? copy : 0; }

  /// The 2 `width` best: at most one per prefix ends, so at least `width` of them continue.
  std::vector<Extension> best_extensions(const Array& logits, Index first) const {
    std::vector<Extension> all;
    for (std::size_t beam = 0; beam < prefixes_.size(); ++beam) {
      const auto row = row_of(logits, first + Index(beam));
      const double before = prefixes_[beam].log_probability - log_sum_exp(row);
      for (std::size_t id = 0; id < row.size(); ++id) {
        const double log_probability = before + double(row[id]);
        if (std::isinf(log_probability) || Index(id) == limits_.never) continue;  // forbidden
        all.push_back({log_probability, Index(beam), static_cast<std::int32_t>(id)});
      }
    }
    const std::size_t count = std::min(all.size(), 2 * width_);
    std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count), all.end(),
                      better);
    all.resize(count);
    return all;
  }

  std::vector<Written> sorted(std::vector<Written> list) const {
    const auto score = [this](const Written& w) {
      const auto length = double(w.ids.size() + (w.finished ? 1 : 0));
      return w.log_probability / std::pow(std::max(length, 1.0), length_penalty_);
    };
    std::stable_sort(list.begin(), list.end(),
                     [&](const Written& a, const Written& b) { return score(a) > score(b); });
    return list;
  }

  std::size_t width_;
  DecodingLimits limits_;
  double length_penalty_;
  std::vector<Written> prefixes_;  // unfinished, best first; initially the empty one
  std::vector<Index> origins_;     // the former prefix that each of them extends
  std::vector<Written> finished_;
};

}  // namespace

std::vector<std::vector<Written>> beam_search(Writer& writer, Index width,
                                              const DecodingLimits& limits, Real length_penalty) {
  if (width < 1 || writer.batch() % width != 0) {
    throw UsageError(
        fmt::format("beam_search: width {} for a writer of {} sequences; it must hold `width` "
                    "copies of each example",
                    width, writer.batch()));
  }
  check_room(writer, 1, limits);
  const auto copies = static_cast<std::size_t>(width);
  std::vector<Beam> beams(static_cast<std::size_t>(writer.batch() / width),
                          Beam(width, limits, length_penalty));
  std::vector<std::size_t> live(beams.size());  // the example of each `width` rows of the writer
  for (std::size_t example = 0; example < live.size(); ++example) live[example] = example;

  Ids newest({writer.batch(), 1}, limits.begin);
  for (Index written = 0; written < limits.longest && !live.empty(); ++written) {
    if (writer.room() < 1) break;
    const Array logits = writer.next(newest);
    std::vector<std::size_t> going_on;
    std::vector<Index> rows;
    std::vector<std::int32_t> tokens;
    for (std::size_t place = 0; place < live.size(); ++place) {
      Beam& beam = beams[live[place]];
      const Index first = Index(place * copies);
      beam.extend(logits, first);
      if (beam.done()) continue;
      going_on.push_back(live[place]);
      for (std::size_t copy = 0; copy < copies; ++copy) {
        rows.push_back(first + beam.origin(copy));
        tokens.push_back(beam.newest(copy));
      }
    }
    live = std::move(going_on);
    writer.reorder(rows);
    newest = Ids({Index(rows.size()), 1}, std::span<const std::int32_t>(tokens));
  }

  std::vector<std::vector<Written>> results;
  for (const Beam& beam : beams) results.push_back(beam.result());
  return results;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
