// Checks a gradient check: it must accept right operations, refuse wrong ones, and report the worst
// comparison.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "common/checks.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/ops/ops.hpp"
#include "watched.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library
using chapter::Arrays;
using chapter::Function;
using chapter::Question;
using chapter::random_array;
using chapter::Tensors;
using chapter::Watched;

/// An elementwise operation of one input, with a gradient of its own.
Function elementwise(std::function<Real(Real)> value,
                     std::function<Real(Real dy, Real x, Index element)> gradient,
                     bool overwrites = false) {
  return [=](const Tensors& inputs) {
    OpScope op("planted");
    const Array x = inputs[0].value();
    Array y(x.shape());
    for (Index i = 0; i < y.size(); ++i) y[i] = value(x[i]);
    return record(op, y, {inputs[0]}, [=](const Array& dy, Gradients& into) {
      Array dx(x.shape());
      for (Index i = 0; i < dx.size(); ++i) dx[i] = gradient(dy[i], x[i], i);
      if (overwrites) {
        into[0].sum() = dx;
      } else {
        into[0] += dx;
      }
    });
  };
}

/// 1 + 2 x + 3 x^2 + 4 x^3, of which four points give the slope exactly.
Real cubic(Real x) { return 1 + x * (2 + x * (3 + x * 4)); }
Real slope_of_cubic(Real x) { return 2 + x * (6 + x * 12); }

Real plain_exp(Real x) { return std::exp(x); }

Array one_number(double number) { return Array({1}, Real(number)); }

void require_in_place(const Watched& watched) {
  chapter::require(!watched.moved_in_place(),
                   "the inputs themselves were moved: copies of an Array share its elements, so "
                   "the caller's have changed. clone() makes new ones, and so does moved().");
}

/// Why a right gradient was refused, where its numbers tell.
std::string reason_of_refusal(const GradcheckResult& result, const Watched& watched) {
  const auto input = std::size_t(result.input);
  const auto analytic = double(result.analytic), numeric = double(result.numeric);
  const double larger = std::max(std::abs(analytic), std::abs(numeric));
  const double near = 1e-3 * std::max(1.0, larger);
  std::string text;
  for (const Question& question : watched.questions()) {
    const auto before = double(question.before[input][result.element]);
    if (std::abs(analytic - numeric) < near || std::abs(analytic - before - numeric) > near)
      continue;
    text +=
        "\nIt looks as if what was there before the pass was counted, too: subtract it afterwards.";
    break;
  }
  const double size = std::abs(double(watched.inputs()[input][result.element]));
  if (size > 1000 && watched.move_of(input, result.element) < 1) {
    text += fmt::format(
        "\nIt looks as if the step is the same at {:.0e} as at 1: next to such a number, a short "
        "step is lost in rounding. h grows with the size of x.",
        size);
  }
  const GradcheckOptions options;
  const double difference = std::abs(analytic - numeric), relative = double(options.relative);
  const auto is_worst = [&](double error) {
    return std::abs(error / double(result.worst) - 1) < 1e-3;
  };
  const bool no_number = std::isnan(result.worst) && !std::isnan(difference);
  const bool as_it_must = is_worst(difference / (double(options.absolute) + relative * larger));
  if (no_number || (is_worst(difference / (relative * larger)) && !as_it_must)) {
    text +=
        "\nIt looks as if the error was divided by `relative` times the size alone: where a "
        "gradient "
        "is 0, rounding is the whole difference, or 0 is divided by 0. `absolute` is for that.";
  }
  return text;
}

/// Fails unless a right operation passes, with the reason for the refusal where it can be found.
void require_accepted(const std::string& name, Watched& watched) {
  const GradcheckResult result = watched.result();
  require_in_place(watched);
  if (result.passed) {
    chapter::require(result.compared > 0, "nothing was compared, and so everything passes.");
    return;
  }
  std::string text = fmt::format("refused {}, which is right.\n({})", name, result.text());
  if (result.input >= 0) text += reason_of_refusal(result, watched);
  FAIL(text);
}

/// Fails unless a wrong operation is refused.
void require_refused(const std::string& name, Watched& watched,
                     const GradcheckOptions& options = {}, const std::string& reason = "") {
  const GradcheckResult result = watched.result(options);
  require_in_place(watched);
  if (!result.passed) return;
  chapter::require(result.worst <= 1 || std::isnan(result.worst),
                   fmt::format("passed, although the report has an error of {:.3g}, above 1.\nIt "
                               "looks as if passed was decided by the last comparison alone: one "
                               "error is enough.",
                               result.worst));
  const std::string blind = watched.blindness();
  FAIL(name << blind << (blind.empty() ? reason : ""));
}

}  // namespace

