// Attention maps: a small canvas per head; choosing a token marks its row in all maps of an example.
const kinds = [
  {kind: "encoder", title: "Encoder self-attention", rows: "source", text: "rows: the source token that attends · columns: the source token it attends to"},
  {kind: "cross", title: "Cross-attention", rows: "target", text: "rows: the token being predicted · columns: the source token it attends to"},
  {kind: "decoder", title: "Decoder self-attention", rows: "target", text: "rows: the token being predicted · columns: the output tokens before it"},
];
const maps = [];                                    // the maps on the page: {canvas, map, ...}
const chosen = {source: null, target: null};        // index of the shown row
const locked = {source: null, target: null};
let strips = {};                                    // buttons of both token strips

const followers = [];                               // functions to call when another row is chosen

const blanks = new Map([[" ", {mark: "␣", name: "space"}], ["\n", {mark: "⏎", name: "line end"}], ["\t", {mark: "⇥", name: "tab"}]]);

/** A visible form of a token: a mark for a blank, "U+200B" for an invisible character. */
const shown = (token) => blanks.get(token)?.mark
  ?? token.replace(/^ |[\n\t]/g, (blank) => blanks.get(blank).mark).replace(/(?! )[\p{Cc}\p{Cf}\p{Z}]/gu, (character) => "U+" + character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0"));

/** A token in words for a screen reader. */
const said = (token) => blanks.get(token)?.name ?? shown(token);

const head_name = (head) => head.name ?? `${head.kind} ${head.layer}.${head.head}`;  // a map may have another name
const heads_by_name = new Map((run.heads || []).map((head) => [head_name(head), head]));

/** The head that a map belongs to, or NaN: a map of the laboratory may show something else. */
const head_of = (map) => map.kind ? map.head : Number(/^head (\d+)$/.exec(map.name ?? "")?.[1] ?? NaN);
const head_colour = (head) => `var(${head_variable(head)})`;
const swatch = (head) => h("i.swatch", {"--colour": head_colour(head), "aria-hidden": "true"});

/** The tokens on the axes of a kind's maps. */
function axes(example, kind) {
  if (kind === "encoder") return {queries: example.source, keys: example.source};
  if (kind === "cross") return {queries: example.target, keys: example.source};
  return {queries: example.target, keys: example.decoder_input || ["‹", ...example.target.slice(0, -1)]};
}

function maps_section(finding) {
  const examples = run.examples, several = examples.length > 1;
  const body = h("div", several ? {id: "example", role: "tabpanel"} : {});
  const tabs = h("div.tabs", {role: "tablist", "aria-label": "examples"});
  const show = (index) => {
    [...tabs.children].forEach((tab, i) => {
      tab.setAttribute("aria-selected", i === index);
      tab.tabIndex = i === index ? 0 : -1;
    });
    if (several) body.setAttribute("aria-labelledby", tabs.children[index].id);
    body.replaceChildren(...example_maps(examples[index]));
    refresh();
  };
  examples.forEach((example, i) => {
    const name = (example.source || []).join(long_tokens(example.source) ? " " : "") || `example ${i + 1}`;
    tabs.append(h("button", {role: "tab", type: "button", id: `example-${i + 1}`, "aria-controls": "example", onclick: () => show(i)}, name));
  });
  arrows(tabs, (i) => show(i));
  const section = h("section", {"aria-label": "Attention maps"}, h("h2", {}, finding.title), h("p.caption", {}, finding.caption),
    several ? tabs : null, body);
  return {section, start: () => show(0)};
}

const long_tokens = (tokens) => (tokens || []).some((t) => [...shown(t)].length > 1);

/** Makes the left and right keys move the focus in a row of buttons, and up and down too among radio buttons. The tab key stops at the last focused button only. */
function arrows(row, act) {
  const moves = {ArrowLeft: -1, ArrowRight: 1, ...(row.getAttribute("role") === "radiogroup" ? {ArrowUp: -1, ArrowDown: 1} : {})};
  row.addEventListener("focusin", ({target}) => { for (const button of row.children) button.tabIndex = button === target ? 0 : -1; });
  row.addEventListener("keydown", (event) => {
    const move = moves[event.key];
    const at = [...row.children].indexOf(document.activeElement);
    if (!move || at < 0) return;
    event.preventDefault();
    const next = (at + move + row.children.length) % row.children.length;
    row.children[next].focus();
    if (act) act(next);
  });
}

/** The tokens of one side as buttons: hover or focus chooses, click locks. */
function strip(side, title, tokens) {
  const row = h("div.tokens", {role: "toolbar", "aria-label": title});
  tokens.forEach((token, i) => row.append(h("button", {
    type: "button", tabindex: i === 0 ? 0 : -1, "aria-pressed": "false", "aria-label": `token ${i + 1}: ${said(token)}`,
    onmouseenter: () => choose(side, i), onmouseleave: () => choose(side, null),
    onfocus: () => choose(side, i), onblur: () => choose(side, null), onclick: () => lock(side, i),
  }, shown(token))));
  arrows(row);
  strips[side] = [...row.children];
  return h("div.sentence", {}, h("span", {}, title), row);
}

function choose(side, index) {
  const row = index ?? locked[side];
  if (chosen[side] === row) return;
  chosen[side] = row;
  refresh();
}

function lock(side, index) {
  locked[side] = locked[side] === index ? null : index;
  chosen[side] = index;
  refresh();
}

function refresh() {
  for (const side of ["source", "target"]) {
    (strips[side] || []).forEach((button, i) => {
      button.classList.toggle("on", chosen[side] === i);
      button.classList.toggle("locked", locked[side] === i);
      button.setAttribute("aria-pressed", locked[side] === i);
    });
  }
  const mean = mean_row("cross", chosen.target);
  // Less than half of the full shade, so that the text stays readable.
  (strips.source || []).forEach((button, i) => button.style.setProperty("--weight", mean ? (0.45 * mean[i]).toFixed(3) : 0));
  maps.forEach(draw_map);
  followers.forEach((follow) => follow());
}

/** The mean over living heads of one row of a kind's maps. */
function mean_row(kind, index) {
  const living = maps.filter((entry) => entry.map.kind === kind && !entry.gone);
  if (index === null || !living.length) return null;
  return living[0].map.rows[index].map((_, k) => living.reduce((sum, e) => sum + e.map.rows[index][k], 0) / living.length);
}

function example_maps(example) {
  maps.splice(0, maps.length, ...maps.filter((entry) => entry.side === "life"));  // lives.js has its own map
  strips = {};
  for (const side of ["source", "target"]) chosen[side] = locked[side] = null;
  const parts = [];
  if (example.source) parts.push(strip("source", "source", example.source));
  if (example.target) parts.push(strip("target", "target", example.target));
  for (const group of kinds) {
    const given = example.maps.filter((map) => map.kind === group.kind);
    if (!given.length) continue;
    const {queries, keys} = axes(example, group.kind);
    parts.push(h("h4", {}, group.title), h("p.caption", {}, group.text));
    // Every head of the grid gets a cell, also one without a map.
    const known = (run.heads || []).filter((head) => head.kind === group.kind);
    const wanted = [...given, ...known.filter((head) => !given.some((map) => head_name(map) === head_name(head)))];
    const layers = [...new Set(wanted.map((map) => map.layer))].sort((a, b) => a - b);
    for (const layer of layers) {
      const row = wanted.filter((map) => map.layer === layer).sort((a, b) => a.head - b.head);
      parts.push(h("p.layer", {}, `layer ${layer}`), map_row(row_title(group, layer),
        row.map((map) => map_card(map, queries, keys, group.rows))));
    }
    parts.push(rows_fold(group, queries, keys));
  }
  return parts;
}

function map_card(map, queries, keys, side) {
  const removed_at = heads_by_name.get(head_name(map))?.removed_at;
  const gone = is_number(removed_at);
  const head = head_of(map);
  const title = h("p", {}, h("b.name", {}, is_number(head) ? swatch(head) : null, map.name ?? `head ${map.head}`),
    gone ? h("span", {title: `removed at step ${commas(removed_at)}`}, `removed at ${commas(removed_at)}`) : null);
  return h("div.map" + (gone ? ".removed" : ""), {}, title,
    map.rows ? map_canvas({map, queries, keys, side, gone}) : h("div.none", {}, gone ? "removed" : "no map"));
}

/** The canvas of {map, queries, keys, side, gone}, with a line that describes its chosen row. For screen readers it is a slider whose value is the row. */
function map_canvas(entry) {
  const {map, queries, keys, side} = entry;
  const canvas = h("canvas", {role: "slider", "aria-orientation": "vertical", "aria-valuemin": 1, "aria-valuemax": queries.length,
    "aria-label": map.name ?? `head ${head_name(map)}`, "aria-description": describe_map(map, queries, keys)});
  const read = h("span.read", {});
  Object.assign(entry, {canvas, read});
  const row_at = (event) => {
    const box = canvas.getBoundingClientRect();
    const row = Math.floor((event.clientY - box.top - entry.top) / entry.step_y);
    return row >= 0 && row < queries.length ? row : null;
  };
  canvas.addEventListener("mousemove", (event) => choose(side, row_at(event)));
  canvas.addEventListener("mouseleave", () => choose(side, null));
  canvas.addEventListener("click", (event) => { const row = row_at(event); if (row !== null) lock(side, row); });
  by_keyboard(entry);
  maps.push(entry);
  return [canvas, read];
}

/** Makes the up and down keys choose a row of the focused map, and Enter lock it. The row is kept when the focus moves to a map beside it. */
function by_keyboard({canvas, side, queries}) {
  canvas.addEventListener("focus", () => { if (canvas.matches(":focus-visible")) choose(side, chosen[side] ?? 0); });
  canvas.addEventListener("blur", ({relatedTarget: next}) => {
    if (next?.tagName !== "CANVAS" || next.closest(".maps") !== canvas.closest(".maps")) choose(side, null);
  });
  canvas.addEventListener("keydown", (event) => {
    const last = queries.length - 1, row = chosen[side] ?? 0;
    const next = {ArrowUp: Math.max(0, row - 1), ArrowDown: Math.min(last, row + 1), Home: 0, End: last}[event.key];
    if (next !== undefined) choose(side, next);
    else if (event.key === "Enter" || event.key === " ") lock(side, row);
    else return;
    event.preventDefault();
  });
}

const row_title = (group, layer) => `${group.title}, layer ${layer}: left and right change the head, up and down the row`;

/** Maps side by side. The tab key stops at one of them; left and right move between them. */
function map_row(title, cards) {
  const row = h("div.maps", {role: "group", "aria-label": title}, cards);
  const canvases = [...row.querySelectorAll("canvas")];
  const stop = (at) => canvases.forEach((canvas, i) => { canvas.tabIndex = i === at ? 0 : -1; });
  stop(0);
  if (!canvases.length) row.tabIndex = 0;
  canvases.forEach((canvas, i) => canvas.addEventListener("focus", () => stop(i)));
  row.addEventListener("keydown", (event) => {
    const next = canvases[canvases.indexOf(document.activeElement) + ({ArrowLeft: -1, ArrowRight: 1}[event.key] ?? NaN)];
    if (!next) return;
    event.preventDefault();
    next.focus();
  });
  return row;
}

const strongest = (row) => row.reduce((best, w, i) => Math.abs(w) > Math.abs(row[best]) ? i : best, 0);

function describe_map(map, queries, keys) {
  const parts = map.rows.map((row, i) => `${shown(queries[i])} to ${shown(keys[strongest(row)])} ${row[strongest(row)].toFixed(2)}`);
  return `strongest weight of each row: ${parts.join(", ")}`;
}

/** The table of the maps' values: the chosen row in every head of the kind. */
function rows_fold(group, queries, keys) {
  const details = h("details", {}, h("summary", {}, "Values"));
  const fill = () => {
    const row = chosen[group.rows] ?? 0;
    const entries = maps.filter((entry) => entry.map.kind === group.kind);
    details.replaceChildren(details.firstChild, h("p.caption", {}, `The row of token ${row + 1}, “${shown(queries[row])}”. Lock another token and open this again for its row.`),
      table(["head", ...keys.map(shown)], entries.map((e) => [head_name(e.map), ...e.map.rows[row].map((w) => w.toFixed(2))]), group.title));
  };
  details.addEventListener("toggle", () => { if (details.open) fill(); });
  return details;
}

function draw_map(entry) {
  const {canvas, map, queries, keys} = entry;
  const width = canvas.clientWidth;
  if (!width) return;
  const ctx = canvas.getContext("2d");
  const ratio = window.devicePixelRatio || 1;
  const mono = "ui-monospace, 'DejaVu Sans Mono', monospace";
  const labels = !entry.plain, rough = width / (keys.length + 2);
  const size = Math.max(7, Math.min(12, rough * 0.95));
  const font = (bold) => `${bold ? "600 " : ""}${size}px ${mono}`;
  ctx.font = font(true);
  const widest = (tokens) => Math.max(...tokens.map((t) => ctx.measureText(shown(t)).width));
  const upright = !long_tokens(keys);
  const left = labels ? Math.min(80, widest(queries)) + 6 : 0;
  const top = labels ? (upright ? size : Math.min(70, widest(keys))) + 7 : 0;
  const cell = Math.min((width - left) / keys.length, 28);
  const high = Math.min(cell, 24);
  const height = Math.ceil(top + high * queries.length + 1);
  Object.assign(entry, {top, step_y: high});
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.height = height + "px";
  }
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.clearRect(0, 0, width, height);
  const row = chosen[entry.side] ?? null;
  const head = head_of(map);
  const colour = entry.gone ? "rgb(128, 132, 138)" : is_number(head) ? css(head_variable(head)) : `rgb(${css("--heat")})`;
  ctx.fillStyle = css("--grid");
  ctx.fillRect(left, top, cell * keys.length, high * queries.length);
  const gap = cell > 6 ? 1 : 0.5;
  // The chosen row of a small map is drawn so high that its weights can be seen.
  const band = {high: cell < 5 ? Math.min(6, high * queries.length) : high};
  band.top = Math.max(top, Math.min(top + (row + 0.5) * high - band.high / 2, top + high * queries.length - band.high));
  const picture = cell < 5 ? map_picture(entry, colour) : null;  // quicker than thousands of cells
  if (picture) {
    ctx.imageSmoothingEnabled = cell * ratio < 1;
    const wide = cell * keys.length;
    ctx.globalAlpha = row !== null ? 0.3 : entry.gone ? 0.75 : 1;
    ctx.drawImage(picture, left, top, wide, high * queries.length);
    ctx.globalAlpha = 1;
    if (row !== null) {
      ctx.fillRect(left, band.top, wide, band.high);
      ctx.globalAlpha = entry.gone ? 0.75 : 1;
      ctx.drawImage(picture, 0, row, keys.length, 1, left, band.top, wide, band.high);
    }
  } else map.rows.forEach((weights, q) => {
    const faint = row !== null && q !== row ? 0.16 : entry.gone ? 0.75 : 1;
    weights.forEach((w, k) => {
      const share = Math.abs(w) / (map.top ?? 1);
      if (!(share >= 0.004)) return;
      ctx.globalAlpha = faint * Math.min(1, share);
      ctx.fillStyle = w < 0 ? css("--second") : colour;
      ctx.fillRect(left + k * cell, top + q * high, cell - gap, high - gap);
    });
  });
  ctx.globalAlpha = 1;
  if (row !== null) {
    ctx.strokeStyle = css("--ink");
    ctx.lineWidth = 1.5;
    ctx.strokeRect(left - 0.5, band.top - 1, cell * keys.length + 0.5, band.high + 1);
  }
  if (labels) label_axes(ctx, entry, {left, top, cell, high, size, upright, font, row});
  const text = row === null ? "" : reading(map.rows[row], keys, queries[row], map.top);
  if (labels) entry.read.textContent = entry.read.title = text;
  canvas.setAttribute("aria-valuenow", (row ?? 0) + 1);
  canvas.setAttribute("aria-valuetext", text || "no row is chosen");
}

