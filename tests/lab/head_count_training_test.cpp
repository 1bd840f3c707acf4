// head-count-training: the bound for one head by plain numbers, and the measurements of the maps.
#include "headroom/base/at.hpp"
#include "lab/lab_support.hpp"

using namespace headroom;
using namespace lab_test;

TEST_CASE("head-count-training holds for any seed and size") {
  check_holds("head-count-training", {{12, 3, 1}, {8, 2, 2}}, 5);
}

TEST_CASE("head-count-training: the rows of every map sum to 1, and needed keys have all weight") {
  const Record record = run("head-count-training", 8, 2, 3);
  const Record& maps = block_with(record, "the only head")["maps"];
  REQUIRE(maps.size() == 5);  // two needed, the only head, two heads
  for (const Record& map : maps) {
    for (const Record& row : map["rows"]) {
      double sum = 0;
      for (const Record& weight : row) sum += weight.get<double>();
      CHECK(std::abs(sum - 1) < (is_double ? 1e-12 : 1e-5));
    }
  }
  const auto weight = [&](std::size_t map, std::size_t query, std::size_t key) {
    return maps[map]["rows"][query][key].get<double>();
  };
  for (std::size_t t = 0; t < 6; ++t) {
    CHECK(weight(0, t, (t + 5) % 6) == 1);
    CHECK(weight(1, t, (t + 5) % 6) == 0);  // the pointer is never the token before
  }
  // The rank of the scores is at most the features per head, and at least 1.
  for (const Record& row : block_with(record, "rank of the scores")["rows"]) {
    const double rank = row[4]["value"];
    CHECK(rank >= 1);
    CHECK(rank <= row[1].get<double>() + 1e-6);
  }
}

TEST_CASE("head-count-training at its own size finds both keys with every number of heads",
          "[long]") {
  if (sanitized) return;  // the other sizes run
  const Record record = run("head-count-training", 0, 0);
  for (const std::string& failed : failed_claims_of(record)) FAIL_CHECK(failed);
  for (const Record& row : block_with(record, "weight on both")["rows"]) {
    const double both = row[3]["value"];
    CHECK((row[0] == 1 ? both < 0.1 : both > 0.9));
  }
}
