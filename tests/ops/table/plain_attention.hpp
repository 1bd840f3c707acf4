// Attention by plain loops in long double: the reference of fused attention.
#pragma once

#include <functional>
#include <vector>

#include "headroom/array/array.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace test {

/// One attention of `heads` heads over compact arrays: query [B, Tq, heads * head_dim], key
/// [B, Tk, heads * head_dim], value [B, Tk, heads * value_dim].
struct PlainAttention {
  Index heads = 1, head_dim = 1, value_dim = 1;
  long double scale = 1;
  std::function<bool(Index b, Index head, Index i, Index j)> allows;
  /// Bias added to the scaled score; empty: none.
  std::function<long double(Index b, Index head, Index i, Index j)> bias = {};

  /// Terms of the backward pass that planted faults leave out.
  bool with_sum_term = true, with_scale = true, with_mask = true;

  struct Gradients {
    Array query, key, value;
    Array scores;  // [B, heads, Tq, Tk], gradient of the scaled scores
  };
  Array forward(const Array& query, const Array& key, const Array& value) const;
  Gradients backward(const Array& query, const Array& key, const Array& value,
                     const Array& dy) const;

 private:
  /// The weights of one row; all 0 when no key is allowed.
  std::vector<long double> weights(const Array& query, const Array& key, Index b, Index head,
                                   Index i, bool masked) const;
};

}  // namespace test
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
