// Opening a page in headless Chromium.
#include "support/browser.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "headroom/report/report.hpp"
#include "support/process.hpp"

namespace {

/// The lines of Chromium's log that the page caused: its console, and requests that failed.
std::string complaints_in(const std::string& log) {
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

}  // namespace

std::string OpenedPage::attribute(const std::string& name) const {
  const std::string open = "data-" + name + "=\"";
  const std::size_t begin = dom.find(open);
  if (begin == std::string::npos || begin > dom.find("<head")) return "missing";
  const std::size_t value = begin + open.size();
  return dom.substr(value, dom.find('"', value) - value);
}

OpenedPage open_page(const std::filesystem::path& page, const std::filesystem::path& profile,
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
  Finished finished = run_process(command);
  return {finished.code, std::move(finished.out), complaints_in(finished.err)};
}

bool can_open_pages() {
  if (!in_path("chromium")) {
    WARN("skipped: no chromium (apt-get install chromium)");
    return false;
  }
  if (headroom::find_chart_js().empty()) {
    WARN("skipped: no Chart.js (apt-get install libjs-chart.js)");
    return false;
  }
  return true;
}
