// Enumerators and their names, derived from the declaration of an enumeration.
#include "headroom/base/names.hpp"

#include "headroom/base/head_id.hpp"
#include "support/catch.hpp"

using namespace headroom;

namespace {

enum class Colour { red, dark_blue, grey2 };
enum class Alone { one };
enum class Size { small, large };
const char* name_of(Size size) { return size == Size::small ? "S" : "L"; }

}  // namespace

TEST_CASE("an enumeration's members follow from its declaration, in order") {
  STATIC_REQUIRE(all_of<Colour>() == std::array{Colour::red, Colour::dark_blue, Colour::grey2});
  STATIC_REQUIRE(all_of<Alone>().size() == 1);
  STATIC_REQUIRE(all_of<AttentionKind>().back() == AttentionKind::cross);
}

TEST_CASE("names are those of the declaration") {
  CHECK(std::string(name_of(Colour::red)) == "red");
  CHECK(std::string(name_of(Colour::dark_blue)) == "dark_blue");
  CHECK(std::string(name_of(Colour::grey2)) == "grey2");
  CHECK(std::string(name_of(static_cast<Colour>(3))) == "?");
  CHECK(names_of<Colour>() == "red, dark_blue, grey2");
}

TEST_CASE("an enumeration may have names of its own") {
  CHECK(names_of<Size>() == "S, L");
  CHECK(from_name<Size>("size", "L") == Size::large);
  CHECK(names_of<AttentionKind>() == "encoder, decoder, cross");
}

TEST_CASE("a name that no member has is an error that lists the names") {
  for (const Colour colour : all_of<Colour>()) {
    CHECK(from_name<Colour>("colour", name_of(colour)) == colour);
  }
  CHECK_THROWS_AS(from_name<Colour>("colour", "re"), UsageError);
  CHECK_THROWS_WITH(from_name<Colour>("colour", "green"),
                    "colour: \"green\" is not one of red, dark_blue, grey2");
}
