// Detection of a terminal's colours and character set.
#include "headroom/base/terminal.hpp"

#include <cstdlib>

#include "support/catch.hpp"

using namespace headroom;

TEST_CASE("colour needs a terminal and is off with NO_COLOR") {
  const TerminalStyle colourful{.unicode = true, .colour = true};
  CHECK(emphasised("x", Emphasis::good, colourful) == "\x1b[32mx\x1b[0m");
  CHECK(emphasised("x", Emphasis::good, TerminalStyle{}) == "x");
  std::FILE* file = std::tmpfile();
  CHECK_FALSE(TerminalStyle::of(file).colour);
  CHECK_FALSE(TerminalStyle::of(file).live);
  setenv("LC_ALL", "C", 1);
  CHECK_FALSE(TerminalStyle::of(file).unicode);
  setenv("LC_ALL", "en_GB.UTF-8", 1);
  CHECK(TerminalStyle::of(file).unicode);
  unsetenv("LC_ALL");
  setenv("NO_COLOR", "1", 1);
  CHECK_FALSE(TerminalStyle::colour_allowed());
  setenv("NO_COLOR", "", 1);  // empty counts as unset (no-color.org)
  CHECK(TerminalStyle::colour_allowed());
  unsetenv("NO_COLOR");
  CHECK(TerminalStyle::colour_allowed());
  std::fclose(file);
}
