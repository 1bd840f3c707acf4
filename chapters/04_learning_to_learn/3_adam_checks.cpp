// Checks the steps of the library's Adam, whoever wrote them, against plain loops in double. Each
// hypothesis is such a loop with a mistake in it.
#include <fmt/format.h>

#include <cmath>

#include "common/checks.hpp"
#include "headroom/base/error.hpp"
#include "headroom/optim/adam.hpp"
#include "parameters.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library
using chapter::Hypothesis;
using chapter::Parameters;
using chapter::random_array;

constexpr Index rows = 4, columns = 3, size = rows * columns;
constexpr double rate = 0.02;
const chapter::Names names{{"row", "column"}, {}};

/// The number of times that the optimizers of this program have called update_run.
int calls = 0;

/// One element of a parameter with its memory.
struct Element {
  double p = 0, m = 0, v = 0;
};

/// Inputs of a step besides the element and its gradient.
struct Rule {
  double beta1, beta2, epsilon, decay;
  bool decoupled;
  double t;      // this step, counted from 1
  double calls;  // of update_run in this program, this one included
};

/// A step, right or wrong.
using Step = void (*)(Element& e, double g, const Rule& r);

double decayed(Element& e, double g, const Rule& r) {
  if (!r.decoupled) return g + r.decay * e.p;
  e.p -= rate * r.decay * e.p;
  return g;
}
void remember(Element& e, double g, const Rule& r) {
  e.m = r.beta1 * e.m + (1 - r.beta1) * g;
  e.v = r.beta2 * e.v + (1 - r.beta2) * g * g;
}
double corrected_m(const Element& e, const Rule& r, double t) {
  return e.m / (1 - std::pow(r.beta1, t));
}
double corrected_v(const Element& e, const Rule& r, double t) {
  return e.v / (1 - std::pow(r.beta2, t));
}
/// The step that begins with `remember`, with the corrections of step t.
double usual(const Element& e, const Rule& r, double t) {
  return rate * corrected_m(e, r, t) / (std::sqrt(corrected_v(e, r, t)) + r.epsilon);
}

/// The right step.
void right(Element& e, double g, const Rule& r) {
  g = decayed(e, g, r);
  remember(e, g, r);
  e.p -= usual(e, r, r.t);
}

/// A mistake.
struct Mistake {
  const char* looks_as_if;
  Step step;
};