const one_pixel = h("canvas", {width: 1, height: 1}).getContext("2d", {willReadFrequently: true});

/** Red, green and blue of a colour. */
function rgb_of(paint) {
  one_pixel.fillStyle = paint;
  one_pixel.fillRect(0, 0, 1, 1);
  return [...one_pixel.getImageData(0, 0, 1, 1).data].slice(0, 3);
}

/** A map as a picture with a pixel for each weight, as opaque as the weight is large. It is drawn once for each colour. */
function map_picture(entry, colour) {
  if (entry.picture?.colour === colour) return entry.picture.canvas;
  const {map, queries, keys} = entry;
  const canvas = h("canvas", {width: keys.length, height: queries.length}), ctx = canvas.getContext("2d");
  const positive = rgb_of(colour), negative = rgb_of(css("--second"));
  const pixels = ctx.createImageData(keys.length, queries.length);
  map.rows.flat().forEach((w, i) => pixels.data.set([...(w < 0 ? negative : positive), 255 * Math.min(1, Math.abs(w) / (map.top ?? 1))], 4 * i));
  ctx.putImageData(pixels, 0, 0);
  entry.picture = {canvas, colour};
  return canvas;
}

/** The labels to draw: all wanted ones, and every n-th of the others that is not too close to one of them. */
function labelled(count, every, wanted) {
  const near = (at) => wanted.some((other) => Math.abs(at - other) < every);
  return [...Array(count).keys()].filter((at) => wanted.includes(at) || (at % every === 0 && !near(at)));
}

