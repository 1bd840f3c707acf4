// Gradient errors: numbers of chapter 02. The error of differences over the step h, in double
// and in float; a check whose questions are all ones; kinks; and a gradient that is overwritten.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "facts.hpp"
#include "figure.hpp"
#include "headroom/autograd/gradcheck.hpp"
#include "headroom/base/parallel.hpp"
#include "headroom/nn/init.hpp"
#include "headroom/ops/ops.hpp"
#include "planted.hpp"

using namespace headroom;

namespace {

// ---------------------------------------------------------------- differences

/// The cross-entropy of three logits w a, of which the first one is the target.
template <class Number>
Number cross_entropy_of(Number w, const double (&a)[3]) {
  Number sum = 0;
  for (const double slope : a) sum += std::exp(w * Number(slope));
  return std::log(sum) - w * Number(a[0]);
}

double exact_slope(double w, const double (&a)[3]) {
  long double sum = 0, weighted = 0;
  for (const double slope : a) {
    const long double e = std::exp(static_cast<long double>(w) * static_cast<long double>(slope));
    sum += e;
    weighted += e * static_cast<long double>(slope);
  }
  return double(weighted / sum - static_cast<long double>(a[0]));
}

enum class Formula { one_sided, central, four_points };

template <class Number, class F>
Number difference(Formula formula, F f, Number x, Number h) {
  if (formula == Formula::one_sided) return (f(x + h) - f(x)) / h;
  const Number near = f(x + h) - f(x - h);
  if (formula == Formula::central) return near / (2 * h);
  return (8 * near - (f(x + 2 * h) - f(x - 2 * h))) / (12 * h);
}

/// The error of a formula with step h: root mean square over 40 random functions and points, each
/// relative to the exact slope, but at least to 1/10.
template <class Number>
double error_of(Formula formula, double h, std::uint64_t seed) {
  constexpr int draws = 40;
  Rng rng(seed, "differences");
  double squares = 0;
  for (int i = 0; i < draws; ++i) {
    const double a[3] = {double(rng.normal()), double(rng.normal()), double(rng.normal())};
    const auto w = double(rng.normal());
    const auto f = [&](Number at) { return cross_entropy_of(at, a); };
    const double right = exact_slope(w, a);
    const auto found = double(difference(formula, f, Number(w), Number(h)));
    const double error = (found - right) / std::max(std::abs(right), 0.1);
    squares += error * error / draws;
  }
  return std::sqrt(squares);
}

/// A strip from 1e-15 to 10, two characters for a power of ten.
std::string strip(double one_sided, double central, double four_points) {
  std::string text(33, ' ');
  const auto put = [&](double error, char letter) {
    const double place = 2 * (std::log10(std::max(error, 1e-15)) + 15);
    text[std::size_t(std::clamp(std::lround(place), 0L, 32L))] = letter;
  };
  put(one_sided, '1');
  put(central, '2');
  put(four_points, '4');
  return text;
}

struct Best {
  double h = 0, error = std::numeric_limits<double>::infinity();
};

/// The best step on a grid of ten steps for each power of ten.
template <class Number>
Best best(Formula formula, std::uint64_t seed) {
  Best result;
  for (int tenth = 0; tenth <= 150; ++tenth) {
    const double h = std::pow(10, -tenth / 10.0);
    const double error = error_of<Number>(formula, h, seed);
    if (error < result.error) result = {h, error};
  }
  return result;
}

template <class Number>
void draw_curves(const char* name, int last) {
  std::printf("%s: error by step h; 1: one side, 2: both sides, 4: four points\n", name);
  std::printf("h       1e-15     1e-10     1e-5      1\n");
  for (int power = 0; power <= last; ++power) {
    const double h = std::pow(10, -power);
    const auto error = [&](Formula formula) { return error_of<Number>(formula, h, 1); };
    std::printf(
        "  1e%-4d |%s|\n", -power,
        strip(error(Formula::one_sided), error(Formula::central), error(Formula::four_points))
            .c_str());
  }
}

void measure_differences() {
  part("02/b", "02/c");
  draw_curves<double>("double", 15);
  draw_curves<float>("float", 7);
  struct Line {
    const char *h, *error;
    Formula formula;
    bool of_float;
    double least_h, most_h, most_error;
    const char* prediction;
  };
  const Line lines[] = {
      {"one side: best h", "one side: its error", Formula::one_sided, false, 1e-9, 1e-7, 1e-6, ""},
      {"both sides: best h", "both sides: its error", Formula::central, false, 1e-6, 1e-4, 1e-9,
       "02/b"},
      {"four points: best h", "four points: its error", Formula::four_points, false, 1e-4, 1e-2,
       1e-11, ""},
      {"one side, float: best h", "one side, float: its error", Formula::one_sided, true, 1e-5,
       1e-2, 1e-2, ""},
      {"both sides, float: best h", "both sides, float: its error", Formula::central, true, 1e-3,
       1e-1, 1e-3, "02/c"},
      {"four points, float: best h", "four points, float: its error", Formula::four_points, true,
       1e-2, 1, 1e-4, ""}};
  for (const Line& line : lines) {
    Range h, error;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const Best found =
          line.of_float ? best<float>(line.formula, seed) : best<double>(line.formula, seed);
      h.add(found.h);
      error.add(found.error);
      if (seed > 1) continue;
      fact(line.h, found.h, line.prediction);
      fact(line.error, found.error);
    }
    if (h.least < line.least_h || h.most > line.most_h || error.most > line.most_error) {
      std::printf("  does not hold for five seeds: h %g to %g, error %g\n", h.least, h.most,
                  error.most);
      ++failed_claims();
    }
  }
  const auto falls = [](Formula formula) {
    return error_of<double>(formula, 0.02, 1) / error_of<double>(formula, 0.01, 1);
  };
  claim("one side: e(h) / e(h/2)", falls(Formula::one_sided), 1.9, 2.1);
  claim("both sides: e(h) / e(h/2)", falls(Formula::central), 3.9, 4.1);
  claim("four points: e(h) / e(h/2)", falls(Formula::four_points), 15.5, 16.5);
  claim("both sides, h = 1e-12: error", error_of<double>(Formula::central, 1e-12, 1), 1e-6, 1e-2);
}

