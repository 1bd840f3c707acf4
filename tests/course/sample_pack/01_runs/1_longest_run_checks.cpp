// Checks longest_run on sequences whose runs are known.
#include "1_longest_run.hpp"
#include "common/checks.hpp"

namespace {

using namespace headroom;

const std::vector<std::vector<Index>> sequences{
    {1, 1, 2, 2, 2, 1}, {5, 5, 5, 5, 3}, {1, 2, 1, 2}, {7}, {4, 9, 9}, {3, 3, 8, 8, 8, 8, 8, 3}};

}  // namespace

TEST_CASE("the longest run of six sequences") {
  Array expected(Shape{6}), yours(Shape{6});
  const Index right[] = {3, 4, 1, 1, 2, 5};
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    expected[Index(i)] = Real(right[i]);
    yours[Index(i)] = Real(longest_run(sequences[i]));
  }
  chapter::require_equal("the lengths", expected, yours, {{"sequence"}, {}});
}

TEST_CASE("no letter, no run") {
  chapter::require(longest_run({}) == 0, "of an empty sequence the longest run has the length 0.");
}
