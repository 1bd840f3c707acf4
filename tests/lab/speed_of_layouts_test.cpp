// speed-of-layouts: arithmetic by formula; times are only checked to be shown.
#include <cmath>

#include "headroom/base/parallel.hpp"
#include "lab/lab_support.hpp"

using namespace headroom;

TEST_CASE("speed-of-layouts holds for any seed and size, and leaves the threads as they were") {
  const int before = num_threads();
  lab_test::check_holds("speed-of-layouts",
                        {{1, 1, 1}, {8, 2, 2}, {12, 3, 3}, {40, 5, 4}, {64, 1, 5}}, 3);
  CHECK(num_threads() == before);
}

TEST_CASE("speed-of-layouts counts the arithmetic of both layouts") {
  const Index width = 32, batch = 4, tokens = 64;
  const Record record = lab_test::run("speed-of-layouts", width, 2);
  const Record& rows = lab_test::block_with(record, "operations, fused")["rows"];
  REQUIRE(rows.size() == 3);  // heads of 8, 16 and 32 features
  // Forward: four products with weights, scores and sums of values. Backward: twice the products
  // with weights; the scores once more, then two gradients each of scores and sums.
  const double weights = double(batch * tokens * 4 * width * width);
  const double pairs = double(batch * tokens * tokens * width);
  const double expected = (3 * weights + (2 + 5) * pairs) / 1e6;
  for (const Record& row : rows) {
    const Index h = width / row[0].get<Index>();
    CHECK(row[1] == h);
    CHECK(std::abs(row[2].get<double>() / expected - 1) < 1e-12);
    CHECK(row[3] == row[2]);
    CHECK(row[4] == 8);  // of queries, keys, values and outputs, forward and backward
    CHECK(row[5] == 4);
    CHECK(row[6] == 3 * h + 1);
    CHECK(row[7] == 2);
  }
  const Record& ratios = lab_test::block_with(record, "separate / fused, 2 threads");
  CHECK(ratios["rows"].size() == 3);
  const Record& times = lab_test::block_with(record, "separate, minimum");
  CHECK(times["rows"].size() == 6);
}
