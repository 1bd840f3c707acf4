// The distance of two trainings that began with the same weights, and one of their weights in digits.
const steps = [...Array(record.runs[0].apart.length).keys()].map((i) => i + 1);
const seeds = [...new Set(record.runs.map((run) => run.seed))];
const ways = [["layouts", "layout only"], ["nudged", "one weight moved by 6e-8"], ["slow", "layout, a tenth of the rate"]];
const run_of = (seed, way) => record.runs.find((run) => run.seed === seed && run.way === way);

/** The number of characters that two texts have in common from the left. */
function common(one, other) {
  let i = 0;
  while (i < one.length && one[i] === other[i]) ++i;
  return i;
}

figure({
  title: "Two runs that part",
  start: {step: 1, way: "layouts", seed: 1},
  still: {step: 20},
  play: {name: "step", seconds: 10},
  controls: [
    slider("step", "training step", steps),
    choice("way", "what differs", ways),
    choice("seed", "seed", seeds),
  ],
  draw({step, way, seed}, width) {
    const run = run_of(seed, way), apart = run.apart[step - 1], [one, other] = run.weights[step - 1];
    const same = common(one, other), digits = [...one.slice(0, same)].filter((c) => c >= "0" && c <= "9").length;
    const size = Math.min(26, (width - 20) / 18 / 0.62), left = 46;
    const number = (text, y, name) => [label(0, y - size - 4, name),
      s("text", {x: 0, y: short(y), class: "mono", "font-size": short(size), "font-weight": 600, "xml:space": "preserve"},
        s("tspan", {fill: "var(--third)"}, text.slice(0, same)), s("tspan", {fill: "var(--second)"}, text.slice(same)))];
    const top = 2 * size + 104, x = scale([0, steps.length], [left, width - 14]), y = scale([1e-17, 3], [top + 230, top], {log: true});
    const line_of = (other_seed) => run_of(other_seed, way).apart.map((value, i) => [x(i + 1), y(value)]);
    const parts = [
      number(one, size + 20, "one weight of the run with separate heads"), number(other, 2 * size + 50, "the same weight of the run with fused heads"),
      axis_left(y, left, powers(-16, 0, 4), "how far apart all weights are", width - 14), axis_below(x, top + 230, [0, 20, 40, 60], "training step"),
      line(left, y(0.01), width - 14, y(0.01), {stroke: "var(--second)", "stroke-dasharray": "4 4"}), label(width - 14, y(0.01) - 5, "1 %", {"text-anchor": "end", fill: "var(--second)"}),
      seeds.filter((other_seed) => other_seed !== seed).map((other_seed) => curve(line_of(other_seed).slice(0, step), {stroke: "var(--goal)", "stroke-width": 1, "stroke-opacity": 0.55})),
      curve(line_of(seed).slice(0, step), {stroke: "var(--first)", "stroke-width": 2.5}), dot(x(step), y(apart), 5, {fill: "var(--first)"}),
    ];
    const parted = run.apart.findIndex((value) => value > 0.01) + 1;
    const fate = apart > 0.01 ? step === parted ? "From here on, they are two models." : "These are two models." : `The weight has ${digits} digits in common.`;
    return {height: top + 230 + 38, parts, values: {apart, digits},
      text: `After step ${step} the two runs are ${plain(apart)} apart. ${fate}`};
  },
  drag(x) {
    const last = shown.picture.firstElementChild.viewBox.baseVal.width - 14, at = scale([0, steps.length], [46, last]).inverse(x);
    return {step: Math.max(1, Math.min(steps.length, Math.round(at)))};
  },
});