function label_axes(ctx, {map, queries, keys}, {left, top, cell, high, size, upright, font, row}) {
  const soft = css("--soft"), strong = css("--ink");
  ctx.textBaseline = "middle";
  ctx.textAlign = "right";
  for (const q of labelled(queries.length, Math.ceil(size * 0.9 / high), row === null ? [] : [row])) {
    ctx.fillStyle = q === row ? strong : soft;
    ctx.font = font(q === row);
    ctx.fillText(shown(queries[q]), left - 5, top + (q + 0.5) * high, left - 5);
  }
  const hits = row === null ? [] : [...keys.keys()].filter((k) => map.rows[row][k] >= 0.1);
  for (const k of labelled(keys.length, Math.ceil(size * (upright ? 0.75 : 0.9) / cell), hits)) {
    const text = shown(keys[k]);
    ctx.fillStyle = hits.includes(k) ? strong : soft;
    ctx.font = font(hits.includes(k));
    ctx.save();
    ctx.translate(left + (k + 0.5) * cell, top - 4);
    if (upright) { ctx.textAlign = "center"; ctx.textBaseline = "alphabetic"; ctx.fillText(text, 0, 0); }
    else { ctx.rotate(-Math.PI / 2); ctx.textAlign = "left"; ctx.fillText(text, 0, 0, 64); }
    ctx.restore();
  }
}

/** "2 → y 0.83, a 0.10": the three strongest keys of a row. */
function reading(weights, keys, query, top = 1) {
  const size = (i) => Math.abs(weights[i]);
  const order = weights.map((w, i) => i).sort((a, b) => size(b) - size(a)).slice(0, 3).filter((i) => size(i) >= 0.05 * top);
  return `${shown(query)} → ` + order.map((i) => `${shown(keys[i])} ${weights[i].toFixed(2)}`).join(", ");
}
