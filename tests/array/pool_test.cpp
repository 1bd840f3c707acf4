// The buffer pool: its statistics, reuse, and a repeated load without allocations from the system.
#include "headroom/array/pool.hpp"

#include <algorithm>
#include <thread>
#include <vector>

#include "headroom/array/array.hpp"
#include "headroom/base/rng.hpp"
#include "support/close.hpp"

using namespace headroom;

namespace {
constexpr Index elements_of(std::size_t bytes) { return Index(bytes / sizeof(Real)); }
}  // namespace

TEST_CASE("live and peak count the bytes that arrays hold") {
  const std::size_t live = pool_statistics().live;
  reset_pool_peak();
  {
    const Array a(Shape{elements_of(1 << 20)});
    CHECK(pool_statistics().live == live + (1 << 20));
    const Array shares = a;
    CHECK(pool_statistics().live == live + (1 << 20));
    const Array b(Shape{elements_of(1 << 18)});
  }
  CHECK(pool_statistics().live == live);
  CHECK(pool_statistics().peak == live + (1 << 20) + (1 << 18));
  reset_pool_peak();
  CHECK(pool_statistics().peak == live);
}

TEST_CASE("a freed block is handed out again, to any size of its class") {
  const void* first = Array(Shape{elements_of(100'000)}).data();
  const std::size_t from_system = pool_statistics().from_system;
  const std::size_t from_pool = pool_statistics().from_pool;
  const Array again(Shape{elements_of(99'000)});
  CHECK(again.data() == first);
  CHECK(pool_statistics().from_system == from_system);
  CHECK(pool_statistics().from_pool == from_pool + 1);
}

TEST_CASE("a block never wastes more than a quarter of what was asked") {
  for (std::size_t bytes = 64; bytes < 5'000'000; bytes = bytes * 9 / 8 + 8) {
    const std::size_t before = pool_statistics().live;
    const ArrayOf<std::uint8_t> block(Shape{Index(bytes)});
    const std::size_t taken = pool_statistics().live - before;
    REQUIRE(taken >= bytes);
    REQUIRE(taken <= bytes + bytes / 4 + 1);
  }
}

TEST_CASE("what neighbours leave holds one array, and an array's rest another") {
  trim_pool();
  const Index n = elements_of(100'000);
  Array first(Shape{n}), second(Shape{n}), third(Shape{n});
  const Real* const place = first.data();
  const std::size_t from_system = pool_statistics().from_system;
  for (const bool forward : {true, false}) {  // both orders of freeing
    (forward ? first : second) = {};
    (forward ? second : first) = {};
    const Array both(Shape{2 * n});
    CHECK(both.data() == place);
    first = second = {};
  }
  first = Array(Shape{n});
  second = Array(Shape{n});
  CHECK(first.data() == place);
  CHECK(second.data() > place);
  CHECK(second.data() < third.data());
  CHECK(pool_statistics().from_system == from_system);
}

TEST_CASE("memory that was in use goes before memory that never was") {
  trim_pool();
  const std::size_t mb = std::size_t{1} << 20;
  Array large(Shape{elements_of(10 * mb)});
  const Array other(Shape{elements_of(5 * mb)});  // less than 1 MB of a segment is left
  const void* const place = large.data();
  large = Array();
  const std::size_t held = pool_statistics().held;
  const Array small(Shape{elements_of(mb / 2)});  // the rest of the segment would be a tighter fit
  CHECK(small.data() == place);
  CHECK(pool_statistics().held == held);
}

TEST_CASE("large arrays that come and go never share a number") {
  Rng rng(3, "large arrays");
  std::vector<Array> arrays;
  const auto intact = [](const Array& array) {
    return std::all_of(array.data(), array.data() + array.size(),
                       [&](Real x) { return x == array[0]; });
  };
  for (int i = 0; i < 2000; ++i) {
    if (arrays.size() < 20 || rng.below(2) == 0) {
      const auto bytes = static_cast<std::size_t>(20'000 + rng.below(400'000));
      arrays.emplace_back(Shape{elements_of(bytes)}, Real(i));
    }
    const auto which = static_cast<std::size_t>(rng.below(Index(arrays.size())));
    REQUIRE(intact(arrays[which]));
    if (arrays.size() > 15) arrays.erase(arrays.begin() + static_cast<std::ptrdiff_t>(which));
  }
  CHECK(std::all_of(arrays.begin(), arrays.end(), intact));
  arrays.clear();
  trim_pool();
  CHECK(pool_statistics().held == pool_statistics().live);
}

TEST_CASE("after its first round a repeating load takes nothing from the system") {
  const auto round = [] {
    std::vector<Array> arrays;
    for (const Index n : {1, 100, 5000, 5000, 123456, 7}) arrays.emplace_back(Shape{n}, Real(1));
    arrays.erase(arrays.begin() + 2);
    arrays.emplace_back(Shape{5000});
  };
  round();
  const PoolStatistics warm = pool_statistics();
  for (int i = 0; i < 10; ++i) round();
  const PoolStatistics after = pool_statistics();
  CHECK(after.from_system == warm.from_system);
  CHECK(after.from_pool == warm.from_pool + 70);
  CHECK(after.held == warm.held);
}

TEST_CASE("trimming returns free blocks to the system and leaves arrays alone") {
  const Array kept(Shape{1000}, Real(3));
  { const Array dropped(Shape{500'000}); }
  trim_pool();
  CHECK(pool_statistics().held == pool_statistics().live);
  CHECK(kept[999] == 3);
}

TEST_CASE("arrays may be made and freed on several threads at once") {
  const std::size_t live = pool_statistics().live;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 500; ++i) {
        Array a(Shape{100 + i}, Real(t));
        const Array b = a;
        a = Array(Shape{i}, Real(0));
        if (b[99] != Real(t)) std::abort();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(pool_statistics().live == live);
}
