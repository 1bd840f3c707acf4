// dropout-streams: masks compared with the random numbers at their addresses, and shares counted by
// hand.
#include <cmath>

#include "lab/lab_support.hpp"

using namespace headroom;

TEST_CASE("dropout-streams holds for any seed and size") {
  lab_test::check_holds("dropout-streams",
                        {{8, 2, 1}, {12, 3, 2}, {40, 5, 3}, {64, 16, 4}, {64, 4, 5}, {96, 2, 6}},
                        16);
}

TEST_CASE("dropout-streams shows the masks of the addresses") {
  const std::uint64_t seed = 7;
  const Record record = lab_test::run("dropout-streams", 12, 3, seed);
  const MaskStream numbers(seed, 0, hash_name(""), 2);  // the last head, in the first step
  for (const char* name : {"address, fused", "address, separate", "address, one head less"}) {
    for (const Record& map : lab_test::block_with(record, name)["maps"]) {
      if (map["name"] != name) continue;
      for (Index i = 0; i < 4; ++i) {
        for (Index j = 0; j < 4; ++j) {
          INFO(name << " " << i << " " << j);
          const bool kept = map["rows"][std::size_t(i)][std::size_t(j)] == 1;
          CHECK(kept == (numbers.uniform(i * 4 + j) >= 0.2f));
        }
      }
    }
  }
}

TEST_CASE("dropout-streams emulates what a sequence without addresses does") {
  const std::uint64_t seed = 5;
  const Index heads = 2, batch = 4;
  const Record record = lab_test::run("dropout-streams", 8, heads, seed);
  // Masks as two libraries would fill them: [B, H, T, T] at once, or [B, T, T] head by head.
  double mean = 0;
  for (std::uint64_t draw = 0; draw < 20; ++draw) {
    Rng first(seed, "dropout-streams sequence", draw),
        second(seed, "dropout-streams sequence", draw);
    double fused[4][2][16], separate[4][2][16];
    for (auto& example : fused) {
      for (auto& head : example) {
        for (double& u : head) u = double(first.uniform());
      }
    }
    for (std::size_t h = 0; h < 2; ++h) {
      for (auto& example : separate) {
        for (double& u : example[h]) u = double(second.uniform());
      }
    }
    Index moved = 0, differ = 0;
    for (std::size_t b = 0; b < 4; ++b) {
      for (std::size_t h = 0; h < 2; ++h) {
        for (std::size_t e = 0; e < 16; ++e) {
          moved += (b * 2 + h != h * 4 + b);
          differ += (fused[b][h][e] >= 0.5) != (separate[b][h][e] >= 0.5);
        }
      }
    }
    mean += double(differ) / double(moved) / 20;
  }
  CHECK(std::abs(lab_test::measured(record, "the other layout, p = 0.5") - mean) < 1e-12);
  const Record& rows = lab_test::block_with(record, "share with another index")["rows"];
  REQUIRE(rows.size() == 9);
  CHECK(rows[0][2] == 1 - 2.0 / (batch * heads));  // the first and the last block keep their index
  CHECK(rows[0][4] == 2 * 0.1 * 0.9);
  CHECK(rows[6][2] == 1);  // separate heads: all after the removed one change their index
}
