// Checks head_gradient_norms against plain loops over the separate layout, where a head's gradients
// are tensors of their own; then that the fused layout gives the same.
#include "4_norms.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <functional>

#include "common/checks.hpp"
#include "headroom/algebra/algebra.hpp"
#include "headroom/surgery/transplant.hpp"
#include "headroom/nn/fused_heads.hpp"
#include "headroom/nn/separate_heads.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library
using chapter::random_array;

constexpr Index width = 12, heads = 4, head_dim = 3;

/// Both layouts with the same heads and the gradients of one backward pass.
struct Twins {
  explicit Twins(std::uint64_t seed)
      : rng(seed, "08/4"),
        separate({.width = width, .heads = heads}, rng),
        fused({.width = width, .heads = heads}, rng) {
    for (NamedParameter& p : parameters(separate)) {
      p.tensor.set_value(random_array(p.tensor.shape(), rng));
    }
    transplant(separate, fused);
  }
  void backward() {
    const Tensor x(random_array({2, 5, width}, rng));
    const Array dy = random_array(x.shape(), rng);
    for (Attention* const layer : std::initializer_list<Attention*>{&separate, &fused}) {
      (*layer)(x, x, AttentionMask::none()).backward(dy);
    }
  }
  Rng rng;
  SeparateHeads separate;
  FusedHeads fused;
};

double square_sum(const Array& array) {
  double sum = 0;
  for (const Real value : array.span()) sum += double(value) * double(value);
  return sum;
}

/// The gradients of one live head of the separate layout, by its position.
std::vector<Array> parts_of(const SeparateHeads& layer, Index position, int output_axis = 1,
                            bool biases = true) {
  const auto h = std::size_t(position);
  std::vector<Array> parts;
  for (const auto* list : {&layer.query, &layer.key, &layer.value}) {
    parts.push_back((*list)[h]->weight.grad());
    if (biases) parts.push_back((*list)[h]->bias.grad());
  }
  parts.push_back(slice(layer.out.weight.grad(),
                        {output_axis, position * head_dim, (position + 1) * head_dim}));
  return parts;
}

/// The norms of all live heads, each from the gradients of the head.
Array norms(const SeparateHeads& layer, const std::function<double(Index position)>& norm) {
  Array result({Index(layer.query.size())});
  for (Index i = 0; i < result.size(); ++i) result[i] = Real(norm(i));
  return result;
}

double norm_of(const std::vector<Array>& parts) {
  double sum = 0;
  for (const Array& part : parts) sum += square_sum(part);
  return std::sqrt(sum);
}

Array right(const SeparateHeads& layer) {
  return norms(layer, [&](Index i) { return norm_of(parts_of(layer, i)); });
}

std::vector<chapter::Hypothesis> hypotheses(const SeparateHeads& layer) {
  const auto each = [&layer](const std::function<double(Index)>& norm) {
    return [&layer, norm] { return norms(layer, norm); };
  };
  return {
      {"rows of W_O were taken for columns: a head owns columns",
       each([&layer](Index i) { return norm_of(parts_of(layer, i, 0)); })},
      {"the norms of the parts were added: their squares must be", each([&layer](Index i) {
         double sum = 0;
         for (const Array& part : parts_of(layer, i)) sum += std::sqrt(square_sum(part));
         return sum;
       })},
      {"the square root is missing",
       each([&layer](Index i) { return std::pow(norm_of(parts_of(layer, i)), 2); })},
      {"the biases were left out",
       each([&layer](Index i) { return norm_of(parts_of(layer, i, 1, false)); })},
      {"each head was given the norm of whole parameters, out.weight too", each([&layer](Index i) {
         std::vector<Array> parts = parts_of(layer, i);
         parts.back() = layer.out.weight.grad();
         return norm_of(parts);
       })},
      {"the gradient of the output bias was counted, which belongs to no head",
       each([&layer](Index i) {
         std::vector<Array> parts = parts_of(layer, i);
         parts.push_back(layer.out.bias.grad());
         return norm_of(parts);
       })},
  };
}

void compare(const char* subject, Attention& layer, const SeparateHeads& reference) {
  const std::vector<double> yours = head_gradient_norms(layer);
  chapter::require(
      yours.size() == reference.query.size(),
      fmt::format("your function returns {} norms for {} live heads ({}).", yours.size(),
                  reference.query.size(), fmt::join(layer.alive(), ", ")));
  Array values({Index(yours.size())});
  for (Index i = 0; i < values.size(); ++i) values[i] = Real(yours[std::size_t(i)]);
  chapter::require_equal(subject, right(reference), values, {{"head"}, {}}, hypotheses(reference));
}

}  // namespace

TEST_CASE("separate heads", "[08/4]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Twins twins(seed);
    twins.backward();
    compare("the norms of the separate layout", twins.separate, twins.separate);
  }
}

TEST_CASE("fused heads: the same numbers", "[08/4]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Twins twins(seed);
    twins.backward();
    compare("the norms of the fused layout", twins.fused, twins.separate);
  }
}

TEST_CASE("after a prune", "[08/4]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Twins twins(seed);
    const std::vector<Index> gone{0, 2};
    twins.separate.prune(gone);
    twins.fused.prune(gone);
    twins.backward();
    compare("the norms of the separate layout", twins.separate, twins.separate);
    compare("the norms of the fused layout", twins.fused, twins.separate);
  }
}

TEST_CASE("before the first backward pass", "[08/4]") {
  Twins twins(1);
  for (const double norm : head_gradient_norms(twins.fused)) {
    chapter::require(norm == 0,
                     fmt::format("no parameter has a gradient, but a norm is {}.", norm));
  }
}
