// Opening a page in headless Chromium.
#include "support/browser.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>

#include "headroom_lab/report/report.hpp"
#include "support/catch.hpp"
#include "support/process.hpp"

namespace {

namespace fs = std::filesystem;

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

std::string content(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Writes a copy of the page with the probe script.
void write_probed(const fs::path& page, const fs::path& copy) {
  std::string text = content(page);
  const std::size_t end = text.rfind("</body>");
  text.insert(end == std::string::npos ? text.size() : end,
              "<script>" + content(HEADROOM_PAGE_PROBE) + "</script>");
  std::ofstream(copy) << text;
}

/// Writes a page that shows the copy at every width in frames, and stores each frame's message as
/// text in its document. (A separate window cannot be narrower than 500 pixels.)
void write_window(const fs::path& file, const std::string& address,
                  const std::vector<int>& widths) {
  std::ofstream out(file);
  out << "<!doctype html><style>:root { color-scheme: light dark } body { margin: 0; display: flex "
         "}"
         " iframe { border: 0; flex: none; height: 2000px }</style>";
  for (const int width : widths) {
    out << "<iframe src=\"" << address << "\" style=\"width: " << width << "px\"></iframe>";
  }
  out << R"html(<script>
addEventListener("message", ({source, data}) => {
  const frame = [...document.querySelectorAll("iframe")].find((f) => f.contentWindow === source);
  frame.dataset.said = encodeURIComponent(JSON.stringify(data));
});
</script>)html";
}

std::string percent_decoded(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      plain += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

/// The messages of the frames, in order; null for a frame without one.
std::vector<nlohmann::json> said_in(const std::string& window) {
  std::vector<nlohmann::json> said;
  for (std::size_t at = 0; (at = window.find("<iframe", at)) != std::string::npos;) {
    const std::string tag = window.substr(at, window.find('>', at) - at);
    at += tag.size();
    const std::string open = "data-said=\"";
    const std::size_t begin = tag.find(open);
    if (begin == std::string::npos) {
      said.emplace_back();
      continue;
    }
    const std::size_t first = begin + open.size();
    said.push_back(
        nlohmann::json::parse(percent_decoded(tag.substr(first, tag.find('"', first) - first))));
  }
  return said;
}

}  // namespace

std::string OpenedPage::attribute(const std::string& name) const {
  const std::string open = "data-" + name + "=\"";
  const std::size_t begin = dom.find(open);
  if (begin == std::string::npos || begin > dom.find("<head")) return "missing";
  const std::size_t value = begin + open.size();
  return dom.substr(value, dom.find('"', value) - value);
}

std::vector<OpenedPage> open_page(const fs::path& page, const fs::path& scratch,
                                  const std::vector<int>& widths, bool dark) {
  fs::create_directories(scratch);
  const std::string address = page.string();
  const std::size_t fragment = std::min(address.find('#'), address.size());
  write_probed(address.substr(0, fragment), scratch / "page.html");
  write_window(scratch / "window.html", "page.html" + address.substr(fragment), widths);
  int whole = 0;
  for (const int width : widths) whole += width;
  std::vector<std::string> command = {"chromium",
                                      "--headless",
                                      "--no-sandbox",
                                      "--disable-gpu",
                                      "--disable-dev-shm-usage",
                                      "--no-first-run",
                                      "--disable-background-networking",
                                      "--disable-component-update",
                                      "--disable-sync",
                                      "--hide-scrollbars",
                                      "--user-data-dir=" + (scratch / "profile").string(),
                                      "--window-size=" + std::to_string(whole) + ",2000",
                                      "--virtual-time-budget=5000",
                                      "--enable-logging=stderr",
                                      "--dump-dom"};
  if (dark) command.push_back("--blink-settings=preferredColorScheme=0");
  command.push_back("file://" + (scratch / "window.html").string());
  const Finished finished = run_process(command);
  std::vector<OpenedPage> pages;
  for (nlohmann::json& said : said_in(finished.out)) {
    OpenedPage opened{finished.code, {}, complaints_in(finished.err), std::move(said)};
    if (!opened.probe.is_null()) opened.dom = opened.probe["dom"];
    pages.push_back(std::move(opened));
  }
  pages.resize(widths.size());
  return pages;
}

OpenedPage open_page(const fs::path& page, const fs::path& scratch, int width, bool dark) {
  return open_page(page, scratch, std::vector<int>{width}, dark).front();
}

std::vector<OpenedPage> check_page(const fs::path& page, const fs::path& scratch,
                                   const std::vector<bool>& dark_themes) {
  const std::vector<int> widths = {390, 768, 1200};
  std::vector<OpenedPage> all;
  for (const bool dark : dark_themes) {
    const std::vector<OpenedPage> opened = open_page(page, scratch, widths, dark);
    for (std::size_t i = 0; i < widths.size(); ++i) {
      INFO(page.filename() << " at " << widths[i] << (dark ? ", dark" : ", light"));
      const OpenedPage& one = opened[i];
      REQUIRE(one.code == 0);
      CHECK(one.complaints == "");
      REQUIRE_FALSE(one.probe.is_null());
      CHECK(one.probe["dark"] == dark);
      CHECK(one.attribute("requests") == "0");
      CHECK(one.attribute("painted") == one.attribute("canvases"));
      CHECK(one.attribute("overflow") == "0");
      CHECK(one.probe["overflow"] == 0);  // also with every fold open
      CHECK(one.probe["titles"] == 1);
      CHECK(one.probe["language"] == "en");
      for (const auto& [fault, where] : one.probe["found"].items()) {
        INFO(fault);
        CHECK(where == nlohmann::json::array());
      }
      all.push_back(one);
    }
  }
  return all;
}

void check_first_screen(const OpenedPage& page) {
  for (const char* name : {"answered", "drawn"}) {
    INFO(name << " at " << page.attribute(name));
    REQUIRE_FALSE(page.attribute(name).empty());
    REQUIRE(std::isdigit(static_cast<unsigned char>(page.attribute(name).front())));
    CHECK(std::stoi(page.attribute(name)) <= 800);
  }
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
