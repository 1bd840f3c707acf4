// Elementwise loops over arrays that broadcast: along rows of the result's last axis each input
// either advances or is repeated. src/headroom/array/map.hpp says when to use map() instead, and
// the traps.
#pragma once

#include <array>
#include <initializer_list>
#include <utility>
#include <variant>

#include "headroom/array/array.hpp"
#include "headroom/base/parallel.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The loops behind a broadcast: axes of size 1 are dropped, adjacent axes are merged where every
/// input is contiguous over both. [B, T, C] + [C] has two loops, B T and C; equal shapes have one.
struct BroadcastPlan {
  static constexpr std::size_t most_inputs = 3;
  using Counts = std::array<Index, Shape::max_rank>;

  int rank = 0;                               // at least 1
  Counts sizes{};                             // of the loops, outermost first
  std::array<Counts, most_inputs> strides{};  // per input; 0 where it is repeated
  /// Stride of an input along the innermost loop: 1 or 0.
  Index inner_stride(std::size_t input) const {
    return strides[input][static_cast<std::size_t>(rank - 1)];
  }
};

/// Every input must broadcast to `result`.
BroadcastPlan plan_broadcast(const Shape& result, std::initializer_list<Shape> inputs);

/// A position in the result, with the positions in the inputs that belong to it.
class BroadcastWalk {
 public:
  BroadcastWalk(const BroadcastPlan& plan, Index begin);
  Index offset(std::size_t input) const { return offsets_[input]; }
  /// Elements up to the end of the innermost loop.
  Index left_in_row() const;
  /// Moves on by n <= left_in_row() elements.
  void advance(Index n);

 private:
  void step(int axis, Index n);

  const BroadcastPlan& plan_;
  BroadcastPlan::Counts at_{};
  std::array<Index, BroadcastPlan::most_inputs> offsets_{};
};

namespace detail {
template <class T>
struct Running {
  const T* elements;
  T operator[](Index i) const { return elements[i]; }
};
template <class T>
struct Repeated {
  T element;
  T operator[](Index) const { return element; }
};
template <class T>
std::variant<Running<T>, Repeated<T>> source(const T* elements, Index stride) {
  if (stride == 0) return Repeated<T>{*elements};
  return Running<T>{elements};
}
}  // namespace detail

/// f(a, b, ...) for up to three arrays that broadcast to `shape`; f takes and returns elements.
template <class F, class... T>
Array broadcast_map(const Shape& shape, F f, const ArrayOf<T>&... inputs) {
  constexpr Index chunk = 16384;
  Array result(shape);
  const BroadcastPlan plan = plan_broadcast(shape, {inputs.shape()...});
  const auto run = [&]<std::size_t... I>(std::index_sequence<I...>, Index begin, Index end) {
    BroadcastWalk walk(plan, begin);
    while (begin < end) {
      const Index n = std::min(walk.left_in_row(), end - begin);
      Real* const y = result.data() + begin;
      // One loop per combination of running and repeated inputs, each of which vectorises.
      std::visit(
          [&](const auto&... in) {
            for (Index i = 0; i < n; ++i) y[i] = f(in[i]...);
          },
          detail::source(inputs.data() + walk.offset(I), plan.inner_stride(I))...);
      walk.advance(n);
      begin += n;
    }
  };
  parallel_for(result.size(), chunk,
               [&](Index begin, Index end) { run(std::index_sequence_for<T...>{}, begin, end); });
  return result;
}

/// The array repeated to a larger shape.
Array broadcast_to(const Array& x, const Shape& shape);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
