// map(): an xtensor expression over whole arrays, evaluated chunk by chunk on all threads.
// Private: the bodies of operations use it. Public headers do not include xtensor.
//
// Two elementwise languages, for two purposes; anything else is a kernel with a loop of its own.
//
//   map(f, a, b, ...)                   Arrays of equal shape. f gets xtensor expressions and
//                                       returns one, in SIMD: exp, tanh, sqrt, sums, products.
//   broadcast_map(shape, f, a, b, ...)  Arrays that broadcast (kernels/broadcast.hpp). f gets and
//                                       returns single elements: comparisons, ?:, std::pow.
//
// Traps of map:
//  1. Shapes are not compared: that of the first array counts, and a smaller array is read out of
//     bounds.
//  2. The lambda takes `const auto&`. By value an expression dangles: xtensor keeps references,
//     to named constants too, which must therefore outlive the lambda.
//  3. Constants are Real(...): a double literal turns SIMD off in the float build.
//  4. No reducers (xt::sum) and no broadcasting inside: the former give wrong numbers in a lazy
//     expression, the latter is 10 to 30 times slower than a loop.
//  5. The result is pending until it becomes an Array or is added to a sum. It keeps its arrays
//     alive, but `auto y = map(...)` computes anew at each use: write `Array y = map(...)`.
//
// Traps of broadcast_map:
//  1. It takes at most three arrays, and each must broadcast to `shape`: this is not checked.
//  2. The compiler must turn the loop into SIMD. It does for arithmetic and ?:, but not for calls
//     such as std::exp: write those with map.
//  3. f takes elements by value: Real for arrays, std::uint8_t for Bytes.
//  4. The gradient of an array that was repeated must be summed back to its shape: sum_to().
#pragma once

#include <tuple>

#include "array/xtensor.hpp"
#include "headroom/array/array.hpp"
#include "headroom/base/parallel.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A pending elementwise computation, f(a, b, ...) over arrays of equal shape. It becomes an Array
/// by conversion, or add_to() adds it to one in a single pass.
template <class F, class... T>
class Mapped {
 public:
  Mapped(F f, const ArrayOf<T>&... arrays) : f_(std::move(f)), arrays_(arrays...) {}

  operator Array() const {  // NOLINT: implicit on purpose, `Array y = map(...)`
    Array result(shape());
    write(result, [](auto& out, const auto& expression) { xt::noalias(out) = expression; });
    return result;
  }
  void add_to(Array& sum) const {
    write(sum, [](auto& out, const auto& expression) { xt::noalias(out) += expression; });
  }
  const Shape& shape() const { return std::get<0>(arrays_).shape(); }

 private:
  template <class Assign>
  void write(Array& target, Assign assign) const {
    Real* const out = target.data();
    parallel_for(target.size(), chunk, [&](Index begin, Index end) {
      auto out_chunk = flat(out + begin, end - begin);
      std::apply(
          [&](const auto&... array) {
            assign(out_chunk, f_(flat(array.data() + begin, end - begin)...));
          },
          arrays_);
    });
  }
  static constexpr Index chunk = 16384;

  F f_;
  std::tuple<ArrayOf<T>...> arrays_;
};

/// `Array y = map([](const auto& v) { return xt::exp(v); }, x)`. The lambda gets one flat chunk of
/// each array and returns an xtensor expression. The traps are listed at the top of this file.
template <class F, class... T>
Mapped<F, T...> map(F f, const ArrayOf<T>&... arrays) {
  return Mapped<F, T...>(std::move(f), arrays...);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
