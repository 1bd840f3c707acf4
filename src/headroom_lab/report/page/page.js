// The sections of the page in their order; each is left out when the run has no records for it.
const found = run.findings;
const models = run.models;
const main = document.getElementById("main");
const several = models.length > 1;

/** A value of a record that may be given by model. */
const of_model = (value, model) => value !== null && typeof value === "object" ? value[model] : value;
const mean_of = (value) => {
  if (value === null || typeof value !== "object") return value;
  const list = Object.values(value).filter(is_number);
  return list.length ? list.reduce((a, b) => a + b) / list.length : undefined;
};
/** The number in a tile, from a value by model: the lowest quality of the models that `other` has too, or the fused model's cost. */
const tile_value = (value, other, higher) => value === null || typeof value !== "object" ? value
  : higher ? Math.min(...Object.keys(value).filter((model) => is_number(of_model(other, model))).map((model) => value[model]).filter(is_number))
    : value.fused ?? mean_of(value);

/** Points of one model's key, numbers only. */
function points(key, model) {
  return (run.metrics || []).filter((line) => (line.model || "model") === model && is_number(line[key]))
    .map((line) => ({x: line.step, y: line[key]}));
}

/** A curve per model: the first broad and pale, so that the second stays visible on top of it. */
function model_curves(key, name, dashed) {
  return models.map((model, i) => ({
    name: several ? (name ? `${model}, ${name}` : model) : (name || "training"), colour: model_variable(dashed && !several ? 1 : i),
    broad: several && i === 0 && !dashed, dashed, points: points(key, model),
  })).filter((series) => series.points.length);
}

function loss_figure() {
  const validation = model_curves("validation_loss", "validation", true);
  const series = [...model_curves("loss", validation.length && several ? "training" : ""), ...validation];
  return curve_figure(found.loss, series, {log: true, spans: removal_span()});
}

function measure_figures() {
  const measures = run.measures || [];
  return measures.map((measure, i) => {
    const series = model_curves(measure.key);
    if (!series.length) return null;
    if (!several) series[0].name = measure.name;
    const all = series.flatMap((s) => s.points);
    const top = Math.max(...all.map((p) => p.y), measure.goal ?? 0);
    if (is_number(measure.goal)) {
      const xs = all.map((p) => p.x);
      series.push({name: `goal, ${number_text(measure.goal, measure.unit)}`, colour: "--goal", dashed: true, plain: true,
                   points: [{x: Math.min(...xs), y: measure.goal}, {x: Math.max(...xs), y: measure.goal}]});
    }
    const percent = measure.unit === "%";
    const y = percent && top > 0.5 && top <= 1 ? {min: 0, max: 1} : {beginAtZero: percent};
    return curve_figure(found.measures[i], series, {unit: measure.unit, y, spans: removal_span()});
  }).filter(Boolean);
}

function differences_figure() {
  const lines = run.differences || [];
  const of = (key) => lines.filter((line) => is_number(line[key])).map((line) => ({x: line.step, y: line[key]}));
  const series = [
    {name: "parameters", colour: "--parameters", points: of("parameter")},
    {name: "outputs", colour: "--outputs", points: of("forward")},
    {name: "key biases (no effect)", colour: "--goal", dashed: true, points: of("key_bias")},
  ].filter((s) => s.points.length);
  const parted = run.parted_at || {};
  const marks_at = is_number(parted.step) ? [{x: parted.step, text: `diverge at step ${commas(parted.step)}`}] : [];
  if (is_number(parted.threshold) && lines.length) {
    series.push({name: `threshold, ${number_text(parted.threshold)}`, colour: "--bad", dashed: true, plain: true,
                 points: [{x: lines[0].step, y: parted.threshold}, {x: lines.at(-1).step, y: parted.threshold}]});
  }
  const figure = curve_figure(found.differences, series, {log: true, lines: marks_at, spans: removal_span()});
  const start = run.separate_vs_fused;
  if (start) {
    const parts = [["outputs", start.forward], ["parameter gradients", start.parameter_gradient], ["input gradients", start.input_gradient]]
      .filter(([, value]) => is_number(value)).map(([name, value]) => value === 0 ? `${name} equal to the bit` : `${name} ${number_text(value)}`);
    figure.insertBefore(h("p.caption", {}, `At the start: ${parts.join(", ")}`, is_number(start.tolerance) ? ` (allowed: ${number_text(start.tolerance)}).` : "."),
                        figure.querySelector(".legend"));
  }
  return figure;
}

