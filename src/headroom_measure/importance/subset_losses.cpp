// Many subsets of heads in few forward passes.
#include "importance/subset_losses.hpp"

#include <algorithm>
#include <numeric>

#include "headroom/algebra/algebra.hpp"
#include "headroom/base/at.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Examples in a forward pass: enough for two threads, few enough for the cache.
constexpr Index examples_together = 256;

/// A copy of the batch is filled up to a multiple of so many rows, by repeating its last example.
/// The bits of a result then do not depend on the copies next to it: a row of a matrix product, the
/// only operation that mixes rows in its loops, has the same bits wherever it is in a block of rows
/// of the BLAS's kernels. Their blocks have at most 32 rows; slabs of gemm() begin at multiples of
/// 32. In a block that is not full, and in products of few rows, other kernels do the work.
constexpr Index row_block = 32;

}  // namespace

SubsetLosses::SubsetLosses(Module& model, std::span<const HeadId> players, const ProbedBatch& batch)
    : players_(players),
      batch_(batch),
      attentions_(attentions(model)),
      rows_((batch.examples + row_block - 1) / row_block * row_block),
      together_(std::max<Index>(1, examples_together / rows_)) {
  for (Index i = 0; i < std::ssize(players); ++i) {
    if (at(players, i).kind == AttentionKind::encoder_self) in_encoder_ = in_encoder_.with(i);
  }
}

HeadSet SubsetLosses::encoder_part(HeadSet subset) const { return subset & in_encoder_; }

/// The gates of copies of `rows` examples, one for each subset: [rows * copies, H].
HeadProbe SubsetLosses::probe_of(std::span<const HeadSet> subsets, Index rows) const {
  std::map<AttentionLocation, Array> gates;
  for (const NamedAttention& found : attentions_) {
    gates[found.location()] = ones({rows * std::ssize(subsets), found.attention->config().heads});
  }
  for (Index i = 0; i < std::ssize(players_); ++i) {
    const HeadId& head = at(players_, i);
    Array& of_attention = gates.at({head.kind, head.layer});
    const Index heads = of_attention.dim(1);
    for (Index s = 0; s < std::ssize(subsets); ++s) {
      if (at(subsets, s).contains(i)) continue;
      for (Index row = s * rows; row < (s + 1) * rows; ++row) {
        of_attention[row * heads + head.head] = 0;
      }
    }
  }
  HeadProbe probe;
  for (const auto& [location, values] : gates) probe.gates[location] = constant(values);
  return probe;
}

/// So many copies of the batch, one after the other.
const ProbedBatch& SubsetLosses::copies(Index count) {
  const auto found = copies_.find(count);
  if (found != copies_.end()) return found->second;
  std::vector<Index> rows;
  for (Index row = 0; row < count * rows_; ++row) {
    rows.push_back(std::min(row % rows_, batch_.examples - 1));
  }
  return copies_[count] = batch_.picked(rows);
}

/// The losses of the copies of the batch for a group of subsets.
Tensor SubsetLosses::losses_of(std::span<const HeadSet> group) {
  const ProbedBatch& many = copies(std::ssize(group));
  HeadProbe probe = probe_of(group, rows_);
  if (!many.encoded) return many.losses(probe);
  std::vector<Array> encoded;
  for (const HeadSet& subset : group) {
    const HeadSet part = encoder_part(subset);
    const auto [known, fresh] = encoded_.try_emplace(part);
    if (fresh) {
      HeadProbe one = probe_of(std::span(&part, 1), rows_);
      known->second = copies(1).encoded(one).value();
    }
    encoded.push_back(known->second);
  }
  return many.losses_from(constant(concat(encoded, 0)), probe);
}

void SubsetLosses::run(std::span<const HeadSet> subsets, const See& see) {
  if (!batch_.picked) {
    for (std::size_t s = 0; s < subsets.size(); ++s) {
      HeadProbe probe = probe_of(subsets.subspan(s, 1), batch_.examples);
      const Tensor losses = batch_.losses(probe);
      see(s, losses.value().span());
    }
    return;
  }
  // Neighbours have the same part in the encoder.
  std::vector<std::size_t> order(subsets.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return encoder_part(subsets[a]) < encoder_part(subsets[b]);
  });
  for (std::size_t first = 0; first < order.size(); first += std::size_t(together_)) {
    const auto end = std::min(first + std::size_t(together_), order.size());
    std::vector<HeadSet> group;
    for (std::size_t i = first; i < end; ++i) group.push_back(subsets[order[i]]);
    const Tensor losses = losses_of(group);
    for (std::size_t i = first; i < end; ++i) {
      see(order[i], losses.value().span().subspan((i - first) * std::size_t(rows_),
                                                  std::size_t(batch_.examples)));
    }
    const HeadSet last = encoder_part(group.back());
    std::erase_if(encoded_, [&](const auto& known) { return known.first != last; });
  }
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
