// Telemetry of every head: a row of small charts for each attention, a colour for each head.
const blocks = [["query", "W_Q"], ["key", "W_K"], ["value", "W_V"], ["output", "W_O"]];
const readings = [
  {key: "gradient_norm", title: (block) => `gradient norm, ${block}`, of_block: true, log: true},
  {key: "update_ratio", title: (block) => `update / weight, ${block}`, of_block: true, log: true},
  {key: "gate_gradient", title: () => "gate gradient, magnitude", log: true},
  {key: "entropy", title: () => "entropy"},
  {key: "confidence", title: () => "confidence"},
];

/** A head from its name: "cross 0.3". */
function parsed_head(name) {
  const [kind, place] = name.split(" ");
  const [layer, head] = place.split(".").map(Number);
  return {name, kind, layer, head};
}

/** Every head that was measured, in the order of kinds, layers, heads. */
function measured_heads(lines) {
  const order = kinds.map(({kind}) => kind);
  const names = [...new Set(lines.flatMap((line) => line.heads))];
  return names.map(parsed_head).sort((a, b) =>
    order.indexOf(a.kind) - order.indexOf(b.kind) || a.layer - b.layer || a.head - b.head);
}

/** A head's line style, because colours alone may not distinguish twelve heads. */
const line_of = (head) => ["solid", "dashed", "dotted"][head % 3];

const column_of = (line, reading, block) => reading.of_block ? line[reading.key][block] : line[reading.key];

/** The points of one head's reading as drawn: magnitudes on a log axis. */
function head_points(head, reading, block) {
  return run.telemetry.map((line) => ({x: line.step, y: column_of(line, reading, block)[line.heads.indexOf(head.name)]}))
    .filter((point) => is_number(point.y)).map(({x, y}) => ({x, y: reading.log ? Math.abs(y) : y}));
}

/** The end of a line that stops before the others: the step of the removal, or of the last
 * measurement when the removal is not recorded. */
function end_text(head, last_measured) {
  const removed_at = heads_by_name.get(head.name)?.removed_at;
  return is_number(removed_at) ? `, removed at step ${commas(removed_at)}` : `, last measured at step ${commas(last_measured)}`;
}

/** The vertical axis shared by all charts of a reading, for all blocks. */
function shared_axis(reading, heads) {
  if (!reading.log) return {min: 0, max: 1};
  const all = heads.flatMap((head) => (reading.of_block ? blocks : [[null]]).flatMap(([block]) => head_points(head, reading, block)))
    .map((point) => point.y).filter((y) => y > 0);
  if (!all.length) return {};
  const max = all.reduce((a, b) => Math.max(a, b)), min = all.reduce((a, b) => Math.min(a, b));
  return {min: min < max ? Math.max(min, 1e-4 * max) : max / 10, max};  // smaller values are below the axis
}

function telemetry_section(finding) {
  const heads = measured_heads(run.telemetry);
  const steps = run.telemetry.map((line) => line.step);
  const span = {from: 0, to: Math.max(...steps)};
  const axes = new Map(readings.map((reading) => [reading, shared_axis(reading, heads)]));
  let block = "output";
  const panels = [];
  const last_line = run.telemetry.at(-1);
  const panel = (row, own, reading) => {
    const caption = h("p", {}), canvas = h("canvas", {role: "img"});
    const show = () => {
      const title = reading.title(blocks.find(([key]) => key === block)[1]);
      const series = own.map((head) => ({head, name: `head ${head.head}`, colour: head_variable(head.head), [line_of(head.head)]: true, ends: !last_line.heads.includes(head.name),
        points: head_points(head, reading, block)})).filter((s) => s.points.length);
      caption.textContent = title;
      canvas.setAttribute("aria-label", `${row}, ${title}: ` + series.map((s) => `${s.name} from ${number_text(s.points[0].y)} to ${number_text(s.points.at(-1).y)}`
        + (s.ends ? end_text(s.head, s.points.at(-1).x) : "")).join("; "));
      return line_chart(canvas, series, {log: reading.log, y: {...axes.get(reading)}, small: true, ...span});
    };
    const entry = {canvas, make: show};
    charts.push(entry);
    panels.push({entry, reading});
    return h("div", {}, caption, h("div.plot.small", {}, canvas));
  };
  const rows = kinds.flatMap(({kind, title}) => [...new Set(heads.filter((head) => head.kind === kind).map((head) => head.layer))].map((layer) => {
    const own = heads.filter((head) => head.kind === kind && head.layer === layer);
    const name = `${title}, layer ${layer}`;
    return [h("h4", {}, name), h("div.multiples", {role: "group", "aria-label": name}, readings.map((reading) => panel(name, own, reading)))];
  }));
  const choices = h("div.tabs", {role: "radiogroup", "aria-label": "block of a head whose gradient and update are drawn"});
  const choose_block = (index) => {
    block = blocks[index][0];
    [...choices.children].forEach((choice, i) => {
      choice.setAttribute("aria-checked", i === index);
      choice.tabIndex = i === index ? 0 : -1;
    });
    for (const {entry, reading} of panels) {
      if (!entry.chart || !reading.of_block) continue;
      entry.chart.destroy();
      entry.chart = entry.make();
    }
  };
  blocks.forEach(([, name], i) => choices.append(h("button", {role: "radio", type: "button", onclick: () => choose_block(i)}, name)));
  arrows(choices, choose_block);
  choose_block(blocks.findIndex(([key]) => key === block));
  const hues = [...new Set(heads.map((head) => head.head))].sort((a, b) => a - b);
  return h("section", {"aria-label": "Telemetry of the heads"}, h("h2", {}, finding.title), h("p.caption", {}, finding.caption), choices,
    h("div.card", {}, h("ul.legend", {}, hues.map((head) => h("li", {}, h("i." + line_of(head), {"--colour": `var(${head_variable(head)})`, "aria-hidden": "true"}), `head ${head}`))),
      rows.flat(), telemetry_numbers(finding, heads)));
}

/** The table of the charts' values: a row for every head at every step, a column for every block. */
function telemetry_numbers(finding, heads) {
  const columns = readings.flatMap((reading) => reading.of_block ? blocks.map(([block, name]) => ({reading, block, title: reading.title(name)}))
    : [{reading, title: reading.key.replace("_", " ")}]);
  const rows = () => heads.flatMap((head) => run.telemetry.filter((line) => line.heads.includes(head.name))
    .map((line) => [head.name, commas(line.step), ...columns.map(({reading, block}) => number_text(column_of(line, reading, block)[line.heads.indexOf(head.name)]))]));
  return numbers(finding.title, ["head", "step", ...columns.map(({title}) => title)], rows);
}