/** Heads alive over time by kind, through every removal and swap. */
function alive_curves() {
  const changes = head_changes(), steps = changes.map((change) => change.step);
  if (!steps.length) return [];
  const ends = [...(run.metrics || []), ...(run.schedule || [])].map((line) => line.step);
  const last = Math.max(...steps, ...ends), first = Math.min(0, ...ends);
  return kinds.map(({kind}) => {
    const all = run.heads.filter((head) => head.kind === kind).length;
    if (!all) return null;
    const own = changes.filter(({removed, regrown}) => removed.includes(kind) || regrown.includes(kind));
    const of_kind = (list) => list.filter((other) => other === kind).length;
    const alive = (x) => own.filter(({step}) => step <= x).reduce((sum, {removed, regrown}) => sum + of_kind(regrown) - of_kind(removed), all);
    const at = [first, ...new Set(own.map((change) => change.step)), last].sort((a, b) => a - b);
    return {name: kind, colour: `--kind-${kind}`, stepped: true, points: at.map((x) => ({x, y: alive(x)}))};
  }).filter(Boolean);
}

function heads_figure() {
  const most = Math.max(...run.heads.map((head) => mean_of(head.importance)).filter(is_number), 0);
  const grids = h("div.grids", {}, kinds.map(({kind}) => head_grid(kind, most)));
  const scale = h("div.scale", {}, h("span", {}, "0", h("i", {"aria-hidden": "true"}), `100: the most important head (${number_text(most)})`),
                  h("span", {}, h("i.key", {"aria-hidden": "true"}), "removed at the step below"));
  const curves = alive_curves();
  if (curves.length) {
    const figure = curve_figure(found.heads, curves, {y: {beginAtZero: true, ticks: {stepSize: 2, color: () => css("--soft"), padding: 8}}});
    figure.querySelector(".plot").classList.add("low");
    figure.insertBefore(grids, figure.querySelector("details"));
    figure.insertBefore(scale, figure.querySelector("details"));
    return figure;
  }
  return h("figure", {}, h("h3", {}, found.heads.title), h("p.caption", {}, found.heads.caption), grids, scale);
}

/** One figure per metric: a dot per head, its importance against what removing it costs. */
function criterion_figures() {
  return (run.criteria || []).map((criterion, i) => {
    const series = kinds.map(({kind}) => ({name: kind, colour: `--kind-${kind}`, points: run.heads.map((head, at) => ({head, x: criterion.importance[at], y: head.cost}))
      .filter((p) => p.head.kind === kind && is_number(p.x) && is_number(p.y)).map((p) => ({x: p.x, y: p.y, name: head_name(p.head)}))}))
      .filter((s) => s.points.length);
    return series.length ? curve_figure(found.criteria[i], series, {x: criterion.name, scatter: true, y: {title: {display: true, text: "cost of removal", color: () => css("--soft")}}}) : null;
  }).filter(Boolean);
}

function importance_sums_figure() {
  const of = (key) => run.importance_sums.map((line) => ({x: line.step, y: line[key]}));
  return curve_figure(found.importance_sums, [
    {name: "cost of removal", colour: "--first", points: of("cost")}, {name: "sensitivity", colour: "--second", points: of("sensitivity")},
  ], {log: true, dots: true});
}

/** The table of the models whose heads were cut all at once. */
function arms_figure() {
  const all = run.arms;
  const text = (values) => {
    const mean = values.reduce((a, b) => a + b) / values.length;
    return number_text(mean, "%") + (values.length > 1 ? ` (${values.map((v) => (100 * v).toFixed(1)).join(", ")})` : "");
  };
  const rows = all.arms.map((arm) => [arm.removed ? `${arm.removed} heads removed: ${arm.choice}` : "all heads", text(arm.cut), text(arm.recovered)]);
  return h("figure.wide", {}, h("h3", {}, found.arms.title), h("p.caption", {}, found.arms.caption),
    table(["", "right after the removal", `after ${commas(all.recovery)} more steps`], rows, "exact match after heads were removed"));
}

