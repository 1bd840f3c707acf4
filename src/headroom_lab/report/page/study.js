// A study's page: ten sections, from the scores of heads to the decision.
const main = document.getElementById("main");
const first = run.measures[0];
const kinds_there = ["encoder", "decoder", "cross"].filter((kind) => run.means.some((mean) => kind in mean.kept));
const baseline = "random";

/** The mean of a measure, or undefined. */
const means = new Map(run.means.map((mean) => [`${mean.condition} ${mean.arm} ${mean.measure}`, mean]));
const mean_at = (condition, arm, measure) => means.get(`${condition} ${arm} ${measure.key}`);

/** "98.1 % [97.0, 99.2]" or "0.25 [0.21, 0.29]"; without an interval where the values do not vary. */
function interval_text(interval, unit) {
  if (interval.low === interval.high) return number_text(interval.value, unit);  // one seed, or equal ones
  if (unit === "%") return `${(100 * interval.value).toFixed(1)} % [${(100 * interval.low).toFixed(1)}, ${(100 * interval.high).toFixed(1)}]`;
  return `${number_text(interval.value)} [${number_text(interval.low)}, ${number_text(interval.high)}]`;
}

const condition_text = (condition) => run.conditions[condition] || "the only condition";

/** The section of one of the ten points. */
const point_section = (index, ...charts) => section_of(run.sections[index], `${index + 1}. ${run.sections[index].name}`, `point-${index + 1}`, ...charts);

/** A section: its finding, its charts and its tables. */
function section_of({finding, tables}, heading, id, ...charts) {
  return h("section", {"aria-labelledby": id}, h("h2", {id}, heading),
    h("figure.wide", {}, h("h3", {}, finding.title), h("p.caption", {}, finding.caption), charts.flat(Infinity), tables.flatMap(shown_table)));
}

/** A labelled list of choices that calls `show` with the chosen index. */
function choice(label, names, show, chosen = 0) {
  if (names.length < 2) return null;
  const list = h("select", {onchange: () => show(list.selectedIndex)}, names.map((name, i) => h("option", {selected: i === chosen ? "" : null}, name)));
  return h("label", {}, `${label} `, list);
}

/** Charts of a figure that choices replace. */
class Panels {
  constructor() { this.element = h("div.multiples", {}); this.entries = []; }
  clear() {
    for (const entry of this.entries) { if (entry.chart) entry.chart.destroy(); charts.splice(charts.indexOf(entry), 1); }
    this.entries = [];
    this.element.replaceChildren();
  }
  add(title, label, make, large) {
    const canvas = h("canvas", {role: "img", "aria-label": label});
    this.element.append(h("div", {}, title ? h("p", {}, title) : null, h(large ? "div.plot" : "div.plot.small", {}, canvas)));
    this.entries.push({canvas, make: () => make(canvas)});
  }
  draw() {
    charts.push(...this.entries);
    if (this.drawn) for (const entry of this.entries) entry.chart = entry.make();
    this.drawn = true;  // the first time draw_charts() does it, when the page is complete
  }
}

/** Points of an arm under the conditions of a group: heads left, mean, interval, every run. */
function curve_of(arm, group, measure) {
  return group.conditions.map((c) => mean_at(c, arm, measure)).filter(Boolean)
    .map((mean) => ({x: mean.heads, y: mean.mean.value, low: mean.mean.low, high: mean.mean.high, points: mean.points})).sort((a, b) => a.x - b.x);
}

/** The series of an arm, `beside` to the right of their place on the axis; the runs of a condition are side by side within `width`. */
function curve_series(name, colour, points, beside, width) {
  const moved = points.map((p) => ({...p, x: p.x + beside, at: p.x}));
  return [{name, colour, points: moved, dots: true, bars: moved},
    {name: `${name}, every run`, colour, cloud: true, points: moved.flatMap((p) => p.points.map((y, i) => ({x: p.x + width * ((i + 0.5) / p.points.length - 0.5), y, at: p.at})))}];
}

