// Sentences with values: formatting, merging of two precisions, JSON.
#include "headroom_lab/blocks/text.hpp"

#include <cmath>

#include "headroom/base/error.hpp"
#include "headroom/statistics/intervals.hpp"
#include "support/catch.hpp"

using namespace headroom;
using Catch::Matchers::Contains;

TEST_CASE("a sentence words its values as their placeholders say") {
  CHECK(words(sentence("{} of {} draws", 55, 100)) == "55 of 100 draws");
  CHECK(words(sentence("off by {:.2g}, {:.1e} or {:.0f}", 0.123, 0.00123, 2.7)) ==
        "off by 0.12, 1.2e-03 or 3");
  CHECK(words(sentence("{:,} and {:,}", 1050624, 3.14e-16)) == "1,050,624 and 3.1e-16");
  CHECK(words(sentence("by {}, {}", Interval{1.8, 1.55, 2.05}, "word")) ==
        "by 1.8 [1.55, 2.05], word");
  CHECK(words(sentence("{}: {}.", sentence("in {}", 3), true)) == "in 3: yes.");
  CHECK(words(sentence("the set {{{}}}", 3)) == "the set {3}");
  CHECK(words(Text("{plain} 100 %")) == "{plain} 100 %");
  CHECK(words(sentence("{:.2g} ", 1.5) + " {x}" + sentence(" {}", 2)) == "1.5  {x} 2");
}

TEST_CASE("a sentence without a placeholder for each value is refused") {
  CHECK_THROWS_WITH(sentence("{} of", 1, 2), Contains("2 values for 1 placeholders"));
  CHECK_THROWS_AS(sentence("{} of {}", 1), UsageError);
  CHECK_THROWS_AS(sentence("{:>20}", 1), UsageError);
  CHECK_THROWS_AS(sentence("{:.9999f}", 1.0), UsageError);
  CHECK_THROWS_AS(sentence("an open {", 1), UsageError);
  CHECK_THROWS_AS(sentence("a closing }", 1), UsageError);
}

TEST_CASE("values that differ in another precision follow the first ones") {
  const auto both = [](const Text& a, const Text& b) { return words(joined(a, "float", b)); };
  CHECK(both("a b", "a b") == "a b");
  CHECK(both(sentence("True in {} of {} draws", 55, 100),
             sentence("True in {} of {} draws", 57, 100)) == "True in 55 (float: 57) of 100 draws");
  CHECK(both(sentence("{:.1f}.", 1.04), sentence("{:.1f}.", 1.01)) == "1.0.");  // formatted alike
  CHECK(both(sentence("by {}.", Interval{1.8, 1.55, 2.05}),
             sentence("by {}.", Interval{1.8, 1.54, 2.05})) ==
        "by 1.8 [1.55, 2.05] (float: 1.8 [1.54, 2.05]).");
  CHECK(both("Yes.", "Not quite.") == "Yes. (In float: Not quite.)");
  // A nested sentence is merged value by value, or appears twice.
  const auto outer = [](const Text& inner) { return sentence("It {}.", inner); };
  CHECK(both(outer(sentence("grew by {}", 2)), outer(sentence("grew by {}", 3))) ==
        "It grew by 2 (float: 3).");
  CHECK(both(outer("grew"), outer("shrank")) == "It grew (float: shrank).");
}

TEST_CASE("values in JSON keep their kind") {
  const Text text = sentence("{} {:.2g} {} {} {}", 3, 0.5, "word", Interval{1, 0, 2}, true);
  const Record json = json_of(text);
  CHECK(json["values"][0].is_number_integer());
  CHECK(json["values"][3] == Record{{"value", 1.0}, {"low", 0.0}, {"high", 2.0}});
  const auto again = struct_of<Text>(Record::parse(json.dump()), "a.json");
  CHECK(json_of(again) == json);
  CHECK(words(again) == "3 0.5 word 1 [0, 2] yes");
  CHECK(words(Value()) == "");
  CHECK(words(Value(std::nan(""))) == "not a number");
  for (const char* wrong : {R"({"text": "{}", "values": []})", R"({"text": "{:n}", "values": [1]})",
                            R"({"text": "{", "values": []})", R"({"text": "a"})", R"("a")"}) {
    CHECK_THROWS_AS(struct_of<Text>(Record::parse(wrong), "a.json"), DataError);
  }
}

TEST_CASE("an interval in JSON has the draws that it was computed from") {
  const std::vector<double> draws{0.25, 0.5, 1};
  const auto json = [&](const Interval& interval) { return json_of(Value(interval)); };
  CHECK(json(mean_interval(draws))["of"] == "mean");
  CHECK(json(share_interval(draws))["of"] == "mean of shares");
  CHECK(json(geometric_mean(draws))["of"] == "geometric mean");
  CHECK(json(median_interval(draws))["of"] == "median");
  for (const Interval& one : {mean_interval(draws), share_interval(draws), geometric_mean(draws),
                              median_interval(draws)}) {
    CHECK(json(one)["draws"] == Record(draws));
    const auto again = struct_of<Value>(Record::parse(json(one).dump()), "a.json");
    CHECK(json_of(again) == json(one));
  }
}

TEST_CASE("numbers are written as people read them") {
  CHECK(figure_text(1050624) == "1,050,624");
  CHECK(figure_text(0.2519) == "0.252");
  CHECK(figure_text(3.14e-16) == "3.1e-16");
  CHECK(figure_text(1408.7) == "1,409");
  CHECK(figure_text(-1234567) == "-1,234,567");
  CHECK(figure_text(std::nan("")) == "not a number");
}
