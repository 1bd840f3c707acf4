// `headroom graph`: a picture of each layout's whole tape, and one of all side by side.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "support/browser.hpp"
#include "support/catch.hpp"
#include "support/process.hpp"
#include "support/temporary_folder.hpp"

using Catch::Matchers::Contains;

namespace {

Finished graph(std::vector<std::string> arguments, const TemporaryFolder& folder,
               const std::vector<std::string>& environment = {}) {
  arguments.insert(arguments.begin(), {HEADROOM_PROGRAM, "graph"});
  return run_process(arguments, environment, folder.path());
}

int count_of(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++count;
  return count;
}

/// Returns true if every element that is opened is closed, in order, as XML requires.
bool well_formed(const std::string& xml) {
  std::vector<std::string> open;
  for (std::size_t at = 0; (at = xml.find('<', at)) != std::string::npos;) {
    if (xml.compare(at, 4, "<!--") == 0) {
      at = xml.find("-->", at);
      continue;
    }
    const std::size_t end = xml.find('>', at);
    if (end == std::string::npos) return false;
    const std::string tag = xml.substr(at + 1, end - at - 1);
    at = end;
    if (tag.empty()) return false;
    if (tag[0] == '?' || tag[0] == '!' || tag.back() == '/') continue;
    const std::string name = tag.substr(0, tag.find_first_of(" \n\t"));
    if (name[0] != '/') {
      open.push_back(name);
    } else {
      if (open.empty() || "/" + open.back() != name) return false;
      open.pop_back();
    }
  }
  return open.empty();
}

bool has_graphviz() {
  if (in_path("dot")) return true;
  WARN("skipped: no dot (apt-get install graphviz)");
  return false;
}

}  // namespace

TEST_CASE("graph writes the text of every layout's tape without Graphviz") {
  const TemporaryFolder folder;
  const Finished done = graph({"--dot", "--out", "pictures"}, folder, {"PATH=/nowhere"});
  INFO(done.err);
  REQUIRE(done.code == 0);
  const std::string separate = folder.content("pictures/separate.dot");
  const std::string fused = folder.content("pictures/fused.dot");
  const std::string shared = folder.content("pictures/shared.dot");
  // Query, key and value of three heads each a Linear, or one for all; then attention, out.
  CHECK(count_of(separate, "class=operation") == 5);
  CHECK(count_of(separate, "class=parameter") == 3 * 3 * 2 + 2);
  CHECK(count_of(fused, "class=operation") == 3);
  CHECK(count_of(fused, "class=parameter") == 4);
  CHECK_THAT(separate, Contains("query.2.weight\\n[4, 12]"));
  CHECK_THAT(fused, Contains("in_proj_weight\\n[36, 12]") && Contains("[2, 5, 36]"));
  CHECK_THAT(shared, Contains("queries.weight\\n[4, 4]"));
  // A head has one colour in all pictures: its own matrix if separate, a stripe of each third if
  // fused.
  const auto fill_of = [](const std::string& text, const std::string& name) {
    const std::size_t colour = text.find("fillcolor=\"", text.find("\"" + name + "\\n")) + 11;
    return text.substr(colour, text.find('"', colour) - colour);
  };
  const std::string stripes = fill_of(separate, "query.0.weight") + ":" +
                              fill_of(separate, "query.1.weight") + ":" +
                              fill_of(separate, "query.2.weight");
  CHECK(fill_of(separate, "key.1.bias") == fill_of(separate, "query.1.weight"));
  CHECK(fill_of(separate, "out.weight") == stripes);
  CHECK(fill_of(fused, "in_proj_weight") == stripes + ":" + stripes + ":" + stripes);
  CHECK(fill_of(shared, "fc_out.weight") == stripes);
  CHECK_THAT(folder.content("pictures/layouts.dot"),
             Contains("cluster_2") && Contains("fused: one Linear for all heads"));
  CHECK_THAT(done.out, Contains("pictures/layouts.dot") && Contains("operations"));
}

