// The page of attention maps: its content, switching heads off, its messages.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "headroom/autograd/tape.hpp"
#include "headroom/base/error.hpp"
#include "report/attend_support.hpp"
#include "support/browser.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;
using Catch::Matchers::Contains;

namespace {

const std::string typed = "abcadb";
const std::string long_text = "abcdabbcdacbabdcabcdaadcbbacdabcdbacdabcadbcabcd";

/// A language model for the long text.
SavedModel with_twelve_heads() {
  ModelConfig config = test::small_config(ModelKind::language_model, Layout::fused);
  config.block.width = 24;
  config.block.heads = 12;
  config.longest = 64;
  return test::small_saved_model(config);
}

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++count;
  return count;
}

/// Opens a page with a fragment in its address.
OpenedPage open_at(const TemporaryFolder& folder, const std::string& fragment, int width = 1000,
                   bool dark = false) {
  return open_page(folder / ("report.html" + fragment), folder / "profile", width, dark);
}

/// Opens a page with a test script after the page's; the script reports the errors it finds.
void check_by_script(const TemporaryFolder& folder, std::string page, const std::string& script,
                     const std::string& fragment = "", bool dark = false) {
  page.insert(page.rfind("</body>"), R"js(<script>
const seen = [];
const see = (name, value) => { if (value !== true) seen.push(`${name}: ${value}`); };
const all = (selector) => [...document.querySelectorAll(selector)];
const press = (element, key) =>
  element.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
const scratch = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
/** The different colours in a canvas as [red, green, blue, opacity]. */
const colours = (canvas) => {
  Object.assign(scratch.canvas, {width: canvas.width, height: canvas.height});
  scratch.drawImage(canvas, 0, 0);
  const {data} = scratch.getImageData(0, 0, canvas.width, canvas.height);
  const different = [...new Set(new Uint32Array(data.buffer))];
  return different.map((c) => [c & 255, c >> 8 & 255, c >> 16 & 255, c >>> 24]);
};
)js" + script + R"js(
document.documentElement.dataset.seen = seen.join("; ") || "nothing wrong";
</script>)js");
  folder.file("report.html", page);
  const OpenedPage opened = open_at(folder, fragment, 1000, dark);
  CHECK(opened.complaints == "");
  CHECK(opened.attribute("seen") == "nothing wrong");
}

}  // namespace

TEST_CASE("the page draws every map, greys removed heads and agrees with the program's logits") {
  if (!can_open_pages()) return;
  const std::vector<HeadId> removed{{AttentionKind::cross, 0, 1},
                                    {AttentionKind::encoder_self, 1, 0}};
  const SavedModel saved =
      test::small_saved_model(test::small_config(ModelKind::seq2seq, Layout::fused), removed);
  const TemporaryFolder folder;
  write_attend_page(page_record(saved, {.input = typed}), folder / "report.html");
  for (const OpenedPage& page : check_page(folder / "report.html", folder / "browser")) {
    CHECK(page.attribute("maps") == "5");  // of six cross-attention heads
    CHECK(times(page.dom, "class=\"map removed\"") == 1);
    CHECK(times(page.dom, "role=\"tab\"") == 3);
    CHECK(std::stod(page.attribute("difference")) <= 1e-6);
  }
}

