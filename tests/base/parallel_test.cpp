// parallel_for: chunks, exceptions, nesting.
#include "headroom/base/parallel.hpp"

#include <atomic>
#include <mutex>
#include <set>
#include <stdexcept>
#include <vector>

#include "headroom/base/error.hpp"
#include "support/catch.hpp"

using namespace headroom;

namespace {

/// Sets the number of threads for one scope.
struct Threads {
  explicit Threads(int n) : before(num_threads()) { set_num_threads(n); }
  ~Threads() { set_num_threads(before); }
  int before;
};

using Chunks = std::set<std::pair<Index, Index>>;

Chunks chunks_of(Index n, Index grain) {
  Chunks chunks;
  std::mutex mutex;
  parallel_for(n, grain, [&](Index begin, Index end) {
    const std::lock_guard lock(mutex);
    chunks.emplace(begin, end);
  });
  return chunks;
}

}  // namespace

TEST_CASE("the chunks of parallel_for depend on n and grain only, not on the threads") {
  for (const int threads : {1, 2, 3, 7}) {
    const Threads scope(threads);
    CHECK(chunks_of(10, 4) == Chunks{{0, 4}, {4, 8}, {8, 10}});
    CHECK(chunks_of(8, 4) == Chunks{{0, 4}, {4, 8}});
    CHECK(chunks_of(3, 4) == Chunks{{0, 3}});
    CHECK(chunks_of(0, 4).empty());
  }
}

TEST_CASE("parallel_for visits every item once") {
  const Threads scope(3);
  std::vector<std::atomic<int>> visits(1000);
  parallel_for(1000, 7, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
  });
  for (const auto& count : visits) REQUIRE(count == 1);
}

TEST_CASE("an exception in a chunk reaches the caller, for any number of threads") {
  for (const int threads : {1, 2, 3}) {
    const Threads scope(threads);
    CHECK_THROWS_WITH(parallel_for(100, 1,
                                   [](Index begin, Index) {
                                     if (begin == 57) throw std::runtime_error("chunk 57");
                                   }),
                      "chunk 57");
    CHECK(chunks_of(4, 2).size() == 2);  // and the next loop works
  }
}

TEST_CASE("a parallel_for inside another runs serially, with the same chunks") {
  const Threads scope(2);
  std::atomic<int> inner_chunks = 0;
  std::atomic<bool> in_order = true;
  parallel_for(4, 1, [&](Index, Index) {
    Index expected = 0;
    parallel_for(10, 3, [&](Index begin, Index end) {
      if (begin != expected) in_order = false;
      expected = end;
      ++inner_chunks;
    });
  });
  CHECK(inner_chunks == 16);
  CHECK(in_order);
}

TEST_CASE("the number of threads is at least 1; grain_for fills chunks by cost") {
  CHECK_THROWS_AS(set_num_threads(0), UsageError);
  CHECK_THROWS_WITH(set_num_threads(-2), "set_num_threads: -2 threads; at least 1 is needed");
  CHECK(grain_for(1, 100) == 100);
  CHECK(grain_for(30, 100) == 3);
  CHECK(grain_for(1000, 100) == 1);
  CHECK(grain_for(0, 100) == 100);
}
