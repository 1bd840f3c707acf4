// "Did you mean": the nearest of a list of known words.
#pragma once

#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Levenshtein's distance: the smallest number of insertions, deletions and replacements of single
/// elements that turns `a` into `b`.
template <class T>
Index edit_distance(std::span<const T> a, std::span<const T> b) {
  std::vector<Index> row(b.size() + 1);  // distances of a's prefix to every prefix of b
  std::iota(row.begin(), row.end(), Index{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    Index diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const Index replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row[b.size()];
}

/// The known word with the smallest edit distance to `word`; of equals one with the same letters
/// (letters were swapped), then the first. "" when none is near: more than a third of its letters
/// (rounded up) would have to change.
std::string nearest(std::string_view word, std::span<const std::string> known);

/// " (did you mean train?)", or "" when no known word is near.
std::string did_you_mean(std::string_view word, std::span<const std::string> known);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
