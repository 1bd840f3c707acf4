// A tape that runs forwards and then backwards: nodes get values, then gradients arrive one by one.
const {programs} = record;
const program_of = (state) => programs.find((one) => one.name === state.program);
const events_of = (state) => program_of(state)[state.plan];
const steps_of = (state) => [...Array(program_of(state).nodes.length + events_of(state).length).keys()].map((i) => i + 1);

/** The gradients after some events, and how many contributions each node has. */
function arrived(nodes, events) {
  const gradients = nodes.map(() => 0), parts = nodes.map(() => 0);
  for (const {to, add} of events) {
    gradients[to] += add;
    parts[to] += 1;
  }
  return {gradients, parts};
}

const readers = (nodes, at) => nodes.reduce((count, node) => count + node.inputs.filter((input) => input === at).length, 0);
const name_of = (node) => node.text.split(" ")[0];

/** The line that says what happens in this step. */
function told(nodes, now, event, {gradients, parts}) {
  if (!event) {
    const node = nodes[now], read = node.inputs.map((i) => name_of(nodes[i]));
    return `Forward: ${node.text}${node.inputs.length ? ` is ${plain(node.value)}, and its node keeps that it read ${read.join(" and ")}.` : " is a leaf: it reads nothing."}`;
  }
  const {from, to, add} = event, count = readers(nodes, to), name = name_of(nodes[to]);
  if (from < 0) return "Backward: the root L begins. Its gradient, dL/dL, is 1. Nobody else has one yet.";
  const state = parts[to] > count ? `It has ${parts[to]} contributions, but was read only ${count} times: ${plain(gradients[to])} is wrong.`
    : parts[to] < count ? `It has to wait for ${count - parts[to]} more.` : `It is complete: dL/d${name} is ${plain(gradients[to])}.`;
  return `Backward: ${name_of(nodes[from])} adds ${plain(add)} to the gradient of ${name}. ${state}`;
}

figure({
  title: "Values go down the tape, gradients come back up",
  start: {step: programs[0].nodes.length, program: programs[0].name, plan: "tape"},
  still: {step: 16},
  play: {name: "step", seconds: 16},
  controls: [
    slider("step", "step", steps_of),
    choice("program", "program:", programs.map((one) => one.name)),
    choice("plan", "a node hands on its gradient", [["tape", "after all who read it"], ["eager", "at once"]]),
  ],
  draw(state, width) {
    const {nodes} = program_of(state), n = nodes.length, high = 36, top = 30;
    const done = Math.max(0, state.step - n), events = events_of(state).slice(0, done), event = events.at(-1);
    const last = Math.min(n, state.step) - 1, {gradients, parts: got} = arrived(nodes, events);
    const narrow = width < 480, reach = narrow ? 72 : 170, size = narrow ? 12 : 14;
    const at = {text: reach + 6, value: narrow ? 213 : width * 0.64, gradient: width - (narrow ? 54 : 76), dots: width - (narrow ? 46 : 60)};
    const y = (row) => top + (row + 0.5) * high;
    const parts = [label(at.text, 14, "node"), label(at.value, 14, "value", {"text-anchor": "end"}), label(at.gradient, 14, "gradient", {"text-anchor": "end"}), label(at.dots, 14, "arrived")];
    // A shade on the rows of this step.
    const lit = event ? [event.from, event.to] : [last];
    for (const row of lit) if (row >= 0) parts.push(rect(reach, y(row) - high / 2 + 2, width - reach, high - 4, {rx: 6, fill: event && row === event.to ? "var(--second)" : "var(--first)", "fill-opacity": 0.14}));
    // Arcs from what is read to who reads it.
    nodes.forEach((node, row) => node.inputs.forEach((input, which) => {
      if (row > last) return;
      const twice = node.inputs[0] === node.inputs[1], far = Math.min(reach - 6, 20 + (row - input) * reach / 8) - (twice ? 12 * which : 0);
      const now = event ? event.from === row && event.to === input && (!twice || (done - 1) % 2 === (1 + which) % 2) : row === last;
      const colour = !now ? "var(--line)" : event ? "var(--second)" : "var(--first)";
      const [y1, y2] = event && now ? [y(row) - 4, y(input) + 4] : [y(input) + 4, y(row) - 4];
      parts.push(s("path", {d: `M${reach} ${short(y1)}C${short(reach - far)} ${short(y1)} ${short(reach - far)} ${short(y2)} ${reach - 5} ${short(y2)}`, fill: "none", stroke: colour, "stroke-width": now ? 2.5 : 1.5}),
        now ? s("path", {d: `M${reach} ${short(y2)}l-8 -4.5v9Z`, fill: colour}) : null);
      const beside = reach - far * 0.75 - 6;  // the left of the arc, if there is room for a number
      if (event && now) parts.push(label(beside < 48 ? Math.max(26, beside) : beside, (y1 + y2) / 2 + 4, `+ ${plain(event.add)}`.replace("+ -", "− "), {"text-anchor": beside < 48 ? "middle" : "end", fill: "var(--ink)", "font-weight": 600, stroke: "var(--card)", "stroke-width": 5, "paint-order": "stroke"}));
    }));
    nodes.forEach((node, row) => {
      const known = row <= last, ink = known ? "var(--ink)" : "var(--soft)", count = Math.max(row === n - 1 ? 1 : 0, readers(nodes, row));
      const wrong = got[row] > count ? "var(--bad)" : "var(--ink)";
      parts.push(label(at.text, y(row) + 5, node.text, {fill: ink, "font-size": size, class: "mono"}));
      if (known) parts.push(label(at.value, y(row) + 5, plain(node.value), {"text-anchor": "end", fill: ink, "font-size": size}));
      if (done) parts.push(label(at.gradient, y(row) + 5, got[row] ? plain(gradients[row]) : "·", {"text-anchor": "end", fill: wrong, "font-size": size, "font-weight": 600}));
      if (done) for (let i = 0; i < Math.max(count, got[row]); ++i) {
        parts.push(dot(at.dots + 5 + 12 * i, y(row), 4, {fill: i >= got[row] ? "none" : i < count ? "var(--second)" : "var(--bad)", stroke: i < count ? "var(--second)" : "var(--bad)"}));
      }
    });
    return {height: top + n * high + 4, parts, values: {gradients, arrived: got}, text: told(nodes, last, event, {gradients, parts: got})};
  },
});