// ---------------------------------------------------------------- questions

/// A fault that a sum over all outputs does not see.
struct Blind {
  const char* name;
  Shape shape;
  std::function<Tensor(const Tensor&)> function;
};

Tensor without_gradient(const char* name, const Tensor& x, const Array& y) {
  return with_backward(
      name, x, y, [](const Array& dy, const Array&, const Array&) { return zeros(dy.shape()); });
}

std::vector<Blind> blind_faults() {
  return {
      {"softmax: zeros",
       {3, 5},
       [](const Tensor& x) { return without_gradient("softmax", x, softmax(x.detach()).value()); }},
      {"layer norm: zeros",
       {3, 5},
       [](const Tensor& x) {
         const Tensor one(ones({5})), zero(zeros({5}));
         return without_gradient("layer_norm", x, layer_norm(x.detach(), one, zero).value());
       }},
      {"x - mean: zeros",
       {3, 5},
       [](const Tensor& x) {
         const Tensor y = x.detach() - mean(x.detach(), {-1}, true);
         return without_gradient("centred", x, y.value());
       }},
      {"permute: back by a reshape",
       {3, 5},
       [](const Tensor& x) {
         return with_backward("permute", x, permute(x.detach(), {1, 0}).value(),
                              [](const Array& dy, const Array& x_, const Array&) {
                                return dy.reshaped(x_.shape());
                              });
       }},
      {"reversed: not on the way back", {3, 5}, [](const Tensor& x) {
         const Array y =
             each(x.value(), [&](Real, Index i) { return x.value()[x.size() - 1 - i]; });
         return with_backward("reversed", x, y, [](const Array& dy, const Array&, const Array&) {
           return dy.clone();
         });
       }}};
}

