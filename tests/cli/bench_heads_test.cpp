// Times of removed heads that are too good to be true.
#include "cli/bench/bench_heads.hpp"

#include "cli/timing/interleaved.hpp"
#include "headroom/base/terminal.hpp"
#include "support/catch.hpp"

using namespace headroom;
using Catch::Matchers::Contains;

TEST_CASE("times that fell by more than the arithmetic allows are measured once more") {
  using Times = std::vector<double>;
  const Times ceilings{1, 2, 1};
  const auto measured = [&](const std::vector<Times>& turns) {
    std::size_t turn = 0;
    const Times times = measured_again([&] { return turns.at(turn++); }, ceilings);
    return std::pair(times, turn);
  };
  // 10 % above the ceiling is not noisy yet, and nothing is slower than it can be.
  CHECK(measured({{22, 10, 21}}) == std::pair(Times{22, 10, 21}, std::size_t{1}));
  CHECK(measured({{22, 50, 60}}) == std::pair(Times{22, 50, 60}, std::size_t{1}));
  CHECK(measured({{22, 9.9, 21}, {20, 11, 20}}) == std::pair(Times{20, 11, 20}, std::size_t{2}));
  // Gates of 0 save nothing.
  CHECK(measured({{22, 11, 15}, {22, 11, 16}}) == std::pair(Times{22, 11, 16}, std::size_t{2}));
}

TEST_CASE("a speed-up above its ceiling is called noisy, others are printed") {
  HeadsTable table{.part = "attention",
                   .pass = "forward",
                   .threads = 1,
                   .variants = {{8, false}, {4, false}, {4, true}},
                   .ceiling = {1, 2, 1},
                   .lines = {{1, {21.7, 2.5, 21}}, {4, {40, 22, 41}}}};
  const std::string noisy = heads_table_text(table, {});
  CHECK_THAT(noisy, Contains("1.82 x") && Contains("1.03 x") && !Contains("8.68 x"));
  CHECK_THAT(noisy, Contains("noisy: more than 10 % above the ceiling, also when measured again"));
  const Record lines = heads_table_record(table, {})["lines"];
  CHECK(lines[0]["noisy"].dump() == "[false,true,false]");
  CHECK(lines[1]["noisy"].dump() == "[false,false,false]");
  table.lines[0].ms[1] = 10;
  CHECK_THAT(heads_table_text(table, {}), Contains("2.17 x") && !Contains("noisy"));
}
