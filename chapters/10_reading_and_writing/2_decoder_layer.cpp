//! title: DecoderLayer::operator()
//! replaces: headroom::DecoderLayer::operator
//! minutes: 20
//! difficulty: 2
//! path: short
//! needs: 09/2
//! hint: Who asks in cross-attention, and who answers? The output has one row for each of those
//!   who ask. Which of the two masks counts tokens of the source?
//! hint: Three halves like those of chapter 09, h1 = half(x, norm1, dropout1, self-attention),
//!   h2 = half(h1, norm2, dropout2, cross-attention), y = half(h2, norm3, dropout3, feed_forward).
//!   Only the queries of the second one go through norm2: memory is used as it is.
//! hint: Pre-norm: h1 = x + dropout1(attend(*self_attn_, n, n, mask, probe, own)) with
//!   n = norm1(x); h2 = h1 + dropout2(attend(*multihead_attn_, norm2(h1), memory, memory_mask,
//!   probe, cross)); y = h2 + dropout3(feed_forward(norm3(h2))).
//! after: The library writes the form of a half once, for encoder and decoder:
//!   residual() in src/headroom/nn/transformer.cpp.
// Exercise 10/2, DecoderLayer::operator(): a layer that listens to another sequence.
#include "2_decoder_layer.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Tensor DecoderLayer::operator()(const Tensor& x, const Tensor& memory, const AttentionMask& mask,
                                const AttentionMask& memory_mask, HeadProbe* probe,
                                DecoderLayerCache* cache) const {
  KeyValueCache* own = cache == nullptr ? nullptr : &cache->self;
  KeyValueCache* cross = cache == nullptr ? nullptr : &cache->cross;
  if (norm_first) {
    //! solution
    const Tensor n = norm1(x);
    const Tensor h1 = x + dropout1(attend(*self_attn_, n, n, mask, probe, own));
    const Tensor h2 =
        h1 + dropout2(attend(*multihead_attn_, norm2(h1), memory, memory_mask, probe, cross));
    return h2 + dropout3(feed_forward(norm3(h2)));
    //! skeleton
    // return chapter::todo("pre-norm: self-attention, cross-attention, feed-forward", own, cross);
    //! mistake always_post: norm_first is true, and this is post-norm: norm(x + f(x))
    // const Tensor h1 = norm1(x + dropout1(attend(*self_attn_, x, x, mask, probe, own)));
    // const Tensor h2 =
    //     norm2(h1 + dropout2(attend(*multihead_attn_, h1, memory, memory_mask, probe, cross)));
    // return norm3(h2 + dropout3(feed_forward(h2)));
    //! mistake memory_as_query: the memory asks and the decoder's tokens answer: the output has a
    //!   row for each token of the source. The queries of cross-attention are the decoder's
    //- h1 + dropout2(attend(*multihead_attn_, norm2(h1), memory, memory_mask, probe, cross));
    //+ memory + dropout2(attend(*multihead_attn_, memory, norm2(h1), AttentionMask::none(),
    //+ probe, cross));
    // ...
    //- norm2(h1 + dropout2(attend(*multihead_attn_, h1, memory, memory_mask, probe, cross)));
    //+ norm2(memory + dropout2(attend(*multihead_attn_, memory, h1, AttentionMask::none(),
    //+ probe, cross)));
    //! mistake listens_to_itself: cross-attention got its own tokens as memory: it is a second
    //!   self-attention, and nothing of the source arrives
    //- h1 + dropout2(attend(*multihead_attn_, norm2(h1), memory, memory_mask, probe, cross));
    //+ h1 + dropout2(attend(*multihead_attn_, norm2(h1), norm2(h1), mask, probe, cross));
    // ...
    //- norm2(h1 + dropout2(attend(*multihead_attn_, h1, memory, memory_mask, probe, cross)));
    //+ norm2(h1 + dropout2(attend(*multihead_attn_, h1, h1, mask, probe, cross)));
    //! mistake padding_seen: padding of the source is seen: memory_mask is for cross-attention
    //- h1 + dropout2(attend(*multihead_attn_, norm2(h1), memory, memory_mask, probe, cross));
    //+ h1 + dropout2(attend(*multihead_attn_, norm2(h1), memory, AttentionMask::none(), probe,
    //+ cross));
    // ...
    //- norm2(h1 + dropout2(attend(*multihead_attn_, h1, memory, memory_mask, probe, cross)));
    //+ norm2(h1 + dropout2(attend(*multihead_attn_, h1, memory, AttentionMask::none(), probe,
    //+ cross)));
    //! mistake one_mask: the mask of the decoder was used for the source, too: the first token sees
    //!   only the first token of the source, and the padding is seen by the last ones
    //- h1 + dropout2(attend(*multihead_attn_, norm2(h1), memory, memory_mask, probe, cross));
    //+ h1 + dropout2(attend(*multihead_attn_, norm2(h1), memory, mask, probe, cross));
    // ...
    //- norm2(h1 + dropout2(attend(*multihead_attn_, h1, memory, memory_mask, probe, cross)));
    //+ norm2(h1 + dropout2(attend(*multihead_attn_, h1, memory, mask, probe, cross)));
    //! mistake no_causal_mask: every token sees the later ones: `mask` is for self-attention
    //- const Tensor h1 = x + dropout1(attend(*self_attn_, n, n, mask, probe, own));
    //+ const AttentionMask all = AttentionMask::none();
    //+ const Tensor h1 = x + dropout1(attend(*self_attn_, n, n, all, probe, own));
    // ...
    //- const Tensor h1 = norm1(x + dropout1(attend(*self_attn_, x, x, mask, probe, own)));
    //+ const AttentionMask all = AttentionMask::none();
    //+ const Tensor h1 = norm1(x + dropout1(attend(*self_attn_, x, x, all, probe, own)));
    //! mistake order: cross-attention came first, then self-attention
    // const Tensor h1 =
    //     x + dropout2(attend(*multihead_attn_, norm2(x), memory, memory_mask, probe, cross));
    // const Tensor n = norm1(h1);
    // const Tensor h2 = h1 + dropout1(attend(*self_attn_, n, n, mask, probe, own));
    // return h2 + dropout3(feed_forward(norm3(h2)));
    //! mistake layers_exchanged: the weights of self-attention and of cross-attention were
    //!   exchanged: multihead_attn_ is the one that reads the memory
    //- const Tensor h1 = x + dropout1(attend(*self_attn_, n, n, mask, probe, own));
    //+ const Tensor h1 = x + dropout1(attend(*multihead_attn_, n, n, mask, probe, own));
    // ...
    //- h1 + dropout2(attend(*multihead_attn_, norm2(h1), memory, memory_mask, probe, cross));
    //+ h1 + dropout2(attend(*self_attn_, norm2(h1), memory, memory_mask, probe, cross));
    // ...
    //- const Tensor h1 = norm1(x + dropout1(attend(*self_attn_, x, x, mask, probe, own)));
    //+ const Tensor h1 = norm1(x + dropout1(attend(*multihead_attn_, x, x, mask, probe, own)));
    // ...
    //- norm2(h1 + dropout2(attend(*multihead_attn_, h1, memory, memory_mask, probe, cross)));
    //+ norm2(h1 + dropout2(attend(*self_attn_, h1, memory, memory_mask, probe, cross)));
    //! mistake memory_normed: norm2 was applied to the memory, too. The encoder's output needs no
    //!   norm here
    //- h1 + dropout2(attend(*multihead_attn_, norm2(h1), memory, memory_mask, probe, cross));
    //+ h1 + dropout2(attend(*multihead_attn_, norm2(h1), norm2(memory), memory_mask, probe,
    //+ cross));
    // ...
    //- norm2(h1 + dropout2(attend(*multihead_attn_, h1, memory, memory_mask, probe, cross)));
    //+ norm2(h1 + dropout2(attend(*multihead_attn_, h1, norm2(memory), memory_mask, probe,
    //+ cross)));
    //! mistake self_residual_missing: the residual path around self-attention is missing: its
    //!   result replaced what it was to be added to
    //- const Tensor h1 = x + dropout1(attend(*self_attn_, n, n, mask, probe, own));
    //+ const Tensor h1 = dropout1(attend(*self_attn_, n, n, mask, probe, own));
    // ...
    //- const Tensor h1 = norm1(x + dropout1(attend(*self_attn_, x, x, mask, probe, own)));
    //+ const Tensor h1 = norm1(dropout1(attend(*self_attn_, x, x, mask, probe, own)));
    //! mistake cross_residual_missing: the residual path around cross-attention is missing: its
    //!   result replaced what it was to be added to
    //- h1 + dropout2(attend(*multihead_attn_, norm2(h1), memory, memory_mask, probe, cross));
    //+ dropout2(attend(*multihead_attn_, norm2(h1), memory, memory_mask, probe, cross));
    // ...
    //- norm2(h1 + dropout2(attend(*multihead_attn_, h1, memory, memory_mask, probe, cross)));
    //+ norm2(dropout2(attend(*multihead_attn_, h1, memory, memory_mask, probe, cross)));
    //! mistake last_residual_missing: the residual path around feed-forward is missing: its result
    //!   replaced what it was to be added to
    //- return h2 + dropout3(feed_forward(norm3(h2)));
    //+ return dropout3(feed_forward(norm3(h2)));
    // ...
    //- return norm3(h2 + dropout3(feed_forward(h2)));
    //+ return norm3(dropout3(feed_forward(h2)));
    //! mistake norm1_missing: norm1 is missing
    //- const Tensor n = norm1(x);
    //+ const Tensor n = x;
    // ...
    //- const Tensor h1 = norm1(x + dropout1(attend(*self_attn_, x, x, mask, probe, own)));
    //+ const Tensor h1 = x + dropout1(attend(*self_attn_, x, x, mask, probe, own));
    //! mistake norm2_missing: norm2 is missing
    //- h1 + dropout2(attend(*multihead_attn_, norm2(h1), memory, memory_mask, probe, cross));
    //+ h1 + dropout2(attend(*multihead_attn_, h1, memory, memory_mask, probe, cross));
    // ...
    //- norm2(h1 + dropout2(attend(*multihead_attn_, h1, memory, memory_mask, probe, cross)));
    //+ h1 + dropout2(attend(*multihead_attn_, h1, memory, memory_mask, probe, cross));
    //! mistake norm3_missing: norm3 is missing
    //- return h2 + dropout3(feed_forward(norm3(h2)));
    //+ return h2 + dropout3(feed_forward(h2));
    // ...
    //- return norm3(h2 + dropout3(feed_forward(h2)));
    //+ return h2 + dropout3(feed_forward(h2));
    //! wrong memory_cut: no gradient arrived at memory, so the encoder would never learn
    //- h1 + dropout2(attend(*multihead_attn_, norm2(h1), memory, memory_mask, probe, cross));
    //+ h1 + dropout2(attend(*multihead_attn_, norm2(h1), memory.detach(), memory_mask, probe,
    //+ cross));
    //! mistake without_dropout: dropout was left out: dropout1, dropout2 and dropout3 are for the
    //!   three branches
    //- const Tensor h1 = x + dropout1(attend(*self_attn_, n, n, mask, probe, own));
    //+ const Tensor h1 = x + attend(*self_attn_, n, n, mask, probe, own);
    // ...
    //- h1 + dropout2(attend(*multihead_attn_, norm2(h1), memory, memory_mask, probe, cross));
    //+ h1 + attend(*multihead_attn_, norm2(h1), memory, memory_mask, probe, cross);
    // ...
    //- return h2 + dropout3(feed_forward(norm3(h2)));
    //+ return h2 + feed_forward(norm3(h2));
    // ...
    //- const Tensor h1 = norm1(x + dropout1(attend(*self_attn_, x, x, mask, probe, own)));
    //+ const Tensor h1 = norm1(x + attend(*self_attn_, x, x, mask, probe, own));
    // ...
    //- norm2(h1 + dropout2(attend(*multihead_attn_, h1, memory, memory_mask, probe, cross)));
    //+ norm2(h1 + attend(*multihead_attn_, h1, memory, memory_mask, probe, cross));
    // ...
    //- return norm3(h2 + dropout3(feed_forward(h2)));
    //+ return norm3(h2 + feed_forward(h2));
    //! wrong map_lost: the map of cross-attention never came
    //- h1 + dropout2(attend(*multihead_attn_, norm2(h1), memory, memory_mask, probe, cross));
    //+ h1 + dropout2(attend(*multihead_attn_, norm2(h1), memory, memory_mask, nullptr, cross));
    //! wrong cross_not_cached: the cache of cross-attention is still empty
    //- h1 + dropout2(attend(*multihead_attn_, norm2(h1), memory, memory_mask, probe, cross));
    //+ h1 + dropout2(attend(*multihead_attn_, norm2(h1), memory, memory_mask, probe, nullptr));
    //! end
  }
  //! solution
  const Tensor h1 = norm1(x + dropout1(attend(*self_attn_, x, x, mask, probe, own)));
  const Tensor h2 =
      norm2(h1 + dropout2(attend(*multihead_attn_, h1, memory, memory_mask, probe, cross)));
  return norm3(h2 + dropout3(feed_forward(h2)));
  //! skeleton
  // return chapter::todo("post-norm: the same three halves", own, cross);
  //! mistake always_pre: norm_first is false, and this is pre-norm: x + f(norm(x))
  // const Tensor n = norm1(x);
  // const Tensor h1 = x + dropout1(attend(*self_attn_, n, n, mask, probe, own));
  // const Tensor h2 =
  //     h1 + dropout2(attend(*multihead_attn_, norm2(h1), memory, memory_mask, probe, cross));
  // return h2 + dropout3(feed_forward(norm3(h2)));
  //! mistake order: as above
  // const Tensor h1 =
  //     norm2(x + dropout2(attend(*multihead_attn_, x, memory, memory_mask, probe, cross)));
  // const Tensor h2 = norm1(h1 + dropout1(attend(*self_attn_, h1, h1, mask, probe, own)));
  // return norm3(h2 + dropout3(feed_forward(h2)));
  //! end
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