TEST_CASE("the address brings back input, kind, head, token and the heads that are off") {
  if (!can_open_pages()) return;
  const SavedModel saved =
      test::small_saved_model(test::small_config(ModelKind::classifier, Layout::separate));
  const AttentionRecord record = page_record(saved, {.input = typed});  // rounds the model
  const TemporaryFolder folder;
  write_attend_page(record, folder / "report.html");

  HeadProbe probe;
  probe.gates[{AttentionKind::encoder_self, 0}] = Tensor(Array({3}, {1, 0, 1}));
  probe.gates[{AttentionKind::encoder_self, 1}] = Tensor(Array({3}, {0, 1, 1}));
  const NoGrad quiet;
  const Array logits =
      saved.classifier()(Ids({1, 5}, {7, 6, 5, 4, 4}), Ids({1}, {5}), &probe).value();
  double sum = 0;
  for (const Real logit : logits.span()) sum += std::exp(double(logit));
  const double yes = std::exp(double(logits[1])) / sum;

  const OpenedPage page =
      open_at(folder, "#input=dcbaa&kind=encoder&head=1.2&token=4&off=encoder.0.1,encoder.1.0");
  CHECK(page.complaints == "");
  CHECK(page.attribute("maps") == "1");
  CHECK_THAT(page.dom, Contains("Without 2 heads") && Contains("“dcbaa” → “"));
  CHECK_THAT(page.dom, Contains(fmt::format("yes {:.1f} %", 100 * yes)));
  CHECK(times(page.dom, "aria-pressed=\"true\"") == 1);
  CHECK_THAT(page.dom, Contains("aria-label=\"token 4: a\"") && Contains("encoder 1.2"));
  CHECK(times(page.dom, "type=\"checkbox\"") == 1);

  const OpenedPage unknown = open_at(folder, "#input=d%C3%A9");
  CHECK(unknown.complaints == "");
  CHECK_THAT(unknown.dom,
             Contains("“é” is not one of the 4 tokens in the model's vocabulary: a b c d."));
  CHECK(unknown.attribute("maps") == "6");  // those of the original input
}

TEST_CASE("a record without the field page_model is refused with the remedy") {
  const SavedModel saved =
      test::small_saved_model(test::small_config(ModelKind::language_model, Layout::fused));
  AttentionRecord record = page_record(saved, {.input = "ab", .write = 4});
  record.page_model.reset();
  CHECK_THROWS_WITH(attend_page(record),
                    "attend page: page_model is missing (set it with page_model_record())");
  const TemporaryFolder folder;
  CHECK_THROWS_AS(write_attend_page(record, folder / "report.html"), UsageError);
  CHECK_FALSE(std::filesystem::exists(folder / "report.html"));
}

TEST_CASE("a page without its model says why, and shows the maps all the same") {
  if (!can_open_pages()) return;
  const SavedModel saved =
      test::small_saved_model(test::small_config(ModelKind::language_model, Layout::fused));
  AttentionRecord record = page_record(saved, {.input = "ab", .write = 4});
  record.page_model = page_model_record(saved, record.ids, 1000);
  const TemporaryFolder folder;
  write_attend_page(record, folder / "report.html");
  const OpenedPage page = open_at(folder, "#off=decoder.0.0&input=dd");
  CHECK(page.complaints == "");
  CHECK(page.attribute("maps") == "6");
  CHECK_THAT(page.dom, Contains("or switch heads off here: its weights take") &&
                           Contains("“ab” → “") && !Contains("type=\"checkbox\""));
}