/** The limits of an axis that fit values, with some space around them; those of shares are from 0 to 1. */
function limits_of(values, unit) {
  const known = values.filter((v) => is_number(v) && Math.abs(v) < 1e6);
  if (!known.length) return {};
  const low = Math.min(...known), high = Math.max(...known), space = 0.05 * (high - low) || 0.02 * Math.abs(high) || 0.01;
  return unit === "%" ? {min: Math.max(0, low - space), max: Math.min(1, high + space)} : {min: low - space, max: high + space};
}

/** The smallest distance between different values, or 1. */
function distance_of(values) {
  const sorted = [...new Set(values)].sort((a, b) => a - b);
  return Math.min(...sorted.slice(1).map((v, i) => v - sorted[i]), sorted.length > 1 ? Infinity : 1);
}

function performance_section() {
  const panels = new Panels();
  let group = run.groups[0], measure = first;
  const show = () => {
    panels.clear();
    const arms = run.arms.filter((arm) => arm !== baseline && curve_of(arm, group, measure).length);
    const chance = curve_of(baseline, group, measure);
    const y = limits_of([...arms, baseline].flatMap((arm) => curve_of(arm, group, measure)).flatMap((p) => [p.low, p.high, ...p.points]), measure.unit);
    const xs = [...arms, baseline].flatMap((arm) => curve_of(arm, group, measure)).map((p) => p.x);
    const apart = distance_of(xs), span = {from: Math.min(...xs) - apart / 2, to: Math.max(...xs) + apart / 2};
    for (const arm of arms) {
      const points = curve_of(arm, group, measure);
      const series = [...(chance.length ? curve_series(baseline, "--goal", chance, -apart / 8, apart / 6) : []), ...curve_series(arm, "--first", points, apart / 8, apart / 6)];
      const label = `${arm}: ` + points.map((p) => `${number_text(p.x)} heads ${interval_text({value: p.y, low: p.low, high: p.high}, measure.unit)}`).join("; ");
      panels.add(arm, label, (canvas) => line_chart(canvas, series, {unit: measure.unit, small: true, inside: "xy", y, x: "heads", ...span}));
    }
    if (!arms.length) panels.element.append(h("p", {}, "No run of this chart is done yet."));
    panels.draw();
  };
  const choices = h("div.ask", {}, choice("Measure", run.measures.map((m) => m.name), (i) => { measure = run.measures[i]; show(); }),
    choice("Condition", run.groups.map((g) => g.text), (i) => { group = run.groups[i]; show(); }));
  const legend = h("ul.legend", {}, [["--first", "the arm or control"], ["--goal", baseline]].map(([colour, name]) => h("li", {}, h("i", {"--colour": `var(${colour})`, "aria-hidden": "true"}), `${name}: mean, 95 % interval, every run`)));
  const section = point_section(2, choices.childElementCount ? choices : null, legend, panels.element, h("p.caption", {}, "The horizontal axis shows the number of heads left."));
  show();
  return section;
}

function candidates_section() {
  const panels = new Panels();
  let group = run.groups[0];
  const show = () => {
    panels.clear();
    for (const arm of run.arms) {
      const done = group.conditions.map((c) => mean_at(c, arm, first)).filter(Boolean).sort((a, b) => a.heads - b.heads);
      if (!done.length || arm === "none") continue;
      const series = kinds_there.map((kind) => ({name: kind, colour: `--kind-${kind}`, dots: true, points: done.map((mean) => ({x: mean.heads, y: mean.kept[kind] ?? 0}))}));
      const label = `${arm}: ` + done.map((mean) => `of ${number_text(mean.heads)} heads ${kinds_there.map((kind) => `${number_text(mean.kept[kind] ?? 0)} ${kind}`).join(", ")}`).join("; ");
      panels.add(arm, label, (canvas) => line_chart(canvas, series, {small: true, x: "heads", y: {beginAtZero: true}}));
    }
    panels.draw();
  };
  const choices = h("div.ask", {}, choice("Condition", run.groups.map((g) => g.text), (i) => { group = run.groups[i]; show(); }));
  const legend = h("ul.legend", {}, kinds_there.map((kind) => h("li", {}, h("i", {"--colour": `var(--kind-${kind})`, "aria-hidden": "true"}), kind)));
  const section = point_section(1, choices.childElementCount ? choices : null, legend, panels.element, h("p.caption", {}, "The vertical axis shows the heads left of each kind, the horizontal axis those left in all."));
  show();
  return section;
}

