// Pages and texts of the laboratory, from a record with every kind of block.
#include <catch2/catch.hpp>
#include <string>

#include "headroom/base/error.hpp"
#include "headroom/report/lab.hpp"
#include "headroom/report/report.hpp"
#include "support/browser.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;
using Catch::Matchers::Contains;

namespace {

/// Two precisions, one claim that holds, one that fails in float, one for float only.
Record small_experiment() {
  Record record = {{"kind", "lab"},
                   {"name", "small"},
                   {"asked_in", "a question"},
                   {"group", "asked on forums and in courses"},
                   {"title", "Is </script> \"safe\"?"},
                   {"question", "Is it?"},
                   {"computed", "Nothing much."},
                   {"formulas", {"y = x W^T + b"}},
                   {"options", {{"width", 8}, {"heads", 2}, {"seed", 1}}},
                   {"precisions", {"double", "float"}},
                   {"seconds", {{"double", 0.5}, {"float", 0.25}}},
                   {"command", "headroom lab small"},
                   {"environment", {{"threads", 2}}}};
  record["answer"] = {{"double", "Yes, it is."}, {"float", "Nearly."}};
  const auto seen = [](double measured, bool holds) {
    return Record{{"measured", measured}, {"bound", 1e-6}, {"holds", holds}};
  };
  record["claims"] =
      Record::array({{{"text", "difference"},
                      {"relation", "<="},
                      {"double", seen(1e-16, true)},
                      {"float", seen(2e-7, true)}},
                     {{"text", "gradient"},
                      {"relation", "<="},
                      {"double", seen(1e-15, true)},
                      {"float", seen(3e-6, false)}},
                     {{"text", "of float only"}, {"relation", "<="}, {"float", seen(0, true)}}});
  record["blocks"] =
      Record::array({{{"type", "table"},
                      {"title", "A table"},
                      {"look", "Look here."},
                      {"columns", {"", "numbers", "of them odd"}},
                      {"rows", {{"first", 1050624, nullptr}, {"second", 0.25, true}}}},
                     {{"type", "shapes"},
                      {"title", "Shapes"},
                      {"look", "On the way."},
                      {"columns", {"stage", "shape", "how it came about"}},
                      {"rows", {{"x", "[1, 12, 8]", "input"}, {"scores", "[2, 12, 12]", "Q K^T"}}}},
                     {{"type", "chart"},
                      {"title", "A chart"},
                      {"look", "It falls."},
                      {"x", "heads"},
                      {"y", "difference"},
                      {"log", true},
                      {"series",
                       {{{"name", "one"}, {"points", {{1, 1e-7}, {2, 1e-5}, {4, 0.1}}}},
                        {{"name", "two"}, {"points", {{2, 1e-3}, {8, 0.5}}}}}}},
                     {{"type", "maps"},
                      {"title", "Maps"},
                      {"look", "Two heads."},
                      {"queries", {"q0", "q1"}},
                      {"keys", {"k0", "k1", "k2"}},
                      {"maps",
                       {{{"name", "head 0"}, {"rows", {{0.9, 0.1, 0.0}, {0.2, 0.3, 0.5}}}},
                        {{"name", "head 1"}, {"rows", {{0.0, 0.1, 0.9}, {1.0, 0.0, 0.0}}}}}}},
                     {{"type", "matrices"},
                      {"title", "A derivation"},
                      {"look", "Line by line."},
                      {"steps",
                       {{{"name", "dP"},
                         {"formula", "R V^T"},
                         {"parts",
                          {{{"name", "single"},
                            {"shape", "[2, 2]"},
                            {"corner", {{1.5, -2e-9}, {0.0, 3.0}}}}}}}}}}});
  return record;
}

}  // namespace

/// The same, but that no text asks for it.
Record unasked_experiment() {
  Record record = small_experiment();
  record["name"] = "unasked";
  record["asked_in"] = "";
  record["group"] = "the gradient laboratory";
  return record;
}

TEST_CASE("the terminal shows question, every kind of block, claims with numbers, and the answer") {
  TerminalStyle plain;
  plain.unicode = false;
  const std::string text = lab_text(small_experiment(), plain);
  CHECK_THAT(text, Contains("from a question; width 8"));
  CHECK_THAT(lab_text(unasked_experiment(), plain),
             Contains("of the gradient laboratory; width 8") && !Contains("from a question"));
  CHECK_THAT(text, Contains("Is it?") && Contains("y = x W^T + b"));
  CHECK_THAT(text, Contains("1,050,624") && Contains("[2, 12, 12]") && Contains("1.0e-7") &&
                       Contains("head 1") && Contains("dP = R V^T") && Contains("-2.0e-9"));
  CHECK_THAT(text, Contains("+ difference") && Contains("x gradient"));
  CHECK_THAT(text, Contains("double 1.0e-15 <= 1.0e-6,  float 3.0e-6 <= 1.0e-6"));
  CHECK_THAT(text, Contains("Yes, it is. (In float: Nearly.)"));
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    CHECK(display_width(text.substr(begin, end - begin)) <= 80);
    begin = end + 1;
  }
}

