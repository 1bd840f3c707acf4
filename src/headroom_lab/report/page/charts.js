// Curves by Chart.js: colours from the page's CSS, thin axes, marks for events.
"use strict";

const run = JSON.parse(document.getElementById("run").textContent);
const charts = [];
const repaints = [];  // functions that repaint other elements with colours of the theme

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const model_variable = (i) => ["--first", "--second", "--third", "--apart"][i % 4];

/** One colour per head, the same in every figure; they repeat after twelve heads. */
const head_variable = (head) => `--head-${head % 12}`;

/** Black or white, whichever has more contrast on a share's colour: one of them always has at least 4.5. */
function ink_on_heat(share) {
  const heat = css("--heat").split(",").map(Number);
  const card = css("--card").match(/\w\w/g).map((digits) => parseInt(digits, 16));
  const linear = card.map((c, i) => (c + share * (heat[i] - c)) / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  const luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  return (luminance + 0.05) ** 2 > 0.05 * 1.05 ? "#000" : "#fff";  // as WCAG 2 defines contrast
}

/** The cell of a head, coloured by its share, with text in a colour that fits. */
function heat_cell(tag, name, share, ...content) {
  const element = h(tag, {title: name, "aria-label": name, "--share": share.toFixed(3)}, content);
  const ink = () => { element.style.color = ink_on_heat(share); };
  repaints.push(ink);
  ink();
  return element;
}

/** Makes an element: h("p.caption", {title: "..."}, child, "text", ...). */
function h(tag, attributes, ...children) {
  const [name, ...classes] = tag.split(".");
  const element = document.createElement(name);
  if (classes.length) element.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === "style") element.style.cssText += value;
    else if (key.startsWith("--")) element.style.setProperty(key, value);
    else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined) element.setAttribute(key, value);
  }
  for (const child of children.flat()) if (child !== null && child !== undefined) element.append(child);
  return element;
}

const is_number = (value) => typeof value === "number" && Number.isFinite(value);
const commas = (n) => n.toLocaleString("en-US");

/** A number with about three digits, in the unit of its measure, if any. */
function number_text(value, unit) {
  if (!is_number(value)) return "–";
  if (unit === "%") return (100 * value).toFixed(1) + " %";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size < 1e-3 || size >= 1e7) return value.toExponential(1);
  if (Number.isInteger(value)) return commas(value);
  return size >= 100 ? commas(Math.round(value)) : String(Number(value.toPrecision(3)));
}

/** A table of numbers; its first column has the row names. */
function table(titles, rows, caption) {
  return h("div.scroll", {tabindex: 0, role: "region", "aria-label": caption},
    h("table", {},
      h("thead", {}, h("tr", {}, titles.map((t) => h("th", {scope: "col"}, t)))),
      h("tbody", {}, rows.map(([name, ...row]) => h("tr", {}, h("th", {scope: "row"}, name), row.map((cell) => h("td", {}, cell)))))));
}

/** The text of a cell: 1,050,624 or 0.252 or 0.252 [0.238, 0.266]. */
function figure_text(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "object") return `${number_text(value.value)} [${number_text(value.low)}, ${number_text(value.high)}]`;
  return Number.isInteger(value) ? commas(value) : number_text(value);
}

/** A table of a record; columns of words are left-aligned, like the first one. */
function block_table(block) {
  const element = table(block.columns, block.rows.map((row) => row.map(figure_text)), block.title);
  const words = block.columns.map((_, c) => block.type === "shapes" || block.rows.every((row) => typeof row[c] === "string" && /^[^0-9-]/.test(row[c])));
  for (const row of element.querySelectorAll("tr")) [...row.children].forEach((cell, c) => cell.classList.toggle("words", words[c]));
  return element;
}

/** A table whose cells are shaded: the darkest has the value 1, or 0 if the low ones are. */
function shaded_table(block) {
  const cell = (value) => {
    const number = value?.value ?? value;
    if (!is_number(number)) return h("td", {}, "–");
    const share = Math.max(0, Math.min(1, block.shown === "low" ? 1 - number : number)), text = number.toFixed(2);
    const ends = value?.low < value?.high ? `${value.low.toFixed(2)}–${value.high.toFixed(2)}` : null;
    return block.shown === "low" && ends ? heat_cell("td.shaded", `${text} [${ends}]`, share, text, h("small", {}, ends)) : heat_cell("td.shaded", text, share, text);
  };
  return h("div.scroll", {tabindex: 0, role: "region", "aria-label": block.title}, h("table", {},
    h("thead", {}, h("tr", {}, block.columns.map((title) => h("th", {scope: "col"}, title)))),
    h("tbody", {}, block.rows.map(([name, ...cells]) => h("tr", {}, h("th", {scope: "row"}, name), cells.map(cell))))));
}

