// Optimizers: arithmetic against values of PyTorch and an independent loop, groups, errors.
#include "headroom/optim/optimizer.hpp"

#include <cmath>
#include <functional>
#include <memory>

#include "headroom/base/error.hpp"
#include "headroom/base/parallel.hpp"
#include "headroom/base/rng.hpp"
#include "headroom/optim/adam.hpp"
#include "headroom/optim/sgd.hpp"
#include "support/bag.hpp"
#include "support/catch.hpp"
#include "support/optim_support.hpp"
#include "support/random.hpp"

using namespace headroom;
using Catch::Matchers::Contains;
using headroom::test::set_slopes;
using headroom::test::slope;

namespace {

const double state_tolerance = is_double ? 1e-14 : 5e-7;

Array start() { return Array({4}, {Real(0.5), Real(-0.25), 1, -2}); }

}  // namespace

// The numbers come from torch.optim on a double tensor with the start and slopes above:
//   o = torch.optim.Adam([p], lr=0.02, betas=(0.9, 0.98), eps=1e-6, weight_decay=0.1)
//   for t in range(1, 7): p.grad = torch.tensor([((7*t+3*i)%11-5)/4 for i in range(4)]); o.step()
TEST_CASE("six steps of each optimizer end where PyTorch's end") {
  struct Case {
    const char* name;
    double rate;
    std::function<std::unique_ptr<Optimizer>(Module&)> make;
    std::array<double, 4> expected;
  };
  const std::array<Case, 3> cases = {
      Case{"sgd",
           0.05,
           [](Module& m) {
             return std::make_unique<Sgd>(m, SgdOptions{.momentum = 0.9, .weight_decay = 0.1});
           },
           {0.21811439644461716, -0.5194667916361367, 0.9582282391272422, -1.6243798928406563}},
      Case{"adam",
           0.02,
           [](Module& m) {
             return std::make_unique<Adam>(
                 m, AdamOptions{.beta2 = 0.98, .epsilon = 1e-6, .weight_decay = 0.1});
           },
           {0.44326398717337345, -0.3059668766368875, 1.0063935554046743, -1.9254218705630588}},
      Case{"adamw, beta1 below a half",
           0.02,
           [](Module& m) {
             return std::make_unique<AdamW>(
                 m, AdamOptions{.beta1 = 0.4, .beta2 = 0.98, .epsilon = 1e-6, .weight_decay = 0.1});
           },
           {0.44898201209848737, -0.27564077832549033, 1.0007770986264155, -1.9404637400614861}}};
  for (const Case& c : cases) {
    INFO(c.name);
    Bag bag;
    Tensor& p = bag.add("p", start());
    const auto optimizer = c.make(bag);
    for (Index t = 1; t <= 6; ++t) {
      set_slopes(p, t);
      optimizer->step(c.rate);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      CAPTURE(i);
      CHECK(std::abs(double(p.value()[Index(i)]) - c.expected[i]) < state_tolerance * 2);
    }
  }
}

TEST_CASE("Adam follows a loop in long double over a hundred steps") {
  Bag bag;
  Tensor& p = bag.add("p", test::noise({37, 5}, "start"));
  std::vector<long double> q(p.value().span().begin(), p.value().span().end()), m(q.size(), 0),
      v(q.size(), 0);
  Adam adam(bag, {});
  for (Index t = 1; t <= 100; ++t) {
    set_slopes(p, t);
    const double rate = 0.01 / double(t);
    adam.step(rate);
    for (std::size_t i = 0; i < q.size(); ++i) {
      const auto g = static_cast<long double>(slope(t, Index(i)));
      m[i] = 0.9L * m[i] + 0.1L * g;
      v[i] = 0.999L * v[i] + 0.001L * g * g;
      const long double m_hat = m[i] / (1 - std::pow(0.9L, static_cast<long double>(t)));
      const long double v_hat = v[i] / (1 - std::pow(0.999L, static_cast<long double>(t)));
      q[i] -= static_cast<long double>(rate) * m_hat / (std::sqrt(v_hat) + 1e-8L);
    }
  }
  double worst = 0;
  for (std::size_t i = 0; i < q.size(); ++i) {
    const auto actual = static_cast<long double>(p.value()[Index(i)]);
    worst = std::max(worst, double(std::abs(actual - q[i])));
  }
  CHECK(worst < (is_double ? 1e-13 : 2e-6));
}

TEST_CASE("any number of threads gives the same bits") {
  const int threads_before = num_threads();
  std::vector<Real> expected;
  for (const int threads : {1, 2, 3}) {
    set_num_threads(threads);
    Bag bag;
    Tensor& p = bag.add("p", test::noise({301, 157}, "start"));
    AdamW adam(bag);
    for (Index t = 1; t <= 3; ++t) {
      set_slopes(p, t);
      adam.step(0.01);
    }
    const std::vector<Real> actual(p.value().span().begin(), p.value().span().end());
    if (threads == 1) expected = actual;
    CHECK(actual == expected);
  }
  set_num_threads(threads_before);
}

