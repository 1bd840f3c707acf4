// The page in a real browser: it draws everything, without errors and without network requests.
#include <fstream>
#include <iterator>
#include <string>

#include "headroom_lab/report/report.hpp"
#include "support/browser.hpp"
#include "support/catch.hpp"
#include "support/small_run.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;
using Catch::Matchers::Contains;

TEST_CASE("a browser draws the whole page, without an error and without a request") {
  if (!can_open_pages()) return;
  const TemporaryFolder folder;
  write_report(small_run(), folder / "report.html");
  for (const OpenedPage& page : check_page(folder / "report.html", folder / "browser")) {
    // Loss, exact match, differences, heads; five readings in six attentions.
    CHECK(page.attribute("charts") == "34");
    CHECK(page.attribute("maps") == "3");
    CHECK(page.attribute("canvases") == "37");
    CHECK_THAT(page.dom, Contains("Cross-attention, layer 1, entropy: head 0 from 0.9 to 0.52"));
    CHECK_THAT(page.dom, Contains("removed at step 105") && !Contains("at step 100"));
    CHECK_THAT(
        page.dom,
        Contains("class=\"dashed\" aria-hidden=\"true\" style=\"--colour: var(--head-1);\""));
    CHECK_THAT(
        page.dom,
        Contains("class=\"swatch\" aria-hidden=\"true\" style=\"--colour: var(--head-1);\""));
  }
}

TEST_CASE("a tile compares exact match with the same model trained as long without removal") {
  if (!can_open_pages()) return;
  const TemporaryFolder folder;
  ReportRecord run = small_run();
  run.before_after.insert(run.before_after.begin() + 1, run.before_after[0]);
  run.before_after[1].label = "as long";
  run.before_after[1].exact_match = {{{"separate", 0.999}}};
  for (std::size_t i = 0; i < 3; ++i) {
    run.before_after[i].steps = i == 0 ? 80 : 200;
    run.before_after[i].heads = i == 2 ? 6 : 12;
  }
  write_report(run, folder / "report.html");
  const OpenedPage page = open_page(folder / "report.html", folder / "browser", 1200, false);
  CHECK(page.complaints == "");
  CHECK_THAT(page.dom, Contains("exact match (separate)") && Contains("99.1 %") &&
                           Contains("as long: 99.9 %") && Contains("−0.8 points"));
  CHECK_THAT(page.dom, Contains("time of a step") && Contains("before: 38.0 ms"));
}

TEST_CASE("on paper, what carries a value keeps its colour, and texts follow the light theme",
          "[long]") {
  if (!can_open_pages()) return;
  const TemporaryFolder folder;
  std::string page = report_page(small_run(),
                                 "window.Chart = class { static defaults = {font: {}}; "
                                 "destroy() {} };");
  page.insert(page.rfind("</body>"), R"js(<script>
const all = (selector) => [...document.querySelectorAll(selector)];
const cells = all(".heads td[style]");
const colours = () => [...new Set(cells.map((cell) => cell.style.color))].sort().join(" and ");
const in_dark = cells.map((cell) => cell.style.color);
dispatchEvent(new Event("beforeprint"));  // what a print does: the event, then the rules
for (const rule of document.styleSheets[0].cssRules) {
  if (rule.media?.mediaText === "print") rule.media.mediaText = "screen";
}
const carrying = [
  ".heads td", ".heads caption i", ".scale i", ".rod i", ".tile .bar b", ".tokens button"];
Object.assign(document.documentElement.dataset, {
  pale: carrying.filter((selector) => !all(selector).length || all(selector)
    .some((e) => getComputedStyle(e).printColorAdjust !== "exact")).join(),
  colours: colours(),
  followed: cells.some((cell, i) => cell.style.color !== in_dark[i]),
});
</script>)js");
  const OpenedPage opened =
      open_page(folder.file("report.html", page), folder / "browser", 1000, true);
  CHECK(opened.complaints == "");
  CHECK(opened.attribute("pale") == "");
  CHECK(opened.attribute("colours") == "rgb(0, 0, 0) and rgb(255, 255, 255)");
  CHECK(opened.attribute("followed") == "true");
}

