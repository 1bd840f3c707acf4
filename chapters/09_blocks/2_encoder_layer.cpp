//! title: EncoderLayer::operator()
//! replaces: headroom::EncoderLayer::operator
//! minutes: 15
//! difficulty: 2
//! path: short
//! needs: 09/1
//! hint: Draw one line from x to y that passes no norm, no attention and no feed-forward. In which
//!   of the two forms can you? What is added to it on the way?
//! hint: Each form has two halves, and the second half begins with the result of the first:
//!   h = half(x, norm1, dropout1, attention), y = half(h, norm2, dropout2, feed-forward).
//! hint: Pre-norm: h = x + dropout1(attend(*self_attn_, n, n, mask, probe, cache)), where n is
//!   norm1(x); then h + dropout2(feed_forward(norm2(h))).
//!   Post-norm: h = norm1(x + dropout1(attend(...))), with x in place of n; then
//!   norm2(h + dropout2(feed_forward(h))).
//! after: The library's own says "one branch around its residual" once, as a function of f, and its
//!   decoder layer uses it three times.
// Exercise 09/2, EncoderLayer: attention and feed-forward, each beside its residual path.
#include "2_encoder_layer.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Tensor EncoderLayer::operator()(const Tensor& x, const AttentionMask& mask, HeadProbe* probe,
                                KeyValueCache* cache) const {
  if (norm_first) {
    //! solution
    const Tensor n = norm1(x);
    const Tensor h = x + dropout1(attend(*self_attn_, n, n, mask, probe, cache));
    return h + dropout2(feed_forward(norm2(h)));
    //! skeleton
    // return chapter::todo("pre-norm: attention, then feed-forward");
    //! mistake always_post: norm_first is true, and this is post-norm: norm(x + f(x))
    // const Tensor h = norm1(x + dropout1(attend(*self_attn_, x, x, mask, probe, cache)));
    // return norm2(h + dropout2(feed_forward(h)));
    //! mistake residual_of_normed: the normalised x was added, not x: norm(x) + f(norm(x)). Then
    //!   the residual path leads through a norm in every layer
    // const Tensor n = norm1(x);
    // const Tensor h = n + dropout1(attend(*self_attn_, n, n, mask, probe, cache));
    // const Tensor m = norm2(h);
    // return m + dropout2(feed_forward(m));
    //! mistake norm_behind: the norm is behind f, inside the branch: x + norm(f(x)). That is
    //!   neither of the two forms
    // const Tensor h = x + dropout1(norm1(attend(*self_attn_, x, x, mask, probe, cache)));
    // return h + dropout2(norm2(feed_forward(h)));
    //! mistake second_residual_missing: the second residual path is missing: feed-forward replaced
    //!   h instead of adding to it
    //- return h + dropout2(feed_forward(norm2(h)));
    //+ return dropout2(feed_forward(norm2(h)));
    // ...
    //- return norm2(h + dropout2(feed_forward(h)));
    //+ return norm2(dropout2(feed_forward(h)));
    //! mistake norm1_twice: norm1 was used in both halves; each half has its own norm
    //- return h + dropout2(feed_forward(norm2(h)));
    //+ return h + dropout2(feed_forward(norm1(h)));
    // ...
    //- return norm2(h + dropout2(feed_forward(h)));
    //+ return norm1(h + dropout2(feed_forward(h)));
    //! mistake only_queries: only the queries were normalised: keys and values come from norm(x),
    //!   too
    //- const Tensor h = x + dropout1(attend(*self_attn_, n, n, mask, probe, cache));
    //+ const Tensor h = x + dropout1(attend(*self_attn_, n, x, mask, probe, cache));
    //! mistake in_parallel: feed_forward got the input of the layer, not the result of the first
    //!   half
    //- return h + dropout2(feed_forward(norm2(h)));
    //+ return h + dropout2(feed_forward(norm2(x)));
    // ...
    //- return norm2(h + dropout2(feed_forward(h)));
    //+ return norm2(h + dropout2(feed_forward(x)));
    //! mistake mask_lost: the mask was lost: every token sees the later ones
    //- const Tensor h = x + dropout1(attend(*self_attn_, n, n, mask, probe, cache));
    //+ const AttentionMask all = AttentionMask::none();
    //+ const Tensor h = x + dropout1(attend(*self_attn_, n, n, all, probe, cache));
    // ...
    //- const Tensor h = norm1(x + dropout1(attend(*self_attn_, x, x, mask, probe, cache)));
    //+ const AttentionMask all = AttentionMask::none();
    //+ const Tensor h = norm1(x + dropout1(attend(*self_attn_, x, x, all, probe, cache)));
    //! mistake path_cut: the residual path carries values but no gradient: detach() and value()
    //!   take a tensor off the tape
    //- const Tensor h = x + dropout1(attend(*self_attn_, n, n, mask, probe, cache));
    //- return h + dropout2(feed_forward(norm2(h)));
    //+ const Tensor h = x.detach() + dropout1(attend(*self_attn_, n, n, mask, probe, cache));
    //+ return h.detach() + dropout2(feed_forward(norm2(h)));
    // ...
    //- const Tensor h = norm1(x + dropout1(attend(*self_attn_, x, x, mask, probe, cache)));
    //- return norm2(h + dropout2(feed_forward(h)));
    //+ const Tensor cut = x.detach();
    //+ const Tensor h = norm1(cut + dropout1(attend(*self_attn_, x, x, mask, probe, cache)));
    //+ return norm2(h.detach() + dropout2(feed_forward(h)));
    //! mistake without_dropout: dropout1 and dropout2 were left out
    //- const Tensor h = x + dropout1(attend(*self_attn_, n, n, mask, probe, cache));
    //- return h + dropout2(feed_forward(norm2(h)));
    //+ const Tensor h = x + attend(*self_attn_, n, n, mask, probe, cache);
    //+ return h + feed_forward(norm2(h));
    // ...
    //- const Tensor h = norm1(x + dropout1(attend(*self_attn_, x, x, mask, probe, cache)));
    //- return norm2(h + dropout2(feed_forward(h)));
    //+ const Tensor h = norm1(x + attend(*self_attn_, x, x, mask, probe, cache));
    //+ return norm2(h + feed_forward(h));
    //! mistake dropout_of_sum: dropout was applied to the sum, so it tears holes into the residual
    //!   path. It belongs to the branch alone
    //- const Tensor h = x + dropout1(attend(*self_attn_, n, n, mask, probe, cache));
    //- return h + dropout2(feed_forward(norm2(h)));
    //+ const Tensor h = dropout1(x + attend(*self_attn_, n, n, mask, probe, cache));
    //+ return dropout2(h + feed_forward(norm2(h)));
    // ...
    //- const Tensor h = norm1(x + dropout1(attend(*self_attn_, x, x, mask, probe, cache)));
    //- return norm2(h + dropout2(feed_forward(h)));
    //+ const Tensor h = norm1(dropout1(x + attend(*self_attn_, x, x, mask, probe, cache)));
    //+ return norm2(dropout2(h + feed_forward(h)));
    //! wrong probe_lost: the maps that were asked for never came
    //- const Tensor h = x + dropout1(attend(*self_attn_, n, n, mask, probe, cache));
    //+ const Tensor h = x + dropout1(attend(*self_attn_, n, n, mask, nullptr, cache));
    //! wrong cache_lost: the cache is still empty
    //- const Tensor h = x + dropout1(attend(*self_attn_, n, n, mask, probe, cache));
    //+ const Tensor h = x + dropout1(attend(*self_attn_, n, n, mask, probe, nullptr));
    //! end
  }
  //! solution
  const Tensor h = norm1(x + dropout1(attend(*self_attn_, x, x, mask, probe, cache)));
  return norm2(h + dropout2(feed_forward(h)));
  //! skeleton
  // return chapter::todo("post-norm: attention, then feed-forward");
  //! mistake always_pre: norm_first is false, and this is pre-norm: x + f(norm(x))
  // const Tensor n = norm1(x);
  // const Tensor h = x + dropout1(attend(*self_attn_, n, n, mask, probe, cache));
  // return h + dropout2(feed_forward(norm2(h)));
  //! mistake post_of_branch: the norm is behind f, inside the branch: x + norm(f(x)). That is
  //!   neither of the two forms
  // const Tensor h = x + norm1(dropout1(attend(*self_attn_, x, x, mask, probe, cache)));
  // return h + norm2(dropout2(feed_forward(h)));
  //! mistake input_again: the second residual path begins at the input of the layer; it begins at
  //!   the result of the first half
  //- return norm2(h + dropout2(feed_forward(h)));
  //+ return norm2(x + dropout2(feed_forward(h)));
  // ...
  //- return h + dropout2(feed_forward(norm2(h)));
  //+ return x + dropout2(feed_forward(norm2(h)));
  //! end
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
