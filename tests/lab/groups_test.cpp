// groups: decayed elements and the arrays kept by the tape, compared with counts by hand.
#include "lab/lab_support.hpp"

using namespace headroom;

TEST_CASE("groups holds for any seed and size") {
  lab_test::check_holds("groups", {{4, 1, 1}, {8, 2, 2}, {12, 3, 3}, {40, 5, 4}, {64, 16, 5}}, 11);
}

TEST_CASE("groups counts what decays under each rule") {
  const Index width = 12, heads = 3;
  const Record record = lab_test::run("groups", width, heads);
  const Record& rows = lab_test::block_with(record, "treated differently")["rows"];
  REQUIRE(rows.size() == 5);
  const Index square = width * width, matrices = 4 * square;
  const auto decays = [&](std::size_t rule, Index separate, Index fused, Index differ) {
    INFO(rows[rule][0]);
    CHECK(rows[rule][1] == separate);
    CHECK(rows[rule][2] == fused);
    CHECK(rows[rule][3] == differ);
  };
  decays(0, matrices, matrices, 0);
  decays(1, matrices, matrices, 0);
  // ".bias" misses in_proj_bias, ".weight" misses in_proj_weight.
  decays(2, matrices, matrices + 3 * width, 3 * width);
  decays(3, matrices, square, 3 * square);
  // A head's matrix has 48 of 144 elements; only the output's has C^2.
  decays(4, square, matrices, 3 * square);

  const auto answer = [](const Record& of) { return lab_test::in_words(of["answer"]); };
  CHECK_THAT(answer(record),
             Catch::Contains("3 of 5 common rules") && Catch::Contains("fewer than C^2"));
  // With one head no tensor is smaller than C^2 in either layout.
  CHECK_THAT(answer(lab_test::run("groups", width, 1)),
             Catch::Contains("2 of 5 common rules") && !Catch::Contains("fewer than C^2"));
}

TEST_CASE("groups counts the tape of each layout") {
  const Index width = 12, rows = 2 * 12, real = sizeof(Real);
  for (const Index heads : {1, 3}) {
    const Record record = lab_test::run("groups", width, heads);
    const Record& table = lab_test::block_with(record, "bytes kept for backward")["rows"];
    for (const Record& row : table) {
      const Index h = row[0];
      const std::string form = row[1];
      INFO(form << " with " << h << " heads");
      const bool fused = form == "fused", listed = form == "a list of Linears";
      const Index leaves = fused ? 4 : 6 * h + 2;
      const Index operations = fused ? 3 : listed ? 3 * h + h + 2 : 5;
      CHECK(row[2] == leaves);
      CHECK(row[3] == operations);
      CHECK(row[4] == operations + leaves + 1);  // and x
      // Each operation has an arrow from each of its inputs, x, weights, biases and heads; the
      // attention of the fused layout has its one input three times.
      const Index arrows = fused    ? 3 + 3 + 3
                           : listed ? 3 * h * 3 + 3 * h + h + 3
                                    : 3 * (1 + 2 * h) + 3 + 3;
      CHECK(row[5] == arrows);
      // Query, key, value and the heads' outputs, one value per row of weights, a length for each
      // query; allocated blocks may be larger.
      const Index numbers = 4 * width * rows + h * rows + (listed ? width * rows : 0);
      CHECK(row[6] >= numbers * real);
      CHECK(row[6] <= numbers * real * 5 / 4 + (listed ? h : 1) * (rows * 4 + 512));
    }
  }
}
