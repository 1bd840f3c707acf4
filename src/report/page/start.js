// The end of every page's script: what is painted follows width, theme and paper, and a test can ask.
/** Redraws what is painted, for another width, theme or for paper. */
function redraw() { draw_charts(); draw_maps(); }

/** Tells a test what was drawn: canvases that hold at least two colours, and requests made. */
function report_drawn() {
  const scratch = document.createElement("canvas");
  const ctx = scratch.getContext("2d", {willReadFrequently: true});
  const canvases = [...document.querySelectorAll("canvas")];
  const painted = canvases.filter((canvas) => {
    if (!canvas.width || !canvas.height) return false;
    Object.assign(scratch, {width: canvas.width, height: canvas.height});
    ctx.drawImage(canvas, 0, 0);
    return new Set(new Uint32Array(ctx.getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size >= 2;
  });
  Object.assign(document.documentElement.dataset, {
    canvases: canvases.length, painted: painted.length, charts: charts.length, maps: maps.length,
    requests: performance.getEntriesByType("resource").length,
    overflow: Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth),
  });
}

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
addEventListener("beforeprint", () => { document.documentElement.dataset.print = ""; redraw(); });
addEventListener("afterprint", () => { delete document.documentElement.dataset.print; redraw(); });
let resized;
addEventListener("resize", () => { clearTimeout(resized); resized = setTimeout(draw_maps, 60); });
setTimeout(report_drawn, 200);
