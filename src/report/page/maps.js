// Attention maps: a small canvas per head, all of an example answering to the same chosen symbol.
const kinds = [
  {kind: "encoder", title: "Encoder self-attention", rows: "source", text: "rows: the source symbol that looks · columns: the source symbol it looks at"},
  {kind: "cross", title: "Cross-attention", rows: "target", text: "rows: the symbol being written · columns: the source symbol it looks at"},
  {kind: "decoder", title: "Decoder self-attention", rows: "target", text: "rows: the symbol being written · columns: what was written before it"},
];
const maps = [];                                    // those on the page: {canvas, map, ...}
const chosen = {source: null, target: null};        // index of the shown row
const locked = {source: null, target: null};
let strips = {};                                    // buttons of both token strips

const followers = [];                               // what else a page does when another row is chosen

const shown = (token) => ({" ": "␣", "\n": "⏎", "\t": "⇥"})[token] ?? token;
const head_name = (head) => head.name ?? `${head.kind} ${head.layer}.${head.head}`;  // a map may have a name of its own
const heads_by_name = new Map((run.heads || []).map((head) => [head_name(head), head]));

/** Tokens on the axes of a kind's maps. */
function axes(example, kind) {
  if (kind === "encoder") return {queries: example.source, keys: example.source};
  if (kind === "cross") return {queries: example.target, keys: example.source};
  return {queries: example.target, keys: example.decoder_input || ["‹", ...example.target.slice(0, -1)]};
}

function maps_section(finding) {
  const body = h("div", {id: "example", role: "tabpanel"});
  const examples = run.examples;
  const tabs = h("div.tabs", {role: "tablist", "aria-label": "examples"});
  const show = (index) => {
    [...tabs.children].forEach((tab, i) => {
      tab.setAttribute("aria-selected", i === index);
      tab.tabIndex = i === index ? 0 : -1;
    });
    if (tabs.children[index]) body.setAttribute("aria-labelledby", tabs.children[index].id);
    body.replaceChildren(...example_maps(examples[index]));
    draw_maps();
  };
  examples.forEach((example, i) => {
    const name = (example.source || []).join(long_tokens(example.source) ? " " : "") || `example ${i + 1}`;
    tabs.append(h("button", {role: "tab", type: "button", id: `example-${i + 1}`, "aria-controls": "example", onclick: () => show(i)}, name));
  });
  arrows(tabs, (i) => show(i));
  const section = h("section", {"aria-label": "Attention maps"}, h("h2", {}, finding.title), h("p.look", {}, finding.look),
    examples.length > 1 ? tabs : null, body);
  return {section, start: () => show(0)};
}

const long_tokens = (tokens) => (tokens || []).some((t) => [...t].length > 1);

/** Left and right move the focus in a row of buttons. */
function arrows(row, act) {
  row.addEventListener("keydown", (event) => {
    const move = {ArrowLeft: -1, ArrowRight: 1}[event.key];
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
    type: "button", tabindex: i === 0 ? 0 : -1, "aria-pressed": "false", "aria-label": `symbol ${i + 1}: ${token === " " ? "space" : token}`,
    onmouseenter: () => choose(side, i), onmouseleave: () => choose(side, null),
    onfocus: () => choose(side, i), onblur: () => choose(side, null), onclick: () => lock(side, i),
  }, shown(token))));
  arrows(row);
  strips[side] = [...row.children];
  return h("div.sentence", {}, h("span", {}, title), row);
}

