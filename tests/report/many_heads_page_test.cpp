// The page of attention maps for many heads: small pictures, and weights as bytes.
#include <fmt/format.h>

#include "report/attend_support.hpp"
#include "support/browser.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;
using Catch::Matchers::Contains;

namespace {

/// A classifier of 48 heads, and a text of 64 tokens.
AttentionRecord record_of_many_heads() {
  ModelConfig config = test::small_config(ModelKind::classifier, Layout::fused);
  config.layers = 4;
  config.block.width = 24;
  config.block.heads = 12;
  config.longest = 64;
  std::string text;
  for (Index i = 0; i < 64; ++i) text += "abcd"[i * i % 7 % 4];
  return page_record(test::small_saved_model(config), {.input = text});
}

}  // namespace

TEST_CASE("a page of many heads shows each as a small picture of its weights") {
  const AttentionRecord record = record_of_many_heads();
  std::string page = attend_page(record);
  CHECK_THAT(page, Contains("rounded to multiples of 1/255"));
  CHECK(page.size() < 800'000);
  if (!can_open_pages()) return;
  const TemporaryFolder folder;
  folder.file("report.html", page);
  for (const OpenedPage& opened : check_page(folder / "report.html", folder / "browser")) {
    CHECK(opened.attribute("maps") == "48");
  }
  const MapRecord& map = record.example.maps[17];  // encoder 1.5
  page.insert(page.rfind("</body>"), fmt::format(R"js(<script>
const seen = [], entry = maps[17], {{rows}} = entry.map;
const see = (name, value) => {{ if (value !== true) seen.push(name + ": " + value); }};
see("head", head_name(entry.map) === "encoder 1.5");
see("rows", rows.length === 64 && rows.every((row) => row.length === 64));
see("a weight", Math.abs(rows[3][9] - {}) < 0.003);
see("row of small maps", document.querySelectorAll(".maps.many").length === 4);
see("no labels", entry.top === 0 && Math.abs(entry.step_y * 64 - entry.canvas.clientHeight) < 2);
const strongest_of = (row) => row.indexOf(Math.max(...row));
const pixel = document.createElement("canvas").getContext("2d", {{willReadFrequently: true}});
const drawn = () => {{
  const step = entry.canvas.width / 64, x = (strongest_of(rows[3]) + 0.5) * step;
  pixel.drawImage(entry.canvas, x, 3.5 * step, 1, 1, 0, 0, 1, 1);
  return pixel.getImageData(0, 0, 1, 1).data.join();
}};
const before = drawn();
choose("source", 40);
see("the other rows are faint", drawn() !== before);
document.querySelector("button.name").click();
see("one head has labels", maps.length === 1 && maps[0].top > 0);
document.documentElement.dataset.seen = seen.join("; ") || "nothing wrong";
</script>)js",
                                                 map.rows[3][9]));
  folder.file("report.html", page);
  const OpenedPage opened = open_page(folder / "report.html", folder / "profile", 1000, false);
  CHECK(opened.complaints == "");
  CHECK(opened.attribute("seen") == "nothing wrong");
}
