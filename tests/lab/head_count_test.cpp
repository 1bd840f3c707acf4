// head-count: parameters by the formula, one-hot draws by the scores' own formula.
#include <algorithm>
#include <cmath>

#include "headroom/base/at.hpp"
#include "lab/lab_support.hpp"

using namespace headroom;
using namespace lab_test;

TEST_CASE("head-count holds for any seed and size") {
  check_holds("head-count", {{4, 2, 1}, {12, 3, 2}, {64, 8, 3}, {96, 32, 4}}, 7);
}

TEST_CASE("head-count's text sizes give 1,050,624 parameters and the saturated draws of s_i s_j") {
  if (sanitized) return;  // the other sizes run
  const Record record = run("head-count", 0, 0, 2);
  for (const std::string& failed : failed_claims_of(record)) FAIL_CHECK(failed);
  const Record& counts = block_with(record, "parameters")["rows"];
  REQUIRE_FALSE(counts.empty());
  for (const Record& row : counts) CHECK(row[4] == 1050624);
  const Record& stages = record["blocks"][0]["rows"];
  CHECK(stages[3][0] == "scores");
  CHECK(stages[3][1] == "[2, 12, 12]");

  // A row's largest weight is 1 when the eleven others together are below half of its last bit:
  // e^-36.7 in double, e^-16.6 in float, where the scores themselves are rounded by about one.
  const double surely = is_double ? 39.5 : 25, perhaps = is_double ? 36.5 : 12;
  const Record& rows = block_with(record, "uniform: saturated")["rows"];
  REQUIRE_FALSE(rows.empty());
  for (const Record& row : rows) {
    const double root = std::sqrt(512.0 / row[0].get<double>());
    for (const bool uniform : {true, false}) {
      int least = 0, most = 0;
      for (int draw = 0; draw < 400; ++draw) {
        Rng rng(2, uniform ? "ones uniform" : "ones normal", static_cast<std::uint64_t>(draw));
        const Array x = uniform ? Array({12, 512}) : normal({12, 512}, 1, rng);
        std::vector<double> s(12, 0);
        for (Index i = 0; i < x.size(); ++i) {
          at(s, i / 512) += double(uniform ? rng.uniform() : x[i]);
        }
        std::sort(s.begin(), s.end());
        double narrowest = 1e300;  // of all rows; below 0 the smallest sum is chosen
        for (const double sum : s) {
          const double gap = sum > 0 ? s[11] - s[10] : s[1] - s[0];
          narrowest = std::min(narrowest, std::abs(sum) * gap * root);
        }
        least += narrowest > surely;
        most += narrowest > perhaps;
      }
      INFO("heads " << row[0] << (uniform ? ", uniform" : ", normal"));
      const Record& saturated = row[uniform ? 2 : 5];
      CHECK(saturated >= least);
      CHECK(saturated <= most);
      CHECK(most > 0);
    }
  }
}

TEST_CASE("head-count finds what the text says of all-ones weights, at its own size", "[long]") {
  if (sanitized) return;  // the other sizes run
  const Record record = run("head-count", 0, 0);
  for (const std::string& failed : failed_claims_of(record)) FAIL_CHECK(failed);
  CHECK(measured(record, "every query must select one key, and outputs differ") == 0);
  const Record& equal = block_with(record, "uniform: equal")["rows"];
  for (const Record& row : equal) {
    CHECK(row[1].get<Index>() >= 240);  // of 400 draws
    CHECK(row[4].get<Index>() < 400);
  }
  CHECK(measured(record, "scores against s_i s_j sqrt(D)") < 1e-4);
}
