// Parts of a training step: when each hook is called, and what it may change.
#include "headroom/train/step_part.hpp"

#include <cmath>

#include "headroom/base/error.hpp"
#include "headroom/ops/ops.hpp"
#include "headroom/optim/sgd.hpp"
#include "support/bag.hpp"
#include "support/catch.hpp"
#include "support/small_training.hpp"

using namespace headroom;
using Catch::Matchers::Contains;

namespace {

/// Records every call, with the gradient and the value of a parameter at that time.
struct Diary : StepPart {
  Diary(const char* name, Tensor watched, std::vector<std::string>& calls)
      : name(name), watched(std::move(watched)), calls(&calls) {}

  void begin(Index step, HeadProbe& probe) override {
    CHECK(probe.gates.empty());
    note("begin " + std::to_string(step));
  }
  Tensor penalty() override {
    note("penalty");
    return weight == 0 ? Tensor() : sum(watched * watched) * Tensor(weight);
  }
  void after_backward() override {
    note("backward");
    gradient = double(watched.grad()[0]);
    CHECK(watched.value()[0] == before);
  }
  void after_update(StepReport& report) override {
    note("update");
    CHECK(watched.value()[0] != before);
    before = watched.value()[0];
    report.metrics[name] = report.step;
    report.settled = report.step > 1;
  }
  void note(const std::string& what) { calls->push_back(std::string(name) + " " + what); }

  const char* name;
  Tensor watched;
  std::vector<std::string>* calls;
  Real weight = 0, before = 1;
  double gradient = 0;
};

}  // namespace

TEST_CASE("parts are called in their order, before and after what they wait for") {
  Bag bag;
  Tensor& p = bag.add("p", Array({1}, {1}));
  Sgd optimizer(bag);
  Trainer trainer(optimizer, RateOptions{.peak = 0.1}, {.clip = 0.5});
  std::vector<std::string> calls;
  Diary first("a", p, calls), second("b", p, calls);
  second.weight = 2;
  trainer.add(first);
  trainer.add(second);
  const auto loss = [&] {
    calls.emplace_back("loss");
    return sum(p * Tensor(Real(3)));
  };
  StepReport report = trainer.step(loss);
  CHECK(calls == std::vector<std::string>{"a begin 1", "b begin 1", "loss", "a penalty",
                                          "b penalty", "a backward", "b backward", "a update",
                                          "b update"});
  // d(3 p + 2 p^2)/dp = 7 at p = 1, clipped to 0.5; the reported loss has no penalty.
  CHECK(report.loss == 3);
  CHECK(std::abs(report.gradient_norm - 7) < 1e-6);
  CHECK(std::abs(first.gradient - 7) < 1e-6);
  CHECK(std::abs(double(p.value()[0]) - 0.95) < 1e-6);
  CHECK(report.metrics == Record{{"a", 1}, {"b", 1}});
  CHECK_FALSE(report.settled);
  CHECK(trainer.step(loss).settled);
}

TEST_CASE("a penalty that is not finite is told from the loss, and changes nothing") {
  Bag bag;
  Tensor& p = bag.add("p", Array({1}, {1}));
  Sgd optimizer(bag);
  Trainer trainer(optimizer, RateOptions{.peak = 0.1});
  std::vector<std::string> calls;
  Diary part("a", p, calls);
  part.weight = std::numeric_limits<Real>::infinity();
  trainer.add(part);
  CHECK_THROWS_WITH(trainer.step([&] { return sum(p * p); }),
                    Contains("step 1: the loss with its penalties is inf"));
  CHECK(p.value()[0] == 1);
  CHECK(trainer.steps() == 0);
}