/** The quality of all arms against the size of their models. */
function sizes_section() {
  const sizes = [["heads left", "heads"], ["parameters", "parameters"], ["multiply-adds of a position", "multiply_adds"]];
  if (run.means.some((mean) => "latency" in mean)) sizes.push(["forward pass (ms)", "latency"]);
  const panels = new Panels();
  panels.element.className = "";
  let size = sizes[1], group = run.groups[0], measure = first;
  const legend = h("ul.legend", {}), values = h("div", {});
  const show = () => {
    panels.clear();
    const points_of = (arm) => group.conditions.map((c) => mean_at(c, arm, measure)).filter((mean) => mean && size[1] in mean)
      .map((mean) => ({x: mean[size[1]], y: mean.mean.value, low: mean.mean.low, high: mean.mean.high})).sort((a, b) => a.x - b.x);
    const arms = run.arms.map((name, i) => ({name, colour: name === baseline ? "--goal" : head_variable(i), points: points_of(name)})).filter((arm) => arm.points.length);
    const xs = arms.flatMap((arm) => arm.points.map((p) => p.x)), space = 0.06 * (Math.max(...xs) - Math.min(...xs)) || 1, beside = Math.min(space, distance_of(xs) / 2) / Math.max(1, arms.length);
    const series = arms.map(({name, colour, points}, i) => {
      const moved = points.map((p) => ({...p, x: p.x + beside * (i - (arms.length - 1) / 2), at: p.x}));
      return {name, colour, points: moved, dots: true, bars: moved, dashed: name === baseline};
    });
    const label = `${measure.name} against ${size[0]}. ` + arms.map((arm) => `${arm.name}: ` + arm.points.map((p) => `${number_text(p.x)}, ${number_text(p.y, measure.unit)}`).join("; ")).join(". ");
    if (arms.length) panels.add("", label, (canvas) => line_chart(canvas, series, {unit: measure.unit, inside: "xy", x: size[0], y: limits_of(arms.flatMap((arm) => arm.points.flatMap((p) => [p.low, p.high])), measure.unit), from: Math.min(...xs) - space, to: Math.max(...xs) + space}), true);
    legend.replaceChildren(...arms.map(({name, colour}) => h("li", {}, h("i" + (name === baseline ? ".dashed" : ""), {"--colour": `var(${colour})`, "aria-hidden": "true"}), name)));
    values.replaceChildren(numbers("Quality against size", ["arm", size[0], measure.name], () => arms.flatMap((arm) => arm.points.map((p) => [arm.name, number_text(p.x), interval_text({value: p.y, low: p.low, high: p.high}, measure.unit)]))));
    panels.draw();
  };
  const choices = h("div.ask", {}, choice("Size", sizes.map(([name]) => name), (i) => { size = sizes[i]; show(); }, 1),
    choice("Measure", run.measures.map((m) => m.name), (i) => { measure = run.measures[i]; show(); }),
    choice("Condition", run.groups.map((g) => g.text), (i) => { group = run.groups[i]; show(); }));
  const section = point_section(5, run.means.length ? [h("h4", {}, "Quality against size"), choices, legend, panels.element, values] : null);
  if (run.means.length) show();
  return section;
}

