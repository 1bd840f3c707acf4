// The end of every page's script: redraws charts and maps for the width, the theme and printing, and marks the
// tables that scroll.
/** Redraws charts and maps, for another theme or for printing. */
function redraw() {
  draw_charts();
  refresh();
  repaints.forEach((repaint) => repaint());
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
addEventListener("beforeprint", () => { document.documentElement.dataset.print = ""; redraw(); });
addEventListener("afterprint", () => { delete document.documentElement.dataset.print; redraw(); });
/** Says of every table that is larger than its box in which directions it scrolls; wide formulas scroll by keys. */
function say_scrolling() {
  for (const box of document.querySelectorAll(".scroll")) {
    const wide = box.scrollWidth > box.clientWidth + 1, high = box.scrollHeight > box.clientHeight + 1;
    if (wide || high) box.dataset.scrolls = wide && high ? "scrolls sideways and down" : wide ? "scrolls sideways" : "scrolls down";
    else delete box.dataset.scrolls;
  }
  for (const formula of document.querySelectorAll(".formulas li, .step h4")) {
    if (formula.scrollWidth > formula.clientWidth + 1) formula.tabIndex = 0;
    else formula.removeAttribute("tabindex");
  }
}

say_scrolling();
addEventListener("toggle", say_scrolling, true);  // a fold was opened
let resized;
addEventListener("resize", () => { clearTimeout(resized); resized = setTimeout(() => { refresh(); say_scrolling(); }, 60); });
