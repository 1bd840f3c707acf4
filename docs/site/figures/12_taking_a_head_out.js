// Weights and moments of a small layer whose head 1 goes in one of three ways.
const {heads, head_dim, gone} = record, width_of_layer = heads * head_dim;
const steps = record.ways.zeroed.map((frame) => frame.step);
const IN = "in_proj_weight", OUT = "out_proj.weight", quantities = ["weights", "first moment", "second moment"];
const state_of = (way, step) => way === "before" ? record.before : record.ways[way].find((frame) => frame.step === step).state;
const live_of = (way) => [...Array(heads).keys()].filter((head) => way !== "removed" || head !== gone);
const size_of = (numbers) => Math.sqrt(numbers.reduce((sum, value) => sum + value * value, 0));
const most = quantities.map((_, q) => Math.max(...[IN, OUT].flatMap((name) => record.before[name][q].map(Math.abs))));

/** The numbers of a head: its rows of the first matrix and its columns of the second. */
function share_of(state, quantity, live, head) {
  const at = live.indexOf(head);
  if (at < 0) return [];
  const own = (index) => Math.floor(index / head_dim) % live.length === at;
  return [...state[IN][quantity].filter((_, i) => own(Math.floor(i / width_of_layer))), ...state[OUT][quantity].filter((_, i) => own(i % (live.length * head_dim)))];
}

function said(way, step, values) {
  const when = step === 0 ? "At once" : step === 1 ? "One step later" : `${step} steps later`;
  if (way === "before") return `Three heads, ${values.count} weights. Adam keeps two moments for each. Choose a way to take out head ${gone}.`;
  if (way === "removed") return `${when}: ${values.count} weights are left. The rows and columns of head 2 have moved up, and ${step === 0 ? "its moments went with them, unchanged" : "both heads train on with their own moments"}.`;
  if (way === "masked") return `${when}: the gate is closed, and all ${values.count} weights are there. ${step === 0 ? "Nothing has changed but the gate." : `Without gradients, the first moment of head ${gone} has faded to ${plain(values.moment, 2)} of what it was. It has pushed the weights, which nobody sees.`}`;
  return step === 0 ? `At once: the weights of head ${gone} are 0, and its moments are not. The next step follows them.`
    : `${when}: no weight was told to stay 0, and ${plain(values.back, 2)} of the head's norm is back.`;
}

figure({
  title: "Three ways to take a head out, and what Adam remembers",
  start: {way: "before", step: 0},
  still: {way: "zeroed", step: 1},
  controls: [
    choice("way", "head 1 is", [["before", "still there"], ["zeroed", "zeroed"], ["masked", "masked"], ["removed", "removed"]]),
    slider("step", "steps after that", ({way}) => way === "before" ? [0] : steps),
  ],
  draw({way, step}, width) {
    const state = state_of(way, step), live = live_of(way), left = 34, gap = width < 500 ? 12 : 30;
    const cell = Math.min(28, (width - left - 2 * gap) / (3 * width_of_layer)), high = 14, top = 40, between = 12;
    const third_high = heads * head_dim * high, out_top = top + 3 * (third_high + between) + 18, rows = live.length * head_dim;
    const row_y = (row) => top + Math.floor(row / rows) * (third_high + between) + row % rows * high;
    const box = (x, y, value, quantity) => value === 0 ? null
      : rect(x + 0.5, y + 0.5, cell - 1, high - 1, shade(Math.sqrt(Math.abs(value) / most[quantity]), value < 0 ? "var(--second)" : "var(--first)"));
    const grid = (x, y, across, down) => s("path", {stroke: "var(--grid)", d: [
      ...[...Array(down + 1).keys()].map((i) => `M${short(x)} ${short(y + i * high)}h${short(across * cell)}`),
      ...[...Array(across + 1).keys()].map((i) => `M${short(x + i * cell)} ${short(y)}v${short(down * high)}`)].join("")});
    const parts = quantities.map((title, q) => {
      const x0 = left + q * (width_of_layer * cell + gap), outline = {fill: "none", stroke: "var(--ink)", "stroke-width": 1.5, rx: 2};
      const lines = [0, 1, 2].map((third) => grid(x0, row_y(third * rows), width_of_layer, rows)).concat([grid(x0, out_top, rows, width_of_layer)]);
      const matrix = state[IN][q].map((value, i) => box(x0 + i % width_of_layer * cell, row_y(Math.floor(i / width_of_layer)), value, q));
      const output = state[OUT][q].map((value, i) => box(x0 + i % rows * cell, out_top + Math.floor(i / rows) * high, value, q));
      const stripes = live.map((head, at) => [
        [0, 1, 2].map((third) => rect(x0 - 5, row_y(third * rows + at * head_dim) + 1, 3, head_dim * high - 2, {fill: `var(--head-${head})`})),
        rect(x0 + at * head_dim * cell + 1, out_top - 5, head_dim * cell - 2, 3, {fill: `var(--head-${head})`})]);
      const own = live.includes(gone) ? [[0, 1, 2].map((third) => rect(x0 - 0.5, row_y(third * rows + gone * head_dim) - 0.5, width_of_layer * cell + 1, head_dim * high + 1, outline)),
        rect(x0 + gone * head_dim * cell - 0.5, out_top - 0.5, head_dim * cell + 1, width_of_layer * high + 1, outline)] : null;
      return [label(x0, 14, width < 500 ? ["weights", "1st moment", "2nd moment"][q] : title, {fill: "var(--ink)"}), lines, matrix, output, stripes, own];
    });
    const names = ["Q", "K", "V"].map((name, third) => label(left - 14, top + third * (third_high + between) + third_high / 2 + 4, name, {"text-anchor": "end"}));
    names.push(label(left - 12, out_top + width_of_layer * high / 2 + 4, "W", {"text-anchor": "end"}), label(left - 12, out_top + width_of_layer * high / 2 + 8, "O", {"font-size": 9}));
    const count = state[IN][0].length + state[OUT][0].length;
    const relative = (q) => size_of(share_of(state, q, live, gone)) / size_of(share_of(record.before, q, live_of("before"), gone));
    const values = {count, back: relative(0), moment: relative(1)};
    return {height: out_top + width_of_layer * high + 28, values, text: said(way, step, values),
      parts: [parts, names, live.map((head, i) => [rect(left + i * 76 - 5, out_top + width_of_layer * high + 14, 10, 10, {fill: `var(--head-${head})`}), label(left + i * 76 + 10, out_top + width_of_layer * high + 23, `head ${head}`)])]};
  },
});
