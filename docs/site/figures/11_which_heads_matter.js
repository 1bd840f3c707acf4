// The game of heads: the loss of every set of them, and what each head would cost now.
const {heads, losses} = record, all = losses.length - 1;
const indices = [...heads.keys()], name_of = (i) => `${heads[i].kind} ${heads[i].head}`;
const alone = indices.map((i) => losses[all ^ 1 << i] - losses[all]);
const off_of = (on) => indices.filter((i) => !(on >> i & 1));
const sum = (of) => of.reduce((total, i) => total + alone[i], 0);

/** The interaction of each pair, its cost minus the sum of both costs; the largest first. */
const pairs = indices.flatMap((i) => indices.slice(i + 1).map((j) => [i, j]))
  .map(([i, j]) => ({i, j, adds: losses[all ^ 1 << i ^ 1 << j] - losses[all] - alone[i] - alone[j]})).sort((a, b) => b.adds - a.adds);

function said(on, off) {
  const loss = losses[on], rise = plain(loss - losses[all]);
  if (!off.length) return `All heads are on: the loss is ${plain(loss)}. Switch one off, and see which numbers change.`;
  if (off.length === 1) return `Without ${name_of(off[0])}, the loss rises by ${rise}, to ${plain(loss)}. Whose number has grown most?`;
  if (off.length > 2) return `Without ${off.length === heads.length ? `all ${off.length}` : `these ${off.length}`} heads, the loss rises by ${rise}. Their single costs add up to ${plain(sum(off))}.`;
  const place = pairs.findIndex(({i, j}) => i === off[0] && j === off[1]), {adds} = pairs[place];
  const rank = place === 0 ? "No other pair adds as much: each of the two backs up the other." : `${place} of ${pairs.length} pairs add${place === 1 ? "s" : ""} more.`;
  return `Together ${name_of(off[0])} and ${name_of(off[1])} cost ${rise}: ${plain(Math.abs(adds))} ${adds < 0 ? "less" : "more"} than the sum of their costs. ${rank}`;
}

figure({
  title: "Switch heads off: which of them stand in for each other?",
  start: {on: all},
  still: {on: all ^ 1 << pairs[0].j},
  controls: [
    button("All on", () => ({on: all})),
    button("Switch off the cheapest", ({on}) => {
      const left = indices.filter((i) => on >> i & 1);
      return left.length ? {on: on ^ 1 << left.reduce((best, i) => losses[on ^ 1 << i] < losses[on ^ 1 << best] ? i : best)} : null;
    }),
    button("All off", () => ({on: 0})),
  ],
  draw({on}, width) {
    const off = off_of(on), kinds = [...new Set(heads.map((head) => head.kind))], wide = width >= 520;
    const left = wide ? 68 : 0, size = (width - left) / 4, high = 56, row = wide ? high + 8 : high + 30, top = wide ? 30 : 52;
    const chips = indices.map((i) => {
      const here = on >> i & 1, cost = here ? losses[on ^ 1 << i] - losses[on] : null;
      const x = left + heads[i].head * size + 3, y = top + kinds.indexOf(heads[i].kind) * row, grown = here && cost > alone[i] + 2;
      return press(s("g", {},
        rect(x, y, size - 6, high, {rx: 8, fill: "var(--card)", stroke: grown ? "var(--second)" : here ? "var(--line)" : "var(--goal)", "stroke-width": grown ? 2 : 1, "stroke-dasharray": here ? null : "4 4"}),
        here ? rect(x, y, size - 6, high, {rx: 8, ...shade(0.6 * Math.sqrt(Math.max(0, cost) / 12), grown ? "var(--second)" : "var(--first)")}) : null,
        label(x + size / 2 - 3, y + 25, here ? cost.toFixed(2) : "off", {"text-anchor": "middle", "font-size": 17, "font-weight": 600, fill: here ? "var(--ink)" : "var(--soft)"}),
        label(x + size / 2 - 3, y + 44, `alone ${alone[i].toFixed(2)}`, {"text-anchor": "middle", fill: here ? "var(--ink)" : "var(--soft)", "fill-opacity": 0.8})),
      `head-${i}`, `${name_of(i)}: ${here ? `on, would cost ${plain(cost)} now` : "off"}; alone ${plain(alone[i])}`, () => ({on: shown.state.on ^ 1 << i}));
    });
    const names = kinds.map((kind, k) => wide ? label(0, top + k * row + high / 2 + 4, kind, {fill: "var(--ink)"}) : label(3, top + k * row - 7, kind, {fill: "var(--ink)"}));
    const bars = top + kinds.length * row + (wide ? 24 : 12), x = scale([0, Math.max(...losses)], [0, width - 50]);
    const bar = (y, value, text, colour, thin) => [label(0, y - 6, text), rect(0, y, Math.max(2, x(value)), 16, thin ? {rx: 3, fill: "none", stroke: colour, "stroke-width": 1.5} : {rx: 3, fill: colour}), label(Math.max(2, x(value)) + 6, y + 12.5, plain(value), {fill: "var(--ink)"})];
    const loss = losses[on], expected = losses[all] + sum(off);
    return {height: bars + 76, values: {loss, expected, off: off.length}, text: said(on, off),
      parts: [label(0, 12, wide ? "Press a head. Its number: by how much the loss rises if it is switched off now" : "Press a head. Its number: its cost now"), names, chips,
        bar(bars, Math.max(0, expected), "the loss, if costs added up", "var(--goal)", true), bar(bars + 52, loss, "the loss", off.length ? "var(--second)" : "var(--first)")]};
  },
});