TEST_CASE("a map with what is no number is drawn, and says so by its claims alone") {
  Record record = small_experiment();
  record["blocks"][3]["maps"][0]["rows"][1][2] = nullptr;  // what JSON makes of NaN
  TerminalStyle plain;
  plain.unicode = false;
  CHECK_THAT(lab_text(record, plain), Contains("head 0") && Contains("x gradient"));
}

TEST_CASE("an experiment's text cannot end the page's script, and the page holds the record") {
  const Record record = small_experiment();
  const std::string page = lab_page(record, "/* chart */");
  CHECK_THAT(page, Contains("Is &lt;/script&gt; &quot;safe&quot;?"));
  const std::string open = "<script type=\"application/json\" id=\"run\">";
  const std::size_t begin = page.find(open) + open.size();
  CHECK(Record::parse(page.substr(begin, page.find("</script>", begin) - begin)) == record);
}

TEST_CASE("a browser draws an experiment on a phone, a tablet and a desk, light and dark",
          "[long]") {
  if (!can_open_pages()) return;
  const TemporaryFolder folder;
  write_lab_page(small_experiment(), folder / "small.html");
  for (const OpenedPage& page : check_page(folder / "small.html", folder / "browser")) {
    CHECK(page.attribute("charts") == "1");
    CHECK(page.attribute("maps") == "2");
    CHECK(page.attribute("canvases") == "3");
    CHECK_THAT(page.dom,
               Contains("aria-label=\"does not hold\"") &&
                   Contains("A chart. one: from 1.0e-7 at heads 1") &&
                   Contains("aria-description=\"strongest weight of each row: q0 to k0 0.90"));
    // A map that is a head's is in the head's colour.
    CHECK_THAT(
        page.dom,
        Contains("class=\"swatch\" aria-hidden=\"true\" style=\"--colour: var(--head-1);\""));
    CHECK_THAT(page.dom, Contains("1 of 3 claims do not hold") && Contains("1,050,624"));
  }
}

TEST_CASE("the page of an experiment that no text asks for names its group instead") {
  if (!can_open_pages()) return;
  const TemporaryFolder folder;
  write_lab_page(unasked_experiment(), folder / "unasked.html");
  const OpenedPage page = open_page(folder / "unasked.html", folder / "profile", 500, false);
  CHECK(page.complaints == "");
  CHECK_THAT(page.dom, Contains("Of the gradient laboratory.") && !Contains("(text )"));
}

TEST_CASE("a browser draws the list of experiments, with links and what failed", "[long]") {
  if (!can_open_pages()) return;
  const TemporaryFolder folder;
  Record record = small_experiment(), other = unasked_experiment();
  record["file"] = "small.html";
  other["file"] = "unasked.html";
  write_lab_index(Record::array({record, other}), folder / "index.html");
  for (const OpenedPage& page : check_page(folder / "index.html", folder / "browser")) {
    CHECK_THAT(page.dom, Contains("<h2>Asked on forums and in courses</h2>") &&
                             Contains("<h2>The gradient laboratory</h2>") &&
                             Contains("small, from a question") &&
                             Contains("<p class=\"look\">unasked</p>"));
    CHECK_THAT(page.dom, Contains("<a href=\"small.html\">") &&
                             Contains("is 3.0e-6 in float, must be &lt;= 1.0e-6"));
  }
}

TEST_CASE("the pages of a run of the laboratory are written again from its records") {
  if (find_chart_js().empty()) return;
  const TemporaryFolder folder;
  Record record = small_experiment();
  CHECK(is_lab_run(record));
  CHECK(std::string(lab_front_page(record)) == "report.html");
  write_lab_run(record, folder / "report.html");
  CHECK_THAT(folder.content("report.html"), Contains("Is &lt;/script&gt;"));

  record["file"] = "small.html";
  const Record all = {
      {"kind", "lab-all"}, {"command", "headroom lab all"}, {"experiments", {record}}};
  CHECK(is_lab_run(all));
  write_lab_run(all, folder / lab_front_page(all));
  CHECK_THAT(folder.content("small.html"), Contains("headroom lab small"));
  CHECK_THAT(folder.content("index.html"), Contains("\"command\":\"headroom lab all\""));

  for (const Record& run : {Record{{"title", "a run"}}, Record{{"kind", 3}}, Record::array()}) {
    CHECK_FALSE(is_lab_run(run));
  }
  for (const char* key : {"claims", "blocks", "answer", "group"}) {
    INFO(key);
    Record without = record;
    without.erase(key);
    CHECK_THROWS_AS(write_lab_run(without, folder / "report.html"), DataError);
  }
  for (const Record& wrong : {Record(3), Record::array(), Record::array({"half"})}) {
    Record other = record;
    other["precisions"] = wrong;
    CHECK_THROWS_AS(write_lab_run(other, folder / "report.html"), DataError);
  }
  Record outside = all;
  outside["experiments"][0]["file"] = "../small.html";
  CHECK_THROWS_AS(write_lab_run(outside, folder / "index.html"), DataError);
}
