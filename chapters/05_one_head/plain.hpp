// Attention by plain loops in double, and the same with mistakes: the reference of the checks of
// this chapter.
#pragma once

#include "common/checks.hpp"
#include "headroom/ops/attention.hpp"

namespace chapter {

/// The heads in the columns of an array [B, T, *].
struct PlainHeads {
  Array source;
  Index first, width;

  Index at(Index b, Index h, Index t, Index d) const {
    return (b * source.dim(1) + t) * source.dim(2) + first + h * width + d;
  }
  double operator()(Index b, Index h, Index t, Index d) const {
    return double(source[at(b, h, t, d)]);
  }
};

/// One attention. The switches are mistakes.
struct PlainAttention {
  Index heads;
  PlainHeads query, key, value;
  headroom::AttentionMask mask;
  double scale;

  bool masked = true;          // false: the mask is ignored
  bool over_queries = false;   // the softmax runs over the queries
  bool with_mean = true;       // false: dS = P dP
  bool plain_mean = false;     // the mean over the keys without their weights
  bool running_mean = false;   // the mean is used before it is complete
  bool scale_back = true;      // false: no scale in the gradient
  bool last_query = false;     // dk is that of the last query
  bool last_key = false;       // dq is that of the last key
  bool last_value = false;     // dv is that of the last query
  bool mean_share = false;     // the mean is divided by the number of keys
  bool crossed = false;        // dk is made of keys
  bool query_crossed = false;  // dq is made of queries
  bool transposed = false;     // dv is made with P transposed
  bool from_keys = false;      // the average is made of keys

  Index batch() const { return query.source.dim(0); }
  Index queries() const { return query.source.dim(1); }
  Index keys() const { return key.source.dim(1); }
  bool allows(Index b, Index h, Index i, Index j) const {
    return !masked || mask.allows(b, h, i, j, keys());
  }
  Index map_at(Index b, Index h, Index i, Index j) const {
    return ((b * heads + h) * queries() + i) * keys() + j;
  }

  /// [B, H, Tq, Tk]
  Array scores() const {
    Array s({batch(), heads, queries(), keys()}, 0);
    for_each_pair([&](Index b, Index h, Index i, Index j) {
      double sum = 0;
      for (Index d = 0; d < query.width; ++d) sum += query(b, h, i, d) * key(b, h, j, d);
      s[map_at(b, h, i, j)] = Real(sum * scale);
    });
    return s;
  }
  Array maps() const {
    Array p = headroom::zeros({batch(), heads, queries(), keys()});
    const Array s = scores();
    std::vector<double> sums(std::size_t(batch() * heads * (over_queries ? keys() : queries())));
    const auto sum_of = [&](Index b, Index h, Index i, Index j) -> double& {
      const Index n = over_queries ? keys() : queries();
      return sums[std::size_t((b * heads + h) * n + (over_queries ? j : i))];
    };
    for_each_pair([&](Index b, Index h, Index i, Index j) {
      if (allows(b, h, i, j)) sum_of(b, h, i, j) += std::exp(double(s[map_at(b, h, i, j)]));
    });
    for_each_pair([&](Index b, Index h, Index i, Index j) {
      if (!allows(b, h, i, j)) return;
      p[map_at(b, h, i, j)] = Real(std::exp(double(s[map_at(b, h, i, j)])) / sum_of(b, h, i, j));
    });
    return p;
  }
  /// [B, H, Tq, Dv]
  Array head_out() const {
    const PlainHeads& of = from_keys ? key : value;
    const Array p = maps();
    Array out = headroom::zeros({batch(), heads, queries(), of.width});
    for_each_pair([&](Index b, Index h, Index i, Index j) {
      for (Index d = 0; d < of.width; ++d) {
        out[((b * heads + h) * queries() + i) * of.width + d] +=
            p[map_at(b, h, i, j)] * Real(of(b, h, j, d));
      }
    });
    return out;
  }
  /// The heads side by side, [B, Tq, H Dv].
  Array y() const {
    const Array out = head_out();
    const Index width = out.dim(3);
    Array merged({batch(), queries(), heads * width});
    for (Index e = 0; e < out.size(); ++e) {
      const Index d = e % width, i = e / width % queries();
      const Index h = e / (width * queries()) % heads, b = e / (width * queries() * heads);
      merged[((b * queries() + i) * heads + h) * width + d] = out[e];
    }
    return merged;
  }

  /// Gradients of the three sources. Columns that no head has get 0.
  struct Gradients {
    Array query, key, value;
  };
  Gradients backward(const Array& dy) const {
    Gradients g{headroom::zeros(query.source.shape()), headroom::zeros(key.source.shape()),
                headroom::zeros(value.source.shape())};
    const PlainHeads to{dy, 0, value.width};
    const Array p = maps();
    std::vector<double> dp(std::size_t(p.size())), mean(std::size_t(p.size() / keys()));
    const auto row = [&](Index at) { return std::size_t(at / keys()); };
    for_each_pair([&](Index b, Index h, Index i, Index j) {
      if (!allows(b, h, i, j)) return;
      const Index at = map_at(b, h, i, j);
      for (Index d = 0; d < value.width; ++d) {
        dp[std::size_t(at)] += to(b, h, i, d) * value(b, h, j, d);
        Real& sum = g.value[value.at(b, h, j, d)];
        const Real dv = p[transposed ? map_at(b, h, j, i) : at] * dy[to.at(b, h, i, d)];
        sum = last_value ? dv : sum + dv;
      }
      double weight = plain_mean ? 1 / double(keys()) : double(p[at]);
      if (mean_share) weight /= double(keys());
      if (with_mean && !running_mean) mean[row(at)] += weight * dp[std::size_t(at)];
    });
    for_each_pair([&](Index b, Index h, Index i, Index j) {
      if (!allows(b, h, i, j)) return;
      const Index at = map_at(b, h, i, j);
      const auto weight = double(p[at]), d_weight = dp[std::size_t(at)];
      if (running_mean) mean[row(at)] += weight * d_weight;
      const double ds = weight * (d_weight - mean[row(at)]) * (scale_back ? scale : 1);
      for (Index d = 0; d < query.width; ++d) {
        const auto dq = Real(ds * (query_crossed ? query(b, h, i, d) : key(b, h, j, d)));
        const auto dk = Real(ds * (crossed ? key(b, h, j, d) : query(b, h, i, d)));
        Real& query_sum = g.query[query.at(b, h, i, d)];
        Real& key_sum = g.key[key.at(b, h, j, d)];
        query_sum = last_key ? dq : query_sum + dq;
        key_sum = last_query ? dk : key_sum + dk;
      }
    });
    return g;
  }

 private:
  template <class Visit>
  void for_each_pair(Visit visit) const {
    for (Index b = 0; b < batch(); ++b) {
      for (Index h = 0; h < heads; ++h) {
        for (Index i = 0; i < queries(); ++i) {
          for (Index j = 0; j < keys(); ++j) visit(b, h, i, j);
        }
      }
    }
  }
};

/// A copy of an attention with one mistake.
template <class Change>
PlainAttention with(const PlainAttention& right, Change change) {
  PlainAttention wrong = right;
  change(wrong);
  return wrong;
}

}  // namespace chapter
