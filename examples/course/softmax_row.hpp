// The record of chapter 05's figure: the scores of one query, and what the library's softmax makes
// of them for some scales and masks. The page computes its own.
#pragma once

#include <cstdint>
#include <vector>

#include "figure.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/nn/init.hpp"
#include "headroom/ops/ops.hpp"

inline void write_softmax_row() {
  if (!figure_wanted()) return;
  using namespace headroom;
  constexpr Index keys = 8, head_dim = 64;
  const NoGrad quiet;
  Rng rng(5, "one head: figure");
  const Tensor q(normal({1, head_dim}, 1, rng)), k(normal({keys, head_dim}, 1, rng));
  const Tensor scores = matmul(q, transpose(k));
  const auto numbers = [](const auto& all) { return Record(std::vector(all.begin(), all.end())); };
  Record checked = Record::array();
  const std::vector<std::uint8_t> all(keys, 1), some{1, 1, 1, 0, 1, 0, 0, 1}, none(keys, 0);
  for (const double scale : {1.0 / 64, 1.0 / 8, 1.0}) {
    for (const auto& allowed : {all, some, none}) {
      Bytes mask({1, keys});
      for (Index i = 0; i < keys; ++i) mask[i] = allowed[std::size_t(i)];
      const Array weights = masked_softmax(scores * Real(scale), mask).value();
      checked.push_back(
          {{"scale", scale}, {"allowed", allowed}, {"weights", numbers(weights.span())}});
    }
  }
  write_figure(
      {{"head_dim", head_dim}, {"scores", numbers(scores.value().span())}, {"checked", checked}});
}