/** The validation loss of every run of an arm over the steps, in front of that of random heads. */
function learning_curves() {
  const panels = new Panels(), values = h("div", {});
  const show = (index) => {
    panels.clear();
    const lines = run.curves.filter((curve) => curve.condition === index).sort((a, b) => run.arms.indexOf(a.arm) - run.arms.indexOf(b.arm));
    const all = lines.flatMap((curve) => curve.runs.flatMap((one) => one.points)), steps = all.map(([step]) => step);
    const axes = {small: true, inside: "y", y: limits_of(all.map(([, loss]) => loss)), from: Math.min(...steps), to: Math.max(...steps)};
    const series_of = (curve, colour) => curve.runs.map((one) => ({name: `${curve.arm}, seed ${one.seed}`, colour, points: one.points.map(([x, loss]) => ({x, y: loss}))}));
    const chance = lines.find((curve) => curve.arm === baseline);
    for (const curve of lines) {
      if (curve === chance && lines.length > 1) continue;
      const ends = curve.runs.map((one) => `seed ${one.seed} ${number_text(one.points.at(-1)[1])}`).join(", ");
      panels.add(curve.arm, `${curve.arm}: validation loss at the end: ${ends}`, (canvas) => line_chart(canvas, [...series_of(curve, "--first"), ...(chance && chance !== curve ? series_of(chance, "--goal") : [])], axes));
    }
    values.replaceChildren(numbers("validation loss", ["arm, seed, step", "validation loss"], () => lines.flatMap((curve) => curve.runs.flatMap((one) => one.points.map(([step, loss]) => [`${curve.arm}, ${one.seed}, ${commas(step)}`, number_text(loss)])))));
    panels.draw();
  };
  return {elements: [panels.element, values], show};
}

/** Heads alive by kind over the steps of a run. */
function timeline_series(line) {
  const at = [{step: 0, alive: line.begin}, ...line.events, {step: line.steps, alive: line.events.at(-1)?.alive ?? line.begin}];
  return kinds_there.map((kind) => ({name: kind, colour: `--kind-${kind}`, stepped: true, points: at.map(({step, alive}) => ({x: step, y: alive[kind] ?? 0}))}));
}

function refinement_section() {
  const panels = new Panels();
  const known = [...new Set(run.timelines.map((line) => line.condition))];
  let condition = known[0];
  const lines = () => run.timelines.filter((line) => line.condition === condition);
  const values = h("div", {});
  const show = () => {
    panels.clear();
    for (const line of lines()) {
      const label = `${line.arm}, seed ${line.seed}: ` + line.events.map(({step, alive}) => `step ${step} ${kinds_there.map((kind) => `${alive[kind] ?? 0} ${kind}`).join(", ")}`).join("; ");
      const from = Math.min(...run.timelines.flatMap((l) => l.events.map((e) => e.step))) - 20;
      panels.add(line.arm, label, (canvas) => line_chart(canvas, timeline_series(line), {small: true, y: {beginAtZero: true}, from: Math.max(0, from), to: Math.max(...lines().map((l) => l.steps))}));
    }
    values.replaceChildren(numbers("heads alive", ["arm, step", ...kinds_there], () => lines().flatMap((line) => line.events.map(({step, alive}) => [`${line.arm}, ${commas(step)}`, ...kinds_there.map((kind) => String(alive[kind] ?? 0))]))));
    panels.draw();
  };
  const choices = h("div.ask", {}, choice("Condition", known.map(condition_text), (i) => { condition = known[i]; show(); }));
  const legend = h("ul.legend", {}, kinds_there.map((kind) => h("li", {}, h("i", {"--colour": `var(--kind-${kind})`, "aria-hidden": "true"}), kind)));
  const learned = [...new Set(run.curves.map((curve) => curve.condition))], curves = learning_curves();
  const learning = learned.length ? [h("h4", {}, "Validation loss of the runs"), h("div.ask", {}, choice("Condition", learned.map(condition_text), (i) => curves.show(learned[i]))), curves.elements] : [];
  const section = point_section(7, known.length ? [h("h4", {}, "Heads alive during training"), choices.childElementCount ? choices : null, legend, panels.element, values] : null, learning);
  if (known.length) show();
  if (learned.length) curves.show(learned[0]);
  return section;
}

const declared = run.declaration;
document.getElementById("facts").append(...[`study ${declared.name}`, `task ${declared.base.task}`, `seeds ${declared.seeds.join(", ")}`, `${commas(run.cells_done)} of ${commas(run.cells_planned)} runs`, run.precision]
  .map((part) => h("span", {}, part)));
main.append(...run.sections.map((_, i) => ({1: candidates_section, 2: performance_section, 5: sizes_section, 7: refinement_section}[i] ?? (() => point_section(i)))()), section_of(run.origin, run.origin.name, "origin"), folded("Declaration", declared));
draw_charts();
refresh();
