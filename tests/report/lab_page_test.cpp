// Pages and texts of the laboratory, from a record with every kind of block.
#include <fmt/format.h>

#include <cmath>
#include <string>

#include "headroom/base/error.hpp"
#include "headroom_lab/report/lab.hpp"
#include "headroom_lab/report/report.hpp"
#include "support/browser.hpp"
#include "support/catch.hpp"
#include "support/small_experiment.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;
using Catch::Matchers::Contains;

namespace {

/// The same without a source of the question.
LabRecord unasked_experiment() {
  LabRecord record = small_experiment();
  record.name = "unasked";
  record.asked_in = "";
  record.group = "questions about gradients and training";
  return record;
}

}  // namespace

TEST_CASE("the terminal shows the answer, every kind of block, and claims with numbers") {
  TerminalStyle plain;
  plain.unicode = false;
  const std::string text = lab_text(small_experiment(), plain);
  CHECK_THAT(text, Contains("from a question; width 8"));
  CHECK_THAT(lab_text(unasked_experiment(), plain),
             Contains("from questions about gradients and training; width 8") &&
                 !Contains("from a question"));
  CHECK_THAT(text, Contains("Is it?") && Contains("y = x W^T + b") && Contains("sum of S_ij"));
  const auto at = [&](const char* words) { return text.find(words); };
  CHECK(at("Is it?") < at("Yes, it is."));
  CHECK(at("Yes, it is.") < at("It is small."));
  CHECK(at("It is small.") < at("    int main() {"));
  CHECK(at("    int main() {") < at("Nothing much."));
  CHECK(at("Nothing much.") < at("A table of"));
  CHECK(at("A derivation") < at("Claims: 2 of 3 hold"));
  CHECK_THAT(text, Contains("1,050,624") && Contains("[2, 12, 12]") && Contains("1.0e-7") &&
                       Contains("head 1") && Contains("dP = R V^T") && Contains("-2.0e-9"));
  CHECK_THAT(text, Contains("shades: # from 0.6, + from 0.3"));
  CHECK_THAT(text, Contains("+ difference") && Contains("x gradient"));
  CHECK_THAT(text, Contains("double 1.0e-15 <= 1.0e-6, float 3.0e-6 <= 1.0e-6"));
  CHECK_THAT(text, Contains("float 0 in [-1, 1]"));
  CHECK_THAT(text, Contains("A table of 0.5 [0.25, 1]") && Contains("0.252 [0.238, 0.266]"));
  CHECK_THAT(text, Contains("Yes, it is. (In float: Nearly.)"));
  CHECK_THAT(text, Contains("as shares of 3") && Contains("= S_0") && Contains("+ S_1"));
  CHECK_THAT(text, Contains("W_Q [8, 8]") && Contains("rows 4 to 7") && Contains("all columns"));
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    CHECK(display_width(text.substr(begin, end - begin)) <= 80);
    begin = end + 1;
  }
}

TEST_CASE(
    "a table that is wider than the terminal continues below, one with long cells is a list") {
  LabRecord record = small_experiment();
  auto& table = std::get<Table>(record.blocks[0]);
  for (int i = 0; i < 8; ++i) {
    table.columns.push_back(fmt::format("a long title {}", i));
    for (auto& row : table.rows) row.push_back(i);
  }
  std::get<Table>(record.blocks[1]).rows[0][2] = std::string(70, 'x');
  TerminalStyle plain;
  plain.unicode = false;
  const std::string text = lab_text(record, plain);
  std::size_t parts = 0;
  for (std::size_t at = 0; (at = text.find("\n    first  ", at)) != std::string::npos; ++at)
    ++parts;
  CHECK(parts == 3);
  CHECK_THAT(text, Contains("    stage x\n      shape: [1, 12, 8]\n"));
  plain.columns = 300;
  CHECK_THAT(lab_text(record, plain), !Contains("shape: [1, 12, 8]"));
}

TEST_CASE("a map with NaN is drawn, and says so by its claims alone") {
  LabRecord record = small_experiment();
  std::get<LabMaps>(record.blocks[3]).maps[0].rows[1][2] = std::nan("");
  TerminalStyle plain;
  plain.unicode = false;
  CHECK_THAT(lab_text(record, plain), Contains("head 0") && Contains("x gradient"));
}

