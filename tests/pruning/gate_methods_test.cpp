// Methods that learn gates: derivatives, closed forms, limits, on numbers alone.
#include "headroom_measure/pruning/gate_methods.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "headroom/base/error.hpp"
#include "headroom/io/fields.hpp"
#include "headroom/optim/adam.hpp"
#include "support/bag.hpp"
#include "support/catch.hpp"

using namespace headroom;
using Catch::Matchers::Contains;
using Numbers = std::vector<double>;

namespace {

Numbers drawn(Rng& rng, Index count, double low, double high) {
  Numbers numbers;
  for (Index i = 0; i < count; ++i) {
    numbers.push_back(low + (high - low) * (double(rng.word()) + 0.5) * 0x1p-32);
  }
  return numbers;
}

std::unique_ptr<GateMethod> method(const std::string& name, GateOptions options = {}) {
  options.method = name;
  return gate_method(name).make(options);
}

GateState state_of(const Numbers& values) {
  return {.values = values, .first = Numbers(values.size()), .second = Numbers(values.size())};
}

/// df/dx_i by central differences of fourth order.
template <class F>
double slope(F f, Numbers x, std::size_t i, double h) {
  const double at = x[i];
  const auto value = [&](double offset) {
    x[i] = at + offset;
    return f(x);
  };
  return (8 * (value(h) - value(-h)) - (value(2 * h) - value(-2 * h))) / (12 * h);
}

double dot(const Numbers& a, const Numbers& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// w - ln(-ln u)
Numbers noisy(const Numbers& values, const Numbers& noise) {
  Numbers result = values;
  for (std::size_t i = 0; i < result.size(); ++i) result[i] -= std::log(-std::log(noise[i]));
  return result;
}

/// The k-th largest of distinct numbers; larger ones count as chosen.
double border(Numbers numbers, Index k) {
  if (k == 0) return std::numeric_limits<double>::infinity();
  std::sort(numbers.rbegin(), numbers.rend());
  return numbers[static_cast<std::size_t>(k - 1)];
}

}  // namespace

TEST_CASE("the gradients of sampled gates are those of their values, for fixed noise") {
  Rng rng(1);
  for (const char* name : {"hard_concrete", "subset", "frozen"}) {
    double largest = 0;
    for (int draw = 0; draw < 20; ++draw) {
      const Numbers noise = drawn(rng, 7, 0, 1), cotangent = drawn(rng, 7, -1, 1);
      const Numbers values = drawn(rng, 7, -2, 2);
      // Down to a temperature of 0.06; below it a difference of 1e-5 is not small.
      const GateStep step{.progress = 0.1 * (draw % 4), .keep = draw % 8, .noise = noise};
      const auto rule = method(name);
      const auto loss = [&](const Numbers& x) {
        return dot(rule->sample(x, step).gates, cotangent);
      };
      const GateSample sample = rule->sample(values, step);
      const Numbers gradient = sample.gradient(cotangent);
      for (std::size_t i = 0; i < values.size(); ++i) {
        // A gate of hard concrete near its border has a kink.
        const double gate = sample.gates[i];
        if (rule->freezes_model() || (gate > 0 && gate < 1e-3) || (gate < 1 && gate > 1 - 1e-3)) {
          continue;
        }
        INFO(name << ", draw " << draw << ", head " << i << ", gate " << gate);
        const double expected = slope(loss, values, i, 1e-5);
        CHECK(std::abs(gradient[i] - expected) <= 1e-8 * std::max(1.0, std::abs(expected)));
        largest = std::max(largest, std::abs(expected));
      }
      if (rule->freezes_model()) CHECK(gradient == cotangent);
    }
    CHECK((largest > 0.1 || std::string(name) == "frozen"));
  }
}

TEST_CASE("the gradient of a penalty is that of its value") {
  Rng rng(2);
  for (const char* name : {"hard_concrete", "frozen"}) {
    const auto rule = method(name, {.penalty = 0.3});
    const GateStep step{.open = 2.5};
    GateState state = state_of(drawn(rng, 6, 0, 3));
    state.multiplier = 0.7;
    const GatePenalty penalty = rule->penalty(state, step);
    for (std::size_t i = 0; i < state.values.size(); ++i) {
      const auto value = [&](const Numbers& x) {
        GateState other = state;
        other.values = x;
        return rule->penalty(other, step).value;
      };
      const double expected = slope(value, state.values, i, 1e-3);
      CHECK(std::abs(penalty.gradient[i] - expected) <= 1e-9);
      CHECK(std::abs(expected) > 1e-3);
    }
  }
  for (const char* name : {"subset", "subset_top_k", "movement"}) {
    CHECK(method(name)->penalty(state_of({1, 2}), {}).gradient == Numbers{0, 0});
  }
}

TEST_CASE("the expected number of open hard concrete gates is the share of noise that opens them") {
  const auto rule = method("hard_concrete");
  constexpr int grid = 20000;
  for (const double value : {-4.0, -1.7, 0.0, 2.2, 5.0}) {
    int open = 0;
    for (int i = 0; i < grid; ++i) {
      const Numbers noise = {(i + 0.5) / grid};
      open += rule->sample(Numbers{value}, {.noise = noise}).gates[0] > 0 ? 1 : 0;
    }
    INFO(value);
    CHECK(std::abs(rule->open_heads(Numbers{value}, {}) - double(open) / grid) <= 1.0 / grid);
  }
  // ln alpha = 0: sigmoid(2/3 ln 11).
  CHECK(std::abs(rule->open_heads(Numbers{0, 0}, {}) -
                 2 / (1 + std::exp(-2.0 / 3 * std::log(11)))) < 1e-14);
  // Half of the gates above 0 are below the final one.
  CHECK(rule->final_gates(Numbers{9}) == Numbers{1});
  for (const double value : {-6.0, -3.0, -1.0, 0.3}) {
    const double gate = rule->final_gates(Numbers{value})[0];
    int open = 0, below = 0;
    for (int i = 0; i < grid; ++i) {
      const Numbers noise = {(i + 0.5) / grid};
      const double drawn = rule->sample(Numbers{value}, {.noise = noise}).gates[0];
      open += drawn > 0 ? 1 : 0;
      below += drawn > 0 && drawn < gate ? 1 : 0;
    }
    INFO(value << ": " << gate);
    CHECK(gate > 0);
    CHECK(gate < 1);
    CHECK(std::abs(below - 0.5 * open) <= 1);
  }
  // Heads begin open.
  Rng rng(3);
  for (int i = 0; i < 20; ++i) CHECK(std::abs(rule->first_value(rng) - 5) < 0.05);
}

TEST_CASE("the gates of a subset sum to k, and become the k largest as the temperature falls") {
  Rng rng(4);
  for (Index heads = 1; heads <= 9; ++heads) {
    for (Index keep = 0; keep <= heads; ++keep) {
      const Numbers noise = drawn(rng, heads, 0, 1);
      Numbers r = drawn(rng, heads, -4, -3.7), values = r;
      for (std::size_t i = 0; i < r.size(); ++i) {  // distances of at least 0.7: no near ties
        r[i] += double((7 * i) % 11);
        values[i] = r[i] + std::log(-std::log(noise[i]));
      }
      INFO(keep << " of " << heads);
      for (const double progress : {0.0, 0.3, 0.6, 1.0}) {
        const GateStep step{.progress = progress, .keep = keep, .noise = noise};
        const Numbers gates = method("subset")->sample(values, step).gates;
        CHECK(std::abs(std::accumulate(gates.begin(), gates.end(), 0.0) - double(keep)) < 1e-12);
        CHECK(*std::min_element(gates.begin(), gates.end()) >= 0);
        const Numbers hard = method("subset_top_k")->sample(values, step).gates;
        for (std::size_t i = 0; i < hard.size(); ++i) {
          CHECK(hard[i] == (r[i] >= border(r, keep) ? 1 : 0));
          if (progress == 1) CHECK(std::abs(gates[i] - hard[i]) < 1e-9);
        }
        CHECK(method("subset")->open_heads(values, step) == double(keep));
      }
    }
  }
}

TEST_CASE("the gradient of a subset stays finite at the lowest temperature") {
  Rng rng(5);
  for (int draw = 0; draw < 50; ++draw) {
    const Numbers values = drawn(rng, 24, -5, 5), noise = drawn(rng, 24, 0, 1);
    const GateStep step{.progress = 1, .keep = 1 + draw % 24, .noise = noise};
    const GateSample sample = method("subset")->sample(values, step);
    for (const double slope : sample.gradient(drawn(rng, 24, -1, 1))) REQUIRE(std::isfinite(slope));
  }
}

TEST_CASE("one k-fold softmax is that of its definition") {
  Rng rng(6);
  const Numbers values = drawn(rng, 5, -1, 1), noise = drawn(rng, 5, 0, 1);
  const double tau = 0.1;  // a quarter of the way from 1 to 1e-4 in geometric steps
  const GateStep step{.progress = 0.25, .keep = 3, .noise = noise};
  Numbers r = noisy(values, noise), expected(5, 0);
  for (int fold = 0; fold < 3; ++fold) {
    Numbers p = r;
    for (double& x : p) x = std::exp(x / tau);
    const double sum = std::accumulate(p.begin(), p.end(), 0.0);
    for (std::size_t i = 0; i < p.size(); ++i) {
      expected[i] += p[i] / sum;
      r[i] += std::log(1 - p[i] / sum);
    }
  }
  const Numbers gates = method("subset")->sample(values, step).gates;
  for (std::size_t i = 0; i < gates.size(); ++i) CHECK(std::abs(gates[i] - expected[i]) < 1e-11);
}

TEST_CASE("movement and frozen_top_k open the highest values, as many as should be open") {
  const Numbers values = {0.5, 2, 0.25, 1, 1};
  const GateStep three{.open = 2.7};
  CHECK(method("movement")->sample(values, three).gates == Numbers{0, 1, 0, 1, 1});
  CHECK(method("frozen_top_k")->sample(values, three).gates == Numbers{0, 2, 0, 1, 1});
  CHECK(method("frozen_top_k")->open_heads(values, three) == 3);
  CHECK(method("movement")->open_heads(values, {.open = 0.4}) == 0);
  for (const char* name : {"movement", "frozen_top_k", "subset_top_k"}) {
    const Numbers noise(5, 0.5), cotangent = {1, -2, 3, -4, 5};
    CHECK(method(name)->sample(values, {.noise = noise}).gradient(cotangent) == cotangent);
  }
  // Movement is a sum of gradients.
  GateState state = state_of({0, 0});
  const auto movement = method("movement", {.rate = 0.5});
  movement->update(state, Numbers{1, -3}, {});
  movement->update(state, Numbers{2, 1}, {});
  CHECK(state.values == Numbers{-1.5, 1});
  CHECK(state.steps == 2);
}

TEST_CASE("gates of a frozen model are not negative, and fall at the price of a gate") {
  GateState state = state_of({0.05, 1});
  const auto frozen = method("frozen", {.rate = 0.1, .penalty = 0.02});
  const GatePenalty penalty = frozen->penalty(state, {});
  CHECK(std::abs(penalty.value - 0.021) < 1e-15);
  CHECK(penalty.gradient == Numbers{0.02, 0.02});
  frozen->update(state, penalty.gradient, {});
  CHECK(state.values[0] == 0);
  CHECK(std::abs(state.values[1] - 0.9) < 1e-6);
  CHECK(frozen->open_heads(state.values, {}) == 1);
  CHECK(frozen->final_gates(state.values) == state.values);
}

TEST_CASE("gates are updated as parameters of Adam are") {
  Rng rng(7);
  Bag bag;
  Tensor& p = bag.add("p", Array({3}, {1, 2, 3}));
  Adam adam(bag, {.beta2 = 0.95});
  GateState state = state_of({1, 2, 3});
  const auto rule = method("subset", {.rate = 0.07});
  for (int step = 0; step < 30; ++step) {
    const Numbers gradient = drawn(rng, 3, -1, 0.5);
    Array same({3});
    for (Index i = 0; i < 3; ++i) same[i] = Real(gradient[static_cast<std::size_t>(i)]);
    p.set_grad(same);
    adam.step(0.07);
    rule->update(state, gradient, {});
  }
  for (Index i = 0; i < 3; ++i) {
    const double value = state.values[static_cast<std::size_t>(i)];
    CHECK(std::abs(value - double(p.value()[i])) < (is_double ? 1e-12 : 1e-5));
  }
  CHECK(state.steps == 30);
  // With one scale for all heads, constant gradients move the values in proportion.
  state = state_of({0, 0, 0});
  const auto straight = method("subset_top_k", {.rate = 0.5});
  for (int step = 0; step < 10; ++step) straight->update(state, Numbers{0.25, -1, 0}, {});
  CHECK(std::abs(state.values[0] + 10 * 0.5 * 0.25) < 1e-6);
  CHECK(std::abs(state.values[1] - 10 * 0.5) < 1e-6);
  CHECK(state.values[2] == 0);
}

TEST_CASE("hard concrete's multipliers lead the number of open gates to the target") {
  // L = sum_h cost_h g_h, so the useful heads are those with the lowest (negative) costs.
  Rng rng(8);
  for (const Index keep : {1, 4, 7}) {
    const auto rule = method("hard_concrete");
    GateState state = state_of(Numbers(8));
    for (double& value : state.values) value = rule->first_value(rng);
    Numbers costs(8);
    for (std::size_t h = 0; h < 8; ++h) costs[h] = -0.02 * double((3 * h) % 8);
    for (int i = 1; i <= 400; ++i) {
      const Numbers noise = drawn(rng, 8, 0, 1);
      const double open = std::max(double(keep), 8 - (8 - double(keep)) * i / 80);
      const GateStep step{.open = open, .noise = noise};
      Numbers gradient = rule->sample(state.values, step).gradient(costs);
      const GatePenalty penalty = rule->penalty(state, step);
      for (std::size_t h = 0; h < 8; ++h) gradient[h] += penalty.gradient[h];
      const double before = state.multiplier;
      const double distance = rule->open_heads(state.values, step) - open;
      rule->update(state, gradient, step);
      CHECK(std::abs(state.multiplier - before - 0.01 * distance) < 1e-12);
    }
    INFO(keep << " heads, open " << rule->open_heads(state.values, {}));
    CHECK(std::abs(rule->open_heads(state.values, {}) - double(keep)) < 0.5);
    const double lowest = border(state.values, keep);
    for (std::size_t h = 0; h < 8; ++h) {
      INFO("head " << h << ": cost " << costs[h] << ", ln alpha " << state.values[h]);
      CHECK((state.values[h] >= lowest) == ((3 * h) % 8 >= static_cast<std::size_t>(8 - keep)));
    }
  }
}

TEST_CASE("methods are found by their names, and options out of range are refused") {
  for (const GateMethodEntry& entry : gate_methods()) {
    INFO(entry.name);
    CHECK(&gate_method(entry.name) == &entry);
    CHECK_FALSE((entry.summary.empty() || entry.score.empty() || entry.source.empty()));
    CHECK_NOTHROW(GateOptions{.method = entry.name, .begin = 0, .end = 1}.check());
    const bool freezes = method(entry.name)->freezes_model();
    CHECK(freezes == (entry.name.rfind("frozen", 0) == 0));
  }
  const GateOptions options{.method = "subset",
                            .keep = 3,
                            .budget = {.over = BudgetOver::per_kind, .at_least = 1},
                            .begin = 5,
                            .end = 9};
  CHECK(json_of(struct_of<GateOptions>(json_of(options), "options")) == json_of(options));
  CHECK_THROWS_AS(gate_method("hard_concret"), UsageError);
  CHECK_THROWS_WITH(gate_method("hard_concret"), Contains("did you mean hard_concrete?"));
  const auto refused = [](GateOptions options, const char* words) {
    options.method = "subset";
    INFO(words);
    CHECK_THROWS_AS(options.check(), UsageError);
    CHECK_THROWS_WITH(options.check(), Contains(words));
  };
  refused({.begin = 5, .end = 5}, "steps 5 to 5");
  refused({.begin = -1, .end = 5}, "steps -1 to 5");
  refused({.keep = -1, .end = 1}, "keep -1");
  refused({.end = 1, .ramp = 1.5}, "ramp 1.5");
  refused({.end = 1, .rate = 0}, "rate 0");
  refused({.end = 1, .multiplier_rate = -1}, "multiplier_rate -1");
  refused({.end = 1, .first_temperature = -1}, "first_temperature -1");
  refused({.end = 1, .last_temperature = std::nan("")}, "last_temperature nan");
  refused({.end = 1, .penalty = -0.1}, "penalty -0.1");
}
