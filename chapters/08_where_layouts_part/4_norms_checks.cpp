// Checks head_gradient_norms against plain loops over the separate layout, where a head's gradients
// are tensors of their own; then that the fused layout gives the same.
#include "4_norms.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

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

/// The norms of all live heads, from the gradients of each head of the separate layout.
Array right(const SeparateHeads& layer) {
  Array norms({Index(layer.query.size())});
  for (Index i = 0; i < norms.size(); ++i) {
    std::vector<Array> parts{slice(layer.out.weight.grad(), {1, i * head_dim, (i + 1) * head_dim})};
    for (const auto* list : {&layer.query, &layer.key, &layer.value}) {
      parts.push_back((*list)[std::size_t(i)]->weight.grad());
      parts.push_back((*list)[std::size_t(i)]->bias.grad());
    }
    double squares = 0;
    for (const Array& part : parts) {
      for (const Real value : part.span()) squares += double(value) * double(value);
    }
    norms[i] = Real(std::sqrt(squares));
  }
  return norms;
}

void compare(const char* subject, Attention& layer, const SeparateHeads& reference) {
  const std::vector<double> yours = head_gradient_norms(layer);
  chapter::require(
      yours.size() == reference.query.size(),
      fmt::format("your function returns {} norms for {} live heads ({}).", yours.size(),
                  reference.query.size(), fmt::join(layer.alive(), ", ")));
  Array values({Index(yours.size())});
  for (Index i = 0; i < values.size(); ++i) values[i] = Real(yours[std::size_t(i)]);
  chapter::require_equal(subject, right(reference), values, {{"head"}, {}});
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