/** A table of a record as it asks to be shown: shaded above its values, folded, or open. */
function shown_table(block) {
  const values = (title) => fold(title, () => block_table(block));
  if (["high", "low"].includes(block.shown)) return [h("h4", {}, block.title), shaded_table(block), values("Values")];
  return block.shown === "folded" ? [values(block.title)] : [h("h4", {}, block.title), block_table(block)];
}

/** A details element whose content is created when it is first opened. */
function fold(title, make) {
  const details = h("details", {}, h("summary", {}, title));
  details.addEventListener("toggle", () => { if (details.open && details.childElementCount === 1) details.append(make()); });
  return details;
}

/** The table of a figure's values. */
const numbers = (caption, titles, rows) => fold("Values", () => table(titles, rows(), caption));

/** Nested records as flat pairs: ["optimizer.rate", "0.002"]. */
function flat(record, prefix = "") {
  return Object.entries(record).flatMap(([key, value]) => value !== null && typeof value === "object" && !Array.isArray(value)
    ? flat(value, `${prefix}${key}.`) : [[prefix + key, Array.isArray(value) ? value.join(", ") : String(value)]]);
}

function folded(title, record) {
  return h("details.folded", {}, h("summary", {}, title),
    h("dl.pairs", {}, flat(record).map(([key, value]) => h("div", {}, h("dt", {}, key), h("dd", {}, value)))));
}

/** Vertical lines with a word: [{x, text, solid}], and a shaded span {from, to, text}. */
const marks = {
  id: "marks",
  beforeDatasetsDraw(chart, _, options) {
    const {ctx, chartArea: area, scales: {x}} = chart;
    ctx.save();
    ctx.font = "11px system-ui, sans-serif";
    for (const span of options.spans || []) {
      const from = Math.max(area.left, x.getPixelForValue(span.from));
      const to = Math.min(area.right, x.getPixelForValue(span.to));
      ctx.fillStyle = css("--grid");
      ctx.globalAlpha = 0.6;
      ctx.fillRect(from, area.top, to - from, area.bottom - area.top);
      ctx.globalAlpha = 1;
      ctx.fillStyle = css("--soft");
      if (ctx.measureText(span.text).width < to - from - 8) ctx.fillText(span.text, from + 5, area.top + 12);
    }
    for (const line of options.lines || []) {
      const at = x.getPixelForValue(line.x);
      ctx.strokeStyle = ctx.fillStyle = css("--soft");
      ctx.setLineDash(line.solid ? [] : [2, 3]);
      ctx.beginPath(); ctx.moveTo(at, area.top); ctx.lineTo(at, area.bottom); ctx.stroke();
      const left = at + 5 + ctx.measureText(line.text).width > area.right;
      ctx.textAlign = left ? "right" : "left";
      ctx.fillText(line.text, at + (left ? -5 : 5), area.bottom - 7);
    }
    ctx.restore();
  },
};

/** The intervals of a dataset's points, as vertical bars: [{x, low, high}] in `bars`. */
const whiskers = {
  id: "whiskers",
  beforeDatasetsDraw(chart) {
    const {ctx, chartArea: area, scales: {x, y}} = chart;
    ctx.save();
    ctx.beginPath(); ctx.rect(area.left - 2, area.top, area.right - area.left + 4, area.bottom - area.top); ctx.clip();
    ctx.lineWidth = 1.5;
    for (const set of chart.data.datasets) for (const bar of set.bars || []) {
      ctx.strokeStyle = set.borderColor;
      const at = x.getPixelForValue(bar.x);
      ctx.beginPath(); ctx.moveTo(at, y.getPixelForValue(bar.low)); ctx.lineTo(at, y.getPixelForValue(bar.high)); ctx.stroke();
    }
    ctx.restore();
  },
};

/** The kinds of the heads that were removed and that came back, by step: from the timeline, or from the steps at which heads were removed. */
function head_changes() {
  const kinds_of = (heads = []) => heads.map((head) => head.split(" ")[0]);
  const changes = (run.timeline || []).filter((event) => event.removed || event.regrown)
    .map(({step, removed, regrown}) => ({step, removed: kinds_of(removed), regrown: kinds_of(regrown)}));
  return changes.length ? changes : (run.heads || []).filter((head) => is_number(head.removed_at))
    .map((head) => ({step: head.removed_at, removed: [head.kind], regrown: []}));
}

