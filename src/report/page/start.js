// The end of every page's script: what is painted follows width, theme and paper.
/** Redraws what is painted, for another theme or for paper. */
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