function head_grid(kind, most) {
  const own = run.heads.filter((head) => head.kind === kind);
  if (!own.length) return null;
  const layers = [...new Set(own.map((head) => head.layer))].sort((a, b) => a - b);
  const columns = [...new Set(own.map((head) => head.head))].sort((a, b) => a - b);
  const cell = (layer, column) => {
    const head = own.find((other) => other.layer === layer && other.head === column);
    if (!head) return h("td", {});
    const value = mean_of(head.importance);
    const share = is_number(value) && most > 0 ? Math.sqrt(Math.max(0, value) / most) : 0;
    const text = is_number(value) && most > 0 ? String(Math.round(100 * value / most)) : "";
    const name = `${head_name(head)}, importance ${number_text(value)}` + (is_number(head.removed_at) ? `, removed at step ${head.removed_at}` : ", alive");
    return is_number(head.removed_at) ? heat_cell("td.gone", name, 0.4 * share, text ? h("s", {}, text) : null, h("small", {}, head.removed_at))
      : heat_cell("td", name, Math.max(0.06, share), text);
  };
  return h("table.heads", {}, h("caption", {}, h("i", {"--colour": `var(--kind-${kind})`, "aria-hidden": "true"}), kinds.find((k) => k.kind === kind).title),
    h("thead", {}, h("tr", {}, h("th", {}), columns.map((c) => h("th.hue", {scope: "col", "--colour": `var(${head_variable(c)})`}, `head ${c}`)))),
    h("tbody", {}, layers.map((layer) => h("tr", {}, h("th", {scope: "row"}, `layer ${layer}`), columns.map((c) => cell(layer, c))))));
}

const quantities = [
  {key: "exact_match", name: "exact match", higher: true, text: (v) => number_text(v, "%"), change: (a, b) => `${b >= a ? "+" : "−"}${Math.abs(100 * (b - a)).toFixed(1)} points`},
  {key: "steps", name: "training steps", text: commas, in_table: true},
  {key: "heads", name: "heads alive", text: commas, in_table: true},
  {key: "step_ms", name: "time of a step", text: (v) => v.toFixed(1) + " ms"},
  {key: "attention_ms", name: "attention in a step", text: (v) => v.toFixed(1) + " ms"},
  {key: "parameters", name: "parameters", text: commas},
  {key: "memory_bytes", name: "peak memory", text: (v) => (v / 1e6).toFixed(1) + " MB"},
];

function tile_note(q, rows) {
  const values = rows.map((row) => row[q.key]).filter((value) => value !== null && typeof value === "object");
  const shared = models.filter((model) => values.every((value) => model in value));
  return !values.length || !several ? "" : shared.length === 1 ? ` (${shared[0]})` : q.higher ? " (lower)" : values.every((value) => "fused" in value) ? " (fused)" : " (mean)";
}

function before_after_figure() {
  const rows = run.before_after, last = rows[run.compared.after];
  const tiles = quantities.filter((q) => !q.in_table).map((q) => {
    // A quality is compared with that of models trained for as many steps without removal, if the run has them.
    const as_long = q.higher ? rows[run.compared.as_long] : undefined;
    const first = as_long?.[q.key] ? as_long : rows[run.compared.before];
    const a = tile_value(first[q.key], last[q.key], q.higher), b = tile_value(last[q.key], first[q.key], q.higher);
    if (!is_number(a) || !is_number(b)) return null;
    const noisy = run.compared.noisy?.includes(q.key);
    const chance = q.higher && run.compared.by_chance;
    const change = noisy ? "noisy" : chance ? "no clear difference" : q.change ? q.change(a, b) : a === 0 ? "" : `${b <= a ? "−" : "+"}${Math.abs(100 * (b - a) / a).toFixed(0)} %`;
    const better = b === a || noisy || chance ? "" : (b > a) === Boolean(q.higher) ? ".better" : ".worse";
    const share = q.higher ? 100 * b : 100 * b / Math.max(a, b);
    return h("dl.tile", {style: "margin:0"}, h("dt", {}, q.name + tile_note(q, [first, last])),
      h("dd", {}, h("div.now", {}, q.text(b)), h("span.then", {}, `${first.label}: ${q.text(a)}  `), h("span.change" + better, {}, change)),
      h("dd.bar", {"aria-hidden": "true"}, h("b", {style: `width:${share.toFixed(1)}%`})));
  }).filter(Boolean);
  // Every quantity as a column; one that is given by model as a column per model.
  const columns = quantities.flatMap((q) => {
    const values = rows.map((row) => row[q.key]).filter((value) => value !== undefined && value !== null);
    if (!values.length) return [];
    return values.some((value) => typeof value === "object")
      ? models.map((model) => ({title: `${q.name}, ${model}`, get: (row) => of_model(row[q.key], model), q})) : [{title: q.name, get: (row) => row[q.key], q}];
  });
  const cells = rows.map((row) => [row.label, ...columns.map((c) => { const v = c.get(row); return is_number(v) ? c.q.text(v) : "–"; })]);
  return h("figure.wide", {}, h("h3", {}, found.before_after.title), h("p.caption", {}, found.before_after.caption), h("div.tiles", {}, tiles),
    numbers(found.before_after.title, ["", ...columns.map((c) => c.title)], () => cells));
}

