// The section on the life of a head: its finding, and its page in a browser.
#include "headroom_lab/report/report.hpp"
#include "support/browser.hpp"
#include "support/catch.hpp"
#include "support/small_run.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;
using Catch::Matchers::Contains;

namespace {

/// The small run, in which the first head comes back after its removal, with lines of lives.
ReportRecord run_with_lives() {
  ReportRecord run = small_run();
  const HeadId first = run.heads[0].id;
  run.heads[0].removed_at.reset();
  for (const HeadRecord& head : run.heads) {
    if (head.removed_at) run.timeline.push_back({.step = *head.removed_at, .removed = {head.id}});
  }
  run.timeline.insert(run.timeline.begin(), {.step = 105, .removed = {first}});
  run.timeline.push_back({.step = 170, .regrown = {first}});
  for (const Index step : {1, 50, 100, 125, 150, 200}) {
    LifeLine line{.step = step, .model = "fused", .examples = 32};
    line.example = run.examples[0];
    line.example->maps.clear();
    for (const HeadRecord& head : run.heads) {
      const bool away = head.id == first && step >= 105 && step < 170;
      if (away || (head.removed_at && *head.removed_at <= step)) continue;
      line.heads.push_back(head.id);
      line.cost.push_back(head.removed_at ? 0.01 : 0.001 * double(step));
      line.gate_gradient.push_back(-0.5 * line.cost.back());
      for (const MapRecord& map : run.examples[0].maps) {
        if (map.id.kind != head.id.kind) continue;
        line.example->maps.push_back(map);
        line.example->maps.back().id = head.id;
      }
    }
    run.lives.push_back(line);
  }
  return run;
}

/// The page with a script that runs after its own, and its state by data attributes.
OpenedPage opened_after(const ReportRecord& run, const std::string& script, int width) {
  const TemporaryFolder folder;
  write_report(run, folder / "report.html");
  std::string page = folder.content("report.html");
  page.insert(page.rfind("</body>"), "<script>{" + script + "}</script>");
  return open_page(folder.file("changed.html", page), folder / "browser", width, false);
}

}  // namespace

TEST_CASE("the finding compares the costs of removed heads with those of the others") {
  const RunFindings found = findings(run_with_lives());
  REQUIRE(found.lives.has_value());
  CHECK(found.lives->title ==
        "The 5 removed heads cost 0.01 nats on average when last measured, the 7 others 0.2 at "
        "step 200");
  CHECK_THAT(found.lives->caption, Contains("32 unseen examples") && Contains("fused model"));
  CHECK_FALSE(findings(small_run()).lives.has_value());
  ReportRecord whole = run_with_lives();
  whole.lives.resize(1);
  CHECK(findings(whole).lives->title == "Lives of the heads");
}

TEST_CASE("a browser draws the life of a head on a phone, a tablet and a desk", "[long]") {
  if (!can_open_pages()) return;
  const TemporaryFolder folder;
  write_report(run_with_lives(), folder / "report.html");
  for (const OpenedPage& page : check_page(folder / "report.html", folder / "browser")) {
    CHECK(page.attribute("charts") == "35");  // one more than without lives
    CHECK(page.attribute("maps") == "4");
    CHECK_THAT(page.dom, Contains("encoder 0.0: cost of removal from 0.001 at step 1 to 0.2 at "
                                  "step 200") &&
                             Contains("removed at step 105; came back at step 170"));
  }
}

TEST_CASE("the slider moves through a head's life, and its buttons choose another head") {
  if (!can_open_pages()) return;
  const ReportRecord run = run_with_lives();
  const OpenedPage page = opened_after(run, R"js(
const said = [];
const told = () => said.push(document.querySelector(".card .caption[aria-live]").textContent);
const slider = document.getElementById("life-step"), select = document.getElementById("life-head");
const move = (to) => { slider.value = to; slider.dispatchEvent(new Event("input")); told(); };
told(); move(0); move(3); move(5);
const buttons = [...document.querySelectorAll(".fates button")];
buttons.find((button) => button.getAttribute("aria-label").startsWith("encoder 0.1")).click();
told(); move(2);
select.value = "cross 0.1";
select.dispatchEvent(new Event("change"));
told();
document.documentElement.dataset.said = said.join("|");
document.documentElement.dataset.gone = document.querySelectorAll(".fates .gone").length;
document.documentElement.dataset.drawn_maps = document.querySelectorAll(".picture canvas").length;
)js",
                                       1200);
  CHECK(page.complaints == "");
  CHECK(page.attribute("said") ==
        "encoder 0.0 after step 200: alive, came back at step 170. Without it the loss rises by "
        "0.2; the gate gradient predicts 0.1.|"
        "encoder 0.0 after step 1: alive. Without it the loss rises by 0.001; the gate gradient "
        "predicts 5.0e-4.|"
        "encoder 0.0 after step 125: removed at step 105.|"
        "encoder 0.0 after step 200: alive, came back at step 170. Without it the loss rises by "
        "0.2; the gate gradient predicts 0.1.|"
        "encoder 0.1 after step 200: removed at step 115.|"
        "encoder 0.1 after step 100: alive. Without it the loss rises by 0.01; the gate gradient "
        "predicts 0.005.|"
        "cross 0.1 after step 100: alive. Without it the loss rises by 0.1; the gate gradient "
        "predicts 0.05.");
  CHECK(page.attribute("gone") == "0");
  CHECK(page.attribute("drawn_maps") == "1");
}