TEST_CASE("one element: both gradients, and the verdict", "[02/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Rng rng(seed, "02/2");
    const Real at = rng.uniform(Real(0.5), 1);
    // The gradient is too large or too small by 1, so that there is an error to report.
    const Real off = seed % 2 == 0 ? 1 : -1;
    Watched watched(elementwise(cubic, [off](Real dy, Real x,
                                             Index) { return dy * (slope_of_cubic(x) + off); }),
                    {one_number(double(at))});
    GradcheckOptions options;
    options.cotangents = 1;
    options.step = Real(0.25);
    const GradcheckResult result = watched.result(options);
    require_in_place(watched);
    chapter::require(watched.questions().size() == 1,
                     fmt::format("with `cotangents` = 1 there were {} backward passes, expected 1.",
                                 watched.questions().size()));
    chapter::require(result.compared == 1,
                     fmt::format("{} comparisons were counted for one element and one cotangent.",
                                 result.compared));
    const auto dy = double(watched.questions()[0].dy[0]);
    if (result.passed && result.input < 0 && dy * double(off) < 0) {
      FAIL(
          "a gradient that is wrong by far passed.\nIt looks as if analytic - numeric has no "
          "absolute value: a gradient that is too small is wrong, too.");
    }
    chapter::require(result.input == 0 && result.element == 0,
                     fmt::format("the worst comparison is said to be input {}, element {}: up to "
                                 "`full_up_to` elements, a comparison must name its input and "
                                 "element, here 0 and 0.",
                                 result.input, result.element));
    chapter::require_equal("the analytic gradients",
                           one_number(dy * (double(slope_of_cubic(at)) + double(off))),
                           one_number(double(result.analytic)), {{"element"}, {}});
    chapter::require_equal("the numeric gradients", one_number(dy * double(slope_of_cubic(at))),
                           one_number(double(result.numeric)), {{"element"}, {}});
    chapter::require(!result.passed, "a gradient that is wrong by far passed.");
  }
}

TEST_CASE("right operations pass", "[02/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Rng rng(seed, "02/2 right");
    const auto accepted = [&](const char* name, const Function& function, const Arrays& inputs) {
      Watched watched(function, inputs);
      require_accepted(name, watched);
    };
    accepted("tanh x", [](const Tensors& x) { return tanh(x[0]); }, {random_array({3}, rng)});
    accepted("a product with broadcasting", [](const Tensors& x) { return x[0] * x[1]; },
             {random_array({2, 3}, rng), random_array({3}, rng)});
    accepted("a softmax", [](const Tensors& x) { return softmax(x[0]); },
             {random_array({2, 4}, rng)});
    accepted("a matrix product", [](const Tensors& x) { return matmul(x[0], x[1]); },
             {random_array({2, 3}, rng), random_array({3, 2}, rng)});
    accepted("the sum of a softmax, whose gradient is 0",
             [](const Tensors& x) { return sum(softmax(x[0]), {-1}); },
             {random_array({2, 4}, rng)});
  }
}

TEST_CASE("a softmax without a gradient", "[02/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Rng rng(seed, "02/2 softmax");
    const Arrays inputs{random_array({2, 4}, rng)};
    Watched watched(
        [](const Tensors& x) {
          OpScope op("softmax");
          return record(op, softmax(x[0].detach()).value(), {x[0]},
                        [](const Array& dy, Gradients& into) { into[0] += zeros(dy.shape()); });
        },
        inputs);
    require_refused("let a softmax through whose gradient is 0 everywhere.", watched);
  }
}

TEST_CASE("a fault in one element", "[02/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Rng rng(seed, "02/2 element");
    for (const Index wrong : {7, 0, 3}) {
      Watched watched(elementwise(plain_exp,
                                  [=](Real dy, Real x, Index i) {
                                    return dy * std::exp(x) * (i == wrong ? Real(1.2) : 1);
                                  }),
                      {random_array({8}, rng)});
      require_refused(fmt::format("missed a fault in element {} of 8.", wrong), watched);
    }
    for (const std::size_t wrong : {1U, 0U}) {
      Watched watched(
          [=](const Tensors& x) {
            OpScope op("product");
            const Array a = x[0].value(), b = x[1].value();
            return record(op, (x[0].detach() * x[1].detach()).value(), {x[0], x[1]},
                          [=](const Array& dy, Gradients& into) {
                            Array da(dy.shape()), db(dy.shape());
                            for (Index i = 0; i < dy.size(); ++i) {
                              da[i] = dy[i] * (wrong == 0 ? a[i] : b[i]);
                              db[i] = dy[i] * (wrong == 1 ? b[i] : a[i]);
                            }
                            into[0] += da;
                            into[1] += db;
                          });
          },
          {random_array({3}, rng), random_array({3}, rng)});
      require_refused(fmt::format("missed a fault in input {} of a product: it got its own value "
                                  "as slope.",
                                  wrong),
                      watched);
    }
  }
}

