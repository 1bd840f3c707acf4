// A page of tables has room for long texts on a phone.
#include <string>

#include "headroom/base/error.hpp"
#include "headroom_lab/report/plain_page.hpp"
#include "support/browser.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;
using Catch::Matchers::Contains;

namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

Table predictions() {
  Table table;
  table.title = "Predictions";
  table.columns = {"prediction", "you predicted", "measured", "how near", "question"};
  table.rows = {
      {"00/a", "7", 7, "the same",
       "The model is trained. At which letter does row 0 look "
       "most, if the letters of the word are counted from 0 to 7, and what is its weight?"},
      {"01/c", "20", 1048576, "52429 times too small", "How often is <a> visited?"}};
  return table;
}

Table exercises() {
  Table table;
  table.title = "Exercises";
  table.columns = {"exercise", "state", "minutes", "attempts", "hints"};
  table.rows = {{"08/1 Attention::projection_parameters", "done", 120, 12, 3},
                {"00/1 attention_scale", "shown", 5, 1, 0}};
  return table;
}

/// A page that may run scripts, and says in data-scrolls how many tables scroll sideways.
std::string measuring(const std::string& page) {
  return replaced(replaced(page, "default-src 'none'; style-src 'unsafe-inline'",
                           "default-src 'unsafe-inline'"),
                  "</body>",
                  "<script>document.documentElement.dataset.scrolls = "
                  "[...document.querySelectorAll('.scroll')].filter((e) => e.scrollWidth > "
                  "e.clientWidth + 1).length</script></body>");
}

}  // namespace

TEST_CASE("tables with long texts do not scroll on a phone") {
  if (!can_open_pages()) return;
  const TemporaryFolder folder;
  folder.file("page.html",
              measuring(plain_page("Your course", "2 exercises.", {exercises(), predictions()})));
  for (const OpenedPage& page : check_page(folder / "page.html", folder / "browser")) {
    CHECK(page.attribute("scrolls") == "0");
    CHECK_THAT(page.dom, Contains("How often is &lt;a&gt; visited?"));
  }
}

TEST_CASE("short cells keep their line, and rows have as many cells as titles") {
  const std::string page = plain_page("Your course", "", {exercises()});
  CHECK_THAT(page, Contains("<th scope=\"col\" class=\"words\">exercise</th>") &&
                       Contains("<td data-label=\"state\">done</td>") &&
                       Contains("Attention::<wbr>projection_<wbr>parameters</th>") &&
                       !Contains("plain claims"));
  Table table = exercises();
  table.rows[0].pop_back();
  CHECK_THROWS_AS(plain_page("Your course", "", {table}), ShapeError);
}
