// Attention by plain loops in double: the reference of the checks of this chapter.
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

/// One attention.
struct PlainAttention {
  Index heads;
  PlainHeads query, key, value;
  headroom::AttentionMask mask;
  double scale;

  Index batch() const { return query.source.dim(0); }
  Index queries() const { return query.source.dim(1); }
  Index keys() const { return key.source.dim(1); }
  bool allows(Index b, Index h, Index i, Index j) const { return mask.allows(b, h, i, j, keys()); }
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
    std::vector<double> sums(std::size_t(p.size() / keys()));
    const auto sum_of = [&](Index at) -> double& { return sums[std::size_t(at / keys())]; };
    for_each_pair([&](Index b, Index h, Index i, Index j) {
      const Index at = map_at(b, h, i, j);
      if (allows(b, h, i, j)) sum_of(at) += std::exp(double(s[at]));
    });
    for_each_pair([&](Index b, Index h, Index i, Index j) {
      const Index at = map_at(b, h, i, j);
      if (allows(b, h, i, j)) p[at] = Real(std::exp(double(s[at])) / sum_of(at));
    });
    return p;
  }
  /// [B, H, Tq, Dv]
  Array head_out() const {
    const Array p = maps();
    Array out = headroom::zeros({batch(), heads, queries(), value.width});
    for_each_pair([&](Index b, Index h, Index i, Index j) {
      for (Index d = 0; d < value.width; ++d) {
        out[((b * heads + h) * queries() + i) * value.width + d] +=
            p[map_at(b, h, i, j)] * Real(value(b, h, j, d));
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
        g.value[value.at(b, h, j, d)] += p[at] * dy[to.at(b, h, i, d)];
      }
      mean[row(at)] += double(p[at]) * dp[std::size_t(at)];
    });
    for_each_pair([&](Index b, Index h, Index i, Index j) {
      if (!allows(b, h, i, j)) return;
      const Index at = map_at(b, h, i, j);
      const double ds = double(p[at]) * (dp[std::size_t(at)] - mean[row(at)]) * scale;
      for (Index d = 0; d < query.width; ++d) {
        g.query[query.at(b, h, i, d)] += Real(ds * key(b, h, j, d));
        g.key[key.at(b, h, j, d)] += Real(ds * query(b, h, i, d));
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

}  // namespace chapter
