// The progress line: its content, its width, and when it is drawn.
#include "headroom_runs/runs/progress.hpp"
#include "support/catch.hpp"

#include <cstdlib>
#include <sstream>

using namespace headroom;
using Catch::Matchers::Contains;

namespace {

StepReport report_of(Index step) {
  StepReport report;
  report.step = step;
  report.loss = 0.25;
  report.tokens = 6100;
  report.seconds = 0.1;
  report.heads_alive = 24;
  return report;
}

/// A progress line on a string, with a clock that the test sets.
struct Watched {
  explicit Watched(bool live, int width = 0)
      : line({.steps = 2000,
              .title = "Learning",
              .live = live,
              .width = width,
              .clock = [this] { return now; }},
             out) {}
  double now = 100;
  std::ostringstream out;
  ProgressLine line;
};

}  // namespace

TEST_CASE("without a terminal: the first line, one in ten seconds, the last") {
  Watched watched(false);
  for (Index step = 1; step <= 2000; ++step) {
    watched.now += 0.02;
    watched.line(report_of(step));
  }
  const std::string text = watched.out.str();
  CHECK(std::count(text.begin(), text.end(), '\n') == 5);  // 40 seconds: 0, 10, 20, 30, end
  CHECK(text.find('\r') == std::string::npos);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK_THAT(text, Contains("Learning  step    1/2000  loss 0.250  61k tok/s  24 heads"));
  CHECK_THAT(text, Contains("step 2000/2000"));
}

TEST_CASE("on a terminal one line is rewritten, and left at the end") {
  setenv("NO_COLOR", "1", 1);
  {
    Watched watched(true, 200);
    watched.line(report_of(1));
    watched.now += 10;
    StepReport halfway = report_of(1001);
    halfway.metrics["exact_match"] = 0.996;
    watched.line(halfway);
    watched.now += 0.01;
    watched.line(report_of(1002));  // too soon to draw again
    CHECK(watched.out.str().find("1002") == std::string::npos);
    CHECK_THAT(watched.out.str(),
               Contains("\r\x1b[KLearning  step 1001/2000  loss 0.250  exact 99.6 %"));
    CHECK_THAT(watched.out.str(), Contains("[##########----------]  0:10 left"));
    CHECK(watched.out.str().find('\n') == std::string::npos);
    watched.now += 10;
    watched.line(report_of(2000));
    CHECK_THAT(watched.out.str(), Contains("exact 99.6 %"));  // the latest is still shown
    CHECK(watched.out.str().back() == '\n');
    CHECK(watched.out.str().find("\x1b[2m") == std::string::npos);  // NO_COLOR
  }
  unsetenv("NO_COLOR");
  Watched coloured(true, 200);
  coloured.line(report_of(1));
  CHECK_THAT(coloured.out.str(), Contains("\x1b[2m"));
}

TEST_CASE("the time left of a resumed run is reckoned from the steps since it was resumed") {
  Watched watched(true, 200);
  watched.line(report_of(1001));  // took 0.1 seconds
  watched.now += 9.9;
  watched.line(report_of(1100));
  CHECK_THAT(watched.out.str(), Contains("1:30 left"));  // 900 steps, 100 in ten seconds
}

TEST_CASE("the line is never wider than the terminal; bar and rates go first") {
  setenv("NO_COLOR", "1", 1);
  for (const int width : {100, 79, 60, 40, 20}) {
    CAPTURE(width);
    Watched watched(true, width);
    watched.line(report_of(7));
    const std::string text = watched.out.str();
    CHECK(text.size() < static_cast<std::size_t>(width));
    CHECK_THAT(text, Contains("step    7/2000"));
    CHECK((text.find("tok/s") != std::string::npos) == (width >= 79));
  }
  unsetenv("NO_COLOR");
}

TEST_CASE("a note stands above the live line") {
  setenv("NO_COLOR", "1", 1);
  Watched watched(true, 100);
  watched.line(report_of(1));
  watched.line.note("removed cross 0.1");
  CHECK_THAT(watched.out.str(), Contains("\r\x1b[Kremoved cross 0.1\n"));
  unsetenv("NO_COLOR");
}