/** The steps during which heads were removed, for the background of every curve. */
function removal_span() {
  const steps = head_changes().map((change) => change.step);
  if (!steps.length) return [];
  const from = Math.min(...steps), to = Math.max(...steps);
  return [{from, to: Math.max(to, from + 1), text: "heads are removed"}];
}

/**
 * A figure with a finding as title and a line chart.
 * series: [{name, colour (CSS variable), points: [{x, y}], broad, dashed, dotted, stepped, plain, cloud (points
 *           without a line), bars (see whiskers)}]; a point that is drawn beside its place has this as `at`
 * options: {log, unit, y (of Chart.js), x: the name of the horizontal axis, "step" by default, dots,
 *           from and to (of that axis; by default it ends with the data), tight (both axes end where the
 *           data end), inside ("x", "y", "xy": no ticks at the ends of these axes, which are no round
 *           numbers), small (one of many: thin lines, few ticks),
 *           scatter (dots without lines; points have a name)}
 */
function curve_figure(finding, series, options) {
  const x = options.x || "step";
  const canvas = h("canvas", {role: "img", "aria-label":
    `${finding.title}. ` + series.map((s) => options.scatter ? `${s.name}: ${s.points.length} heads` : s.points.length ? `${s.name}: from ${number_text(s.points[0].y, options.unit)} `
    + `at ${x} ${s.points[0].x} to ${number_text(s.points.at(-1).y, options.unit)} at ${x} ${s.points.at(-1).x}` : s.name).join("; ")});
  const keys = series.map((s) => h("li", {}, h("i" + (s.broad ? ".broad" : "") + (s.dashed ? ".dashed" : ""),
    {"--colour": `var(${s.colour})`, "aria-hidden": "true"}), s.name));
  const plot = h("div.plot", {}, canvas);
  const figure = h("figure", {}, h("h3", {}, finding.title), h("p.caption", {}, finding.caption),
    h("ul.legend", {}, keys), plot,
    options.scatter ? numbers(finding.title, ["head", x, "cost of removal"], () => series.flatMap((s) => s.points.map((p) => [p.name, number_text(p.x), number_text(p.y)])))
      : numbers(finding.title, [x, ...series.filter((s) => !s.plain).map((s) => s.name)], () => by_step(series, options)));
  charts.push({canvas, make: () => line_chart(canvas, series, options)});
  return figure;
}

/** One row per step, one column per series. */
function by_step(series, options) {
  const rows = new Map();
  const shown = series.filter((s) => !s.plain);
  shown.forEach((s, i) => s.points.forEach((p) => {
    if (!rows.has(p.x)) rows.set(p.x, shown.map(() => null));
    rows.get(p.x)[i] = p.y;
  }));
  return [...rows.keys()].sort((a, b) => a - b)
    .map((step) => [commas(step), ...rows.get(step).map((v) => number_text(v, options.unit))]);
}

