// The paths of three optimizers through a valley, side by side.
const {bend, paths} = record;
const rates = Object.keys(paths);
const rules = [["plain descent", "var(--first)"], ["momentum", "var(--second)"], ["Adam", "var(--third)"]];
const last_step = paths[rates[0]].Adam.length - 1;
const loss_at = ([a, b]) => bend[0] * a * a + bend[1] * b * b;

figure({
  title: "Three optimizers in the same valley",
  start: {step: 0, rate: "0.3"},
  still: {step: 30, rate: "0.9"},
  play: {name: "step", seconds: 10},
  controls: [
    slider("step", "step", [...Array(last_step + 1).keys()]),
    slider("rate", "learning rate", rates),
  ],
  draw({step, rate}, width) {
    const narrow = width < 480, top = narrow ? 58 : 26, high = narrow ? 200 : 240;
    const x = scale([-10, 7], [0, width]), y = scale([-3.2, 3.2], [top + high, top]);
    const losses = Object.fromEntries(rules.map(([rule]) => [rule, loss_at(paths[rate][rule][step])]));
    const inside = ([px, py]) => px >= 0 && px <= width && py >= top && py <= top + high;
    const parts = [rect(0, top, width, high, {rx: 8, fill: "var(--grid)", "fill-opacity": 0.45})];
    const rings = [0.02, 0.3, 1, 2.2, 4, 6.4, 9].map((loss) => s("ellipse", {cx: short(x(0)), cy: short(y(0)),
      rx: short(x(Math.sqrt(loss / bend[0])) - x(0)), ry: short(y(0) - y(Math.sqrt(loss / bend[1])))}));
    parts.push(s("clipPath", {id: "valley"}, rect(0, top, width, high, {rx: 8})),
      s("g", {"clip-path": "url(#valley)", fill: "none", stroke: "var(--goal)", "stroke-opacity": 0.45}, rings));
    parts.push(label(x(0), y(0) + 4, "+", {"text-anchor": "middle", fill: "var(--ink)"}));
    rules.forEach(([rule, colour], i) => {
      const column = narrow ? 0 : 4 + i * width / 3, row = narrow ? 12 + 17 * i : 14, left = losses[rule] > 1000;
      parts.push(dot(column + 5, row - 4, 5, {fill: colour}), label(column + 16, row, rule, {fill: "var(--ink)"}),
        label(column + 106, row, left ? "off the map" : `loss ${plain(losses[rule], 2)}`, {fill: left ? "var(--bad)" : "var(--ink)", "font-weight": 600}));
      const walked = paths[rate][rule].slice(0, step + 1).map(([a, b]) => [x(a), y(b)]);
      const end = walked.findIndex((point) => !inside(point)), seen = end < 0 ? walked : walked.slice(0, end);
      if (end >= 0) seen.push([Math.max(0, Math.min(width, walked[end][0])), Math.max(top, Math.min(top + high, walked[end][1]))]);
      parts.push(curve(seen, {stroke: colour, "stroke-width": 2}));
      for (const point of seen) parts.push(dot(...point, 2, {fill: colour}));
      if (end < 0) parts.push(dot(...walked.at(-1), 6, {fill: colour, stroke: "var(--card)", "stroke-width": 2}));
    });
    const below = top + high + 46, across = scale([0, last_step], [44, width - 10]), up = scale([1e-4, 100], [below + 100, below], {log: true});
    parts.push(axis_left(up, 44, powers(-4, 2, 2), "loss", width - 10), axis_below(across, below + 100, [0, 20, 40, 60, 80], "step"));
    for (const [rule, colour] of rules) {
      const all = paths[rate][rule].map((point, i) => [across(i), loss_at(point)]);
      const points = all.map(([px, loss]) => [px, loss > 100 ? NaN : up(Math.max(loss, 1e-4))]);
      parts.push(curve(points, {stroke: colour, "stroke-opacity": 0.3}), curve(points.slice(0, step + 1), {stroke: colour}));
    }
    parts.push(line(across(step), below, across(step), below + 100, {stroke: "var(--ink)", "stroke-dasharray": "3 3"}));
    const best = rules.map(([rule]) => rule).reduce((a, b) => losses[b] < losses[a] ? b : a);
    const gone = rules.filter(([rule]) => losses[rule] > 1000).map(([rule]) => rule);
    return {height: below + 140, parts, values: losses,
      text: `Step ${step} with a learning rate of ${rate}. ` + (step === 0 ? "All three start in the same place." : `Lowest: ${best}, with a loss of ${plain(losses[best], 2)}.`)
        + (gone.length ? ` From wall to wall, each step of ${gone.join(" and ")} is longer than the last.` : "")};
  },
});
