// The page in a real browser: it draws everything, complains about nothing and asks for nothing.
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <string>

#include "headroom/report/report.hpp"
#include "report/small_run.hpp"
#include "support/browser.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;
using Catch::Matchers::Contains;

TEST_CASE("a browser draws the whole page, without an error and without a request") {
  if (!can_open_pages()) return;
  const TemporaryFolder folder;
  write_report(small_run(), folder / "report.html");
  struct Screen {
    int width;
    bool dark;
  };
  for (const Screen screen : {Screen{1400, false}, Screen{500, true}}) {
    INFO("width " << screen.width);
    const OpenedPage page =
        open_page(folder / "report.html", folder / "profile", screen.width, screen.dark);
    REQUIRE(page.code == 0);
    CHECK(page.complaints == "");
    // Loss, exact match, differences, heads; five readings in six attentions.
    CHECK(page.attribute("charts") == "34");
    CHECK(page.attribute("maps") == "3");
    CHECK(page.attribute("canvases") == "37");
    CHECK(page.attribute("painted") == "37");
    CHECK(page.attribute("requests") == "0");
    CHECK(page.attribute("overflow") == "0");  // nothing sticks out to the right
    CHECK_THAT(page.dom, Contains("Cross-attention, layer 1, entropy: head 0 from 0.9 to 0.52"));
    CHECK_THAT(page.dom, Contains("at step 100, where it was removed"));
  }
}

TEST_CASE("a plain training run's page is drawn too") {
  if (!can_open_pages()) return;
  const TemporaryFolder folder;
  Record run = {{"title", "plain"}};
  for (int step = 1; step < 100; ++step) {
    run["metrics"].push_back({{"step", step}, {"loss", 1.0 / step}});
  }
  write_report(run, folder / "report.html");
  const OpenedPage page = open_page(folder / "report.html", folder / "profile", 800, false);
  REQUIRE(page.code == 0);
  CHECK(page.complaints == "");
  CHECK(page.attribute("canvases") == "1");
  CHECK(page.attribute("painted") == "1");
}

TEST_CASE("the test sees an error, a request and an empty canvas when there is one") {
  if (!can_open_pages()) return;
  const TemporaryFolder folder;
  write_report(small_run(), folder / "good.html");
  std::ifstream in(folder / "good.html");
  std::string page((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  page.insert(page.find("<main"),
              "<canvas></canvas><img src=\"http://localhost:9/x.png\" alt=\"\">");
  const auto bad = folder.file("bad.html", page);
  const OpenedPage opened = open_page(bad, folder / "profile", 1400, false);
  CHECK(opened.complaints != "");
  CHECK(opened.attribute("canvases") == "38");
  CHECK(opened.attribute("painted") == "37");
}
