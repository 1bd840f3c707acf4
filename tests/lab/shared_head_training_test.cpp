// shared-head-training: parameters counted by hand, and ratios and verdicts from the errors.
#include <algorithm>
#include <cmath>

#include "lab/lab_support.hpp"

using namespace headroom;
using namespace lab_test;

TEST_CASE("shared-head-training holds for any seed and size") {
  check_holds("shared-head-training", {{12, 3, 2}, {8, 2, 1}}, 9);
}

TEST_CASE("shared-head-training: ratios, verdicts and sizes follow from the errors") {
  const Index width = 8;
  const Record record = run("shared-head-training", width, 2, 3);
  const Record& ratios = block_with(record, "ratio of errors")["rows"];
  REQUIRE(ratios.size() == 4);
  std::size_t row = 0;
  for (const Record& block : record["blocks"]) {
    if (!block.contains("columns") || block["columns"].back() != "test error") continue;
    const Record& models = block["rows"];
    REQUIRE(models.size() == 3);
    const Index outputs = row == 0 ? 2 * (width / 4) : width / 4;
    // Input and output layer around the attention; shared projections have no bias.
    const auto parameters = [&](Index c, bool shared) {
      const Index around = c * width + c + outputs * c + outputs, head = c / 2;
      return around + c * c + c + (shared ? 3 * head * head : 3 * (c * c + c));
    };
    CHECK(models[0][2] == parameters(width, false));
    CHECK(models[1][2] == parameters(width, true));
    const Index wide = models[2][1];
    CHECK(models[2][2] == parameters(wide, true));
    const auto off_by = [&](Index c) {
      return std::abs(parameters(c, true) - parameters(width, false));
    };
    CHECK(off_by(wide) <= off_by(wide - 2));
    CHECK(off_by(wide) <= off_by(wide + 2));
    const double own = models[0][3]["value"];
    for (std::size_t variant = 1; variant < 3; ++variant, ++row) {
      const double ratio = models[variant][3]["value"].get<double>() / own;
      CHECK(off(ratios[row][2]["value"], ratio) < (is_double ? 1e-9 : 1e-4));
      const bool decided = ratios[row][3].get<double>() < 0.05;
      CHECK(ratios[row][4] == (!decided ? "too close to say" : ratio > 1 ? "worse" : "better"));
    }
  }
  CHECK(row == 4);
}

TEST_CASE("shared-head-training: the verdict is a claim, for the sizes at which it is known") {
  const auto claims = [](const Record& record) {
    const Record& ratios = block_with(record, "ratio of errors")["rows"];
    std::size_t found = 0;
    double largest_p = 0;
    for (const Record& row : ratios) {
      const auto name = row[0].get<std::string>() + ", " + row[1].get<std::string>() + ": error";
      for (const Record& claim : record["claims"]) {
        if (!claim["text"].get<std::string>().starts_with(name)) continue;
        CHECK(claim["relation"] == ">");
        CHECK(claim[precision]["measured"] == row[2]["low"]);
        CHECK(claim[precision]["bound"][0] == 1);
        largest_p = std::max(largest_p, row[3].get<double>());
        ++found;
      }
    }
    CHECK(measured(record, "largest p") == largest_p);
    return found;
  };
  CHECK(claims(run("shared-head-training", 12, 3, 1)) == 4);
  CHECK(claims(run("shared-head-training", 8, 2, 1)) == 2);
}
