// The page in a real browser: it draws everything, complains about nothing and asks for nothing.
#include <catch2/catch.hpp>
#include <string>

#include "headroom/report/report.hpp"
#include "report/small_run.hpp"
#include "support/process.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;

namespace {

/// The value of a data attribute that the page sets on <html> when it has drawn.
std::string attribute(const std::string& dom, const std::string& name) {
  const std::string open = "data-" + name + "=\"";
  const std::size_t begin = dom.find(open);
  if (begin == std::string::npos || begin > dom.find("<head")) return "missing";
  const std::size_t value = begin + open.size();
  return dom.substr(value, dom.find('"', value) - value);
}

/// The lines of Chromium's log that the page caused: its console, and requests that failed.
std::string complaints(const std::string& log) {
  std::string found;
  for (std::size_t begin = 0; begin < log.size();) {
    const std::size_t end = std::min(log.find('\n', begin), log.size());
    const std::string line = log.substr(begin, end - begin);
    if (line.find("CONSOLE") != std::string::npos || line.find("net::ERR") != std::string::npos) {
      found += line + "\n";
    }
    begin = end + 1;
  }
  return found;
}

/// Opens a page in Chromium without a window.
Finished open_page(const std::filesystem::path& page, const std::filesystem::path& profile,
                   int width, bool dark) {
  std::vector<std::string> command = {"chromium",
                                      "--headless",
                                      "--no-sandbox",
                                      "--disable-gpu",
                                      "--disable-dev-shm-usage",
                                      "--no-first-run",
                                      "--disable-background-networking",
                                      "--disable-component-update",
                                      "--disable-sync",
                                      "--user-data-dir=" + profile.string(),
                                      "--window-size=" + std::to_string(width) + ",2000",
                                      "--virtual-time-budget=4000",
                                      "--enable-logging=stderr",
                                      "--dump-dom"};
  if (dark) command.push_back("--blink-settings=preferredColorScheme=0");
  command.push_back("file://" + page.string());
  return run_process(command);
}

bool can_open_pages() {
  if (!in_path("chromium")) {
    WARN("skipped: no chromium (apt-get install chromium)");
    return false;
  }
  if (find_chart_js().empty()) {
    WARN("skipped: no Chart.js (apt-get install libjs-chart.js)");
    return false;
  }
  return true;
}

}  // namespace

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
    const Finished page =
        open_page(folder / "report.html", folder / "profile", screen.width, screen.dark);
    REQUIRE(page.code == 0);
    CHECK(complaints(page.err) == "");
    CHECK(attribute(page.out, "charts") == "4");  // loss, exact match, differences, heads
    CHECK(attribute(page.out, "maps") == "3");
    CHECK(attribute(page.out, "canvases") == "7");
    CHECK(attribute(page.out, "painted") == "7");
    CHECK(attribute(page.out, "requests") == "0");
    CHECK(attribute(page.out, "overflow") == "0");  // nothing sticks out to the right
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
  const Finished page = open_page(folder / "report.html", folder / "profile", 800, false);
  REQUIRE(page.code == 0);
  CHECK(complaints(page.err) == "");
  CHECK(attribute(page.out, "canvases") == "1");
  CHECK(attribute(page.out, "painted") == "1");
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
  const Finished opened = open_page(bad, folder / "profile", 1400, false);
  CHECK(complaints(opened.err) != "");
  CHECK(attribute(opened.out, "canvases") == "8");
  CHECK(attribute(opened.out, "painted") == "7");
}
