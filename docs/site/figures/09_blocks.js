// The size of the signal after each of twelve layers, and of the gradient that comes back.
const forms = [["branch", "f(x)"], ["residual", "x + f(x)"], ["post", "norm(x + f(x))"], ["warm", "the same, with warm-up"], ["pre", "x + f(norm(x))"]];
const steps = record.trainings.pre.map((frame) => frame.step);
const frame_of = (form, step) => record.trainings[form].find((frame) => frame.step === step);
const depth = frame_of("pre", 0).sizes.length, layers = [...Array(depth).keys()];

/** The curves of one quantity: now, and before the first step. */
function panel(left, top, wide, title, below, [now, before], [least, most], by) {
  const high = 200, x = scale([1, depth], [left + 42, left + wide - 8]), y = scale([least, most], [top + high, top], {log: true});
  const ticks = powers(Math.ceil(Math.log10(least)), Math.floor(Math.log10(most)), by);
  const points = (values) => values.map((value, i) => [x(i + 1), y(Math.max(least, value))]);
  return [
    axis_left(y, left + 42, ticks, null, left + wide - 8), label(left, top - 14, title, {fill: "var(--ink)"}),
    axis_below(x, top + high, [1, 4, 8, 12], below),
    line(left + 42, y(1), left + wide - 8, y(1), {stroke: "var(--goal)", "stroke-dasharray": "3 4"}),
    curve(points(before), {stroke: "var(--second)", "stroke-dasharray": "5 4"}),
    curve(points(now), {stroke: "var(--first)", "stroke-width": 2.5}), points(now).map(([u, v]) => dot(u, v, 4, {fill: "var(--first)"})),
  ];
}

figure({
  title: "What twelve layers do to a signal, and to the gradient on its way back",
  start: {form: "branch", step: 0},
  still: {form: "post", step: 20},
  play: {name: "step", seconds: 6},
  controls: [
    choice("form", "each half is", forms),
    slider("step", "training step", steps),
  ],
  draw({form, step}, width) {
    const frame = frame_of(form, step), start = frame_of(form, 0), first = frame.gradients[0], last = frame.gradients.at(-1);
    const beside = width >= 520, wide = beside ? (width - 24) / 2 : width, top = 62;
    const parts = [
      line(0, 8, 26, 8, {stroke: "var(--first)", "stroke-width": 2.5}), label(32, 12, step === 0 ? "now: before the first step" : `now: after ${step} steps`),
      line(width / 2, 8, width / 2 + 26, 8, {stroke: "var(--second)", "stroke-width": 2, "stroke-dasharray": "5 4"}), label(width / 2 + 32, 12, "before the first step"),
      panel(0, top, wide, "size of the layer's output", "layer: the signal goes →", [frame.sizes, start.sizes], [1e-4, 1e4], 2),
      panel(beside ? wide + 24 : 0, beside ? top : top + 280, wide, "gradient of the layer's weights", "layer: ← the gradient goes", [frame.gradients, start.gradients], [1e-6, 1e8], 2),
    ];
    const change = start.gradients[0] / first, said = (times) => plain(times < 2 ? times : Number(times.toPrecision(2)), 2);
    const since = step === 0 ? "" : change > 2 ? ` It has become ${said(change)} times smaller in ${step} steps.` : change < 0.5 ? ` It has become ${said(1 / change)} times larger in ${step} steps.` : " It has hardly changed since the beginning.";
    return {height: top + 240 + (beside ? 0 : 280), parts, values: {first, last, size: frame.sizes.at(-1), loss: frame.loss, change},
      text: `${step === 0 ? "Before the first step" : `After ${step} steps`}, the gradient is ${plain(first)} in layer 1 and ${plain(last)} in layer ${depth}.${since} The loss is ${plain(frame.loss)}.`};
  },
});
