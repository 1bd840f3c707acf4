// map(): an xtensor expression over whole arrays, evaluated chunk by chunk on all threads.
// Private: operation bodies use it, public headers never see xtensor.
#pragma once

#include <tuple>

#include "array/xtensor.hpp"
#include "headroom/array/array.hpp"
#include "headroom/base/parallel.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// A pending elementwise computation, f(a, b, ...) over arrays of equal shape. It becomes an Array
/// by conversion, or is added to one in a single pass by add_to().
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

/// `Array y = map([](const auto& v) { return xt::exp(v); }, x)`. The lambda takes `const auto&`
/// (by value the expression would dangle), gets one flat chunk of each array and returns an xtensor
/// expression; its constants are written Real(...), since a double literal turns SIMD off.
template <class F, class... T>
Mapped<F, T...> map(F f, const ArrayOf<T>&... arrays) {
  return Mapped<F, T...>(std::move(f), arrays...);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