TEST_CASE("an experiment's text cannot end the page's script, and the page holds the record") {
  const LabRecord record = small_experiment();
  const std::string page = lab_page(record, "/* chart */");
  CHECK_THAT(page, Contains("Is &lt;/script&gt; &quot;safe&quot;?"));
  const std::string open = "<script type=\"application/json\" id=\"run\">";
  const std::size_t begin = page.find(open) + open.size();
  const Record held = Record::parse(page.substr(begin, page.find("</script>", begin) - begin));
  // Sentences and intervals are formatted; the rest equals the record.
  CHECK(held["answer"] == "Yes, it is. (In float: Nearly.)");
  CHECK_THAT(held["formulas"][1].get<std::string>(), Contains("<mfrac>"));
  CHECK_THAT(held["blocks"][4]["steps"][0]["formula"].get<std::string>(),
             Contains("<msup><mi>V</mi><mi>T</mi></msup>"));
  CHECK(held["blocks"][0]["title"] == "A table of 0.5 [0.25, 1]");
  CHECK(held["blocks"][0]["rows"][0] == Record{"first", 1050624, nullptr});
  CHECK(held["blocks"][0]["rows"][1] ==
        Record::array({"second", json_of(Interval{0.252, 0.238, 0.266}), true}));
  CHECK(held["claims"] == json_of(record.claims));
  CHECK(held["blocks"][2]["series"] == json_of(record)["blocks"][2]["series"]);
}

TEST_CASE("a browser draws an experiment on a phone, a tablet and a desk, light and dark",
          "[long]") {
  if (!can_open_pages()) return;
  const TemporaryFolder folder;
  write_lab_page(small_experiment(), folder / "small.html");
  for (const OpenedPage& page : check_page(folder / "small.html", folder / "browser")) {
    CHECK(page.attribute("charts") == "1");
    CHECK(page.attribute("maps") == "5");
    CHECK(page.attribute("canvases") == "6");
    check_first_screen(page);
    CHECK_THAT(page.dom,
               Contains("aria-label=\"does not hold\"") &&
                   Contains("A chart. one: from 1.0e-7 at heads 1") &&
                   Contains("aria-description=\"strongest weight of each row: q0 to k0 0.90"));
    // A head's map has the head's colour.
    CHECK_THAT(
        page.dom,
        Contains("class=\"swatch\" aria-hidden=\"true\" style=\"--colour: var(--head-1);\""));
    CHECK_THAT(page.dom, Contains("2 of 3 claims hold") && Contains("1,050,624"));
    CHECK_THAT(page.dom, Contains("<mfrac>") && Contains("head 1 has rows 4 to 7") &&
                             Contains("= S_0") && Contains("return 0 &lt; 1 ? 0 : 1;"));
  }
}

TEST_CASE("an answer beside PyTorch has both programs, the line, the sentence and the figure") {
  LabRecord record = small_experiment();
  TerminalStyle plain;
  plain.unicode = false;
  CHECK_THROWS_AS(lab_answer_page(record, ""), UsageError);
  CHECK_THROWS_AS(lab_answer_text(record, plain), UsageError);
  record.program = "// Ours.\nTensor sines(const Shape& shape) {\n}\n\nint main() {\n}\n";
  record.twin = LabTwin{"It is, in one sentence.",
                        "# Theirs.\ndef sines(*shape):\n    return 1\n\nprint(1 < 2)\n", "1 < 2\n"};
  CHECK_THAT(lab_answer_text(record, plain),
             Contains("Is it?") && Contains("    1 < 2\n") && Contains("in one sentence."));

  const TemporaryFolder folder;
  LabRun run;
  run.kind = "lab-answers";
  record.file = "small.html";
  run.experiments = {record};
  Record records = json_of(run);
  CHECK(is_lab_run(records));
  CHECK(lab_front_page(records) == "small.html");
  if (can_open_pages()) {
    write_lab_run(records, folder / "small.html");
    for (const OpenedPage& page : check_page(folder / "small.html", folder / "browser")) {
      check_first_screen(page);
      CHECK(page.attribute("charts") == "1");
      CHECK_THAT(page.dom, Contains("<code>print(1 &lt; 2)</code>") &&
                               Contains("<code>1 &lt; 2</code>") &&
                               Contains("<code>int main() {\n}</code>") &&
                               Contains("It is, in one sentence.") &&
                               Contains("headroom lab small") && Contains("asked in a question"));
      CHECK_THAT(page.dom, Contains("# Theirs.\ndef sines(*shape):\n    return 1</code>"));
    }
  }
  records["experiments"][0].erase("twin");
  CHECK_THROWS_AS(lab_front_page(records), DataError);
  CHECK_THROWS_AS(write_lab_run(records, folder / "small.html"), DataError);
  records["experiments"].clear();
  CHECK_THROWS_AS(lab_front_page(records), DataError);
}

