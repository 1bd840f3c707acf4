// JSON from outside, read strictly.
#include "headroom/io/json.hpp"

#include <cmath>

#include "headroom/base/error.hpp"
#include "headroom/base/rng.hpp"
#include "support/catch.hpp"

using namespace headroom;
using Catch::Contains;

namespace {

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

std::string object_of(int keys) {
  std::string text = "{";
  for (int i = 0; i < keys; ++i) text += (i == 0 ? "\"k" : ",\"k") + std::to_string(i) + "\":0";
  return text + "}";
}

}  // namespace

TEST_CASE("JSON keeps its order, 64-bit integers and doubles") {
  const std::string text =
      R"({"z":1,"a":[true,null,-9223372036854775808,18446744073709551615,0.1],"m":{"x":"y"}})";
  CHECK(parse_json(text, "config.json").dump() == text);
}

TEST_CASE("JSON that is malformed or overdone is refused by name in one line") {
  const auto [text, words] = GENERATE_COPY(table<std::string, std::string>({
      {R"({"a":1,"a":2})", "\"a\" occurs twice"},
      {R"({"b":{"a":1,"c":[{"d":1,"d":1}]}})", "\"d\" occurs twice"},
      {R"({"a":1)", "malformed JSON"},
      {R"({"a":01})", "malformed JSON"},
      {R"({"a":1} x)", "malformed JSON"},
      {"{\"a\":\"\n\"}", "malformed JSON"},
      {"{\"a\":\"\xFF\"}", "malformed JSON"},
      {"", "malformed JSON"},
      {"{'a':1}", "malformed JSON"},
      {R"({"a":NaN})", "malformed JSON"},
      {R"({"a":1e999})", "malformed JSON"},
      {nested(33), "nests deeper than 32"},
      {object_of(10'001), "more than 10000 keys"},
      {std::string(100'000'001, ' '), "at most 100000000 are read"},
  }));
  CHECK_THROWS_AS(parse_json(text, "config.json"), FileError);
  CHECK_THROWS_WITH(parse_json(text, "config.json"),
                    Catch::StartsWith("config.json: ") && Contains(words) && !Contains("\n"));
}

TEST_CASE("JSON of exactly the greatest depth, size and number of keys is read") {
  CHECK_NOTHROW(parse_json(nested(32), "x"));
  CHECK(parse_json(object_of(10'000), "x").size() == 10'000);
  CHECK(parse_json(std::string(15'999'998, ' ') + "{}", "x").empty());
}

TEST_CASE("a vocabulary may have more keys, which come in byte order") {
  const std::string many = object_of(200'000);
  const Record record = parse_json(many, "x", keys_of_vocabulary);
  CHECK(record.size() == 200'000);
  const std::string text = R"({"z":{"y":1,"x":[2.5,null]},"a":18446744073709551615})";
  CHECK(parse_json(text, "x", keys_of_vocabulary).dump() ==
        R"({"a":18446744073709551615,"z":{"x":[2.5,null],"y":1}})");
  CHECK_THROWS_WITH(parse_json(many, "x", 150'000), "x: JSON object with more than 150000 keys");
  CHECK_THROWS_WITH(parse_json(R"({"a":1,"a":2})", "x", keys_of_vocabulary),
                    "x: JSON key \"a\" occurs twice");
  CHECK_THROWS_AS(parse_json("{}", "x", keys_of_vocabulary + 1), UsageError);
}

TEST_CASE("the same key in different objects is fine") {
  CHECK_NOTHROW(parse_json(R"([{"a":1},{"a":{"a":2}}])", "x"));
}

TEST_CASE("a Real is written with the fewest digits, and read back as the same") {
  CHECK(shortest_number(Real(1e-5)).dump() == "1e-05");
  CHECK(shortest_number(Real(0.1)).dump() == "0.1");
  CHECK(shortest_number(Real(0)).dump() == "0.0");
  Rng rng(1, "numbers");
  for (int i = 0; i < 1000; ++i) {
    const Real value = Real(std::exp(40 * (double(rng.uniform()) - 0.5)));
    const Record read = Record::parse(shortest_number(value).dump());
    CHECK(Real(read.get<double>()) == value);
  }
}

TEST_CASE("members are taken by kind") {
  const Record record =
      parse_json(R"({"n":3,"f":3.0,"u":18446744073709551615,"t":"x","b":true})", "c.json");
  CHECK(json_integer(record, "n", "c.json") == 3);
  CHECK(json_number(record, "n", "c.json") == 3.0);
  CHECK(json_number(record, "f", "c.json") == 3.0);
  CHECK(json_text(record, "t", "c.json") == "x");
  CHECK_THROWS_WITH(json_integer(record, "f", "c.json"),
                    "c.json: \"f\" must be a 64-bit integer, not 3.0");
  CHECK_THROWS_WITH(json_integer(record, "u", "c.json"), Contains("must be a 64-bit integer"));
  CHECK_THROWS_WITH(json_integer(record, "b", "c.json"), Contains("not true"));
  CHECK_THROWS_WITH(json_number(record, "t", "c.json"),
                    "c.json: \"t\" must be a number, not \"x\"");
  CHECK_THROWS_WITH(json_text(record, "n", "c.json"), Contains("must be a text"));
  CHECK_THROWS_WITH(json_text(record, "q", "c.json"), "c.json: \"q\" is missing");
  CHECK_THROWS_WITH(json_text(Record::array(), "q", "c.json"), "c.json: \"q\" is missing");
}
