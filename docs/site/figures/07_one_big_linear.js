// Rows of separate projections are copied into the fused matrix, one after the other.
const {width: channels} = record;
const rows = 3 * channels, places = [...Array(rows + 1).keys()];

/** The rows in the order in which they are copied: where each of them is in both layouts. */
function moves(layer, order) {
  const head_dim = channels / layer.heads;
  return layer.separate.flatMap(({name, role, head, begin, end}) => {
    const slice = layer.fused.find((one) => one.role === role && one.head === head);
    const third = Math.floor(slice.begin / channels);
    return [...Array(end - begin).keys()].map((i) => ({name, role, head, third, row: begin + i,
      to: order === "blocked" ? slice.begin + i : third * channels + i * layer.heads + head, y: head * head_dim + i}));
  });
}

/** The places and sizes of the rows for a width of the picture. */
function plan(width, heads) {
  const high = 6, cell = Math.max(66, Math.min(116, (width - 90) / 4)), gap = width < 500 ? 7 : 14, top = 42, tall = rows * high + 2 * 12;
  const right = width - cell - 14, between = heads === 1 ? 0 : 0.7 * (tall - channels * high) / (heads - 1);
  const used = channels * high + (heads - 1) * between, first = top + (tall - used) / 2;
  return {high, cell, top, right, tall, gap,
    left: (move) => [14 + move.third * (cell + gap), first + move.y * high + move.head * between],
    fused: (to) => [right, top + to * high + Math.floor(to / channels) * 12]};
}

const layer_of = (heads) => record.layers.find((one) => one.heads === heads);

figure({
  title: "The same rows in two layouts",
  start: {copied: 0, heads: 4, order: "blocked"},
  still: {copied: 29},
  play: {name: "copied", seconds: 9},
  controls: [
    slider("copied", "rows copied", places),
    choice("heads", "heads", [1, 2, 4]),
    choice("order", "the fused rows are counted", [["blocked", "head after head"], ["interleaved", "feature after feature"]]),
  ],
  draw({copied, heads, order}, width) {
    const layer = layer_of(heads), all = moves(layer, order), at = plan(width, heads), apart = layer[order][copied];
    const colour = (head) => `var(--head-${head})`;
    const bar = ([x, y], head, attributes) => rect(x, y + 0.5, at.cell, at.high - 1, {fill: colour(head), ...attributes});
    const last = all[copied - 1];
    const parts = [
      ["query", "key", "value"].map((role, third) => label(at.left({third, y: 0, head: 0})[0] + at.cell / 2, 30, role, {"text-anchor": "middle"})),
      label(14 + 1.5 * at.cell + at.gap, 12, heads === 1 ? "3 separate matrices" : `${3 * heads} separate matrices`, {"text-anchor": "middle", fill: "var(--ink)"}),
      label(at.right + at.cell, 12, "one fused matrix", {"text-anchor": "end", fill: "var(--ink)"}),
      [...Array(heads).keys()].map((head) => label(10, at.left({third: 0, y: (head + 0.5) * channels / heads, head})[1] + 4, String(head), {"text-anchor": "end", fill: colour(head), "font-weight": 700})),
      ["Q", "K", "V"].map((name, third) => label(at.right + at.cell + 4, at.fused(third * channels + channels / 2)[1] + 4, name)),
      places.slice(0, rows).map((to) => rect(at.right, at.fused(to)[1] + 0.5, at.cell, at.high - 1, {fill: "var(--grid)"})),
      all.map((move) => bar(at.left(move), move.head, {"fill-opacity": last === move ? 1 : 0.55})),
      all.slice(0, copied).map((move) => bar(at.fused(move.to), move.head, {"fill-opacity": last === move ? 1 : 0.55})),
    ];
    if (last) {
      const [x, y] = at.left(last), [u, v] = at.fused(last.to), mid = at.high / 2, bend = Math.min(60, (u - x - at.cell) / 2);
      parts.push(s("path", {d: `M${short(x + at.cell)} ${short(y + mid)}C${short(x + at.cell + bend)} ${short(y + mid)} ${short(u - bend)} ${short(v + mid)} ${short(u)} ${short(v + mid)}`, fill: "none", stroke: colour(last.head), "stroke-width": 2}));
      for (const place of [[x, y], [u, v]]) parts.push(rect(place[0] - 1, place[1] - 1, at.cell + 2, at.high + 2, {fill: "none", stroke: "var(--ink)", "stroke-width": 1.5, rx: 2}));
    }
    const top = at.top + at.tall + 44, x = scale([0, rows], [30, width - 14]), y = scale([0, 1.8], [top + 70, top]);
    parts.push(axis_left(y, 30, [0, 1], "how far apart the two outputs are", width - 14), axis_below(x, y(0), [0, channels, 2 * channels, rows], "rows copied"),
      curve(layer[order].slice(0, copied + 1).map((value, i) => [x(i), y(value)]), {stroke: "var(--first)"}), dot(x(copied), y(apart), 4.5, {fill: "var(--first)"}));
    const said = copied === 0 ? `No row is copied yet: the two outputs are ${plain(apart)} apart.`
      : copied < rows ? `Row ${last.row} of ${last.name} becomes row ${last.to} of in_proj_weight. With ${copied} of ${rows} rows copied, the outputs are still ${plain(apart)} apart.`
      : apart === 0 ? `The last row arrives, and the distance is 0: no bit of the outputs differs. Until then, nothing looked right.`
      : `All ${rows} rows are there and every shape fits, but in the order of the other count: the outputs are ${plain(apart)} apart.`;
    return {height: top + 70 + 38, parts, text: said, values: {copied, to: last ? last.to : -1, apart}};
  },
  drag(x, y, phase, {heads, order}) {
    const at = plan(shown.picture.firstElementChild.viewBox.baseVal.width, heads), all = moves(layer_of(heads), order);
    const far = ([u, v]) => Math.hypot(Math.max(0, u - x, x - u - at.cell), (v + at.high / 2 - y) * 2);
    const distances = all.map((move) => Math.min(far(at.left(move)), far(at.fused(move.to))));
    const best = distances.indexOf(Math.min(...distances));
    return distances[best] < 24 ? {copied: best + 1} : null;
  },
});