function choose(side, index) {
  chosen[side] = index ?? locked[side] ?? null;
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
  (strips.source || []).forEach((button, i) => button.style.setProperty("--weight", mean ? (0.75 * mean[i]).toFixed(3) : 0));
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
  maps.length = 0;
  strips = {};
  for (const side of ["source", "target"]) chosen[side] = locked[side] = null;
  const parts = [];
  if (example.source) parts.push(strip("source", "source, as it is read", example.source));
  if (example.target) parts.push(strip("target", "target, as it is written", example.target));
  for (const group of kinds) {
    const given = example.maps.filter((map) => map.kind === group.kind);
    if (!given.length) continue;
    const {queries, keys} = axes(example, group.kind);
    parts.push(h("h4", {}, group.title), h("p.look", {}, group.text));
    // Every head of the grid has its place, also one that left no map.
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
  const title = h("p", {}, h("b", {}, map.name ?? `head ${map.head}`), gone ? h("span", {title: `removed at step ${commas(removed_at)}`}, `removed at ${commas(removed_at)}`) : null);
  if (!map.rows) return h("div.map", {}, title, h("div.none", {}, gone ? "gone" : "no map"));
  return h("div.map", {}, title, map_canvas({map, queries, keys, side, gone}));
}

/** The canvas of {map, queries, keys, side, gone, colour} with the line that reads its chosen row out. */
function map_canvas(entry) {
  const {map, queries, keys, side} = entry;
  const canvas = h("canvas", {role: "img", "aria-label": describe_map(map, queries, keys)});
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

/** Up and down choose a row of the map that has the focus, Enter locks it; a status line says it. */
function by_keyboard(entry) {
  const {canvas, side, queries} = entry;
  const to = (row) => {
    choose(side, row);
    const status = canvas.closest(".maps")?.parentElement.querySelector("[role=status]");
    if (status) status.textContent = `${canvas.parentElement.querySelector("p b, p .name").textContent}: ${entry.read.textContent}`;
  };
  canvas.addEventListener("focus", () => { if (canvas.matches(":focus-visible")) to(chosen[side] ?? 0); });
  canvas.addEventListener("blur", () => choose(side, null));
  canvas.addEventListener("keydown", (event) => {
    const last = queries.length - 1, row = chosen[side] ?? 0;
    const next = {ArrowUp: Math.max(0, row - 1), ArrowDown: Math.min(last, row + 1), Home: 0, End: last}[event.key];
    if (next !== undefined) to(next);
    else if (event.key === "Enter" || event.key === " ") lock(side, row);
    else return;
    event.preventDefault();
  });
}

const row_title = (group, layer) => `${group.title}, layer ${layer}: left and right change the head, up and down the row`;

/** Maps beside each other: one of them is a stop for the tab key, left and right move between them. */
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
  return h("div", {}, row, h("p.unseen", {role: "status"}));
}

const strongest = (row) => row.reduce((best, w, i) => w > row[best] ? i : best, 0);

function describe_map(map, queries, keys) {
  const parts = map.rows.map((row, i) => `${shown(queries[i])} to ${shown(keys[strongest(row)])} ${row[strongest(row)].toFixed(2)}`);
  return `${map.name ?? "head " + head_name(map)}: strongest weight of each row: ${parts.join(", ")}`;
}

/** The table behind the maps: the chosen row in every head of the kind. */
function rows_fold(group, queries, keys) {
  const fold = h("details", {}, h("summary", {}, "The numbers"));
  const fill = () => {
    const row = chosen[group.rows] ?? 0;
    const entries = maps.filter((entry) => entry.map.kind === group.kind);
    fold.replaceChildren(fold.firstChild, h("p.look", {}, `The row of symbol ${row + 1}, “${shown(queries[row])}”. Lock another symbol and open this again for its row.`),
      table(["head", ...keys.map(shown)], entries.map((e) => [head_name(e.map), ...e.map.rows[row].map((w) => w.toFixed(2))]), group.title));
  };
  fold.addEventListener("toggle", () => { if (fold.open) fill(); });
  return fold;
}

function draw_map(entry) {
  const {canvas, map, queries, keys} = entry;
  const width = canvas.clientWidth;
  if (!width) return;
  const ctx = canvas.getContext("2d");
  const ratio = window.devicePixelRatio || 1;
  const mono = "ui-monospace, 'DejaVu Sans Mono', monospace";
  const rough = width / (keys.length + 2);
  const size = Math.max(7, Math.min(12, rough * 0.95));
  const font = (bold) => `${bold ? "600 " : ""}${size}px ${mono}`;
  ctx.font = font(true);
  const widest = (tokens) => Math.max(...tokens.map((t) => ctx.measureText(shown(t)).width));
  const upright = !long_tokens(keys);
  const left = Math.min(80, widest(queries)) + 6;
  const top = (upright ? size : Math.min(70, widest(keys))) + 7;
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
  const colour = entry.gone ? "rgb(128, 132, 138)" : entry.colour ? entry.colour() : `rgb(${css("--heat")})`;
  ctx.fillStyle = css("--grid");
  ctx.fillRect(left, top, cell * keys.length, high * queries.length);
  const gap = cell > 6 ? 1 : 0.5;
  map.rows.forEach((weights, q) => {
    const faint = row !== null && q !== row ? 0.16 : entry.gone ? 0.75 : 1;
    weights.forEach((w, k) => {
      if (w < 0.004) return;
      ctx.globalAlpha = faint * Math.min(1, w);
      ctx.fillStyle = colour;
      ctx.fillRect(left + k * cell, top + q * high, cell - gap, high - gap);
    });
  });
  ctx.globalAlpha = 1;
  if (row !== null) {
    ctx.strokeStyle = css("--second");
    ctx.lineWidth = 1.5;
    ctx.strokeRect(left - 0.5, top + row * high - 1, cell * keys.length + 0.5, high + 1);
  }
  label_axes(ctx, entry, {left, top, cell, high, size, upright, font, row});
  entry.read.textContent = row === null ? "" : reading(map.rows[row], keys, queries[row]);
}

function label_axes(ctx, {map, queries, keys}, {left, top, cell, high, size, upright, font, row}) {
  const soft = css("--soft"), strong = css("--ink");
  ctx.textBaseline = "middle";
  ctx.textAlign = "right";
  const every = Math.max(1, Math.ceil(size * 0.9 / high));
  queries.forEach((token, q) => {
    if (row === null ? q % every : q !== row && q % every) return;
    ctx.fillStyle = q === row ? strong : soft;
    ctx.font = font(q === row);
    ctx.fillText(shown(token), left - 5, top + (q + 0.5) * high, left - 5);
  });
  keys.forEach((token, k) => {
    const hit = row !== null && map.rows[row][k] >= 0.1;
    ctx.fillStyle = hit ? strong : soft;
    ctx.font = font(hit);
    ctx.save();
    ctx.translate(left + (k + 0.5) * cell, top - 4);
    if (upright) { ctx.textAlign = "center"; ctx.textBaseline = "alphabetic"; ctx.fillText(shown(token), 0, 0); }
    else { ctx.rotate(-Math.PI / 2); ctx.textAlign = "left"; ctx.fillText(shown(token), 0, 0, 64); }
    ctx.restore();
  });
}

/** "2 → y 0.83, a 0.10": the three strongest keys of a row. */
function reading(weights, keys, query) {
  const order = weights.map((w, i) => i).sort((a, b) => weights[b] - weights[a]).slice(0, 3).filter((i) => weights[i] >= 0.05);
  return `${shown(query)} → ` + order.map((i) => `${shown(keys[i])} ${weights[i].toFixed(2)}`).join(", ");
}

function draw_maps() { refresh(); }
