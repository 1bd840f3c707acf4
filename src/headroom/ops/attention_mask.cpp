// AttentionMask: conditions, how they combine, and what they allow.
#include "headroom/ops/attention_mask.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headroom/base/error.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

AttentionMask AttentionMask::causal(Index offset) {
  AttentionMask mask;
  mask.causal_offset_ = offset;
  return mask;
}

AttentionMask AttentionMask::lengths(Ids lengths) {
  if (lengths.rank() != 1 && lengths.rank() != 2) {
    throw ShapeError(
        fmt::format("AttentionMask::lengths: {} must be [B] or [B, Tq]", lengths.shape().text()));
  }
  AttentionMask mask;
  mask.lengths_ = std::move(lengths);
  return mask;
}

AttentionMask AttentionMask::allow(Bytes allowed) {
  if (allowed.rank() < 2 || allowed.rank() > 4) {
    throw ShapeError(
        fmt::format("AttentionMask::allow: {} must be [Tq, Tk], [B, Tq, Tk] or [B, H, Tq, Tk]",
                    allowed.shape().text()));
  }
  AttentionMask mask;
  mask.allowed_ = std::move(allowed);
  return mask;
}

namespace {

/// The smaller of both, [B] or [B, Tq]; a length per example applies to all its queries.
Ids smaller(const Ids& a, const Ids& b) {
  const Ids& fine = a.rank() >= b.rank() ? a : b;
  const Ids& coarse = a.rank() >= b.rank() ? b : a;
  if (fine.dim(0) != coarse.dim(0) ||
      (fine.rank() == coarse.rank() && fine.shape() != coarse.shape())) {
    throw ShapeError(fmt::format("AttentionMask &: lengths {} and {} do not fit together",
                                 a.shape().text(), b.shape().text()));
  }
  Ids result(fine.shape());
  const Index per_coarse = coarse.size() == 0 ? 1 : fine.size() / coarse.size();
  for (Index i = 0; i < fine.size(); ++i) result[i] = std::min(fine[i], coarse[i / per_coarse]);
  return result;
}

/// Offset of the [Tq, Tk] matrix of (b, head) in a byte mask of 2, 3 or 4 axes.
Index matrix_offset(const Bytes& mask, Index b, Index head) {
  const Index matrix = mask.dim(-2) * mask.dim(-1);
  if (mask.rank() == 2) return 0;
  if (mask.rank() == 3) return b * matrix;
  return (b * mask.dim(1) + head) * matrix;
}

/// A mask that is 1 where both are; the one with fewer axes is repeated over batch and heads.
Bytes both(const Bytes& a, const Bytes& b) {
  const Bytes& fine = a.rank() >= b.rank() ? a : b;
  const Bytes& coarse = a.rank() >= b.rank() ? b : a;
  bool fits = fine.dim(-2) == coarse.dim(-2) && fine.dim(-1) == coarse.dim(-1);
  if (coarse.rank() > 2) fits = fits && fine.dim(0) == coarse.dim(0);
  if (coarse.rank() == 4) fits = fits && fine.dim(1) == coarse.dim(1);
  if (!fits) {
    throw ShapeError(fmt::format("AttentionMask &: bytes {} and {} do not fit together",
                                 a.shape().text(), b.shape().text()));
  }
  Bytes result = fine.clone();
  const Index matrix = fine.dim(-2) * fine.dim(-1);
  const Index heads = fine.rank() == 4 ? fine.dim(1) : 1;
  for (Index begin = 0; begin < fine.size(); begin += matrix) {
    const Index at = begin / matrix;
    const std::uint8_t* const other = coarse.data() + matrix_offset(coarse, at / heads, at % heads);
    for (Index i = 0; i < matrix; ++i) result[begin + i] = result[begin + i] != 0 && other[i] != 0;
  }
  return result;
}

}  // namespace

AttentionMask AttentionMask::operator&(const AttentionMask& other) const {
  AttentionMask result = *this;
  if (other.causal_offset_) {
    result.causal_offset_ =
        std::min(*other.causal_offset_, causal_offset_.value_or(*other.causal_offset_));
  }
  if (other.lengths_.defined()) {
    result.lengths_ = lengths_.defined() ? smaller(lengths_, other.lengths_) : other.lengths_;
  }
  if (other.allowed_.defined()) {
    result.allowed_ = allowed_.defined() ? both(allowed_, other.allowed_) : other.allowed_;
  }
  return result;
}

void AttentionMask::check(const char* operation, Index batch, Index heads, Index queries,
                          Index keys) const {
  if (lengths_.defined() && lengths_.shape() != Shape{batch} &&
      lengths_.shape() != Shape{batch, queries}) {
    throw ShapeError(
        fmt::format("{}: mask lengths {} fit neither [B] = [{}] nor [B, Tq] = [{}, {}]", operation,
                    lengths_.shape().text(), batch, batch, queries));
  }
  if (!allowed_.defined()) return;
  const Shape matrix{queries, keys};
  const Shape per_head{batch, heads, queries, keys};
  const Shape& given = allowed_.shape();
  if (given != matrix && given != matrix.inserted(0, batch) && given != per_head) {
    throw ShapeError(fmt::format(
        "{}: mask bytes {} fit neither [Tq, Tk] = {} nor [B, Tq, Tk] = {} nor [B, H, Tq, Tk] = {}, "
        "H counting the original heads",
        operation, given.text(), matrix.text(), matrix.inserted(0, batch).text(), per_head.text()));
  }
}

Index AttentionMask::key_limit(Index b, Index i, Index keys) const {
  Index limit = keys;
  if (causal_offset_) limit = std::min(limit, i + *causal_offset_ + 1);
  if (lengths_.defined()) {
    const Index length = lengths_.rank() == 1 ? lengths_[b] : lengths_[b * lengths_.dim(1) + i];
    limit = std::min(limit, length);
  }
  return std::max<Index>(limit, 0);
}

bool AttentionMask::limit_is_uniform() const {
  return !causal_offset_ && (!lengths_.defined() || lengths_.rank() == 1);
}

const std::uint8_t* AttentionMask::allowed_row(Index b, Index head, Index i) const {
  if (!allowed_.defined()) return nullptr;
  return allowed_.data() + matrix_offset(allowed_, b, head) + i * allowed_.dim(-1);
}

bool AttentionMask::allows(Index b, Index head, Index i, Index j, Index keys) const {
  if (j >= key_limit(b, i, keys)) return false;
  const std::uint8_t* const row = allowed_row(b, head, i);
  return row == nullptr || row[j] != 0;
}

Bytes AttentionMask::bytes(Index batch, std::span<const Index> heads, Index queries,
                           Index keys) const {
  Bytes result(Shape{batch, Index(heads.size()), queries, keys});
  std::uint8_t* out = result.data();
  for (Index b = 0; b < batch; ++b) {
    for (const Index head : heads) {
      for (Index i = 0; i < queries; ++i) {
        for (Index j = 0; j < keys; ++j) *out++ = allows(b, head, i, j, keys) ? 1 : 0;
      }
    }
  }
  return result;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
