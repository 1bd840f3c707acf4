//! title: attention, its gradient in plain loops
//! replaces: headroom::attention
//! minutes: 40
//! difficulty: 3
//! path: short
//! needs: 05/2
//! hint: Take one query and its row of weights. Which of the gradients that you need can be
//!   computed before the mean of the row is known, and which cannot?
//! hint: for b, for h, for i: first loop over the allowed j: dp[j], the mean, and what is added to
//!   dv(b, h, j, d). Second loop over the allowed j: ds, and with it what is added to
//!   dq(b, h, i, d) and to dk(b, h, j, d).
//! hint: First loop: dp[j] = sum over d of dy(b, h, i, d) * v(b, h, j, d); dv(b, h, j, d) +=
//!   P(b, h, i, j) * dy(b, h, i, d); mean += P(b, h, i, j) * dp[j]. Second loop:
//!   ds = sizes.scale * P(b, h, i, j) * (dp[j] - mean); dq(b, h, i, d) += ds * k(b, h, j, d);
//!   dk(b, h, j, d) += ds * q(b, h, i, d).
//! after: The library's own, in src/headroom/kernels/attention.cpp, is the same formula. It does
//!   not keep P but computes it again from one number per row, the log of the sum; it works on
//!   blocks of rows, vectorised, on all cores; and it takes the mean as dy . y.
// Exercise 05/4, attention: forward and backward in plain loops.
#include "4_attention.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Tensor attention(const HeadColumns& query, const HeadColumns& key, const HeadColumns& value,
                 Index heads, Index head_dim, Index value_dim, const AttentionOptions& options) {
  OpScope op("attention");
  const chapter::Sizes sizes =
      chapter::check_attention(query, key, value, heads, head_dim, value_dim, options);
  if (options.dropout > 0 || options.score_bias.defined()) {  // options that loops do not have here
    return composed::attention(query, key, value, heads, head_dim, value_dim, options).y;
  }
  const chapter::HeadView q(query, head_dim), k(key, head_dim), v(value, value_dim);
  const chapter::Pairs<std::uint8_t> allowed(
      options.mask.bytes(sizes.batch, sizes.original_heads, sizes.queries, sizes.keys));
  chapter::Pairs<Real> P(zeros({sizes.batch, heads, sizes.queries, sizes.keys}));
  const Array out = zeros({sizes.batch, sizes.queries, heads * value_dim});
  chapter::HeadView y(out, 0, value_dim);

  for (Index b = 0; b < sizes.batch; ++b) {
    for (Index h = 0; h < sizes.heads; ++h) {
      for (Index i = 0; i < sizes.queries; ++i) {
        Real largest = -std::numeric_limits<Real>::infinity(), sum = 0;
        for (Index j = 0; j < sizes.keys; ++j) {
          if (allowed(b, h, i, j) == 0) continue;
          Real score = 0;
          for (Index d = 0; d < sizes.head_dim; ++d) score += q(b, h, i, d) * k(b, h, j, d);
          P(b, h, i, j) = score * sizes.scale;
          largest = std::max(largest, P(b, h, i, j));
        }
        for (Index j = 0; j < sizes.keys; ++j) {
          if (allowed(b, h, i, j) == 0) continue;
          P(b, h, i, j) = std::exp(P(b, h, i, j) - largest);
          sum += P(b, h, i, j);
        }
        for (Index j = 0; j < sizes.keys; ++j) {
          if (allowed(b, h, i, j) == 0) continue;
          P(b, h, i, j) /= sum;
          for (Index d = 0; d < sizes.value_dim; ++d) {
            y(b, h, i, d) += P(b, h, i, j) * v(b, h, j, d);
          }
        }
      }
    }
  }

  const auto backward = [=, q_at = query.first, k_at = key.first, v_at = value.first](
                            const Array& gradient, Gradients& into) {
    const chapter::HeadView dy(gradient, 0, sizes.value_dim);
    chapter::HeadView dq(zeros(q.array.shape()), q_at, sizes.head_dim);
    chapter::HeadView dk(zeros(k.array.shape()), k_at, sizes.head_dim);
    chapter::HeadView dv(zeros(v.array.shape()), v_at, sizes.value_dim);
    //! solution
    Array dp = zeros({sizes.keys});
    for (Index b = 0; b < sizes.batch; ++b) {
      for (Index h = 0; h < sizes.heads; ++h) {
        for (Index i = 0; i < sizes.queries; ++i) {
          Real mean = 0;
          for (Index j = 0; j < sizes.keys; ++j) {
            if (allowed(b, h, i, j) == 0) continue;
            dp[j] = 0;
            for (Index d = 0; d < sizes.value_dim; ++d) {
              dp[j] += dy(b, h, i, d) * v(b, h, j, d);
              dv(b, h, j, d) += P(b, h, i, j) * dy(b, h, i, d);
            }
            mean += P(b, h, i, j) * dp[j];
          }
          for (Index j = 0; j < sizes.keys; ++j) {
            if (allowed(b, h, i, j) == 0) continue;
            const Real ds = sizes.scale * P(b, h, i, j) * (dp[j] - mean);
            for (Index d = 0; d < sizes.head_dim; ++d) {
              dq(b, h, i, d) += ds * k(b, h, j, d);
              dk(b, h, j, d) += ds * q(b, h, i, d);
            }
          }
        }
      }
    }
    //! skeleton
    // for (Index b = 0; b < sizes.batch; ++b) {
    //   for (Index h = 0; h < sizes.heads; ++h) {
    //     for (Index i = 0; i < sizes.queries; ++i) {
    //       const Real mean = chapter::todo("a first loop over the keys: dp, the mean, dv");
    //       dq(b, h, i, 0) = chapter::todo("a second loop over the keys: ds, dq, dk", mean);
    //     }
    //   }
    // }
    //! mistake no_mean: the mean of the row is missing in dS = P (dP - mean). It is there because
    //!   the weights of a row sum to 1: one can only grow if others shrink
    //- Real mean = 0;
    // ...
    //- mean += P(b, h, i, j) * dp[j];
    // ...
    //- const Real ds = sizes.scale * P(b, h, i, j) * (dp[j] - mean);
    //+ const Real ds = sizes.scale * P(b, h, i, j) * dp[j];
    //! mistake plain_mean: the mean was taken without the weights: it is the sum of P dP over the
    //!   row
    //- mean += P(b, h, i, j) * dp[j];
    //+ mean += dp[j] / Real(sizes.keys);
    //! mistake mean_too_early: the mean was used before it was complete: it needs a loop over the
    //!   keys of its own
    //    mean += P(b, h, i, j) * dp[j];
    //- }
    //- for (Index j = 0; j < sizes.keys; ++j) {
    //-   if (allowed(b, h, i, j) == 0) continue;
    //! mistake no_scale_back: the scale is missing on the way back: the scores are scale q k, so dS
    //!   goes on to q and k times the scale
    //- const Real ds = sizes.scale * P(b, h, i, j) * (dp[j] - mean);
    //+ const Real ds = P(b, h, i, j) * (dp[j] - mean);
    //! mistake last_query_only: only the last query that may see a key was counted: every query
    //!   adds its part to dk
    //- dk(b, h, j, d) += ds * q(b, h, i, d);
    //+ dk(b, h, j, d) = ds * q(b, h, i, d);
    //! mistake crossed: dk was made of keys: a score is q k, so its derivative by k is q
    //- dk(b, h, j, d) += ds * q(b, h, i, d);
    //+ dk(b, h, j, d) += ds * k(b, h, j, d);
    //! mistake transposed: P was read transposed: P(b, h, i, j) is what query i gives to key j
    //- dv(b, h, j, d) += P(b, h, i, j) * dy(b, h, i, d);
    //+ dv(b, h, j, d) += P(b, h, j, i) * dy(b, h, i, d);
    //! mistake last_key_only: only the last key that a query may see was counted: every key adds
    //!   its part to dq
    //- dq(b, h, i, d) += ds * k(b, h, j, d);
    //+ dq(b, h, i, d) = ds * k(b, h, j, d);
    //! mistake last_value_only: only the last query that may see a key was counted: every query
    //!   adds its part to dv
    //- dv(b, h, j, d) += P(b, h, i, j) * dy(b, h, i, d);
    //+ dv(b, h, j, d) = P(b, h, i, j) * dy(b, h, i, d);
    //! mistake query_of_queries: dq was made of queries: a score is q k, so its derivative by q is
    //!   k. The dS of a row sum to 0, so nothing is left
    //- dq(b, h, i, d) += ds * k(b, h, j, d);
    //+ dq(b, h, i, d) += ds * q(b, h, i, d);
    //! mistake mean_divided: the mean was divided by the number of keys: the weights of a row sum
    //!   to 1, so the sum of P dP is a mean already
    //- mean += P(b, h, i, j) * dp[j];
    //+ mean += P(b, h, i, j) * dp[j] / Real(sizes.keys);
    //! wrong reads_everything: a key that is not allowed was read
    //- if (allowed(b, h, i, j) == 0) continue;
    //  dp[j] = 0;
    // ...
    //- if (allowed(b, h, i, j) == 0) continue;
    //  const Real ds = sizes.scale * P(b, h, i, j) * (dp[j] - mean);
    //! wrong without_values: no gradient arrived at value
    //- into[2] += dv.array;
    //! wrong overwrites: the gradient of query was replaced, not added to
    //- into[0] += dq.array;
    //+ into[0].sum() = dq.array;
    //! mistake slots_exchanged: the gradient of the keys went to the query: slot 0 of `into` is the
    //!   query's
    //- into[0] += dq.array;
    //- into[1] += dk.array;
    //+ into[0] += dk.array;
    //+ into[1] += dq.array;
    //! wrong not_recorded: the result is not recorded on the tape
    //- return record(op, out, {query.source, key.source, value.source}, backward);
    //+ return Tensor(out);
    //! end
    into[0] += dq.array;
    into[1] += dk.array;
    into[2] += dv.array;
  };
  return record(op, out, {query.source, key.source, value.source}, backward);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
