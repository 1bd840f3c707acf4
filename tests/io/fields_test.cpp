// Structs with one list of fields: written as JSON, read again, refused in one line.
#include "headroom/io/fields.hpp"

#include <cmath>
#include <limits>

#include "headroom/io/json.hpp"
#include "support/catch.hpp"

using namespace headroom;

namespace {

enum class Colour { red, green };

struct Inner {
  Index whole = 0;
  double real = 0;
  Colour colour = Colour::red;
  bool operator==(const Inner&) const = default;

  using T = Inner;
  using Fields = Listed<&T::whole, &T::real, &T::colour>;
};

struct Outer {
  std::string name{};
  bool yes = false;
  std::uint64_t seed = 0;
  std::optional<Index> at{};
  std::optional<double> cost{};
  std::vector<Inner> list{};
  std::vector<std::string> notes{};
  std::map<std::string, double> numbers{};
  bool operator==(const Outer&) const = default;

  using T = Outer;
  using Fields = Listed<&T::name, &T::yes, &T::seed, &T::at, if_any<&T::cost>, &T::list,
                        if_any<&T::notes>, all_others<&T::numbers>>;
};

const char* const sound =
    R"({"name":"a","yes":true,"seed":18446744073709551615,"at":null,"list":[{"whole":3,)"
    R"("real":0.5,"colour":"green"}],"rise":0.25})";

Outer parsed(const std::string& text) {
  return struct_of<Outer>(parse_json(text, "a.json"), "a.json");
}

}  // namespace

TEST_CASE("a struct is written in the order of its fields and read back as it was") {
  const Outer outer = parsed(sound);
  CHECK(json_of(outer).dump() == sound);
  CHECK(outer.list[0] == Inner{3, 0.5, Colour::green});
  CHECK(outer.numbers == std::map<std::string, double>{{"rise", 0.25}});
  Outer full = outer;
  full.at = 7;
  full.cost = 0.125;
  full.notes = {"x", ""};
  CHECK(parsed(json_of(full).dump()) == full);
}

TEST_CASE("optional fields may be missing or null, and numbers that are not finite are null") {
  CHECK_FALSE(parsed(R"({"name":"","yes":false,"seed":0,"list":[]})").at.has_value());
  Outer outer;
  outer.list = {{1, std::numeric_limits<double>::infinity(), Colour::red}};
  const Record record = json_of(outer);
  CHECK(record["list"][0]["real"].is_null());
  CHECK(std::isnan(struct_of<Outer>(record, "a.json").list[0].real));
}

TEST_CASE("JSON that does not fit is refused by file, field and what was expected") {
  struct Case {
    const char* pointer;
    Record to;
    const char* text;
  };
  const std::vector<Case> cases = {
      {"", 3, "a.json must be an object, not 3"},
      {"/name", 3, "a.json: name must be a text, not 3"},
      {"/name", nullptr, "a.json: name must be a text, not null"},
      {"/yes", 1, "a.json: yes must be true or false, not 1"},
      {"/seed", -1, "a.json: seed must be a whole number from 0 to 2^64 - 1, not -1"},
      {"/at", 1.0, "a.json: at must be a whole number, not 1.0"},
      {"/at", 9007199254740993,
       "a.json: at must be a whole number of at most 2^53, not "
       "9007199254740993"},
      {"/at", -9007199254740993,
       "a.json: at must be a whole number of at most 2^53, not "
       "-9007199254740993"},
      {"/list", Record::object(), "a.json: list must be a list, not {}"},
      {"/list/0", "x", "a.json: list[0] must be an object, not \"x\""},
      {"/list/0/whole", "x\n", "a.json: list[0].whole must be a whole number, not \"x\\n\""},
      {"/list/0/real", true, "a.json: list[0].real must be a number, not true"},
      {"/list/0/colour", "blue", "a.json: list[0].colour must be one of red, green, not \"blue\""},
      {"/list/0/size", 1, "a.json: list[0]: \"size\" is not a field (known: colour, real, whole)"},
      {"/rise", "x", "a.json: rise must be a number, not \"x\""},
  };
  for (const Case& c : cases) {
    Record record = parse_json(sound, "a.json");
    record[Record::json_pointer(c.pointer)] = c.to;
    INFO(c.pointer);
    CHECK_THROWS_WITH(struct_of<Outer>(record, "a.json"), c.text);
    CHECK_THROWS_AS(struct_of<Outer>(record, "a.json"), DataError);
  }
  Record record = parse_json(sound, "a.json");
  record["list"][0].erase("real");
  CHECK_THROWS_WITH(struct_of<Outer>(record, "a.json"), "a.json: list[0]: \"real\" is missing");
}
