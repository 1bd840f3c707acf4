// Attention by plain loops in long double.
#include "ops/table/plain_attention.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace test {

namespace {

using Long = long double;

/// Element [b, t, c] of a [B, T, C] array.
Index at(const Array& x, Index b, Index t, Index c) { return (b * x.dim(1) + t) * x.dim(2) + c; }

Long get(const Array& x, Index b, Index t, Index c) { return static_cast<Long>(x[at(x, b, t, c)]); }

void add(Array& x, Index b, Index t, Index c, Long more) {
  Real& element = x[at(x, b, t, c)];
  element = Real(static_cast<Long>(element) + more);
}

}  // namespace

std::vector<Long> PlainAttention::weights(const Array& query, const Array& key, Index b, Index head,
                                          Index i, bool masked) const {
  const auto keys = static_cast<std::size_t>(key.dim(1));
  std::vector<Long> p(keys, 0);
  std::vector<bool> may(keys);
  Long largest = -1e30L, sum = 0;
  for (std::size_t j = 0; j < keys; ++j) {
    may[j] = !masked || allows(b, head, i, Index(j));
    if (!may[j]) continue;
    for (Index d = 0; d < head_dim; ++d) {
      p[j] += get(query, b, i, head * head_dim + d) * get(key, b, Index(j), head * head_dim + d) *
              scale;
    }
    if (bias) p[j] += bias(b, head, i, Index(j));
    largest = std::max(largest, p[j]);
  }
  for (std::size_t j = 0; j < keys; ++j) {
    p[j] = may[j] ? std::exp(p[j] - largest) : 0;
    sum += p[j];
  }
  for (Long& weight : p) weight = sum > 0 ? weight / sum : 0;
  return p;
}

Array PlainAttention::forward(const Array& query, const Array& key, const Array& value) const {
  Array y = zeros({query.dim(0), query.dim(1), heads * value_dim});
  for (Index b = 0; b < query.dim(0); ++b) {
    for (Index h = 0; h < heads; ++h) {
      for (Index i = 0; i < query.dim(1); ++i) {
        const std::vector<Long> p = weights(query, key, b, h, i, true);
        for (Index c = h * value_dim; c < (h + 1) * value_dim; ++c) {
          Long sum = 0;
          for (Index j = 0; j < key.dim(1); ++j) {
            sum += p[static_cast<std::size_t>(j)] * get(value, b, j, c);
          }
          y[at(y, b, i, c)] = Real(sum);
        }
      }
    }
  }
  return y;
}

PlainAttention::Gradients PlainAttention::backward(const Array& query, const Array& key,
                                                   const Array& value, const Array& dy) const {
  Gradients into{zeros(query.shape()), zeros(key.shape()), zeros(value.shape()),
                 zeros({query.dim(0), heads, query.dim(1), key.dim(1)})};
  Index score = 0;
  for (Index b = 0; b < query.dim(0); ++b) {
    for (Index h = 0; h < heads; ++h) {
      for (Index i = 0; i < query.dim(1); ++i) {
        const std::vector<Long> p = weights(query, key, b, h, i, with_mask);
        // y = P V: dV = P^T dy, dP = dy V^T; then dS = P (dP - sum_j P_j dP_j).
        std::vector<Long> dp(p.size(), 0);
        Long sum = 0;
        for (std::size_t j = 0; j < p.size(); ++j) {
          for (Index c = h * value_dim; c < (h + 1) * value_dim; ++c) {
            dp[j] += get(dy, b, i, c) * get(value, b, Index(j), c);
            add(into.value, b, Index(j), c, p[j] * get(dy, b, i, c));
          }
          if (with_sum_term) sum += p[j] * dp[j];
        }
        for (std::size_t j = 0; j < p.size(); ++j) {
          into.scores[score++] = Real(p[j] * (dp[j] - sum));
          const Long ds = p[j] * (dp[j] - sum) * (with_scale ? scale : 1);
          for (Index d = h * head_dim; d < (h + 1) * head_dim; ++d) {
            add(into.query, b, i, d, ds * get(key, b, Index(j), d));
            add(into.key, b, Index(j), d, ds * get(query, b, i, d));
          }
        }
      }
    }
  }
  return into;
}

}  // namespace test
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
