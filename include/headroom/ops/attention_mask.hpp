// AttentionMask: which query may attend to which key. True means allowed.
#pragma once

#include <optional>

#include "headroom/array/array.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A condition on (batch, head, query, key). Conditions combine with `&`. Only the bytes that
/// allow() was given are stored as bytes.
class AttentionMask {
 public:
  /// Every query may attend to every key.
  static AttentionMask none() { return {}; }
  /// Key j is allowed for query i when j <= i + offset. With a key/value cache the offset is the
  /// cached length.
  static AttentionMask causal(Index offset = 0);
  /// The first lengths[b] (or lengths[b, i]) keys are allowed. lengths [B] or [B, Tq]: d2l's
  /// valid_lens.
  static AttentionMask lengths(Ids lengths);
  /// 1 = allowed, 0 = denied; [Tq, Tk], [B, Tq, Tk] or [B, H, Tq, Tk], H counting *original* heads.
  static AttentionMask allow(Bytes allowed);
  /// A pair is allowed when both masks allow it. Throws ShapeError when two byte masks do not fit
  /// together.
  AttentionMask operator&(const AttentionMask& other) const;

  bool is_none() const { return !causal_offset_ && !lengths_.defined() && !allowed_.defined(); }
  /// Throws ShapeError unless the mask fits attention of these sizes; `heads` is the original
  /// count.
  void check(const char* operation, Index batch, Index heads, Index queries, Index keys) const;

  /// Number of leading keys that causality and lengths allow for query i of example b, in [0,
  /// keys].
  Index key_limit(Index b, Index i, Index keys) const;
  /// True when key_limit is the same for all queries of an example.
  bool limit_is_uniform() const;
  /// The byte row of (b, original head, query), or nullptr without a byte mask.
  const std::uint8_t* allowed_row(Index b, Index head, Index i) const;
  /// The bytes that allow() was given, combined; undefined without.
  const Bytes& allowed_bytes() const { return allowed_; }
  /// True when key j is allowed: both conditions above.
  bool allows(Index b, Index head, Index i, Index j, Index keys) const;
  /// The mask as bytes [B, H, Tq, Tk]; rows of `heads` by original index.
  Bytes bytes(Index batch, std::span<const Index> heads, Index queries, Index keys) const;

 private:
  std::optional<Index> causal_offset_;
  Ids lengths_;
  Bytes allowed_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
