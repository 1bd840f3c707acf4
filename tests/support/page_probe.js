// A test inserts this script into a copy of a page. It looks for barriers to readers without a mouse, a
// screen or a wide window. It waits until the page has drawn, opens every fold, and posts its results
// and the document to the surrounding window:
//   unnamed      pictures without a text alternative
//   bare         charts and maps without a table of their numbers
//   unreachable  elements that scroll, or react to a pointer, without keyboard access
//   unseen       controls without a visible focus
//   mute         controls without a name, and maps that announce nothing when a key chooses a row
//   cut          texts that their box clips, unless pointing at them shows all
//   faint        texts with less contrast than WCAG 2 asks for, also while a row is chosen
// The document's data attributes tell what was drawn, and on a page with an answer where the answer and the
// drawing of its figure end.
addEventListener("load", () => setTimeout(async () => {
  const wait = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
  const all = (selector, root) => [...(root || document).querySelectorAll(selector)];
  const called = (e) => `${e.tagName.toLowerCase()}${typeof e.className === "string" && e.className ? "." + e.className.trim().replace(/\s+/g, ".") : ""} "${(e.getAttribute("aria-label") || e.textContent || "").trim().slice(0, 50)}"`;
  const shown = (e) => e.getClientRects().length > 0;
  const silent = (e) => e.closest("[aria-hidden=true]") !== null;
  const named = (e) => Boolean(e.getAttribute("aria-label") || e.getAttribute("aria-labelledby") || e.getAttribute("alt") || e.querySelector("title") || (e.labels && e.labels.length));
  const found = {};
  const html = document.documentElement;

  const scratch = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  // Canvases with two colours at least.
  const painted = all("canvas").filter((canvas) => {
    const {width, height} = canvas;
    if (!width || !height) return false;
    Object.assign(scratch.canvas, {width, height});
    scratch.drawImage(canvas, 0, 0);
    return new Set(new Uint32Array(scratch.getImageData(0, 0, width, height).data.buffer)).size >= 2;
  });
  Object.assign(html.dataset, {
    canvases: all("canvas").length, painted: painted.length,
    charts: typeof charts === "undefined" ? 0 : charts.length, maps: typeof maps === "undefined" ? 0 : maps.length,
    requests: performance.getEntriesByType("resource").length,
    overflow: Math.max(0, html.scrollWidth - html.clientWidth),
  });

  /** [red, green, blue, opacity] of a colour as it was computed. */
  const numbers_of = (colour) => {
    const [red, green, blue, opacity = 1] = colour.match(/[\d.]+/g).map(Number);
    return [red, green, blue, opacity];
  };
  const over = (front, back) => [0, 1, 2].map((i) => front[3] * front[i] + (1 - front[3]) * back[i]).concat(1);
  /** The colours behind an element's text: backgrounds up to the first opaque one. */
  const ground_of = (e) => {
    if (!e) return matchMedia("(prefers-color-scheme: dark)").matches ? [18, 18, 18, 1] : [255, 255, 255, 1];
    const own = numbers_of(getComputedStyle(e).backgroundColor);
    return own[3] === 1 ? own : over(own, ground_of(e.parentElement));
  };
  const luminance = (colour) => {
    const [red, green, blue] = colour.map((c) => c / 255).map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (e) => {
    const ground = ground_of(e);
    const [low, high] = [ground, over(numbers_of(getComputedStyle(e).color), ground)].map(luminance).sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const has_text = (e) => [...e.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
  const faint = (elements) => elements.filter((e) => {
    if (!has_text(e) || !shown(e) || silent(e) || e.closest(":disabled")) return false;
    const {fontSize, fontWeight} = getComputedStyle(e);
    const large = parseFloat(fontSize) >= (Number(fontWeight) >= 700 ? 18.66 : 24);
    return contrast(e) < (large ? 3 : 4.5);
  }).map((e) => `${called(e)} ${contrast(e).toFixed(2)}`);

  const bottom = (e) => e ? Math.ceil(e.getBoundingClientRect().bottom + scrollY) : "none";
  html.dataset.answered = bottom(document.querySelector("#answer"));
  html.dataset.drawn = bottom(document.querySelector("#figure :is(.plot, .maps, .outlines, .scroll)"));

  all("details").forEach((fold) => { fold.open = true; });
  await wait(100);
  found.unnamed = all("canvas, svg, img, [role=img]").filter((e) => !silent(e) && !named(e)).map(called);
  found.bare = all("canvas").filter((e) => shown(e) && !all("details table", e.closest("figure, section") || document).some((t) => t.querySelector("tbody td"))).map(called);

  const scrolls = (e) => {
    const style = getComputedStyle(e);
    return (/auto|scroll/.test(style.overflowX) && e.scrollWidth > e.clientWidth + 1) || (/auto|scroll/.test(style.overflowY) && e.scrollHeight > e.clientHeight + 1);
  };
  const stops = (e) => all("a[href], button, input, select, textarea, summary, [tabindex]", e).some((inner) => inner.tabIndex >= 0);
  const pointed = (e) => /pointer|crosshair/.test(getComputedStyle(e).cursor) && !e.closest("a, button, summary, label, input, select, [role=button][tabindex]") && !e.hasAttribute("tabindex");
  found.unreachable = all("body *").filter((e) => shown(e) && ((scrolls(e) && e.tabIndex < 0 && !stops(e)) || pointed(e))).map(called);

  const controls = all("a[href], button, input, select, textarea, summary, [tabindex]").filter((e) => shown(e) && e.tabIndex >= 0 && !e.disabled);
  found.unseen = controls.filter((e) => {
    e.focus();
    const style = getComputedStyle(e);
    return document.activeElement !== e || style.outlineStyle === "none" || parseFloat(style.outlineWidth) < 1;
  }).map(called);
  found.mute = controls.filter((e) => !named(e) && !e.textContent.trim()).map(called);
  found.faint = faint(all("body *"));
  for (const canvas of all(".maps canvas[tabindex='0']")) {
    canvas.focus();
    canvas.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowDown", bubbles: true, cancelable: true}));
    if (!(canvas.getAttribute("aria-valuetext") ?? "").includes("→")) found.mute.push(called(canvas));
    found.faint.push(...faint(all(".tokens *, .keys *, .maps *")));
  }
  document.activeElement.blur();

  found.cut = all("body *").filter((e) => {
    const style = getComputedStyle(e);
    const told = style.textOverflow === "ellipsis" && e.title !== "";
    return shown(e) && /hidden|clip/.test(style.overflowX) && !told && style.clipPath === "none" && e.scrollWidth > e.clientWidth + 1;
  }).map(called);

  const page = html.cloneNode(true);
  all("script", page).forEach((script) => script.remove());
  parent.postMessage({
    found, dom: page.outerHTML, overflow: html.scrollWidth - html.clientWidth,
    dark: matchMedia("(prefers-color-scheme: dark)").matches,
    titles: all("h1").length, language: html.lang,
  }, "*");
}, 500));
