// The page of attention maps shows, switches and says what it should.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "headroom/autograd/tape.hpp"
#include "report/attend_support.hpp"
#include "support/browser.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;
using Catch::Matchers::Contains;

namespace {

const std::string typed = "abcadb";

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

TEST_CASE("the address brings back input, kind, head, symbol and the heads that are off") {
  if (!can_open_pages()) return;
  const SavedModel saved =
      test::small_saved_model(test::small_config(ModelKind::classifier, Layout::separate));
  const Record record = page_record(saved, {.input = typed});  // rounds the model
  const TemporaryFolder folder;
  write_attend_page(record, folder / "report.html");

  HeadProbe probe;
  probe.gates[{AttentionKind::encoder_self, 0}] = Tensor(Array({3}, {1, 0, 1}));
  probe.gates[{AttentionKind::encoder_self, 1}] = Tensor(Array({3}, {0, 1, 1}));
  const NoGrad quiet;
  const Array logits =
      saved.classifier()(Ids({1, 5}, {7, 6, 5, 4, 4}), Ids({1}, {5}), &probe).value();
  double sum = 0;
  for (const Real logit : logits.span()) sum += std::exp(static_cast<double>(logit));
  const double yes = std::exp(static_cast<double>(logits[1])) / sum;

  const OpenedPage page =
      open_at(folder, "#input=dcbaa&kind=encoder&head=1.2&symbol=4&off=encoder.0.1,encoder.1.0");
  CHECK(page.complaints == "");
  CHECK(page.attribute("maps") == "1");
  CHECK_THAT(page.dom, Contains("Without 2 heads") && Contains("“dcbaa” → “"));
  CHECK_THAT(page.dom, Contains(fmt::format("yes {:.1f} %", 100 * yes)));
  CHECK(times(page.dom, "aria-pressed=\"true\"") == 1);
  CHECK_THAT(page.dom, Contains("aria-label=\"symbol 4: a\"") && Contains("encoder 1.2"));
  CHECK(times(page.dom, "type=\"checkbox\"") == 1);

  const OpenedPage unknown = open_at(folder, "#input=d%C3%A9");
  CHECK(unknown.complaints == "");
  CHECK_THAT(unknown.dom,
             Contains("“é” is not among the 4 symbols that the model knows: a b c d."));
  CHECK(unknown.attribute("maps") == "6");  // those of the input that the page was written for
}

TEST_CASE("a page without its model says why, and shows the maps all the same") {
  if (!can_open_pages()) return;
  const SavedModel saved =
      test::small_saved_model(test::small_config(ModelKind::language_model, Layout::fused));
  Record record = page_record(saved, {.input = "ab", .write = 4});
  record["page_model"] = page_model_record(saved, record, 1000);
  const TemporaryFolder folder;
  write_attend_page(record, folder / "report.html");
  const OpenedPage page = open_at(folder, "#off=decoder.0.0&input=dd");
  CHECK(page.complaints == "");
  CHECK(page.attribute("maps") == "6");
  CHECK_THAT(page.dom, Contains("nor heads switched off: its weights take") &&
                           Contains("“ab” → “") && !Contains("type=\"checkbox\""));
}

TEST_CASE("pointing, keys, clicks and typing do what the page says") {
  if (!can_open_pages()) return;
  const SavedModel saved =
      test::small_saved_model(test::small_config(ModelKind::seq2seq, Layout::shared));
  const TemporaryFolder folder;
  std::string page = attend_page(page_record(saved, {.input = typed}));
  page.insert(page.rfind("</body>"), R"js(<script>
const seen = [];
const all = (selector) => [...document.querySelectorAll(selector)];
const see = (name, value) => seen.push(`${name}=${value}`);
const press = (element, key) =>
  element.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
const is_on = (token) => token.classList.contains("on");
const strength = () =>
  Math.round(all(".key .marks i").reduce((sum, mark) => sum + Number(mark.style.opacity), 0));
const tokens = () => all(".tokens button");

tokens()[1].dispatchEvent(new MouseEvent("mouseenter"));
see("pointed", is_on(tokens()[1]) && strength() === 6);  // six heads
tokens()[1].dispatchEvent(new MouseEvent("mouseleave"));
see("left", strength() === 0);
tokens()[0].focus();
press(tokens()[0], "ArrowRight");
see("focused", document.activeElement === tokens()[1] && is_on(tokens()[1]));
tokens()[1].click();
tokens()[1].blur();
see("locked", tokens()[1].ariaPressed === "true" && location.hash.includes("symbol=2"));

const places = history.length;
all(".switch input")[0].click();
see("place", history.length === places + 1);
see("off", location.hash.includes("off=cross.0.0") && all(".map.off").length === 1);
see("kept", document.activeElement === all(".switch input")[0] && strength() === 5);
all(".answers + .plain")[0].click();
see("on", !location.hash.includes("off") && all(".map.off").length === 0);

all("button.name")[4].click();
see("large", location.hash.includes("head=1.1") && all(".map").length === 1);
document.activeElement.click();  // the way back
see("back", all(".map").length === 6);
const tab = all("[role=tab]");
tab[1].focus();
press(tab[1], "ArrowRight");
see("tab", location.hash.includes("kind=decoder") && document.activeElement === tab[2]);

const ask = (text) => { field.value = text; all("form button")[0].click(); };
ask("dad");
see("typed", document.querySelector("h1").textContent.startsWith("“dad” → “"));
see("address", location.hash.includes("input=dad"));
ask("dxd");
const sentence = all("[role=alert]")[0].textContent;
see("refused", sentence.startsWith("“x” is not among") && state.input === "dad");
document.documentElement.dataset.seen = seen.join(" ");
</script>)js");
  folder.file("report.html", page);
  const OpenedPage opened = open_at(folder, "");
  CHECK(opened.complaints == "");
  CHECK(opened.attribute("seen") ==
        "pointed=true left=true focused=true locked=true place=true off=true kept=true on=true "
        "large=true back=true tab=true typed=true address=true refused=true");
}
