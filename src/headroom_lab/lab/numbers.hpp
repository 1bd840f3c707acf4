// Computations with arrays that several experiments share. Private.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headroom/algebra/algebra.hpp"
#include "headroom/array/array.hpp"
#include "headroom/base/rng.hpp"
#include "headroom/nn/module.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Returns the tolerance for this build's precision.
constexpr double by_precision(double in_double, double in_float) {
  return is_double ? in_double : in_float;
}

/// Tolerances for two computations of the same values, max |difference| / max |value|: for one pass
/// of the two layouts, which differ in the order of one sum; for one pass by any other formula; and
/// for its gradients, where longer sums round more often.
inline constexpr double same_layouts = by_precision(1e-12, 2e-6);
inline constexpr double same_values = by_precision(1e-12, 5e-6);
inline constexpr double same_gradients = by_precision(1e-11, 2e-5);

/// The seed of one of several draws: experiments with other seeds share none of them.
std::uint64_t seed_of_draw(std::uint64_t seed, std::uint64_t draw);

/// Uniform in [0, 1), as torch.rand draws.
Array uniform_array(const Shape& shape, Rng& rng);

/// The parameter of that name. Throws UsageError when there is none.
Tensor parameter_named(Module& module, const std::string& name);

/// Sets every parameter: weights N(0, 1/fan_in), biases N(0, 0.1^2). Biases start at zero
/// otherwise, which would hide errors.
void randomise(Module& module, Rng& rng);

/// The sum of a_i b_i, in double in both precisions.
double inner(const Array& a, const Array& b);
double norm(const Array& a);
/// <a, b> / (|a| |b|); NaN if one of them is zero.
double cosine(const Array& a, const Array& b);

/// The numbers up to `most` that divide the width into heads of `least_head_dim` features or more,
/// and `also`; ascending.
std::vector<Index> counts_of_heads(Index width, Index most, Index also, Index least_head_dim = 1);

/// "head 0", "head 1", ...
std::vector<std::string> numbered(const std::string& word, Index count);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
