// Edit distance and suggestions ("did you mean").
#include "headroom/base/nearest.hpp"
#include "support/catch.hpp"

using namespace headroom;

namespace {
Index distance(std::string_view a, std::string_view b) {
  return edit_distance(std::span<const char>(a), std::span<const char>(b));
}
}  // namespace

TEST_CASE("the edit distance equals cases done by hand") {
  CHECK(distance("", "") == 0);
  CHECK(distance("abc", "") == 3);
  CHECK(distance("", "ab") == 2);
  CHECK(distance("kitten", "sitting") == 3);
  CHECK(distance("sitting", "kitten") == 3);
  CHECK(distance("flaw", "lawn") == 2);
  CHECK(distance("ab", "ba") == 2);
}

TEST_CASE("the nearest word is proposed only when it is near") {
  const std::vector<std::string> known{"demo", "train", "translate", "sample", "report"};
  CHECK(nearest("trian", known) == "train");
  CHECK(did_you_mean("trian", known) == " (did you mean train?)");
  CHECK(did_you_mean("translat", known) == " (did you mean translate?)");
  CHECK(did_you_mean("xyzzy", known).empty());
  CHECK(did_you_mean("", known).empty());
}

TEST_CASE("of words that are equally near one with the same letters is proposed") {
  CHECK(nearest("stpes", std::vector<std::string>{"stress", "steps", "spets"}) == "steps");
  CHECK(nearest("stpes", std::vector<std::string>{"steps", "stress"}) == "steps");
  CHECK(nearest("stoop", std::vector<std::string>{"stamp", "stomp", "stool"}) == "stomp");
}
