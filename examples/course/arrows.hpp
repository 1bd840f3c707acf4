// The record of chapter 03's figure: the arrows of some operations, with their factors.
#pragma once

#include <cmath>
#include <cstdlib>
#include <vector>

#include "figure.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/nn/init.hpp"
#include "headroom/ops/ops.hpp"

/// All arrows of an operation as a record: for each element of its operand, the elements of y that
/// it moves, with the factors. The factors are the operand's gradient where one dy is 1.
template <class Function>
headroom::Record arrows_of(const char* name, const char* operand, const headroom::Array& x,
                           const Function& function) {
  headroom::Rng rng(3, name);
  headroom::Tensor leaf = headroom::parameter(x.clone());
  const headroom::Shape of_y = function(leaf).shape();
  headroom::Array dy = headroom::normal(of_y, 1, rng);
  for (headroom::Real& d : dy.span())
    d = std::round(10 * d) / 10;  // short enough to be read in a cell
  headroom::Record arrows(
      std::vector<headroom::Record>(std::size_t(x.size()), headroom::Record::array()));
  for (headroom::Index j = 0; j < dy.size(); ++j) {
    headroom::Array one = headroom::zeros(of_y);
    one[j] = 1;
    leaf.zero_grad();
    function(leaf).backward(one);
    const headroom::Array factors = leaf.grad();
    for (headroom::Index i = 0; i < x.size(); ++i) {
      if (factors[i] != 0) arrows[std::size_t(i)].push_back({j, factors[i]});
    }
  }
  leaf.zero_grad();
  function(leaf).backward(dy);
  const auto numbers = [](const auto& all) {
    return headroom::Record(std::vector(all.begin(), all.end()));
  };
  return {{"name", name},
          {"operand", operand},
          {"shape", numbers(x.shape())},
          {"y_shape", numbers(of_y)},
          {"dy", numbers(dy.span())},
          {"gradient", numbers(leaf.grad().span())},
          {"arrows", arrows}};
}

inline void write_arrows() {
  if (!figure_wanted()) return;
  const headroom::Array whole = headroom::zeros({4, 6, 8});
  const auto add = [&](const headroom::Tensor& operand) {
    return headroom::Tensor(whole) + operand;
  };
  const headroom::Array b({3, 4}, {1, 2, 0.5, -1, -2, 1, 3, -0.5, 0.5, -1, 1, 2});
  write_figure({{"operations",
                 {arrows_of("x + b", "b", headroom::zeros({8}), add),
                  arrows_of("x + s", "s", headroom::zeros({6, 1}), add),
                  arrows_of("sigmoid(x)", "x", headroom::Array({6}, {-4, -2, -1, 0, 1, 3}),
                            [](const headroom::Tensor& x) { return headroom::sigmoid(x); }),
                  arrows_of("permute(x)", "x", headroom::zeros({3, 4}),
                            [](const headroom::Tensor& x) {
                              return headroom::permute(x, {1, 0});
                            }),
                  arrows_of("a · b", "a", headroom::zeros({2, 3}), [&](const headroom::Tensor& a) {
                    return headroom::matmul(a, headroom::Tensor(b));
                  })}}});
}
