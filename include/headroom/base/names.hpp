// Names: the two-way table between an enumeration and the words a user types.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "headroom/base/error.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// `constexpr Names<Layout, 2> names{{{Layout::fused, "fused"}, ...}};`
template <class Enum, std::size_t N>
struct Names {
  std::pair<Enum, const char*> table[N];  // NOLINT: braces stay simple

  constexpr const char* name(Enum value) const {
    for (const auto& [entry, text] : table) {
      if (entry == value) return text;
    }
    return "?";
  }

  /// Throws UsageError that lists the names: `layout: "fussed" is not one of separate, fused,
  /// shared`.
  Enum find(const char* what, const std::string& wanted) const {
    std::string all;
    for (const auto& [entry, text] : table) {
      if (text == wanted) return entry;
      all += (all.empty() ? "" : ", ") + std::string(text);
    }
    throw UsageError(std::string(what) + ": \"" + wanted + "\" is not one of " + all);
  }
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
