// Learning rate schedules: values computed by hand.
#include "headroom/optim/rate.hpp"

#include <cmath>

#include "headroom/base/error.hpp"
#include "headroom/base/record_json.hpp"
#include "support/catch.hpp"

using namespace headroom;

namespace {
bool near(double a, double b) { return std::abs(a - b) <= 1e-15; }
}  // namespace

TEST_CASE("the warm-up rises in equal steps and ends at the peak") {
  const RateSchedule rate({.shape = RateShape::constant, .peak = 0.8, .warmup = 4});
  CHECK(near(rate(0), 0.2));
  CHECK(near(rate(2), 0.6));
  CHECK(near(rate(3), 0.8));
  CHECK(near(rate(4), 0.8));
  CHECK(near(rate(1000000), 0.8));
}

TEST_CASE("cosine falls by half a wave to its floor and stays there") {
  const RateSchedule rate(
      {.shape = RateShape::cosine, .peak = 1.0, .warmup = 2, .steps = 10, .floor = 0.2});
  CHECK(near(rate(2), 1.0));
  CHECK(near(rate(4), 0.2 + 0.4 * (1 + std::sqrt(0.5))));
  CHECK(near(rate(6), 0.6));
  CHECK(near(rate(10), 0.2));
  CHECK(near(rate(11), 0.2));
}

TEST_CASE("linear falls evenly to its floor and stays there") {
  const RateSchedule rate({.shape = RateShape::linear, .peak = 1.0, .warmup = 0, .steps = 8});
  CHECK(near(rate(0), 1.0));
  CHECK(near(rate(1), 0.875));
  CHECK(near(rate(7), 0.125));
  CHECK(near(rate(8), 0.0));
  CHECK(near(rate(80), 0.0));
  const RateSchedule above({.shape = RateShape::linear, .peak = 1.0, .steps = 8, .floor = 0.2});
  CHECK(near(above(0), 1.0));
  CHECK(near(above(4), 0.6));
  CHECK(near(above(8), 0.2));
  CHECK(near(above(80), 0.2));
}

TEST_CASE("inverse root is the formula of the Transformer's paper") {
  const double width = 512;
  const Index warmup = 4000;
  const RateSchedule rate({.shape = RateShape::inverse_root,
                           .peak = 1 / std::sqrt(width * double(warmup)),
                           .warmup = warmup});
  for (const Index step : {1, 100, 4000, 4001, 100000}) {  // the paper counts from 1
    const double s = double(step), w = double(warmup);
    CAPTURE(step);
    CHECK(near(rate(step - 1),
               std::pow(width, -0.5) * std::min(std::pow(s, -0.5), s * std::pow(w, -1.5))));
  }
}

TEST_CASE("a schedule says what it does") {
  CHECK(RateSchedule({.peak = 0.5}).text() == "0.5 throughout");
  CHECK(RateSchedule({.shape = RateShape::cosine, .peak = 0.002, .warmup = 100, .steps = 2000})
            .text() == "warm-up 100 steps to 0.002, then cosine to 0 at step 2000");
}

TEST_CASE("schedules that make no sense are refused") {
  CHECK_THROWS_WITH(
      RateSchedule({.shape = RateShape::cosine, .warmup = 10, .steps = 10}),
      "learning rate schedule: cosine over 10 steps does not outlast its warm-up of 10; give "
      "the length of the run");
  CHECK_THROWS_AS(RateSchedule({.peak = -1}), UsageError);
  CHECK_THROWS_AS(RateSchedule({.peak = std::nan("")}), UsageError);
  CHECK_THROWS_AS(RateSchedule({.warmup = -1}), UsageError);
  CHECK_THROWS_WITH(from_name<RateShape>("schedule", "cosin"),
                    "schedule: \"cosin\" is not one of constant, cosine, linear, inverse_root");
  CHECK(from_name<RateShape>("schedule", "linear") == RateShape::linear);
}

TEST_CASE("a schedule made of a function") {
  const RateSchedule rate([](Index step) { return step < 3 ? 0.5 : -1.0; }, "0.5, then a mistake");
  CHECK(rate(2) == 0.5);
  CHECK(rate.text() == "0.5, then a mistake");
  CHECK(rate.to_record() == Record{{"function", "0.5, then a mistake"}});
  CHECK_THROWS_WITH(rate(3),
                    "learning rate schedule \"0.5, then a mistake\": -1 at step 3 must be finite "
                    "and not negative");
  CHECK_THROWS_AS(RateSchedule(nullptr, "nothing"), UsageError);
  CHECK_THROWS_AS(RateSchedule([](Index) { return 1.0; }, ""), UsageError);
}
