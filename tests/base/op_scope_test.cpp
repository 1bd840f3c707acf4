// OpScope: the name of the running operation, and the profile of times.
#include "headroom/base/op_scope.hpp"
#include "support/catch.hpp"

#include <thread>

using namespace headroom;

TEST_CASE("scopes nest and know the innermost") {
  CHECK(OpScope::current() == nullptr);
  {
    const OpScope outer("outer");
    CHECK(OpScope::current()->name() == std::string("outer"));
    {
      const OpScope inner("inner");
      CHECK(OpScope::current() == &inner);
    }
    CHECK(OpScope::current() == &outer);
  }
  CHECK(OpScope::current() == nullptr);
}

TEST_CASE("the profile gives time to the innermost scope and sums calls and work") {
  set_profiling(true);
  for (int i = 0; i < 2; ++i) {
    OpScope outer("outer");
    OpScope inner("inner");
    inner.work(100, 8);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  set_profiling(false);
  const std::vector<ProfileRow> rows = profile();
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].name == "inner");  // sorted by time, descending
  CHECK(rows[0].calls == 2);
  CHECK(rows[0].seconds >= 0.01);
  CHECK(rows[0].flops == 200);
  CHECK(rows[0].bytes == 16);
  CHECK(rows[1].name == "outer");
  CHECK(rows[1].seconds < 0.005);
  CHECK(rows[1].pass == Pass::forward);
  { const OpScope unseen("unseen"); }
  CHECK(profile().size() == 2);
  set_profiling(true);
  { const OpScope there("op"); }
  { const OpScope back("op", Pass::backward); }
  set_profiling(false);
  CHECK(profile().size() == 2);  // a row for each pass; the previous profile was reset
}
