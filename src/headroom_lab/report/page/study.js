// A study's page: ten sections, from the scores of heads to the decision.
const main = document.getElementById("main");
const measure_of = (key) => run.measures.find((measure) => measure.key === key);
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

/** The same for a contrast or an effect: with its sign, and in points. */
function difference_text({difference, interval}, unit) {
  const signed = (value) => unit === "%" ? (100 * value).toFixed(1) : number_text(value);
  const range = interval ? ` [${signed(interval.low)}, ${signed(interval.high)}]` : "";
  return `${difference > 0 ? "+" : ""}${signed(difference)}${range}${unit === "%" ? " points" : ""}`;
}

const p_text = (p) => !is_number(p) ? "none" : p < 0.0001 ? "< 0.0001" : p.toFixed(4);
const condition_text = (condition) => run.conditions[condition] || "the only condition";

/** The section of one of the ten points. */
function point_section(index, ...children) {
  const {name, finding} = run.sections[index], id = `point-${index + 1}`;
  return h("section", {"aria-labelledby": id}, h("h2", {id}, `${index + 1}. ${name}`),
    h("figure.wide", {}, h("h3", {}, finding.title), h("p.caption", {}, finding.caption), children.flat(Infinity)));
}

/** A labelled list of choices that calls `show` with the chosen index. */
function choice(label, names, show) {
  if (names.length < 2) return null;
  const list = h("select", {onchange: () => show(list.selectedIndex)}, names.map((name) => h("option", {}, name)));
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
  add(title, label, make) {
    const canvas = h("canvas", {role: "img", "aria-label": label});
    this.element.append(h("div", {}, h("p", {}, title), h("div.plot.small", {}, canvas)));
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

function curve_series(name, colour, points) {
  return [{name, colour, points, dots: true, bars: points},
    {name: `${name}, every run`, colour, cloud: true, points: points.flatMap((p) => p.points.map((y) => ({x: p.x, y})))}];
}

function performance_section() {
  const panels = new Panels(), values = h("div", {});
  let group = run.groups[0], measure = first;
  const show = () => {
    panels.clear();
    const arms = run.arms.filter((arm) => arm !== baseline && curve_of(arm, group, measure).length);
    const chance = curve_of(baseline, group, measure);
    const all = [...arms, baseline].flatMap((arm) => curve_of(arm, group, measure)).flatMap((p) => [p.low, p.high, ...p.points]).filter(is_number);
    const y = measure.unit === "%" ? {min: 0, max: 1} : {min: 0, max: Math.max(...all.filter((v) => v < 1e6), 0.001)};
    const xs = [...arms, baseline].flatMap((arm) => curve_of(arm, group, measure)).map((p) => p.x);
    const span = {from: Math.max(0, Math.min(...xs) - 1), to: Math.max(...xs) + 1};
    for (const arm of arms) {
      const points = curve_of(arm, group, measure);
      const series = [...(chance.length ? curve_series(baseline, "--goal", chance) : []), ...curve_series(arm, "--first", points)];
      const label = `${arm}: ` + points.map((p) => `${number_text(p.x)} heads ${interval_text({value: p.y, low: p.low, high: p.high}, measure.unit)}`).join("; ");
      panels.add(arm, label, (canvas) => line_chart(canvas, series, {unit: measure.unit, small: true, y, x: "heads", ...span}));
    }
    if (!arms.length) panels.element.append(h("p", {}, "No run of this chart is done yet."));
    values.replaceChildren(numbers(`${measure.name}, ${group.text}`, ["", ...group.conditions.map(condition_text)], () => [...arms, baseline].map((arm) => [arm,
      ...group.conditions.map((c) => { const mean = mean_at(c, arm, measure); return mean ? `${interval_text(mean.mean, measure.unit)}, ${number_text(mean.heads)} heads, ${mean.seeds.length} seeds` : "–"; })])));
    panels.draw();
  };
  const choices = h("div.ask", {}, choice("Measure", run.measures.map((m) => m.name), (i) => { measure = run.measures[i]; show(); }),
    choice("Condition", run.groups.map((g) => g.text), (i) => { group = run.groups[i]; show(); }));
  const legend = h("ul.legend", {}, [["--first", "the arm or control"], ["--goal", baseline]].map(([colour, name]) => h("li", {}, h("i", {"--colour": `var(${colour})`, "aria-hidden": "true"}), `${name}: mean, 95 % interval, every run`)));
  const section = point_section(2, choices.childElementCount ? choices : null, legend, panels.element, h("p.caption", {}, "The horizontal axis shows the number of heads left."), values);
  show();
  return section;
}

/** Background of a cell by its value in [0, 1], with text that can be read on it. */
function shaded(value, text) {
  return is_number(value) ? heat_cell("td.shaded", text, Math.max(0, Math.min(1, value)), text) : h("td", {}, "–");
}

function wide_table(titles, rows, caption) {
  return h("div.scroll", {tabindex: 0, role: "region", "aria-label": caption}, h("table", {},
    h("thead", {}, h("tr", {}, titles.map((title) => h("th", {scope: "col"}, title)))), h("tbody", {}, rows)));
}

function scores_section() {
  const metrics = [...new Set(run.agreement.map((pair) => pair.x))];
  const pairs = new Map(run.agreement.map((pair) => [`${pair.x} ${pair.y}`, pair.correlation]));
  const rows = metrics.map((x) => h("tr", {}, h("th", {scope: "row"}, x), metrics.map((y) => {
    const value = pairs.get(`${x} ${y}`)?.value;
    return shaded(is_number(value) ? Math.max(0, value) : undefined, is_number(value) ? value.toFixed(2) : "–");
  })));
  return point_section(0, metrics.length > 1 ? [wide_table(["", ...metrics], rows, "agreement of metrics"),
    numbers("agreement of metrics", ["", ...metrics], () => metrics.map((x) => [x, ...metrics.map((y) => { const c = pairs.get(`${x} ${y}`); return c ? interval_text(c) : "–"; })]))] : []);
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
  const rows = () => run.conditions.flatMap((_, c) => run.arms.map((arm) => [arm, mean_at(c, arm, first), c])).filter(([, mean]) => mean)
    .map(([arm, mean, c]) => [`${condition_text(c)}: ${arm}`, String(mean.points.length), number_text(mean.heads), ...kinds_there.map((kind) => number_text(mean.kept[kind] ?? 0))]);
  const choices = h("div.ask", {}, choice("Condition", run.groups.map((g) => g.text), (i) => { group = run.groups[i]; show(); }));
  const legend = h("ul.legend", {}, kinds_there.map((kind) => h("li", {}, h("i", {"--colour": `var(--kind-${kind})`, "aria-hidden": "true"}), kind)));
  const section = point_section(1, choices.childElementCount ? choices : null, legend, panels.element, h("p.caption", {}, "The vertical axis shows the heads left of each kind, the horizontal axis those left in all."),
    numbers("heads left", ["", "runs", "heads", ...kinds_there], rows));
  show();
  return section;
}

function importance_section() {
  const games = [...new Set(run.regret.map((entry) => entry.game))];
  const tables = games.map((game) => {
    const own = run.regret.filter((entry) => entry.game === game);
    const sizes = [...new Set(own.map((entry) => entry.kept))].sort((a, b) => a - b), metrics = [...new Set(own.map((entry) => entry.metric))];
    const of = (metric, kept) => own.find((entry) => entry.metric === metric && entry.kept === kept)?.regret;
    const rows = metrics.map((metric) => h("tr", {}, h("th", {scope: "row"}, metric), sizes.map((kept) => {
      const regret = of(metric, kept);
      return shaded(regret ? 1 - Math.min(1, Math.max(0, regret.value)) : undefined, regret ? regret.value.toFixed(2) : "–");
    })));
    return [h("h4", {}, `Game: ${game}. Columns: heads kept`), wide_table(["", ...sizes.map(String)], rows, `regret, ${game}`),
      numbers(`regret, ${game}`, ["", ...sizes.map((kept) => `${kept} heads`)], () => metrics.map((metric) => [metric, ...sizes.map((kept) => { const r = of(metric, kept); return r ? interval_text(r) : "–"; })]))];
  });
  return point_section(3, tables.flat());
}

function threshold_section() {
  const arms = run.arms.filter((arm) => !run.controls.includes(arm));
  const fewest = (arm, group) => {
    const own = run.acceptable.filter((entry) => entry.arm === arm && group.conditions.includes(entry.condition)).map((entry) => entry.heads);
    if (own.length) return number_text(Math.min(...own));
    const tried = run.tried.filter((entry) => entry.arm === arm && group.conditions.includes(entry.condition));
    return tried.length && tried.every((entry) => entry.decides) ? "–" : "unknown";
  };
  return point_section(4, table(["fewest heads", ...run.groups.map((group) => group.text || "heads")], arms.map((arm) => [arm, ...run.groups.map((group) => fewest(arm, group))]), "fewest acceptable heads"));
}

function speed_section() {
  const most = Math.max(...run.sizes.map((size) => size.parameters));
  return point_section(5, table(["heads left", "parameters", "share", "runs"],
    run.sizes.map((size) => [commas(size.heads), commas(size.parameters), number_text(size.parameters / most, "%"), commas(size.runs)]).reverse(), "parameters"));
}

function contrast_rows(contrasts) {
  return contrasts.map((c) => {
    const measure = measure_of(c.measure);
    return [`${c.arm} − ${c.against}`, condition_text(c.condition), measure.name, difference_text(c, measure.unit), String(c.seeds.length), p_text(c.p), p_text(c.holm)];
  });
}

const contrast_titles = ["comparison", "condition", "measure", "difference", "seeds", "p", "p after Holm"];

function comparison_section() {
  const family = run.contrasts.filter((c) => c.in_family).sort((a, b) => (a.holm ?? 2) - (b.holm ?? 2) || (a.p ?? 2) - (b.p ?? 2));
  const others = run.contrasts.filter((c) => !c.in_family);
  const shown = (element) => { for (const row of element.querySelectorAll("tr")) [...row.children].slice(0, 3).forEach((cell) => cell.classList.add("words")); return element; };
  return point_section(6, family.length ? shown(table(contrast_titles, contrast_rows(family), "comparisons of the family")) : null,
    others.length ? fold(`${commas(others.length)} other comparisons, not corrected`, () => shown(table(contrast_titles.slice(0, -1), contrast_rows(others).map((row) => row.slice(0, -1)), "other comparisons"))) : null);
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
      panels.add(line.arm, label, (canvas) => line_chart(canvas, timeline_series(line), {small: true, y: {beginAtZero: true}, from: Math.max(0, from)}));
    }
    values.replaceChildren(numbers("heads alive", ["arm, step", ...kinds_there], () => lines().flatMap((line) => line.events.map(({step, alive}) => [`${line.arm}, ${commas(step)}`, ...kinds_there.map((kind) => String(alive[kind] ?? 0))]))));
    panels.draw();
  };
  const effects = run.effects.map((e) => [`${e.factor}: ${e.level} − ${e.against}`, measure_of(e.measure).name, difference_text(e, measure_of(e.measure).unit), p_text(e.p), String(e.pairs)]);
  const choices = h("div.ask", {}, choice("Condition", known.map(condition_text), (i) => { condition = known[i]; show(); }));
  const legend = h("ul.legend", {}, kinds_there.map((kind) => h("li", {}, h("i", {"--colour": `var(--kind-${kind})`, "aria-hidden": "true"}), kind)));
  const section = point_section(7, effects.length ? table(["levels", "measure", "difference", "p", "means compared"], effects, "effects of factors") : null,
    known.length ? [h("h4", {}, "Heads alive during training"), choices.childElementCount ? choices : null, legend, panels.element, values] : null);
  if (known.length) show();
  return section;
}