TEST_CASE("pointing, keys, clicks and typing do what the page says") {
  if (!can_open_pages()) return;
  const SavedModel saved =
      test::small_saved_model(test::small_config(ModelKind::seq2seq, Layout::shared));
  const TemporaryFolder folder;
  check_by_script(folder, attend_page(page_record(saved, {.input = typed})), R"js(
const is_on = (token) => token.classList.contains("on");
const tokens = () => all(".tokens button");
const focused = (element) => document.activeElement === element;
/** Whether every mark shows its own head's weight of its own token in that head's colour. */
const marked = (row, maps = run.example.maps, off = []) => all(".key").every((key, k) => {
  const heads = run.heads.filter((head) => head.kind === "cross");
  const marks = [...key.querySelectorAll("i")];
  return marks.length === heads.length && heads.every(({kind, layer, head}, i) => {
    const map = maps.find((m) => m.kind === kind && m.layer === layer && m.head === head);
    const wanted = row === null || off.includes(`${kind} ${layer}.${head}`) ? 0 : map.rows[row][k];
    return Math.abs(marks[i].style.opacity - wanted) < 6e-4 &&
      marks[i].style.getPropertyValue("--colour") === `var(--head-${head})`;
  });
});
const spread = (parts) => Math.max(...parts) - Math.min(...parts);
/** Whether a map has dots that are further from grey than its texts. */
const colourful = (canvas) =>
  colours(canvas).some(([r, g, b, a]) => a === 255 && spread([r, g, b]) > 24);

tokens()[1].dispatchEvent(new MouseEvent("mouseenter"));
see("pointed", is_on(tokens()[1]) && marked(1));
see("quiet", spoken.textContent === "");
tokens()[1].dispatchEvent(new MouseEvent("mouseleave"));
see("left", marked(null));
tokens()[0].focus();
press(tokens()[0], "ArrowRight");
see("focused", focused(tokens()[1]) && is_on(tokens()[1]));
see("stop", tokens()[1].tabIndex === 0 && tokens()[0].tabIndex === -1);
tokens()[1].click();
tokens()[1].blur();
see("locked", tokens()[1].ariaPressed === "true" && location.hash.includes("token=2"));
see("said", spoken.textContent.split("; ").length === 6);

let drawn = 0;
const clear = CanvasRenderingContext2D.prototype.clearRect;
CanvasRenderingContext2D.prototype.clearRect = function (...box) {
  ++drawn;
  clear.apply(this, box);
};
const canvases = () => all(".maps canvas");
const at_top = canvases()[0].getBoundingClientRect().top + maps[0].top + 2;
for (let i = 0; i < 3; ++i) {
  canvases()[0].dispatchEvent(new MouseEvent("mousemove", {clientY: at_top}));
}
see("drawn once for a row", drawn === 6 && marked(0));
canvases()[0].dispatchEvent(new MouseEvent("mouseleave"));
CanvasRenderingContext2D.prototype.clearRect = clear;

canvases()[0].focus();
press(canvases()[0], "ArrowDown");
press(canvases()[0], "ArrowRight");
see("one row in two maps", focused(canvases()[1]) && marked(2));
see("value", canvases()[1].getAttribute("aria-valuenow") === "3" &&
  canvases()[1].getAttribute("aria-valuetext").includes("→"));
canvases()[1].blur();
see("left the maps", marked(1));

all(".map").forEach((map, i) => {
  const colour = map.querySelector(".swatch").style.getPropertyValue("--colour");
  see(`swatch ${i}`, colour === `var(--head-${i % 3})`);
});
see("coloured", canvases().every(colourful));
const places = history.length;
all("details")[0].open = true;
all(".switch input")[0].click();
see("place", history.length === places + 1);
see("off", location.hash.includes("off=cross.0.0") && all(".map.off").length === 1);
see("grey", !colourful(canvases()[0]) && canvases().slice(1).every(colourful));
const question = {input: run.input, output: null, write: run.write};
const without = answer_to(model, question, {"cross 0.0": 0});
see("kept", focused(all(".switch input")[0]) && marked(1, without.example.maps, ["cross 0.0"]));
see("the numbers stay open", all("details")[0].open);
const kept = whole;
see("beside it the same weights",
  kept.answer.probability === answer_to(model, question).answer.probability);
all(".switch input")[1].click();
see("computed once", whole === kept && all(".map.off").length === 2);
all(".answers + .plain")[0].click();
see("on", !location.hash.includes("off") && all(".map.off").length === 0);
see("to the first switch", focused(all(".switch input")[0]));

all("button.name")[4].click();
see("large", location.hash.includes("head=1.1") && all(".map").length === 1);
tokens()[0].dispatchEvent(new MouseEvent("mouseenter"));
see("said when large", spoken.textContent.startsWith("cross 1.1: "));
document.activeElement.click();  // the way back
see("back", all(".map").length === 6 && focused(all("button.name")[4]));
const tab = all("[role=tab]");
tab[1].focus();
press(tab[1], "ArrowRight");
see("tab", location.hash.includes("kind=decoder") && focused(tab[2]));
const panel = all("[role=tabpanel]")[0];
see("panel", panel.getAttribute("aria-labelledby") === tab[2].id &&
  tab.every((one) => one.getAttribute("aria-controls") === panel.id));

const ask = (text) => { field.value = text; all("form button")[0].click(); };
ask("dad");
see("typed", document.querySelector("h1").textContent.startsWith("“dad” → “"));
see("address", location.hash.includes("input=dad"));
ask("dxd");
const sentence = all("[role=alert]")[0].textContent;
see("refused", sentence.startsWith("“x” is not one of") && state.input === "dad");
)js");
}

