// Numbers, times and bars as text.
#include "headroom/base/text.hpp"
#include "headroom/base/written_number.hpp"

#include "support/catch.hpp"

using namespace headroom;

TEST_CASE("widths count what a terminal shows") {
  CHECK(display_width("abc") == 3);
  CHECK(display_width("é") == 1);
  CHECK(display_width("e\u0301") == 1);
  CHECK(display_width("日本") == 4);
  CHECK(display_width("█▒░") == 3);
  CHECK(display_width("\x1b[32mok\x1b[0m") == 2);
  CHECK(padded("é", 3) == "é  ");
  CHECK(padded("12", 4, true) == "  12");
  CHECK(padded("long", 2) == "long");
}

TEST_CASE("a text is wrapped at spaces by the columns that a terminal shows") {
  CHECK(wrapped("", 10) == "");
  CHECK(wrapped("one two  three", 7) == "one two\nthree");
  CHECK(wrapped("one two three", 6) == "one\ntwo\nthree");
  CHECK(wrapped("a longest-of-words b", 5) == "a\nlongest-of-words\nb");
  CHECK(wrapped("longest-of-words", 5) == "longest-of-words");
  CHECK(wrapped("é é é", 5) == "é é é");
  CHECK(wrapped("日本 日本", 8) == "日本\n日本");
  CHECK(wrapped("one two three", 9, 2) == "  one two\n  three");
}

TEST_CASE("the first letter becomes a capital one") {
  CHECK(capital("questions from") == "Questions from");
  CHECK(capital("") == "");
  CHECK(capital("Q") == "Q");
  CHECK(capital("été") == "été");
}

TEST_CASE("a number that a person wrote") {
  CHECK(written_number("0.5") == 0.5);
  CHECK(written_number("-1e-8") == -1e-8);
  CHECK(written_number("35 %") == 35);
  CHECK(written_number("35%") == 35);
  CHECK(written_number("1/4") == 0.25);
  for (const char* none :
       {"", " ", "%", "half", "1/", "1/0", "1/x", "nan", "inf", "3 heads", "5 %%"}) {
    INFO(none);
    CHECK(!written_number(none).has_value());
  }
}

TEST_CASE("numbers, times and bars as text") {
  CHECK(with_commas(0) == "0");
  CHECK(with_commas(999) == "999");
  CHECK(with_commas(1234567) == "1,234,567");
  CHECK(with_commas(-123456) == "-123,456");
  CHECK(bytes_text(12) == "12 B");
  CHECK(bytes_text(41.2e6) == "41 MB");
  CHECK(bytes_text(3.2e9) == "3.2 GB");
  CHECK(bytes_text(999600) == "1.0 MB");
  CHECK(clock_text(31.4) == "0:31");
  CHECK(clock_text(3730) == "1:02:10");
  CHECK(bar_text(0, 4) == "[----]");
  CHECK(bar_text(0.5, 4) == "[##--]");
  CHECK(bar_text(7, 4) == "[####]");
  CHECK(short_number(0) == "0");
  CHECK(short_number(949.6) == "950");
  CHECK(short_number(61'200) == "61k");
  CHECK(short_number(1.23e6) == "1.2M");
}