function importance_section() {
  const heads = run.heads.filter((head) => is_number(mean_of(head.importance))).sort((a, b) => mean_of(b.importance) - mean_of(a.importance));
  const by_model = heads.some((head) => typeof head.importance === "object");
  const columns = by_model ? models : [null];
  const most = Math.max(...heads.flatMap((head) => columns.map((m) => m === null ? head.importance : of_model(head.importance, m))).filter(is_number));
  const costs = heads.some((head) => is_number(head.cost));
  const rows = heads.map((head) => {
    const values = columns.map((model) => model === null ? head.importance : of_model(head.importance, model));
    return h(is_number(head.removed_at) ? "tr.gone" : "tr", {}, h("th", {scope: "row"}, head_name(head)),
      h("td.rod", {"aria-hidden": "true"}, values.map((v, i) => h("i", {"--colour": `var(${model_variable(i)})`, style: `width:${is_number(v) ? Math.max(0, 100 * v / most) : 0}%`}))),
      values.map((v) => h("td", {}, number_text(v))), costs ? h("td", {}, number_text(head.cost)) : null,
      h("td", {}, is_number(head.removed_at) ? commas(head.removed_at) : "alive"));
  });
  const titles = ["head", "", ...columns.map((m) => m || "importance"), ...(costs ? ["cost of removal"] : []), "removed at step"];
  return h("section", {"aria-label": "Importance"}, h("h2", {}, found.importance.title), h("p.caption", {}, found.importance.caption),
    h("div.card", {}, h("div.scroll", {tabindex: 0, role: "region", "aria-label": "importance of every head"},
      h("table.ranking", {}, h("thead", {}, h("tr", {}, titles.map((t) => h("th", {scope: "col"}, t)))), h("tbody", {}, rows)))));
}

function facts() {
  const parts = [["task", run.task], ["seed", run.seed]].filter(([, v]) => v !== undefined).map(([k, v]) => h("span", {}, `${k} ${v}`));
  if (run.heads) parts.push(h("span", {}, `${run.heads.filter((head) => !is_number(head.removed_at)).length} of ${run.heads.length} heads alive`));
  if (run.command) parts.push(h("code", {}, run.command));
  const own = run.environment && run.environment["own functions"];
  if (own) parts.push(h("span", {}, `with the learner's functions: ${own}`));
  document.getElementById("facts").append(...parts);
}

function build() {
  facts();
  const figures = [
    found.loss && loss_figure(), ...(found.measures ? measure_figures() : []), found.differences && differences_figure(),
    found.heads && heads_figure(), ...criterion_figures(), found.importance_sums && importance_sums_figure(),
    found.arms && arms_figure(), found.before_after && before_after_figure(),
  ].filter(Boolean);
  // A figure that would be alone in its row takes the whole row.
  let column = 0;
  figures.forEach((figure, i) => {
    if (figure.classList.contains("wide")) { column = 0; return; }
    const next = figures[i + 1];
    if (column === 0 && (!next || next.classList.contains("wide"))) figure.classList.add("wide");
    else column = 1 - column;
  });
  main.append(h("div.figures", {}, figures));
  if (found.telemetry) main.append(telemetry_section(found.telemetry));
  const lives = found.lives ? lives_section(found.lives) : null;
  if (lives) main.append(lives.section);
  const attention = found.maps ? maps_section(found.maps) : null;
  if (attention) main.append(attention.section);
  if (found.importance) main.append(importance_section());
  if (run.config) main.append(folded("Configuration", run.config));
  if (run.environment) main.append(folded("Environment", run.environment));
  draw_charts();
  if (lives) lives.start();
  if (attention) attention.start();
}

build();
