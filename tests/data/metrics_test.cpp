// Exact match, token and word error rates against cases done by hand.
#include "headroom/data/metrics.hpp"

#include "headroom/base/error.hpp"
#include "support/catch.hpp"

using namespace headroom;

TEST_CASE("error rates equal cases done by hand") {
  SequenceScore score;
  CHECK(score.exact_match() == 0);
  CHECK(score.token_error_rate() == 0);
  const auto add = [&](const Tokens& answer, const std::vector<Tokens>& accepted) {
    score.add(answer, accepted);
  };
  add({1, 2, 3}, {{1, 2, 3}});               // exact: 0 edits of 3
  add({1, 2}, {{9, 9, 9, 9}, {1, 2}});       // exact by its second answer: 0 of 2
  add({1, 2, 3, 4}, {{1, 3, 4}, {5}});       // one insertion: 1 of 3
  add({}, {{7, 7}});                         // two deletions: 2 of 2
  add({1, 2}, {{1, 3, 4}, {1, 4}, {2, 2}});  // nearest is the first at distance 1: 1 of 2
  CHECK(score.answers == 5);
  CHECK(score.exact == 2);
  CHECK(score.edits == 4);
  CHECK(score.reference_length == 3 + 2 + 3 + 2 + 2);
  CHECK(score.exact_match() == 0.4);
  CHECK(score.word_error_rate() == 0.6);
  CHECK(score.token_error_rate() == 4.0 / 12.0);
}

TEST_CASE("an empty answer accepted is exact, and no accepted answer is an error") {
  SequenceScore score;
  score.add(Tokens{}, std::vector<Tokens>{{}});
  CHECK(score.exact_match() == 1);
  CHECK(score.token_error_rate() == 0);
  CHECK_THROWS_AS(score.add(Tokens{1}, std::vector<Tokens>{}), UsageError);
}
