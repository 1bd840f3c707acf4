// Rows of arithmetic: two tensors, a tensor and a number, functions of one tensor.
#include "headroom/ops/arithmetic.hpp"

#include <cmath>

#include "ops/table/operation.hpp"
#include "support/random.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {
namespace test {

namespace {

using Long = long double;

/// Two shapes that broadcast, in either direction on each axis.
std::pair<Shape, Shape> two_shapes(Draw& draw) {
  const Shape full = draw.shape();
  return {draw.broadcasting_to(full), draw.chance(0.3) ? full : draw.broadcasting_to(full)};
}

/// A fault with correct shapes that takes the first of the repeated gradients instead of the sum.
template <class A, class B>
Fault first_slice(A slope_a, B slope_b) {
  return {"a broadcast is not summed, its first slice is taken", [=](const BackwardView& b) {
            return Arrays{first_of(plain(slope_a, b.dy, b.x[0], b.x[1]), b.x[0].shape()),
                          first_of(plain(slope_b, b.dy, b.x[0], b.x[1]), b.x[1].shape())};
          }};
}

/// A fault of a function of two tensors, given by the wrong contributions of each element.
template <class A, class B>
Fault wrong_slopes(std::string name, A slope_a, B slope_b) {
  return {std::move(name), [=](const BackwardView& b) {
            return Arrays{summed_to(plain(slope_a, b.dy, b.x[0], b.x[1]), b.x[0].shape()),
                          summed_to(plain(slope_b, b.dy, b.x[0], b.x[1]), b.x[1].shape())};
          }};
}

// The slopes of one input, for the faults above.
Long whole(Long d, Long, Long) { return d; }
Long negative(Long d, Long, Long) { return -d; }
Long times_a(Long d, Long a, Long) { return d * a; }
Long times_b(Long d, Long, Long b) { return d * b; }
Long over_b(Long d, Long, Long b) { return d / b; }

/// Values on a grid of 1/2: two of them are equal or far apart. Where a = b exactly, the stencil
/// gives (1 + 0) / 2 of the slope, the equal share that a tie must give.
Array on_grid(const Shape& shape, Rng& rng) {
  Array result(shape);
  for (Real& x : result.span()) x = Real(0.5) * Real(rng.below(9) - 4);
  return result;
}

template <class F, class G>
Row two_tensors(const char* name, const char* declared, F operation, G formula,
                std::vector<Fault> faults, bool divides = false) {
  return {name, declared, [=](Draw& draw) {
            const auto [a, b] = two_shapes(draw);
            const std::initializer_list<Real> zero{Real(0)};
            return Case{{normal(a, draw.rng),
                         divides ? away_from(b, draw.rng, zero, Real(0.5)) : normal(b, draw.rng)},
                        [=](const Tensors& x) { return operation(x[0], x[1]); },
                        [=](const Arrays& x) { return plain(formula, x[0], x[1]); },
                        nullptr,
                        faults};
          }};
}

template <class F, class G>
Row extreme(const char* name, F operation, G formula, Fault swapped) {
  return {name, name, [=](Draw& draw) {
            const auto [a, b] = two_shapes(draw);
            const auto half_at_ties = [](Long d, Long u, Long v) { return u == v ? d : d / 2; };
            return Case{
                {on_grid(a, draw.rng), on_grid(b, draw.rng)},
                [=](const Tensors& x) { return operation(x[0], x[1]); },
                [=](const Arrays& x) { return plain(formula, x[0], x[1]); },
                nullptr,
                {swapped,
                 {"a tie is counted twice",
                  [](const BackwardView& view) {
                    Arrays result;
                    for (std::size_t i = 0; i < 2; ++i) {
                      const auto mine = [i](Long d, Long u, Long v, Long y) {
                        return (i == 0 ? u : v) == y ? d : 0;
                      };
                      result.push_back(summed_to(plain(mine, view.dy, view.x[0], view.x[1], view.y),
                                                 view.x[i].shape()));
                    }
                    return result;
                  }},
                 wrong_slopes("both sides share, whoever won", half_at_ties, half_at_ties)}};
          }};
}

template <class F, class G>
Row with_number(const char* name, const char* declared, F operation, G formula,
                std::function<Fault(Real)> fault, bool nonzero = false) {
  return {
      name, declared, [=](Draw& draw) {
        const Real number = away_from({1}, draw.rng, {Real(0), Real(1), Real(-1)}, Real(0.3))[0];
        const Shape shape = draw.shape();
        return Case{
            {nonzero ? away_from(shape, draw.rng, {Real(0)}, Real(0.5)) : normal(shape, draw.rng)},
            [=](const Tensors& x) { return operation(x[0], number); },
            [=](const Arrays& x) {
              return plain([=](Long v) { return formula(v, static_cast<Long>(number)); }, x[0]);
            },
            nullptr,
            {fault(number)}};
      }};
}

template <class F, class G>
Row one_tensor(const char* name, F operation, G formula, Real low, Real high,
               std::vector<Fault> faults) {
  return {name, name, [=](Draw& draw) {
            return Case{{uniform(draw.shape(), draw.rng, low, high)},
                        [=](const Tensors& x) { return operation(x[0]); },
                        [=](const Arrays& x) { return plain(formula, x[0]); },
                        nullptr,
                        faults};
          }};
}

Case draw_pow(Draw& draw) {
  const std::vector<Real> exponents{-2, Real(-0.5), 0, Real(0.5), 1, 2, 3, Real(2.5)};
  const Real p = exponents[static_cast<std::size_t>(draw.rng.below(8))];
  const bool whole_number = p == std::floor(p);
  Array x = away_from(draw.shape(), draw.rng, {Real(0)}, Real(0.5));
  if (!whole_number) {
    for (Real& v : x.span()) v = std::abs(v);
  }
  return {{x},
          [p](const Tensors& t) { return pow(t[0], p); },
          [p](const Arrays& a) {
            return plain([p](Long v) { return std::pow(v, static_cast<Long>(p)); }, a[0]);
          },
          nullptr,
          {wrong_slope("the factor of the exponent is missing",
                       [p](Real v, Real) { return std::pow(v, p - 1); }),
           wrong_slope("the exponent is not lowered", [p](Real, Real y) { return p * y; })}};
}

Case draw_where(Draw& draw) {
  const auto [a, b] = two_shapes(draw);
  const Bytes condition =
      random_bytes(draw.broadcasting_to(broadcast("draw", a, b)), draw.rng, Real(0.5));
  const Array bits = [&] {
    Array result(condition.shape());
    for (Index e = 0; e < result.size(); ++e) result[e] = Real(condition[e]);
    return result;
  }();
  const auto gradients = [bits](const BackwardView& view, bool inverted, bool ignored) {
    const auto taken = [=](Long d, Long c) { return ignored || (c != 0) != inverted ? d : 0; };
    const auto left = [=](Long d, Long c) { return ignored || (c == 0) != inverted ? d : 0; };
    return Arrays{summed_to(plain(taken, view.dy, bits), view.x[0].shape()),
                  summed_to(plain(left, view.dy, bits), view.x[1].shape())};
  };
  return {{normal(a, draw.rng), normal(b, draw.rng)},
          [condition](const Tensors& x) { return where(condition, x[0], x[1]); },
          [bits](const Arrays& x) {
            return plain([](Long c, Long u, Long v) { return c != 0 ? u : v; }, bits, x[0], x[1]);
          },
          nullptr,
          {{"the condition is ignored",
            [gradients](const BackwardView& view) { return gradients(view, false, true); }},
           {"the condition is inverted",
            [gradients](const BackwardView& view) { return gradients(view, true, false); }}}};
}

}  // namespace

std::vector<Row> arithmetic_rows() {
  const auto one = [](Real, Real) { return Real(1); };
  return {
      two_tensors(
          "add", "operator+", [](const Tensor& a, const Tensor& b) { return a + b; },
          [](Long a, Long b) { return a + b; }, {first_slice(whole, whole)}),
      two_tensors(
          "subtract", "operator-", [](const Tensor& a, const Tensor& b) { return a - b; },
          [](Long a, Long b) { return a - b; },
          {first_slice(whole, negative), wrong_slopes("b's sign is lost", whole, whole)}),
      two_tensors(
          "multiply", "operator*", [](const Tensor& a, const Tensor& b) { return a * b; },
          [](Long a, Long b) { return a * b; },
          {first_slice(times_b, times_a),
           wrong_slopes("each gets its own value as slope", times_a, times_b)}),
      two_tensors(
          "divide", "operator/", [](const Tensor& a, const Tensor& b) { return a / b; },
          [](Long a, Long b) { return a / b; },
          {first_slice(over_b, [](Long d, Long a, Long b) { return -d * a / (b * b); }),
           wrong_slopes("the divisor is not squared", over_b,
                        [](Long d, Long a, Long b) { return -d * a / b; })},
          true),
      extreme(
          "maximum", [](const Tensor& a, const Tensor& b) { return maximum(a, b); },
          [](Long a, Long b) { return std::max(a, b); },
          wrong_slopes(
              "the smaller side gets the gradient",
              [](Long d, Long a, Long b) { return a < b    ? d
                                                  : a == b ? d / 2
                                                           : 0; },
              [](Long d, Long a, Long b) { return b < a    ? d
                                                  : a == b ? d / 2
                                                           : 0; })),
      extreme(
          "minimum", [](const Tensor& a, const Tensor& b) { return minimum(a, b); },
          [](Long a, Long b) { return std::min(a, b); },
          wrong_slopes(
              "the larger side gets the gradient",
              [](Long d, Long a, Long b) { return a > b    ? d
                                                  : a == b ? d / 2
                                                           : 0; },
              [](Long d, Long a, Long b) { return b > a    ? d
                                                  : a == b ? d / 2
                                                           : 0; })),
      {"where", "where", draw_where},
      {"negate", "operator-",
       [one](Draw& draw) {
         return Case{{normal(draw.shape(), draw.rng)},
                     [](const Tensors& x) { return -x[0]; },
                     [](const Arrays& x) { return plain([](Long v) { return -v; }, x[0]); },
                     nullptr,
                     {wrong_slope("the sign is lost", one)}};
       }},
      with_number(
          "add number", "operator+", [](const Tensor& x, Real c) { return x + c; },
          [](Long x, Long c) { return x + c; },
          [](Real c) {
            return wrong_slope("scaled by the number", [c](Real, Real) { return c; });
          }),
      with_number(
          "number add", "operator+", [](const Tensor& x, Real c) { return c + x; },
          [](Long x, Long c) { return c + x; },
          [](Real c) {
            return wrong_slope("scaled by the number", [c](Real, Real) { return c; });
          }),
      with_number(
          "subtract number", "operator-", [](const Tensor& x, Real c) { return x - c; },
          [](Long x, Long c) { return x - c; },
          [](Real c) {
            return wrong_slope("scaled by the number", [c](Real, Real) { return -c; });
          }),
      with_number(
          "number subtract", "operator-", [](const Tensor& x, Real c) { return c - x; },
          [](Long x, Long c) { return c - x; },
          [one](Real) { return wrong_slope("the sign is lost", one); }),
      with_number(
          "multiply by number", "operator*", [](const Tensor& x, Real c) { return x * c; },
          [](Long x, Long c) { return x * c; },
          [one](Real) { return wrong_slope("the scale is missing", one); }),
      with_number(
          "number multiply", "operator*", [](const Tensor& x, Real c) { return c * x; },
          [](Long x, Long c) { return c * x; },
          [one](Real) { return wrong_slope("the scale is missing", one); }),
      with_number(
          "divide by number", "operator/", [](const Tensor& x, Real c) { return x / c; },
          [](Long x, Long c) { return x / c; },
          [](Real c) {
            return wrong_slope("multiplied instead of divided", [c](Real, Real) { return c; });
          }),
      with_number(
          "number divide", "operator/", [](const Tensor& x, Real c) { return c / x; },
          [](Long x, Long c) { return c / x; },
          [](Real c) {
            return wrong_slope("the sign is lost", [c](Real x, Real) { return c / (x * x); });
          },
          true),
      one_tensor(
          "exp", [](const Tensor& x) { return exp(x); }, [](Long x) { return std::exp(x); },
          Real(-3), Real(3),
          {wrong_slope("the slope is 1", one),
           wrong_slope("the slope is x", [](Real x, Real) { return x; })}),
      one_tensor(
          "log", [](const Tensor& x) { return log(x); }, [](Long x) { return std::log(x); },
          Real(0.5), Real(5),
          {wrong_slope("multiplied instead of divided", [](Real x, Real) { return x; }),
           wrong_slope("divided by y", [](Real, Real y) { return 1 / y; })}),
      one_tensor(
          "sqrt", [](const Tensor& x) { return sqrt(x); }, [](Long x) { return std::sqrt(x); },
          Real(0.5), Real(5),
          {wrong_slope("the factor 1/2 is missing", [](Real, Real y) { return 1 / y; }),
           wrong_slope("divided by x", [](Real x, Real) { return Real(0.5) / x; })}),
      {"pow", "pow", draw_pow},
      {"abs", "abs",
       [one](Draw& draw) {
         return Case{
             {away_from(draw.shape(), draw.rng, {Real(0)})},
             [](const Tensors& x) { return abs(x[0]); },
             [](const Arrays& x) { return plain([](Long v) { return std::abs(v); }, x[0]); },
             nullptr,
             {wrong_slope("the sign is lost", one),
              wrong_slope("the slope is x", [](Real x, Real) { return x; })}};
       }},
  };
}

}  // namespace test
}  // namespace HEADROOM_PRECISION
}  // namespace headroom
