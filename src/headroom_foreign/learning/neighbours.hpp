// Neighbours: which nearest neighbours of texts two sets of embeddings have in common.
#pragma once

#include <optional>
#include <vector>

#include "headroom/array/array.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Collects two embeddings of each text, all of length 1, and compares the nearest neighbours of
/// the texts among each other.
class Neighbours {
 public:
  /// The neighbours of each text that are compared.
  static constexpr Index compared = 5;

  /// Both [B, C], for the same texts.
  void add(const Array& former, const Array& present);
  /// The share of the nearest neighbours by the former embeddings that are also nearest by the
  /// present ones, over all texts. None with at most `compared` other texts: then all of them are
  /// neighbours, whatever the embeddings are.
  std::optional<double> kept() const;

 private:
  std::vector<Array> former_, present_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