const Mistake mistakes[] = {
    {"the means were not corrected: both begin at 0, and v needs longer to grow than m, so the "
     "first step is 0.1 / sqrt(0.001) = 3.2 times too long",
     [](Element& e, double g, const Rule& r) {
       g = decayed(e, g, r);
       remember(e, g, r);
       e.p -= rate * e.m / (std::sqrt(e.v) + r.epsilon);
     }},
    {"only the first mean was corrected: the second one also begins at 0",
     [](Element& e, double g, const Rule& r) {
       g = decayed(e, g, r);
       remember(e, g, r);
       e.p -= rate * corrected_m(e, r, r.t) / (std::sqrt(e.v) + r.epsilon);
     }},
    {"only the second mean was corrected: the first one also begins at 0",
     [](Element& e, double g, const Rule& r) {
       g = decayed(e, g, r);
       remember(e, g, r);
       e.p -= rate * e.m / (std::sqrt(corrected_v(e, r, r.t)) + r.epsilon);
     }},
    {"both were corrected as if every step were the first: t is run.step",
     [](Element& e, double g, const Rule& r) {
       g = decayed(e, g, r);
       remember(e, g, r);
       e.p -= usual(e, r, 1);
     }},
    {"the steps were counted by the calls of this function. It is called for each parameter, and "
     "run.step is the step of this one",
     [](Element& e, double g, const Rule& r) {
       g = decayed(e, g, r);
       remember(e, g, r);
       e.p -= usual(e, r, r.calls);
     }},
    {"both were corrected with t + 1: run.step is this step already, counted from 1",
     [](Element& e, double g, const Rule& r) {
       g = decayed(e, g, r);
       remember(e, g, r);
       e.p -= usual(e, r, r.t + 1);
     }},
    {"v was corrected outside of the root: it is sqrt(v / (1 - beta2^t))",
     [](Element& e, double g, const Rule& r) {
       g = decayed(e, g, r);
       remember(e, g, r);
       const double root = std::sqrt(e.v) / (1 - std::pow(r.beta2, r.t));
       e.p -= rate * corrected_m(e, r, r.t) / (root + r.epsilon);
     }},
    {"beta1 was used for both means: that of the squares has beta2",
     [](Element& e, double g, const Rule& r) {
       g = decayed(e, g, r);
       Rule other = r;
       other.beta2 = r.beta1;
       remember(e, g, other);
       e.p -= usual(e, r, r.t);
     }},
    {"beta1 was used for both means: that of the squares has beta2",  // and in both corrections
     [](Element& e, double g, const Rule& r) {
       g = decayed(e, g, r);
       Rule other = r;
       other.beta2 = r.beta1;
       remember(e, g, other);
       e.p -= usual(e, other, r.t);
     }},
    {"beta2 was used for both means: that of the gradients has beta1",
     [](Element& e, double g, const Rule& r) {
       g = decayed(e, g, r);
       Rule other = r;
       other.beta1 = r.beta2;
       remember(e, g, other);
       e.p -= usual(e, r, r.t);
     }},
    {"beta2 was used for both means: that of the gradients has beta1",  // and in both corrections
     [](Element& e, double g, const Rule& r) {
       g = decayed(e, g, r);
       Rule other = r;
       other.beta1 = r.beta2;
       remember(e, g, other);
       e.p -= usual(e, other, r.t);
     }},
    {"beta1 and beta2 were exchanged",
     [](Element& e, double g, const Rule& r) {
       g = decayed(e, g, r);
       Rule other = r;
       std::swap(other.beta1, other.beta2);
       remember(e, g, other);
       e.p -= usual(e, r, r.t);
     }},
    {"beta1 and beta2 were exchanged",  // in the corrections as well
     [](Element& e, double g, const Rule& r) {
       g = decayed(e, g, r);
       Rule other = r;
       std::swap(other.beta1, other.beta2);
       remember(e, g, other);
       e.p -= usual(e, other, r.t);
     }},
    {"epsilon was added under the root, where it counts as its own root: 1e-8 as 1e-4",
     [](Element& e, double g, const Rule& r) {
       g = decayed(e, g, r);
       remember(e, g, r);
       e.p -= rate * corrected_m(e, r, r.t) / std::sqrt(corrected_v(e, r, r.t) + r.epsilon);
     }},
    {"epsilon was added before the correction, so that it was corrected as well and is 30 times "
     "too large at the first step",
     [](Element& e, double g, const Rule& r) {
       g = decayed(e, g, r);
       remember(e, g, r);
       e.p -= rate * corrected_m(e, r, r.t) * std::sqrt(1 - std::pow(r.beta2, r.t)) /
              (std::sqrt(e.v) + r.epsilon);
     }},
    {"epsilon is missing",
     [](Element& e, double g, const Rule& r) {
       g = decayed(e, g, r);
       remember(e, g, r);
       e.p -= rate * corrected_m(e, r, r.t) / std::sqrt(corrected_v(e, r, r.t));
     }},
    {"the root is missing: m was divided by v, which has the unit of m^2",
     [](Element& e, double g, const Rule& r) {
       g = decayed(e, g, r);
       remember(e, g, r);
       e.p -= rate * corrected_m(e, r, r.t) / (corrected_v(e, r, r.t) + r.epsilon);
     }},
    {"second holds the mean of m^2, where it should hold that of g^2",
     [](Element& e, double g, const Rule& r) {
       g = decayed(e, g, r);
       remember(e, g, r);
       const double before = (e.v - (1 - r.beta2) * g * g);
       e.v = before + (1 - r.beta2) * e.m * e.m;
       e.p -= usual(e, r, r.t);
     }},
    {"second holds the mean of g: the square is missing",
     [](Element& e, double g, const Rule& r) {
       g = decayed(e, g, r);
       remember(e, g, r);
       e.v += (1 - r.beta2) * (g - g * g);
       e.p -= usual(e, r, r.t);
     }},
    {"the corrected means were stored in first and second, and corrected again at the next step",
     [](Element& e, double g, const Rule& r) {
       g = decayed(e, g, r);
       remember(e, g, r);
       e.p -= usual(e, r, r.t);
       e.m = corrected_m(e, r, r.t);
       e.v = corrected_v(e, r, r.t);
     }},
    {"the means were not kept for the next step: first and second must get the new values",
     [](Element& e, double g, const Rule& r) {
       g = decayed(e, g, r);
       const Element before = e;
       remember(e, g, r);
       e.p -= usual(e, r, r.t);
       e.m = before.m;
       e.v = before.v;
     }},
    {"the parameter was moved before the means were updated: the first step is 0 then",
     [](Element& e, double g, const Rule& r) {
       g = decayed(e, g, r);
       e.p -= usual(e, r, r.t);
       remember(e, g, r);
     }},
    {"the step goes along the gradient, uphill",
     [](Element& e, double g, const Rule& r) {
       g = decayed(e, g, r);
       remember(e, g, r);
       e.p += usual(e, r, r.t);
     }},
    {"the parameter was replaced by the step",
     [](Element& e, double g, const Rule& r) {
       g = decayed(e, g, r);
       remember(e, g, r);
       e.p = -usual(e, r, r.t);
     }},
    {"weight decay was left out", [](Element& e, double g, const Rule& r) {
       remember(e, g, r);
       e.p -= usual(e, r, r.t);
     }}};

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
    calls_before.push_back(calls);
    calls += int(count);
    adam->step(rate);
  }
  /// A parameter after all steps by `by`.
  Array after(Index parameter, Step by) const {
    Array result({rows, columns});
    for (Index i = 0; i < size; ++i) {
      Element e{.p = double(start[static_cast<std::size_t>(parameter)][i])};
      for (std::size_t t = 0; t < gradients.size(); ++t) {
        const Rule rule{options.beta1,
                        options.beta2,
                        options.epsilon,
                        options.weight_decay,
                        decoupled,
                        double(t + 1),
                        double(calls_before[t] + int(parameter) + 1)};
        by(e, double(gradients[t][static_cast<std::size_t>(parameter)][i]), rule);
      }
      result[i] = Real(e.p);
    }
    return result;
  }
  /// Whether all parameters are what the steps by `by` make of them.
  bool explained(Step by) const {
    for (Index i = 0; i < count; ++i) {
      if (!equal(after(i, by), model.tensors.at(name(i)).value())) return false;
    }
    return true;
  }
  /// Compares all parameters. Mistakes that give the same numbers, as some do in the first step,
  /// are told apart by the steps of another model.
  void check(const std::string& when) {
    std::unique_ptr<Case> other;
    if (!explained(right)) {
      other = std::make_unique<Case>(1000, count, options, decoupled);
      for (int i = 0; i < 2; ++i) other->step(last_scale);
    }
    for (Index i = 0; i < count; ++i) {
      const Array yours = model.tensors.at(name(i)).value();
      std::vector<Hypothesis> list;
      for (const Mistake& mistake : mistakes) {
        list.push_back({mistake.looks_as_if, [&, i] {
                          if (!other->explained(mistake.step)) throw UsageError("another mistake");
                          return after(i, mistake.step);
                        }});
      }
      for (const Real x : yours.span()) {
        chapter::require(
            std::isfinite(x),
            fmt::format(
                "the elements of {} are infinite or NaN {}.\nDivision by 0: run.step counts "
                "from 1, so 1 - beta^t is not 0; v is 0 only where every gradient was.",
                name(i), when));
      }
      chapter::require_equal(fmt::format("the elements of {} {}", name(i), when), after(i, right),
                             yours, names, list);
    }
  }
  static bool equal(const Array& expected, const Array& yours) {
    return chapter::difference("", expected, yours).empty();
  }

  Rng rng;
  Index count;
  AdamOptions options;
  bool decoupled;
  Parameters model;
  std::vector<Array> start;
  std::unique_ptr<Adam> adam;
  std::vector<std::vector<Array>> gradients;  // of each step, of each parameter
  std::vector<int> calls_before;
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
    calls += 3;
    adam.step(rate);
    Array expected(value.shape());
    for (Index i = 0; i < size; ++i) {
      Element e{double(value[i]), double(m[i]), double(v[i])};
      const auto t = double(steps[static_cast<std::size_t>(i / columns)] + 1);
      right(e, double(gradient[i]), {0.9, 0.999, 1e-8, 0, false, t, 0});
      expected[i] = Real(e.p);
    }
    const std::string text = chapter::difference("the elements of a", expected, a.value(), names);
    chapter::require(
        text.empty(),
        "right when all rows of a parameter have taken the same number of steps, wrong "
        "when they have not. Each call of update_run is for the run.size elements from "
        "the pointers on, which have all taken run.step steps.\n" +
            text);
  }
}
