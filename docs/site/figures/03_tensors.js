// Which contributions a gradient gets: one chooses an element, and its arrows run back from dy.
const {operations} = record;
const operation_of = (state) => operations.find((one) => one.name === state.operation);
const elements = (state) => operation_of(state).gradient.map((_, i) => i);

/** The places of an array's elements: matrices side by side, or below each other where they do not fit. */
function grid(shape, width, top, gap) {
  const columns = shape.at(-1), rows = shape.at(-2) ?? 1, sheets = shape.slice(0, -2).reduce((a, b) => a * b, 1);
  const large = sheets === 1 && columns <= 8;
  const cell = large ? Math.min(44, Math.floor((width - 8) / columns)) : Math.min(18, Math.floor((width - gap * 3) / (width < 480 ? 2 : 4) / columns));
  const across = Math.min(sheets, large ? 1 : width < 480 ? 2 : 4), left = (width - across * columns * cell - (across - 1) * gap) / 2;
  const cells = [];
  for (let i = 0; i < sheets * rows * columns; ++i) {
    const sheet = Math.floor(i / rows / columns), row = Math.floor(i / columns) % rows, column = i % columns;
    cells.push({x: left + (sheet % across) * (columns * cell + gap) + column * cell, y: top + Math.floor(sheet / across) * (rows * cell + gap) + row * cell});
  }
  const high = Math.ceil(sheets / across);
  return {cells, cell, sheets, rows, bottom: top + high * rows * cell + (high - 1) * gap, at: (px, py) => cells.findIndex(({x, y}) => px >= x && px < x + cell && py >= y && py < y + cell)};
}

/** The index of an element as the chapter writes it: [2][0]. */
function index_of(i, shape) {
  let rest = i, text = "";
  for (const size of [...shape].reverse()) {
    text = `[${rest % size}]${text}`;
    rest = Math.floor(rest / size);
  }
  return text;
}

const layout = (operation, width) => {
  const above = grid(operation.shape, width, 24, 12);
  return {above, below: grid(operation.y_shape, width, above.bottom + 84, 12)};
};

/** The cells of an array, coloured by sign and size, with their numbers where there is room. */
function drawn({cells, cell}, values, strong, largest) {
  return cells.map(({x, y}, i) => {
    const weight = Math.abs(values[i]) / largest, plainly = strong(i);
    return [rect(x + 1, y + 1, cell - 2, cell - 2, {rx: 3, fill: "var(--grid)", "fill-opacity": plainly ? 1 : 0.5}),
      rect(x + 1, y + 1, cell - 2, cell - 2, {rx: 3, ...shade((plainly ? 0.9 : 0.12) * weight, values[i] < 0 ? "var(--second)" : "var(--first)"), stroke: plainly ? "var(--ink)" : "none"}),
      cell >= 30 ? label(x + cell / 2, y + cell / 2 + 4, plain(values[i], 2), {"text-anchor": "middle", fill: "var(--ink)", "fill-opacity": plainly ? 1 : 0.7}) : null];
  });
}

figure({
  title: "A gradient is a sum over arrows",
  start: {operation: "x + b", element: 2},
  controls: [
    choice("operation", "y =", operations.map((one) => [one.name, one.name])),
    slider("element", "element", elements, (i) => index_of(i, operation_of(shown.state).shape)),
  ],
  drag(px, py, phase, state) {
    const width = document.querySelector(".picture svg").viewBox.baseVal.width, found = layout(operation_of(state), width).above.at(px, py);
    return found < 0 ? null : {element: found};
  },
  draw(state, width) {
    const operation = operation_of(state), {operand, shape, y_shape, dy, gradient, arrows} = operation;
    const i = state.element, own = arrows[i], {above, below} = layout(operation, width), reached = new Set(own.map(([j]) => j));
    const at = above.cells[i], x = at.x + above.cell / 2, y = at.y + above.cell;
    const few = own.length <= 4;
    const parts = [
      label(0, 14, `d${operand} [${shape.join(", ")}]: choose an element`),
      drawn(above, gradient, (k) => k === i, Math.max(...gradient.map(Math.abs), 1)),
      own.map(([j, factor]) => {
        const end = below.cells[j], ex = end.x + below.cell / 2, ey = end.y + (few ? 2 : below.cell / 2), middle = above.bottom + 42;
        return [s("path", {d: `M${short(ex)} ${short(ey)}C${short(ex)} ${short(middle)} ${short(x)} ${short(middle)} ${short(x)} ${short(y + 4)}`, fill: "none", stroke: "var(--third)", "stroke-width": few ? 2 : 1.2, "stroke-opacity": few ? 1 : 0.75}),
          few ? label(ex, above.bottom + 74, `× ${plain(factor, 2)}`, {"text-anchor": "middle", fill: "var(--ink)", stroke: "var(--card)", "stroke-width": 5, "paint-order": "stroke"}) : null];
      }),
      s("path", {d: `M${short(x)} ${short(y + 1)}l-5 8h10Z`, fill: "var(--third)"}),
      drawn(below, dy, (j) => reached.has(j), 2),
      label(0, below.bottom + 18, `dy [${y_shape.join(", ")}]: ${few ? "outlined elements, times their factors" : "outlined elements have factor 1"}`),
    ];
    const name = `d${operand}${index_of(i, shape)}`, many = own.length === 1 ? "1 contribution" : `${own.length} contributions`;
    const sum = few ? own.map(([j, factor]) => `${plain(dy[j], 2)} × ${plain(factor, 3)}`).join(" + ").replaceAll("+ -", "− ") : "the sum of all outlined dy";
    return {height: below.bottom + 24, parts, values: {count: own.length, gradient: gradient[i]}, text: `${operation.name}: ${name} gets ${many}. It is ${sum} = ${plain(gradient[i])}.`};
  },
});
