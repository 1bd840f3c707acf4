// Computations with arrays that several experiments share.
#include "lab/numbers.hpp"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "headroom/base/error.hpp"
#include "headroom/nn/init.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

std::uint64_t seed_of_draw(std::uint64_t seed, std::uint64_t draw) {
  Rng rng(seed, "draw", draw);
  const std::uint64_t high = rng.word();
  return high << 32 | rng.word();
}

Array uniform_array(const Shape& shape, Rng& rng) {
  Array result(shape);
  for (Real& x : result.span()) x = rng.uniform();
  return result;
}

Tensor parameter_named(Module& module, const std::string& name) {
  for (const NamedParameter& parameter : parameters(module)) {
    if (parameter.name == name) return parameter.tensor;
  }
  throw UsageError(fmt::format("{} has no parameter {}", module.title(), name));
}

void randomise(Module& module, Rng& rng) {
  for (NamedParameter& parameter : parameters(module)) {
    const Index in = parameter.tensor.dim(-1);
    const Real deviation = parameter.tensor.rank() == 1 ? Real(0.1) : 1 / std::sqrt(Real(in));
    parameter.tensor.set_value(normal(parameter.tensor.shape(), deviation, rng));
  }
}

double inner(const Array& a, const Array& b) {
  double sum = 0;
  for (Index i = 0; i < a.size(); ++i) {
    sum += double(a[i]) * double(b[i]);
  }
  return sum;
}

double norm(const Array& a) { return std::sqrt(inner(a, a)); }

double cosine(const Array& a, const Array& b) { return inner(a, b) / (norm(a) * norm(b)); }

std::vector<Index> counts_of_heads(Index width, Index most, Index also, Index least_head_dim) {
  std::set<Index> counts{also};
  for (Index h = 1; h <= most; ++h) {
    if (width % h == 0 && width / h >= least_head_dim) counts.insert(h);
  }
  return {counts.begin(), counts.end()};
}

std::vector<std::string> numbered(const std::string& word, Index count) {
  std::vector<std::string> names;
  for (Index i = 0; i < count; ++i) names.push_back(word + " " + std::to_string(i));
  return names;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