TEST_CASE("groups have a rate and a weight decay of their own") {
  Bag bag;
  Tensor& matrix = bag.add("matrix", Array({1, 2}, {1, 2}));
  Tensor& bias = bag.add("bias", Array({2}, {1, 2}));
  Tensor& slow = bag.add("slow", Array({1, 1}, {4}));
  ParameterGroup half;
  half.holds = [](const NamedParameter& parameter) { return parameter.name == "slow"; };
  half.rate_factor = 0.5;
  Sgd sgd(bag, {.weight_decay = 0.25, .groups = {no_decay_of_vectors(), half}});
  for (auto& [name, tensor] : bag.tensors) tensor.set_grad(zeros(tensor.shape()));
  sgd.step(1);
  CHECK(matrix.value()[1] == Real(1.5));
  CHECK(bias.value()[1] == Real(2));
  CHECK(slow.value()[0] == Real(3.5));
}

TEST_CASE("of several groups that hold a parameter the first decides") {
  Bag bag;
  Tensor& p = bag.add("p", Array({1, 1}, {4}));
  const auto all = [](const NamedParameter&) { return true; };
  ParameterGroup first{.holds = all, .rate_factor = 0.5, .weight_decay = 0.5};
  ParameterGroup second{.holds = all, .rate_factor = 0.25, .weight_decay = 0};
  Sgd sgd(bag, {.groups = {first, second}});
  p.set_grad(zeros({1, 1}));
  sgd.step(1);
  CHECK(p.value()[0] == Real(3));
}

TEST_CASE("a parameter without gradient is left alone, its step count too") {
  Bag bag;
  Tensor& moved = bag.add("moved", Array({2}, {1, 2}));
  Tensor& still = bag.add("still", Array({2}, {1, 2}));
  Adam adam(bag);
  adam.may_be_unused([](const NamedParameter& p) { return p.name == "still"; });
  set_slopes(moved, 1);
  adam.step(0.1);
  CHECK(still.value()[0] == Real(1));
  CHECK(adam.state("still").steps == std::vector<std::int64_t>{0, 0});
  CHECK(moved.value()[0] != Real(1));
  CHECK(adam.state("moved").steps == std::vector<std::int64_t>{1, 1});
}

TEST_CASE("an update in place does not reach a copy of the numbers that somebody keeps") {
  Bag bag;
  Tensor& p = bag.add("p", start());
  const Array kept = p.value();
  set_slopes(p, 1);
  Sgd(bag).step(1);
  CHECK(kept[0] == Real(0.5));
  CHECK(p.value()[0] != Real(0.5));
}

TEST_CASE("a state of several step counts is corrected block by block") {
  // The first two rows (or columns) have taken three steps, the others none: each must be updated
  // as in a separate optimizer.
  const int axis = GENERATE(0, 1);
  const Shape shape{4, 5};
  const Array value = test::noise(shape, "value"), gradient = test::noise(shape, "gradient"),
              first = test::noise(shape, "first");
  std::vector<std::int64_t> steps(static_cast<std::size_t>(shape[axis]), 0);
  steps[0] = steps[1] = 3;
  Bag bag;
  Tensor& p = bag.add("p", value.clone());
  Adam adam(bag);
  adam.set_state("p", {first.clone(), Array(shape, Real(0.5)), axis, steps});
  p.set_grad(gradient.clone());
  adam.step(0.1);
  for (std::int64_t& count : steps) ++count;
  CHECK(adam.state("p").steps == steps);

  for (const std::int64_t before : {3, 0}) {
    Bag alone;
    Tensor& q = alone.add("p", value.clone());
    Adam reference(alone);
    reference.set_state(
        "p", {first.clone(), Array(shape, Real(0.5)), 0, std::vector<std::int64_t>(4, before)});
    q.set_grad(gradient.clone());
    reference.step(0.1);
    for (Index row = 0; row < shape[0]; ++row) {
      for (Index column = 0; column < shape[1]; ++column) {
        if (((axis == 0 ? row : column) < 2) != (before == 3)) continue;
        CAPTURE(axis, before, row, column);
        CHECK(p.value()[row * shape[1] + column] == q.value()[row * shape[1] + column]);
      }
    }
  }
}

TEST_CASE("options outside their range are refused") {
  Bag bag;
  CHECK_THROWS_WITH(Adam(bag, {.beta1 = 1}), "adam: beta1 1 is not in [0, 1)");
  CHECK_THROWS_WITH(Adam(bag, {.beta2 = -0.5}), "adam: beta2 -0.5 is not in [0, 1)");
  CHECK_THROWS_AS(Adam(bag, {.epsilon = -1}), UsageError);
  CHECK_THROWS_WITH(Sgd(bag, {.momentum = 1.5}), "sgd: momentum 1.5 is not in [0, 1)");
  CHECK_THROWS_AS(Sgd(bag, {.weight_decay = std::nan("")}), UsageError);
}

TEST_CASE("an unknown parameter is named with the nearest known one") {
  Bag bag;
  bag.add("weight", start());
  Adam adam(bag);
  CHECK_THROWS_WITH(adam.state("weigth"),
                    Contains("no parameter \"weigth\" (did you mean weight?)"));
}