function line_chart(canvas, series, options) {
  const small = options.small, inside = (axis) => (options.inside || "").includes(axis);
  const datasets = series.map((s) => ({
    label: s.name, data: options.log ? s.points.filter((p) => p.y > 0) : s.points,
    borderColor: css(s.colour) + (s.broad || s.cloud ? "70" : ""), backgroundColor: css(s.colour) + (s.cloud ? "70" : ""), bars: s.bars,
    borderWidth: s.broad ? 6 : s.dashed || small ? 1.5 : 2, borderDash: s.dashed ? [5, 4] : s.dotted ? [1.5, 3] : [], stepped: s.stepped ? "before" : false,
    showLine: !options.scatter && !s.cloud, pointRadius: options.scatter ? 4.5 : s.cloud ? 2 : s.ends ? (at) => at.dataIndex === at.dataset.data.length - 1 ? 3 : 0 : s.points.length === 1 ? 4 : options.dots || s.dots ? 3 : 0, pointHoverRadius: 4, pointHitRadius: 8, borderJoinStyle: "round", tension: 0,
    hidden: false, order: s.broad ? 1 : 0, clip: options.tight ? 6 : undefined,
  }));
  const tick = {color: css("--soft"), font: {size: small ? 10.5 : 12}};
  const y = {
    type: options.log ? "logarithmic" : "linear", border: {display: false},
    grid: {color: css("--grid"), drawBorder: false, tickLength: 0},
    ticks: {...tick, includeBounds: !options.tight && !inside("y"), padding: small ? 4 : 8, maxTicksLimit: small && !inside("y") ? 3 : 6, callback(value) {
      if (!options.log) return options.unit === "%" ? Math.round(100 * value) + " %" : number_text(value);
      const exponent = Math.log10(value);
      const decades = Math.log10(this.max / this.min);
      const whole = Math.abs(exponent - Math.round(exponent)) < 1e-9;
      if (!whole) return decades < 1.5 && [2, 5].includes(Math.round(value / 10 ** Math.floor(exponent))) ? number_text(value) : null;
      return Math.abs(exponent) < 3.5 ? String(Number(value.toPrecision(1))) : "10" + superscript(Math.round(exponent));
    }},
    ...(options.y || {}),
  };
  if (options.tight) Object.assign(y, ends_of(series, options.log));
  if (options.log) y.afterBuildTicks = (axis) => { axis.ticks = decade_ticks(axis.min, axis.max, small ? 3 : 7); };
  const whole = series.every((s) => s.points.every((p) => Number.isInteger(p.at ?? p.x)));  // heads, steps: whole numbers only
  return new Chart(canvas, {
    type: "line", data: {datasets}, plugins: [marks, whiskers],
    options: {
      animation: false, responsive: true, maintainAspectRatio: false, normalized: true,
      interaction: {mode: "nearest", axis: options.scatter ? "xy" : "x", intersect: false}, layout: {padding: {top: 6, right: small ? 4 : 8}},
      scales: {
        x: {type: "linear", min: options.from ?? undefined, max: options.to ?? last_x(series, options), grid: {display: false, drawBorder: false},
            ticks: {...tick, maxTicksLimit: small && !inside("x") ? 3 : 7, maxRotation: 0, includeBounds: !options.tight && !inside("x"), precision: whole ? 0 : undefined, callback: (v) => options.scatter ? number_text(v) : commas(v)},
            title: {display: !small, text: options.x || "step", color: css("--soft"), font: {size: 12}, align: "end", padding: 0}},
        y,
      },
      plugins: {
        legend: {display: false}, decimation: {enabled: false}, marks: {spans: options.spans || [], lines: options.lines || []},
        tooltip: {
          backgroundColor: css("--ink"), titleColor: css("--card"), bodyColor: css("--card"), padding: 10, boxPadding: 4, displayColors: series.length > 1,
          callbacks: {title: (items) => !items.length ? "" : options.scatter ? items[0].raw.name : `${options.x || "step"} ${commas(items[0].raw.at ?? items[0].parsed.x)}`,
                      label: (item) => options.scatter ? `${options.x} ${number_text(item.parsed.x)}, cost ${number_text(item.parsed.y)}` : `${item.dataset.label}  ${number_text(item.parsed.y, options.unit)}`},
        },
      },
    },
  });
}

/** The largest x of all series, where the axis ends; nothing for dots, and when all x are equal. */
function last_x(series, options) {
  const xs = series.flatMap((s) => s.points.map((p) => p.x));
  const last = Math.max(...xs);
  return options.scatter || last === Math.min(...xs) ? undefined : last;
}

/** The smallest and largest value of all series, as limits of an axis; nothing when they are equal. */
function ends_of(series, log) {
  const values = series.flatMap((s) => s.points.map((p) => p.y)).filter((v) => is_number(v) && (!log || v > 0));
  const min = Math.min(...values), max = Math.max(...values);
  return max > min ? {min, max} : {};
}

function superscript(n) {
  return String(n).replace(/[-0-9]/g, (c) => c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(c)]);
}

/** Powers of ten, thinned to at most `most`; with 2 and 5 times each if there are few. */
function decade_ticks(min, max, most) {
  const low = Math.ceil(Math.log10(min) - 1e-9), high = Math.floor(Math.log10(max) + 1e-9);
  const every = Math.max(1, Math.ceil((high - low) / (most - 1)));
  const ticks = [];
  for (let e = low; e <= high; e += every) ticks.push({value: 10 ** e});
  if (high - low < 1) {
    for (let e = low - 1; e <= high; e++) for (const m of [2, 5]) if (m * 10 ** e >= min && m * 10 ** e <= max) ticks.push({value: m * 10 ** e});
  }
  return ticks.sort((a, b) => a.value - b.value);
}

function draw_charts() {
  if (!charts.length) return;
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  for (const entry of charts) {
    if (entry.chart) entry.chart.destroy();
    entry.chart = entry.make();
  }
}