function validation_section() {
  const seeds = [...new Set(run.means.flatMap((mean) => mean.seeds.map((s) => s.seed)))].sort((a, b) => a - b);
  const rows = () => run.means.filter((mean) => mean.measure === first.key).map((mean) => [`${condition_text(mean.condition)}: ${mean.arm}`,
    ...seeds.map((seed) => number_text(mean.seeds.find((s) => s.seed === seed)?.value, first.unit))]);
  return point_section(8, fold(`Values of ${first.name} by seed`, () => table(["", ...seeds.map((seed) => `seed ${seed}`)], rows(), "values by seed")));
}

function decision_section() {
  const rows = run.acceptable.slice(0, 12).map((entry) => {
    const mean = mean_at(entry.condition, entry.arm, first);
    const contrast = run.contrasts.find((c) => c.condition === entry.condition && c.arm === entry.arm && c.against === "none" && c.measure === first.key);
    return [`${entry.arm}, ${condition_text(entry.condition)}`, number_text(entry.heads), interval_text(mean.mean, first.unit), difference_text(contrast, first.unit)];
  });
  return point_section(9, rows.length ? table(["smallest models", "heads", first.name, "difference from all heads"], rows, "smallest acceptable models") : null);
}

const declared = run.declaration;
document.getElementById("facts").append(...[`study ${declared.name}`, `task ${declared.base.task}`, `seeds ${declared.seeds.join(", ")}`, `${commas(run.cells_done)} of ${commas(run.cells_planned)} runs`, run.precision]
  .map((part) => h("span", {}, part)));
main.append(scores_section(), candidates_section(), performance_section(), importance_section(), threshold_section(), speed_section(), comparison_section(),
  refinement_section(), validation_section(), decision_section(), folded("Declaration", declared));
draw_charts();
refresh();