TEST_CASE("a head's tint in a graph is its hue on the pages, two thirds white") {
  const TemporaryFolder folder;
  const Finished done = graph({"--dot", "--layout", "fused", "--heads", "12", "--out", "graph.dot"},
                              folder, {"PATH=/nowhere"});
  INFO(done.err);
  REQUIRE(done.code == 0);
  std::ifstream in(HEADROOM_PAGE_CSS);
  const std::string css((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  std::vector<std::string> tints;
  for (int head = 0; head < 12; ++head) {
    const std::string name = fmt::format("--head-{}: #", head);
    REQUIRE(css.find(name) != std::string::npos);
    const int hue = std::stoi(css.substr(css.find(name) + name.size(), 6), nullptr, 16);
    const auto part = [&](int shift) { return (2 * 255 + (hue >> shift & 255)) / 3; };
    tints.push_back(fmt::format("#{:02x}{:02x}{:02x}", part(16), part(8), part(0)));
  }
  CHECK_THAT(folder.content("graph.dot"),
             Contains(fmt::format("fillcolor=\"{}\"", fmt::join(tints, ":"))));
}

TEST_CASE("graph draws every operation and leaf of the tape") {
  if (!has_graphviz()) return;
  const TemporaryFolder folder;
  const Finished done = graph({}, folder);
  INFO(done.err);
  REQUIRE(done.code == 0);
  graph({"--dot", "--out", "text"}, folder);
  int operations = 0;
  for (const std::string name : {"separate", "fused", "shared"}) {
    INFO(name);
    const std::string svg = folder.content("runs/graph-1/" + name + ".svg");
    const std::string text = folder.content("text/" + name + ".dot");
    CHECK(well_formed(svg));
    CHECK(count_of(svg, "class=\"node operation\"") == count_of(text, "class=operation"));
    CHECK(count_of(svg, "class=\"node parameter\"") == count_of(text, "class=parameter"));
    CHECK(count_of(svg, "class=\"edge\"") == count_of(text, "->"));
    CHECK(count_of(svg, "class=\"node input\"") == 1);
    CHECK_THAT(svg, Contains(">attention<") && Contains("prefers-color-scheme: dark"));
    operations += count_of(svg, "class=\"node operation\"");
  }
  const std::string all = folder.content("runs/graph-1/layouts.svg");
  CHECK(well_formed(all));
  CHECK(count_of(all, "class=\"node operation\"") == operations);
  CHECK_THAT(all, Contains(">separate: one Linear per head<"));
  CHECK(count_of(all, "id=\"p2-node1\"") == 1);
  CHECK_FALSE(well_formed(all.substr(0, all.size() / 2)));  // the check can fail
}

TEST_CASE("a picture has words, and stands on its own ground in a light and in a dark theme") {
  if (!has_graphviz() || !can_open_pages()) return;
  const TemporaryFolder folder;
  REQUIRE(graph({"--out", "layouts.svg"}, folder).code == 0);
  const std::string svg = folder.content("layouts.svg");
  // The tooltips are the four titles: of the whole, and of each part.
  CHECK(count_of(svg, "<title>") == 4);
  CHECK_THAT(svg, Contains("<svg role=\"img\" ") && Contains("<desc>The tape of the layout sep"));
  const std::string html = R"html(<!doctype html><html lang="en"><head></head><body>)html" + svg +
                           "<script type=\"text/plain\" id=\"xml\">" + svg +
                           R"html(</script><script>
const picture = document.querySelector("svg"), html = document.documentElement.dataset;
const colour = (selector, key) => getComputedStyle(document.querySelector(selector))[key];
html.ground = colour("svg", "backgroundColor");
html.ink = colour(".graph > text", "fill");
html.name = picture.querySelector(":scope > title").textContent;
const xml = document.getElementById("xml").textContent;
const parsed = new DOMParser().parseFromString(xml, "image/svg+xml");
html.broken = parsed.querySelectorAll("parsererror").length;
</script></body></html>)html";
  const auto page = folder.file("page.html", html);
  for (const bool dark : {false, true}) {
    const OpenedPage opened = open_page(page, folder / "browser", 1200, dark);
    CHECK(opened.complaints == "");
    REQUIRE_FALSE(opened.probe.is_null());
    CHECK(opened.probe["dark"] == dark);
    CHECK(opened.probe["found"]["unnamed"].empty());
    CHECK(opened.attribute("broken") == "0");
    CHECK_THAT(opened.attribute("name"), Contains("The tapes of the three layouts"));
    CHECK(opened.attribute("ground") == (dark ? "rgb(20, 23, 27)" : "rgb(255, 255, 255)"));
    CHECK(opened.attribute("ink") == (dark ? "rgb(232, 230, 225)" : "rgb(29, 33, 38)"));
  }
}

TEST_CASE("graph composes attention of the operations that its formula names") {
  const TemporaryFolder folder;
  REQUIRE(graph({"--composed", "--dot", "--layout", "fused", "--out", "one.dot"}, folder).code ==
          0);
  const std::string text = folder.content("one.dot");
  CHECK_THAT(text, Contains("label=\"exp\"") && Contains("[2, 3, 5, 5]"));
  CHECK(count_of(text, "label=\"matmul\"") == 2);
}

TEST_CASE("graph without Graphviz says what to do, and writes nothing") {
  const TemporaryFolder folder;
  const Finished refused = graph({"--out", "pictures"}, folder, {"PATH=/nowhere"});
  CHECK(refused.code == 5);
  CHECK_THAT(refused.err, Contains("apt-get install graphviz") && Contains("--dot"));
  CHECK_FALSE(std::filesystem::exists(folder / "pictures"));
}

TEST_CASE("graph replaces a picture only when told to") {
  const TemporaryFolder folder;
  folder.file("mine.dot", "precious");
  const Finished refused = graph({"--dot", "--out", "mine.dot"}, folder);
  CHECK(refused.code == 5);
  CHECK(folder.content("mine.dot") == "precious");
  CHECK(graph({"--dot", "--out", "mine.dot", "--force"}, folder).code == 0);
  CHECK_THAT(folder.content("mine.dot"), Contains("digraph tape"));
}
