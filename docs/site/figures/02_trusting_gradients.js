// The error of three formulas for a slope, by the step h. One drags the step.
const curves = record.log10_of_errors;
const formulas = [["one side", "var(--first)"], ["both sides", "var(--second)"], ["four points", "var(--third)"]];
const exponents = (precision) => curves[precision]["one side"].map((_, i) => i ? -i / record.steps_per_power : 0).reverse();
const error_at = (state, formula) => 10 ** curves[state.precision][formula][Math.round(-state.power * record.steps_per_power)];
const said_h = (power) => plain(10 ** power, 2);

/** The power of ten of the step with the smallest error. */
function best(precision, formula) {
  const errors = curves[precision][formula];
  return -errors.indexOf(Math.min(...errors)) / record.steps_per_power;
}

const frame = (width) => ({x: scale([1e-15, 1], [44, width - 12], {log: true}), y: scale([1e-13, 10], [344, 62], {log: true})});

figure({
  title: "A smaller step is a better one, until rounding takes over",
  start: {power: -2, precision: "double"},
  still: {power: -5},
  controls: [
    slider("power", "step h", (state) => exponents(state.precision), said_h),
    choice("precision", "numbers in", [["double", "double, 16 digits"], ["float", "float, 7 digits"]]),
  ],
  drag(px, py, phase, state) {
    const width = document.querySelector(".picture svg").viewBox.baseVal.width, power = Math.log10(frame(width).x.inverse(px));
    const near = exponents(state.precision).reduce((a, b) => Math.abs(a - power) <= Math.abs(b - power) ? a : b);
    return {power: near};
  },
  draw(state, width) {
    const {x, y} = frame(width), narrow = width < 480, h = 10 ** state.power;
    const errors = Object.fromEntries(formulas.map(([name]) => [name, error_at(state, name)]));
    const powers_here = exponents(state.precision);
    const parts = [
      axis_left(y, 44, powers(-12, 0, 3), "error of the slope", width - 12),
      axis_below(x, 344, powers(-15, 0, narrow ? 5 : 3), "step h"),
    ];
    formulas.forEach(([name, colour], i) => {
      const left = narrow ? 128 : 118, row = narrow ? 12 + 16 * i : 12, column = narrow ? left : left + 165 * i;
      parts.push(dot(column, row - 4, 5, {fill: colour}), label(column + 10, row, name),
        label(column + (narrow ? 88 : 80), row, plain(errors[name], 2), {fill: "var(--ink)", "font-weight": 600}));
      parts.push(curve(powers_here.map((power) => [x(10 ** power), y(error_at({...state, power}, name))]), {stroke: colour, "stroke-width": 2.5}));
    });
    // The two slopes of each valley, named where no curve is.
    const float = state.precision === "float";
    parts.push(float || narrow ? null : label(x(10 ** -12.6), y(10 ** -5.6), "rounding, divided by h", {fill: "var(--ink)", "text-anchor": "middle", transform: `rotate(40 ${short(x(10 ** -12.6))} ${short(y(10 ** -5.6))})`}));
    if (!float && !narrow) parts.push(label(width - 12, y(10 ** -11.6), "the curve bends", {fill: "var(--ink)", "text-anchor": "end"}));
    parts.push(line(x(h), y.last, x(h), 344, {stroke: "var(--ink)", "stroke-dasharray": "3 3"}));
    for (const [name, colour] of formulas) parts.push(dot(x(h), y(errors[name]), 5.5, {fill: colour, stroke: "var(--card)", "stroke-width": 2}));
    parts.push(rect(x(h) - 7, 337, 14, 14, {rx: 4, fill: "var(--ink)"}));
    const good = best(state.precision, "both sides"), two = errors["both sides"];
    const side = state.power > good ? "A smaller step would be better." : state.power < good ? "A smaller step is worse: rounding is divided by h." : "No other step is better for it.";
    return {height: 384, parts, values: {...errors, best: 10 ** good},
      text: `With h = ${said_h(state.power)} in ${state.precision}, the slope from both sides is wrong by ${plain(two, 2)}. ${side}`};
  },
});
