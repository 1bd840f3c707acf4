// A test puts this script into a copy of a page: what would a reader without a mouse, a screen or a
// wide window meet? It waits until the page has drawn, opens every fold, and posts to the window around
// it what it found, with the document as it stands then:
//   unnamed      pictures without words
//   bare         charts and maps without a table of their numbers
//   unreachable  what scrolls, or answers to a pointer, out of a keyboard's reach
//   unseen       controls whose focus cannot be seen
//   mute         controls without a name, and maps that say nothing when a key chooses a row
//   cut          texts that their box cuts off
addEventListener("load", () => setTimeout(async () => {
  const wait = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
  const all = (selector, root) => [...(root || document).querySelectorAll(selector)];
  const called = (e) => `${e.tagName.toLowerCase()}${typeof e.className === "string" && e.className ? "." + e.className.trim().replace(/\s+/g, ".") : ""} "${(e.getAttribute("aria-label") || e.textContent || "").trim().slice(0, 50)}"`;
  const shown = (e) => e.getClientRects().length > 0;
  const silent = (e) => e.closest("[aria-hidden=true]") !== null;
  const named = (e) => Boolean(e.getAttribute("aria-label") || e.getAttribute("aria-labelledby") || e.getAttribute("alt") || e.querySelector("title") || (e.labels && e.labels.length));
  const found = {};

  all("details").forEach((fold) => { fold.open = true; });
  await wait(100);
  found.unnamed = all("canvas, svg, img, [role=img]").filter((e) => !silent(e) && !named(e)).map(called);
  found.bare = all("canvas").filter((e) => shown(e) && !all("details table", e.closest("figure, section") || document).some((t) => t.querySelector("tbody td"))).map(called);

  const scrolls = (e) => {
    const style = getComputedStyle(e);
    return (/auto|scroll/.test(style.overflowX) && e.scrollWidth > e.clientWidth + 1) || (/auto|scroll/.test(style.overflowY) && e.scrollHeight > e.clientHeight + 1);
  };
  const stops = (e) => all("a[href], button, input, select, textarea, summary, [tabindex]", e).some((inner) => inner.tabIndex >= 0);
  const pointed = (e) => /pointer|crosshair/.test(getComputedStyle(e).cursor) && !e.closest("a, button, summary, label, input, select") && !e.hasAttribute("tabindex");
  found.unreachable = all("body *").filter((e) => shown(e) && ((scrolls(e) && e.tabIndex < 0 && !stops(e)) || pointed(e))).map(called);

  const controls = all("a[href], button, input, select, textarea, summary, [tabindex]").filter((e) => shown(e) && e.tabIndex >= 0 && !e.disabled);
  found.unseen = controls.filter((e) => {
    e.focus();
    const style = getComputedStyle(e);
    return document.activeElement !== e || style.outlineStyle === "none" || parseFloat(style.outlineWidth) < 1;
  }).map(called);
  found.mute = controls.filter((e) => !named(e) && !e.textContent.trim()).map(called);
  for (const canvas of all(".maps canvas[tabindex='0']")) {
    canvas.focus();
    canvas.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowDown", bubbles: true, cancelable: true}));
    const status = canvas.closest(".maps").parentElement.querySelector("[role=status]");
    if (!status || !status.textContent.includes("→")) found.mute.push(called(canvas));
  }
  document.activeElement.blur();

  found.cut = all("body *").filter((e) => {
    const style = getComputedStyle(e);
    return shown(e) && /hidden|clip/.test(style.overflowX) && style.textOverflow !== "ellipsis" && style.clipPath === "none" && e.scrollWidth > e.clientWidth + 1;
  }).map(called);

  const html = document.documentElement;
  const page = html.cloneNode(true);
  all("script", page).forEach((script) => script.remove());
  parent.postMessage({
    found, dom: page.outerHTML, overflow: html.scrollWidth - html.clientWidth,
    dark: matchMedia("(prefers-color-scheme: dark)").matches,
    titles: all("h1").length, language: html.lang,
  }, "*");
}, 500));