void measure_questions() {
  part("02/d");
  std::printf("largest error, dL/dy all ones and random, five seeds\n");
  int seen_by_ones = 0, seen_by_random = 0;
  for (const Blind& blind : blind_faults()) {
    const Function function = [&](const std::vector<Tensor>& in) { return blind.function(in[0]); };
    Range with_ones, with_random;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      Rng rng(seed, "questions");
      const Array x = normal(blind.shape, 1, rng);
      const Shape of_y = blind.function(Tensor(x)).shape();
      with_ones.add(largest_error(function, {x}, ones(of_y)));
      with_random.add(largest_error(function, {x}, normal(of_y, 1, rng)));
    }
    std::printf("%-34s %-8.1g %.1g\n", blind.name, with_ones.most, with_random.least);
    seen_by_ones += with_ones.most > 1e-6 ? 1 : 0;
    seen_by_random += with_random.least > 1e-6 ? 1 : 0;
    if (std::string(blind.name) != "softmax: zeros") continue;
    claim("ones, softmax with zeros", with_ones.most, 0, 1e-9, "02/d");
    claim("random, softmax with zeros", with_random.least, 0.05, 10);
  }
  claim("faults that ones see, of 5", seen_by_ones, 0, 0);
  claim("faults that random dL/dy sees", seen_by_random, 5, 5);
}

// ---------------------------------------------------------------- kinks and sums

void measure_kinks() {
  part("02/e");
  const auto positive = [](double x) { return std::max(x, 0.0); };
  claim("relu at 0.0004: slope", difference(Formula::central, positive, 0.0004, 0.001), 0.69, 0.71);
  Range alarms;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    Rng rng(seed, "kinks");
    int count = 0;
    for (int draw = 0; draw < 100; ++draw) {
      const Array x = normal({8, 16}, 1, rng);
      count +=
          gradcheck([](const std::vector<Tensor>& in) { return relu(in[0]); }, {x}).passed ? 0 : 1;
    }
    alarms.add(count);
    if (seed == 1) fact("relu [8, 16]: false alarms, %", count, "02/e");
  }
  claim("false alarms, least of 5 seeds", alarms.least, 5, 40);
  claim("false alarms, most of 5 seeds", alarms.most, 5, 40);
}

/// exp, whose closure overwrites the gradient that is there.
Tensor overwriting(const Tensor& x) {
  OpScope op("exp");
  const Array y = exp(x.detach()).value();
  return record(op, y, {x}, [y](const Array& dy, Gradients& into) {
    Array& dx = into[0].sum();
    for (Index i = 0; i < dx.size(); ++i) dx[i] = dy[i] * y[i];
  });
}

void measure_overwriting() {
  part("");  // answers nothing: shown in any case
  const auto function = [](const std::vector<Tensor>& x) { return overwriting(x[0]); };
  Rng rng(1, "overwriting");
  const Array x = normal({4}, 1, rng);
  GradcheckOptions once;
  once.cotangents = 1;
  claim("overwrites: error, first pass", double(gradcheck(function, {x}, once).worst), 0, 0.1);
  claim("overwrites: error, second pass", double(gradcheck(function, {x}).worst), 1e3, 1e9);
  const Tensor leaf = parameter(x.clone());
  sum(overwriting(leaf) + overwriting(leaf)).backward();
  claim("exp x + exp x: gradient / right", double(leaf.grad()[0] / (2 * std::exp(x[0]))), 0.5, 0.5);
}

// ---------------------------------------------------------------- the figure

/// The curves as a record: the powers of ten of the errors, for five steps to a power of ten. To
/// the left of each valley an error is rounding: another processor or compiler may have it twice as
/// large, a difference of 0.3.
template <class Number>
Record curves_of(int last) {
  Record curves = Record::object();
  const std::pair<const char*, Formula> formulas[] = {{"one side", Formula::one_sided},
                                                      {"both sides", Formula::central},
                                                      {"four points", Formula::four_points}};
  for (const auto& [name, formula] : formulas) {
    Record errors = Record::array();
    for (int fifth = 0; fifth <= 5 * last; ++fifth) {
      const double error = error_of<Number>(formula, std::pow(10, -fifth / 5.0), 1);
      errors.push_back(std::round(100 * std::log10(error)) / 100);
    }
    curves[name] = errors;
  }
  return curves;
}

void write_curves() {
  if (!figure_wanted()) return;
  write_figure(
      {{"rough", {"log10_of_errors"}},
       {"steps_per_power", 5},
       {"log10_of_errors", {{"double", curves_of<double>(15)}, {"float", curves_of<float>(7)}}}});
}

}  // namespace

int main() {
  set_num_threads(1);  // the arrays are small, and the results do not depend on the threads
  measure_differences();
  measure_questions();
  measure_kinks();
  measure_overwriting();
  write_curves();
  return finish();
}