TEST_CASE("a flipped sign, a small fault in a small gradient, a gradient of NaN", "[02/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Rng rng(seed, "02/2 faults");
    const auto scaled = [](double value, double gradient) {
      return elementwise([=](Real x) { return Real(value) * x; },
                         [=](Real dy, Real, Index) { return Real(gradient) * dy; });
    };
    Watched flipped(scaled(2, -2), {random_array({4}, rng)});
    require_refused("let a flipped sign through.", flipped);
    GradcheckOptions options;
    options.absolute = Real(1e-10);
    Watched small(scaled(1e-7, 1.1e-7), {random_array({4}, rng)});
    require_refused("10 % wrong in a gradient of 1e-7 went through.", small, options,
                    "\nThe allowed error must shrink with the gradient: absolute + relative * the "
                    "larger of both.");
    Watched invalid(scaled(1, std::numeric_limits<double>::quiet_NaN()), {random_array({4}, rng)});
    require_refused("a gradient of NaN went through.", invalid, {},
                    "\nNo comparison with NaN is true, so \"error > 1\" never is. Ask whether the "
                    "error is at most 1.");
    Watched one_of_them(elementwise([](Real x) { return 3 * x; },
                                    [](Real dy, Real, Index i) {
                                      return i == 1 ? std::numeric_limits<Real>::quiet_NaN()
                                                    : 3 * dy;
                                    }),
                        {random_array({4}, rng)});
    require_refused("a NaN in one of four elements went through.", one_of_them);
  }
}

TEST_CASE("x * x at 1e9, which is right", "[02/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Watched watched([](const Tensors& x) { return x[0] * x[0]; }, {one_number(double(seed) * 1e9)});
    require_accepted("x * x at 1e9", watched);
  }
}

TEST_CASE("a gradient that is overwritten", "[02/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Rng rng(seed, "02/2 overwrites");
    Watched watched(elementwise(
                        plain_exp, [](Real dy, Real x, Index) { return dy * std::exp(x); }, true),
                    {random_array({4}, rng)});
    require_refused("missed an operation that overwrites the gradient instead of adding to it.",
                    watched);
  }
}

TEST_CASE("a function that is off the tape, and one of 300 elements", "[02/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Rng rng(seed, "02/2 others");
    Watched off([](const Tensors& x) { return tanh(x[0].detach()); }, {random_array({3}, rng)});
    chapter::require(!off.result().passed, "let a tanh through that is not on the tape.");
    Watched large(
        elementwise(plain_exp, [](Real dy, Real x,
                                  Index i) { return dy * std::exp(x) * (i == 299 ? Real(2) : 1); }),
        {random_array({300}, rng)});
    const GradcheckResult result = large.result();
    chapter::require(!result.passed, "missed a fault in one of 300 elements.");
    chapter::require(result.input == -1,
                     "more elements than `full_up_to` are to be compared along directions.");
    Watched fine([](const Tensors& x) { return exp(x[0]); }, {random_array({300}, rng)});
    require_accepted("exp of 300 elements", fine);
  }
}

TEST_CASE("the report: the worst comparison, and how many there were", "[02/2]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Rng rng(seed, "02/2 report");
    GradcheckOptions options;
    options.cotangents = 3;
    options.absolute = Real(0.5);
    options.relative = Real(0.25);
    // Element 2 is wrong by a hundred times, element 4 by twice; the last one is right.
    Watched watched(elementwise([](Real x) { return 10 * x; },
                                [](Real dy, Real, Index i) {
                                  return 10 * dy * (i == 2 ? Real(100) : i == 4 ? Real(2) : 1);
                                }),
                    {random_array({6}, rng)});
    const GradcheckResult result = watched.result(options);
    chapter::require(
        result.compared == 18,
        fmt::format("3 cotangents and 6 elements are 18 comparisons, not {}.", result.compared));
    const double difference = std::abs(double(result.analytic) - double(result.numeric));
    const double larger =
        std::max(std::abs(double(result.analytic)), std::abs(double(result.numeric)));
    chapter::require(!result.passed,
                     "passed was decided by the last comparison alone: one error is enough.");
    chapter::require(
        result.element == 2,
        result.element == 5
            ? "the last comparison was reported, not the worst."
            : fmt::format("the worst element is 2, the report says {}.", result.element));
    double worst = 0;
    for (const Question& pass : watched.questions()) {
      const double dy = std::abs(double(pass.dy[2]));
      worst = std::max(worst, 990 * dy / (0.5 + 0.25 * 1000 * dy));
    }
    chapter::require(difference > 0 && larger > 0, "analytic and numeric are not reported.");
    const auto gives = [](double number) { return [=] { return one_number(number); }; };
    chapter::require_equal(
        "the errors of the worst comparison", one_number(worst), one_number(double(result.worst)),
        {{"comparison"}, {}},
        {{"the error was not divided by what is allowed", gives(difference)},
         {"the error was divided by `absolute` alone", gives(difference / 0.5)},
         {"the error was divided by `relative` alone", gives(difference / 0.25)},
         {"the error was divided by `relative` times the size, without `absolute`",
          gives(difference / (0.25 * larger))},
         {"the larger one of `absolute` and `relative` times the size was taken, not their sum",
          gives(difference / std::max(0.5, 0.25 * larger))}});
  }
}
