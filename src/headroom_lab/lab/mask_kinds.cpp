// One mask of every kind, for experiments that must hold under all of them.
#include "lab/mask_kinds.hpp"

#include <algorithm>

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {
namespace mask_kinds {

/// Each key is allowed with probability 0.6, and at least one per row.
Bytes arbitrary(const Shape& shape, Rng& rng) {
  Bytes allowed(shape, std::uint8_t{0});
  const Index keys = shape[3];
  for (Index row = 0; row < allowed.size() / keys; ++row) {
    for (Index j = 0; j < keys; ++j) allowed[row * keys + j] = rng.uniform() < Real(0.6) ? 1 : 0;
    allowed[row * keys + rng.below(keys)] = 1;
  }
  return allowed;
}

/// Nothing is allowed in the first row of each example, nor in a quarter of the others.
void empty_some_rows(Bytes& allowed, Rng& rng) {
  const Index keys = allowed.dim(3), rows_of_example = allowed.dim(1) * allowed.dim(2);
  for (Index row = 0; row < allowed.size() / keys; ++row) {
    if (row % rows_of_example != 0 && rng.uniform() >= Real(0.25)) continue;
    std::fill_n(allowed.data() + row * keys, keys, std::uint8_t{0});
  }
}

}  // namespace mask_kinds
}  // namespace

std::vector<NamedMask> every_mask_kind(Index batch, Index heads, Index queries, Index keys,
                                       Rng& rng) {
  Ids lengths(Shape{batch}, static_cast<std::int32_t>(keys));
  for (Index b = 1; b < batch; ++b) {
    lengths[b] = static_cast<std::int32_t>(1 + rng.below(std::max<Index>(keys - 1, 1)));
  }
  const Shape shape{batch, heads, queries, keys};
  Bytes with_empty_rows = mask_kinds::arbitrary(shape, rng);
  mask_kinds::empty_some_rows(with_empty_rows, rng);
  return {{"none", AttentionMask::none()},
          {"causal", AttentionMask::causal()},
          {"valid lengths", AttentionMask::lengths(lengths)},
          {"arbitrary", AttentionMask::allow(mask_kinds::arbitrary(shape, rng))},
          {"with empty rows", AttentionMask::allow(with_empty_rows)}};
}

std::vector<Index> allowed_keys(const AttentionMask& mask, Index batch, Index heads, Index queries,
                                Index keys) {
  std::vector<Index> counts;
  for (Index b = 0; b < batch; ++b) {
    for (Index h = 0; h < heads; ++h) {
      for (Index i = 0; i < queries; ++i) {
        Index count = 0;
        for (Index j = 0; j < keys; ++j) count += mask.allows(b, h, i, j, keys) ? 1 : 0;
        counts.push_back(count);
      }
    }
  }
  return counts;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