TEST_CASE("the page of an experiment that no text asks for names its group instead") {
  if (!can_open_pages()) return;
  const TemporaryFolder folder;
  write_lab_page(unasked_experiment(), folder / "unasked.html");
  const OpenedPage page = open_page(folder / "unasked.html", folder / "profile", 500, false);
  CHECK(page.complaints == "");
  CHECK_THAT(page.dom, Contains("One of the questions about gradients and training.") &&
                           !Contains("(text )"));
}

TEST_CASE("a browser draws the list of experiments, with links and what failed", "[long]") {
  if (!can_open_pages()) return;
  const TemporaryFolder folder;
  LabRecord record = small_experiment(), other = unasked_experiment();
  record.file = "small.html";
  other.file = "unasked.html";
  LabRun run;
  run.experiments = {record, other};
  write_lab_pages(run, folder / "index.html");
  for (const OpenedPage& page : check_page(folder / "index.html", folder / "browser")) {
    CHECK_THAT(page.dom, Contains("<h2>Questions from forums and courses</h2>") &&
                             Contains("<h2>Questions about gradients and training</h2>") &&
                             Contains("small, from a question") &&
                             Contains("<p class=\"caption\">unasked</p>"));
    CHECK_THAT(page.dom, Contains("<a href=\"small.html\">") &&
                             Contains("3.0e-6 in float, must be &lt;= 1.0e-6"));
  }
}

TEST_CASE("the pages of a run of the laboratory are written again from its records") {
  if (find_chart_js().empty()) return;
  const TemporaryFolder folder;
  LabRecord one = small_experiment();
  Record record = json_of(one);
  CHECK(is_lab_run(record));
  CHECK(lab_front_page(record) == "report.html");
  write_lab_run(record, folder / "report.html");
  CHECK_THAT(folder.content("report.html"), Contains("Is &lt;/script&gt;"));

  one.file = "small.html";
  LabRun run;
  run.command = "headroom lab all";
  run.experiments = {one};
  const Record all = json_of(run);
  CHECK(is_lab_run(all));
  write_lab_run(all, folder / lab_front_page(all));
  CHECK_THAT(folder.content("small.html"), Contains("headroom lab small"));
  CHECK_THAT(folder.content("index.html"), Contains("\"command\":\"headroom lab all\""));

  for (const Record& other : {Record{{"title", "a run"}}, Record{{"kind", 3}}, Record::array()}) {
    CHECK_FALSE(is_lab_run(other));
  }
  const auto refused = [&](const Record& wrong) {
    CHECK_THROWS_AS(write_lab_run(wrong, folder / "report.html"), DataError);
  };
  for (const char* key : {"claims", "blocks", "answer", "group"}) {
    INFO(key);
    Record without = record;
    without.erase(key);
    refused(without);
  }
  for (const char* key : {"text", "relation"}) {
    Record without = all;
    for (Record& claim : without["experiments"][0]["claims"]) claim.erase(key);
    INFO(key);
    refused(without);
  }
  for (const Record& wrong : {Record(3), Record::array(), Record::array({"half"})}) {
    Record other = record;
    other["precisions"] = wrong;
    refused(other);
  }
  Record ragged = record;
  ragged["blocks"][0]["rows"][1].push_back(1);
  refused(ragged);
  ragged = record;
  ragged["blocks"][3]["maps"][0]["rows"].push_back({1, 2, 3});
  refused(ragged);
  for (const char* name : {"../small.html", ""}) {
    Record outside = all;
    outside["experiments"][0]["file"] = name;
    refused(outside);
  }
}
