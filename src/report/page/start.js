// The end of every page's script: redraws charts and maps for the width, the theme and printing.
/** Redraws charts and maps, for another theme or for printing. */
function redraw() {
  draw_charts();
  refresh();
  repaints.forEach((repaint) => repaint());
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
addEventListener("beforeprint", () => { document.documentElement.dataset.print = ""; redraw(); });
addEventListener("afterprint", () => { delete document.documentElement.dataset.print; redraw(); });
let resized;
addEventListener("resize", () => { clearTimeout(resized); resized = setTimeout(refresh, 60); });
