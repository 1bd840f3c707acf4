// The schedules of removal: properties of all of them, the values of each, and their JSON.
#include "headroom_measure/pruning/schedules.hpp"

#include <cmath>
#include <set>

#include "headroom/base/error.hpp"
#include "headroom/base/rng.hpp"
#include "headroom/io/fields.hpp"
#include "support/catch.hpp"

using namespace headroom;
using Catch::Matchers::Contains;

namespace {

/// A schedule of this kind with random fields.
Pace random_pace(const std::string& kind, Rng& rng) {
  const Index from = rng.below(50), more = 1 + rng.below(60), step = 1 + rng.below(20);
  if (kind == "one_shot") return OneShot{.at = from};
  if (kind == "iterative") return Iterative{.from = from, .rounds = 1 + more / 6, .recover = step};
  return Gradual{.from = from, .to = from + more, .every = step};
}

}  // namespace

TEST_CASE("every schedule removes nothing before, all in the end, and never brings heads back") {
  Rng rng(7, "paces");
  for (const std::string& kind : pace_names()) {
    for (int draw = 0; draw < 200; ++draw) {
      const Pace pace = random_pace(kind, rng);
      const Index total = rng.below(40);
      INFO(json_of(pace) << " of " << total);
      check(pace);
      REQUIRE(name_of(pace) == kind);
      REQUIRE(first_step(pace) <= last_step(pace));
      Index before = 0;
      std::set<Index> events;
      for (Index step = 0; step <= last_step(pace) + 3; ++step) {
        const Index now = removed_at(pace, total, step);
        REQUIRE(now >= before);
        if (step < first_step(pace)) REQUIRE(now == 0);
        if (step >= last_step(pace)) REQUIRE(now == total);
        if (now > before) events.insert(step);
        before = now;
      }
      REQUIRE(removed_at(pace, total, 1'000'000) == total);
      if (total > 0) REQUIRE(*events.rbegin() == last_step(pace));
      if (const auto* rounds = std::get_if<Iterative>(&pace)) {
        REQUIRE(std::ssize(events) == std::min(total, rounds->rounds));
        for (const Index step : events) REQUIRE((step - rounds->from) % rounds->recover == 0);
      }
      REQUIRE(json_of(struct_of<Pace>(json_of(pace), "pace")) == json_of(pace));
    }
  }
}

TEST_CASE("the gradual schedule is the cubic of Zhu and Gupta, many at first and few at last") {
  const Gradual pace{.from = 0, .to = 10, .every = 1};
  for (Index step = 0; step <= 10; ++step) {
    const double left = 1 - double(step) / 10;
    CHECK(removed_at(pace, 1000, step) ==
          Index(std::floor(1000 * (1 - left * left * left) + 1e-9)));
  }
  CHECK(removed_at(pace, 1000, 1) > 10 * (1000 - removed_at(pace, 1000, 9)));
}

TEST_CASE("rounds take equal shares, and one shot takes all") {
  const Iterative rounds{.from = 10, .rounds = 3, .recover = 5};
  std::vector<Index> gone;
  for (const Index step : {9, 10, 14, 15, 19, 20, 90}) gone.push_back(removed_at(rounds, 7, step));
  CHECK(gone == std::vector<Index>{0, 2, 2, 4, 4, 7, 7});
  CHECK(removed_at(OneShot{.at = 4}, 7, 3) == 0);
  CHECK(removed_at(OneShot{.at = 4}, 7, 4) == 7);
}

TEST_CASE("the share of swapped heads falls as a cosine, from the first removal to the end") {
  const Regrowth regrowth{.every = 5, .share = 0.5, .until = 40};
  check(regrowth, 10);
  std::vector<Index> swapped;
  for (Index step = 0; step <= 60; ++step) {
    const Index now = swapped_at(regrowth, 10, 100, step);
    if (step <= 10 || step >= 40 || step % 5 != 0) {
      CHECK(now == 0);
    } else {
      swapped.push_back(now);
    }
  }
  // 25 (1 + cos(pi k / 6)), k = 1 to 5: the cosine is sqrt(3)/2, 1/2, 0, -1/2, -sqrt(3)/2.
  CHECK(swapped == std::vector<Index>{47, 38, 25, 13, 3});
  CHECK(swapped_at(regrowth, 10, 2, 15) == 1);
  CHECK(swapped_at(regrowth, 10, 2, 30) == 0);
  CHECK(json_of(struct_of<Regrowth>(json_of(regrowth), "regrowth")) == json_of(regrowth));
  for (const Regrowth& wrong : {Regrowth{.every = 0, .until = 40},
                                {.share = 0, .until = 40},
                                {.share = 1.1, .until = 40},
                                {.every = 5, .until = 15}}) {
    INFO(json_of(wrong));
    CHECK_THROWS_AS(check(wrong, 10), UsageError);
  }
}

TEST_CASE("a schedule that cannot be followed is refused, in code and in JSON") {
  for (const Pace& pace :
       {Pace(OneShot{.at = -1}), Pace(Iterative{.from = -1}), Pace(Iterative{.rounds = 0}),
        Pace(Iterative{.recover = 0}), Pace(Gradual{.from = -1}), Pace(Gradual{.from = 5, .to = 5}),
        Pace(Gradual{.from = 0, .to = 5, .every = 0})}) {
    INFO(json_of(pace));
    CHECK_THROWS_AS(check(pace), UsageError);
  }
  const auto refused = [](const Record& json, const char* words) {
    CHECK_THROWS_AS(struct_of<Pace>(json, "config.json"), DataError);
    CHECK_THROWS_WITH(struct_of<Pace>(json, "config.json"), Contains(words));
  };
  refused({{"at_once", {{"at", 3}}}}, "one of one_shot, iterative, gradual");
  refused("gradual", "one of one_shot, iterative, gradual");
  refused({{"one_shot", {{"at", 3}}}, {"gradual", 1}}, "must be an object with one of");
  refused({{"gradual", {{"from", 3}, {"to", 9}}}}, "gradual: \"every\" is missing");
  refused({{"one_shot", {{"at", "late"}}}}, "one_shot.at must be a whole number");
}