TEST_CASE("what is malformed in an address is passed over, and the address alone tells the state",
          "[long]") {
  if (!can_open_pages()) return;
  // An address, and the form that the page makes of it.
  using Addresses = std::vector<std::pair<std::string, std::string>>;
  const Addresses of_seq2seq = {{"token=1.5", "kind=cross"},
                                {"kind=decoder&token=2", "kind=decoder&token=2"},
                                {"token=3", "kind=cross&token=3"},
                                {"", "kind=cross"},
                                {"token=-1", "kind=cross"},
                                {"token=0", "kind=cross"},
                                {"token=NaN&kind=sideways", "kind=cross"},
                                {"token=1e99", "kind=cross"},
                                {"kind=constructor&off=cross", "kind=cross"},
                                {"head=.", "kind=cross"},
                                {"head=0.1.2", "kind=cross"},
                                {"head=00.1", "kind=cross"},
                                {"head=0.9", "kind=cross"},
                                {"off=cross.0.1,cross..,,cross.1.5.2", "kind=cross&off=cross.0.1"},
                                {"%", "kind=cross"},
                                {"input=ab&output=q", "kind=cross"}};
  const Addresses of_classifier = {{"output=x&input=ab", "input=ab&kind=encoder"},
                                   {"token=1.5&kind=cross", "kind=encoder"},
                                   {"input=", "kind=encoder"}};
  for (const ModelKind kind : {ModelKind::seq2seq, ModelKind::classifier}) {
    const bool classifier = kind == ModelKind::classifier;
    const SavedModel saved = test::small_saved_model(test::small_config(kind, Layout::fused));
    const TemporaryFolder folder;
    const std::string page = attend_page(page_record(saved, {.input = typed}));
    const Record addresses = classifier ? of_classifier : of_seq2seq;
    check_by_script(folder, page, "const addresses = " + addresses.dump() + R"js(;
see("at the start", location.hash === "#" + addresses[0][1] || location.hash);
for (const [address, understood] of addresses) {
  history.replaceState(null, "", "#" + address);
  try { restore(); } catch (error) { see(address, String(error)); }
  see(address, location.hash === "#" + understood || location.hash);
  const wanted = location.hash.includes("head=") ? 1 : 6;
  const painted = all(".maps canvas").filter((canvas) => colours(canvas).length > 1);
  see(`${address}, maps painted`, painted.length === wanted || painted.length);
  see(`${address}, given`, !answers.textContent.includes("Given"));
}
)js",
                    "#" + addresses[0][0].get<std::string>());
  }
}

TEST_CASE("every kind of page keeps what every page must keep", "[long]") {
  if (!can_open_pages()) return;
  const TemporaryFolder folder;
  const auto check = [&](const SavedModel& saved, const AttentionQuestion& question,
                         const std::string& fragment, const char* maps,
                         const std::vector<bool>& dark, Index most_bytes = 1 << 20) {
    INFO(name_of(saved.config.kind) << " " << fragment);
    AttentionRecord record = page_record(saved, question);
    record.page_model = page_model_record(saved, record.ids, most_bytes);
    write_attend_page(record, folder / "report.html");
    for (const OpenedPage& page :
         check_page(folder / ("report.html" + fragment), folder / "browser", dark)) {
      CHECK(page.attribute("maps") == maps);
    }
  };
  const auto small = [](ModelKind kind) {
    return test::small_saved_model(test::small_config(kind, Layout::fused));
  };
  check(with_twelve_heads(), {.input = long_text, .write = 8}, "#token=30", "24", {true});
  check(small(ModelKind::classifier), {.input = typed}, "#token=2&off=encoder.0.1", "6", {false});
  check(small(ModelKind::language_model), {.input = typed, .write = 4}, "", "6", {false}, 1000);
  check(small(ModelKind::seq2seq), {.input = typed},
        "#kind=encoder&head=1.1&token=2&off=cross.0.0,encoder.1.1", "1", {true});
}