TEST_CASE("the heads alive follow swaps, in which one head goes and another comes back") {
  if (!can_open_pages()) return;
  const TemporaryFolder folder;
  ReportRecord run = small_run();
  const auto encoder = [](Index head) { return HeadId{AttentionKind::encoder_self, 0, head}; };
  const HeadId cross{AttentionKind::cross, 0, 0};
  run.timeline = {{.step = 105, .removed = {encoder(0), encoder(1)}},
                  {.step = 110, .heads = {cross}, .scores = {1}},
                  {.step = 125, .removed = {cross}, .regrown = {encoder(0)}},
                  {.step = 145, .removed = {encoder(0)}, .regrown = {encoder(1)}}};
  for (HeadRecord& head : run.heads) {
    head.removed_at.reset();
    if (head.id == encoder(0)) head.removed_at = 145;
    if (head.id == cross) head.removed_at = 125;
  }
  write_report(run, folder / "report.html");
  const OpenedPage page = open_page(folder / "report.html", folder / "browser", 1200, false);
  CHECK(page.complaints == "");
  CHECK_THAT(page.dom, Contains("encoder: from 4 at step 0 to 3 at step 200; cross: from 4 at "
                                "step 0 to 3 at step 200; decoder: from 4 at step 0 to 4 at step"));
  const auto row = [](const std::string& step, const std::string& encoders,
                      const std::string& crosses) {
    return "<tr><th scope=\"row\">" + step + "</th><td>" + encoders + "</td><td>" + crosses +
           "</td><td>–</td></tr>";
  };
  CHECK_THAT(page.dom, Contains(row("105", "2", "–")));
  CHECK_THAT(page.dom, Contains(row("125", "3", "3")));
  CHECK_THAT(page.dom, Contains(row("145", "3", "–")));
}

TEST_CASE("a plain training run's page is drawn too") {
  if (!can_open_pages()) return;
  const TemporaryFolder folder;
  ReportRecord run{{.title = "plain"}};
  for (int step = 1; step < 100; ++step) {
    run.metrics.push_back({.step = step, .numbers = {{"loss", 1.0 / step}}});
  }
  write_report(run, folder / "report.html");
  for (const OpenedPage& page : check_page(folder / "report.html", folder / "browser", {false})) {
    CHECK(page.attribute("canvases") == "1");
  }
}

TEST_CASE("the test sees what is wrong with a page") {
  if (!can_open_pages()) return;
  const TemporaryFolder folder;
  write_report(small_run(), folder / "good.html");
  std::ifstream in(folder / "good.html");
  std::string page((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  page.insert(page.find("<main"),
              "<style>.dull:focus { outline: none }</style>"
              "<canvas></canvas><img src=\"http://localhost:9/x.png\" alt=\"\">"
              "<button class=\"dull\"></button>"
              "<div style=\"overflow: auto; width: 90px; white-space: nowrap\">longer than it</div>"
              "<div style=\"overflow: hidden; width: 90px; white-space: nowrap\">cut off here</div>"
              "<div style=\"overflow: hidden; width: 90px; white-space: nowrap; text-overflow: "
              "ellipsis\">dots tell nothing</div>"
              "<div style=\"background: #fff\"><div style=\"background: rgba(0, 0, 0, .5); color: "
              "#444\">grey on grey</div></div>"
              "<div style=\"cursor: pointer\">click</div>"
              "<div style=\"width: 1500px\">wide</div>");
  const auto bad = folder.file("bad.html", page);
  const OpenedPage opened = open_page(bad, folder / "browser", 1400, false);
  CHECK(opened.complaints != "");
  CHECK(opened.attribute("canvases") == "38");
  CHECK(opened.attribute("painted") == "37");
  CHECK(opened.attribute("overflow") == "100");
  const auto& found = opened.probe["found"];
  CHECK(found["unnamed"].size() == 2);      // the canvas, the picture
  CHECK(found["unreachable"].size() == 2);  // a scrolling and a clickable element
  CHECK(found["unseen"].size() == 1);
  CHECK(found["mute"].size() == 1);
  CHECK(found["cut"].size() == 2);
  CHECK(found["faint"].size() == 1);
}

TEST_CASE("the test sees charts without numbers and maps that say nothing") {
  if (!can_open_pages()) return;
  const TemporaryFolder folder;
  write_report(small_run(), folder / "good.html");
  std::ifstream in(folder / "good.html");
  std::string page((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const auto replace = [&](const std::string& from, const std::string& to) {
    REQUIRE(page.find(from) != std::string::npos);
    page.replace(page.find(from), from.size(), to);
  };
  replace("() => by_step(series, options)", "() => []");
  replace("\"aria-valuetext\", text", "\"title\", text");
  const auto bad = folder.file("bad.html", page);
  const OpenedPage opened = open_page(bad, folder / "browser", 1200, false);
  CHECK(opened.probe["found"]["bare"].size() == 4);  // the charts but telemetry's
  CHECK(opened.probe["found"]["mute"].size() == 3);  // the maps
}
