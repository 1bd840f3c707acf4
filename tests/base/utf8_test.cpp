// Validation of UTF-8, and escaping of text for messages.
#include "headroom/base/utf8.hpp"

#include "headroom/base/error.hpp"
#include "support/catch.hpp"

using namespace headroom;

TEST_CASE("every kind of malformed UTF-8 is found at its first byte") {
  const auto bad =
      GENERATE(as<std::string>{}, "\x80", "\xC3", "\xC0\xAF", "\xE0\x80\x80", "\xED\xA0\x80",
               "\xF0\x80\x80\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE2\x82",
               "\xF0\x9F\x98", "\xFF", "\xC3(", "\xE2(\xA1");
  CHECK(find_malformed_utf8("ok \xC3\xA9 " + bad) == 6U);
  CHECK(find_malformed_utf8("ok " + bad + " more") == 3U);
  CHECK_THROWS_AS(code_points(bad), DataError);
}

TEST_CASE("code points keep their bytes") {
  const std::string text = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xEF\xBF\xBF";
  CHECK_FALSE(find_malformed_utf8(text));
  CHECK(code_points(text) == std::vector<std::string>{"a", "\xC3\xA9", "\xE2\x82\xAC",
                                                      "\xF0\x9F\x98\x80", "\xEF\xBF\xBF"});
  CHECK(code_points("").empty());
  CHECK_THROWS_WITH(code_points("ab\xFF"), "byte 2 is not well-formed UTF-8");
}

TEST_CASE("printable text stays on one line and within its limit") {
  CHECK(printable("tab\tnew\nline\x7F \xC3\xA9 \xFF") ==
        "tab\\x09new\\x0Aline\\x7F \xC3\xA9 \\xFF");
  CHECK(printable(std::string_view("a\0b", 3)) == "a\\x00b");
  CHECK(printable("abcdef", 3) == "abc...");
  // U+0080 to U+009F control terminals as ESC does; U+00A0 is a space.
  CHECK(printable("\xC2\x9B\xC2\xA0") == "\\xC2\\x9B\xC2\xA0");
}