TEST_CASE("labels do not run into each other, those that matter are drawn, and all can be seen",
          "[long]") {
  if (!can_open_pages()) return;
  const SavedModel saved = with_twelve_heads();
  const TemporaryFolder folder;
  check_by_script(folder, attend_page(page_record(saved, {.input = long_text, .write = 8})), R"js(
see("marks", all(".marks i").every((mark) => mark.getBoundingClientRect().width >= 2.5));
const labels = new Map();  // of each canvas, as they were drawn last
const {clearRect, fillText} = CanvasRenderingContext2D.prototype;
Object.assign(CanvasRenderingContext2D.prototype, {
  clearRect(...box) { labels.set(this.canvas, []); clearRect.apply(this, box); },
  fillText(text, x, y, ...rest) {
    const {e, f} = this.getTransform(), width = this.measureText(text).width;
    const key = this.textAlign === "center";
    labels.get(this.canvas).push(
      {key, bold: this.font.includes("600"), at: key ? e + x : f + y, size: key ? width : 7 * 0.8});
    fillText.call(this, text, x, y, ...rest);
  },
});
for (const row of [null, 40]) {
  choose("target", row);
  if (row === null) refresh();
  for (const {canvas, map} of maps) {
    const drawn = labels.get(canvas);
    const hits = row === null ? 0 : map.rows[row].filter((weight) => weight >= 0.1).length;
    see(`row ${row} in bold`, drawn.filter((label) => label.bold).length === hits + (row !== null));
    for (const key of [true, false]) {
      const own = drawn.filter((label) => label.key === key).sort((a, b) => a.at - b.at);
      see("labels", own.length > 5);
      own.slice(1).forEach((label, i) => {
        const both_wanted = label.bold && own[i].bold;
        const room = label.at - own[i].at - (label.size + own[i].size) / 2;
        see(`row ${row}, room`, both_wanted || room > -0.5 || room);
      });
    }
  }
}
const tokens = [" ", "\n", "\t", "\r", "\u00a0", "\u200b", "\u202e", "é", "a b", "constructor"];
see("shown", tokens.map(shown).join() ===
  "␣,⏎,⇥,U+000D,U+00A0,U+200B,U+202E,é,a b,constructor" || tokens.map(shown).join());
see("said", tokens.slice(0, 4).map(said).join() === "space,line end,tab,U+000D");
)js");
}

TEST_CASE("on paper maps keep their shape and colours, and a large one has the page's width",
          "[long]") {
  if (!can_open_pages()) return;
  const SavedModel saved =
      test::small_saved_model(test::small_config(ModelKind::seq2seq, Layout::fused));
  const TemporaryFolder folder;
  const std::string page = attend_page(page_record(saved, {.input = typed}));
  for (const std::string fragment : {"#", "#head=1.1"}) {
    check_by_script(folder, page, R"js(
dispatchEvent(new Event("beforeprint"));  // what a print does: the event, then the rules
const rules = [...document.styleSheets[0].cssRules];
const on_paper = rules.filter((rule) => rule.media?.mediaText === "print");
see("rules", on_paper.length === 1);
for (const rule of on_paper) rule.media.mediaText = "screen";
for (const canvas of all(".map canvas")) {
  const box = canvas.getBoundingClientRect();
  const stretched = (box.height / box.width) / (canvas.height / canvas.width);
  see("shape", Math.abs(stretched - 1) < 0.02 || stretched);
  const row = canvas.closest(".maps").getBoundingClientRect();
  const large = location.hash.includes("head=");
  see("width", large ? box.width > 0.9 * row.width : box.width < row.width / 3);
}
for (const element of all(".marks i, .marks, .swatch, .tokens button")) {
  see("colour", getComputedStyle(element).printColorAdjust === "exact");
}
)js",
                    fragment, true);
  }
}
