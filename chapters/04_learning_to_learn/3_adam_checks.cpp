// Checks the steps of the library's Adam, whoever wrote them, against plain loops in double.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/checks.hpp"
#include "headroom/optim/adam.hpp"
#include "parameters.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library
using chapter::Parameters;
using chapter::random_array;

constexpr Index rows = 4, columns = 3, size = rows * columns;
constexpr double rate = 0.02;

/// One element of a parameter with its memory.
struct Element {
  double p = 0, m = 0, v = 0;
};

/// Step t of an element, counted from 1.
void right_step(Element& e, double g, const AdamOptions& with, bool decoupled, double t) {
  if (decoupled) {
    e.p -= rate * with.weight_decay * e.p;
  } else {
    g += with.weight_decay * e.p;
  }
  e.m = with.beta1 * e.m + (1 - with.beta1) * g;
  e.v = with.beta2 * e.v + (1 - with.beta2) * g * g;
  const double m = e.m / (1 - std::pow(with.beta1, t)), v = e.v / (1 - std::pow(with.beta2, t));
  e.p -= rate * m / (std::sqrt(v) + with.epsilon);
}

/// Parameters with an optimizer, and the gradients that they get.
struct Case {
  explicit Case(std::uint64_t seed, Index parameter_count = 1, AdamOptions with = {},
                bool is_decoupled = false)
      : rng(seed, "04/3"), count(parameter_count), options(with), decoupled(is_decoupled) {
    for (Index i = 0; i < count; ++i) {
      start.push_back(random_array({rows, columns}, rng));
      model.add(name(i), start.back().clone());
    }
    if (decoupled) {
      adam = std::make_unique<AdamW>(model, options);
    } else {
      adam = std::make_unique<Adam>(model, options);
    }
  }
  static std::string name(Index parameter) {
    return std::string(1, "abc"[static_cast<std::size_t>(parameter)]);
  }
  /// One step; the gradients of all parameters are random and multiplied by `scale`.
  void step(double scale = 1) {
    last_scale = scale;
    gradients.emplace_back();
    for (Index i = 0; i < count; ++i) {
      Array gradient = random_array({rows, columns}, rng);
      for (Real& g : gradient.span()) g = Real(scale) * (g + std::copysign(Real(0.5), g));
      gradients.back().push_back(gradient);
      model.tensors.at(name(i)).set_grad(gradient.clone());
    }
    adam->step(rate);
  }
  /// A parameter after all steps.
  Array right(Index parameter) const {
    const auto number = static_cast<std::size_t>(parameter);
    Array result({rows, columns});
    for (Index i = 0; i < size; ++i) {
      Element e{.p = double(start[number][i])};
      for (std::size_t t = 0; t < gradients.size(); ++t) {
        right_step(e, double(gradients[t][number][i]), options, decoupled, double(t + 1));
      }
      result[i] = Real(e.p);
    }
    return result;
  }
  /// The first parameter of another model after two steps. It tells mistakes apart that give the
  /// same numbers, as some do in the first step.
  Array of_another_model() const {
    Case other(1000, count, options, decoupled);
    for (int i = 0; i < 2; ++i) other.step(last_scale);
    return other.model.tensors.at(name(0)).value();
  }
  /// Compares all parameters.
  void check(const std::string& when) {
    const chapter::Names names{{"row", "column"}, {}, [this] { return of_another_model(); }};
    for (Index i = 0; i < count; ++i) {
      const Array yours = model.tensors.at(name(i)).value();
      Array infinite(yours.shape());
      for (Index e = 0; e < size; ++e) infinite[e] = std::isfinite(yours[e]) ? 0 : 1;
      if (std::ranges::count(infinite.span(), Real(1)) > 0) {
        const std::string known = chapter::looks_as_if(infinite);
        FAIL(fmt::format(
            "the elements of {} are infinite or NaN {}.{}", name(i), when,
            known.empty() ? "\nDivision by 0: run.step counts from 1, so 1 - beta^t is not 0; v is "
                            "0 only where every gradient was."
                          : known));
      }
      chapter::require_equal(fmt::format("the elements of {} {}", name(i), when), right(i), yours,
                             names);
    }
  }

  Rng rng;
  Index count;
  AdamOptions options;
  bool decoupled;
  Parameters model;
  std::vector<Array> start;
  std::unique_ptr<Adam> adam;
  std::vector<std::vector<Array>> gradients;  // of each step, of each parameter
  double last_scale = 1;
};

}  // namespace

TEST_CASE("the first step", "[04/3]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Case c(seed);
    c.step();
    c.check("after the first step");
  }
}

TEST_CASE("twenty steps", "[04/3]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Case c(seed);
    for (int i = 0; i < 20; ++i) c.step();
    c.check("after 20 steps");
  }
}

TEST_CASE("two parameters", "[04/3]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Case c(seed, 2);
    for (int i = 0; i < 3; ++i) c.step();
    c.check("after 3 steps of two parameters");
  }
}

TEST_CASE("gradients near 0: epsilon", "[04/3]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Case c(seed);
    for (int i = 0; i < 3; ++i) c.step(1e-8);
    c.check("after 3 steps with gradients of about 1e-8, the size of epsilon");
  }
}

TEST_CASE("other betas and a larger epsilon", "[04/3]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Case c(seed, 1, {.beta1 = 0.4, .beta2 = 0.95, .epsilon = 0.1});
    for (int i = 0; i < 5; ++i) c.step();
    c.check("after 5 steps with beta1 0.4, beta2 0.95, epsilon 0.1");
  }
}

TEST_CASE("weight decay: Adam and AdamW", "[04/3]") {
  for (const std::uint64_t seed : chapter::seeds) {
    for (const bool decoupled : {false, true}) {
      Case c(seed, 1, {.weight_decay = 0.1}, decoupled);
      for (int i = 0; i < 5; ++i) c.step();
      c.check(fmt::format("after 5 steps of {} with weight decay", decoupled ? "AdamW" : "Adam"));
    }
  }
}

TEST_CASE("runs: rows with different step counts", "[04/3]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Rng rng(seed, "04/3 runs");
    const Array value = random_array({rows, columns}, rng),
                gradient = random_array({rows, columns}, rng);
    Array m = random_array({rows, columns}, rng), v = random_array({rows, columns}, rng);
    for (Real& x : v.span()) x = x * x + Real(0.1);
    const std::vector<std::int64_t> steps{7, 7, 0, 3};
    Parameters model;
    Tensor& a = model.add("a", value.clone());
    Adam adam(model);
    adam.set_state("a", {m.clone(), v.clone(), 0, steps});
    a.set_grad(gradient.clone());
    adam.step(rate);
    Array expected(value.shape());
    for (Index i = 0; i < size; ++i) {
      Element e{double(value[i]), double(m[i]), double(v[i])};
      const auto t = double(steps[static_cast<std::size_t>(i / columns)] + 1);
      right_step(e, double(gradient[i]), {}, false, t);
      expected[i] = Real(e.p);
    }
    const std::string text =
        chapter::difference("the elements of a", expected, a.value(), {{"row", "column"}, {}});
    chapter::require(
        text.empty(),
        "right when all rows of a parameter have taken the same number of steps, wrong "
        "when they have not. Each call of update_run is for the run.size elements from "
        "the pointers on, which have all taken run.step steps.\n" +
            text);
  }
}
