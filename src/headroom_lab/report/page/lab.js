// A page of the laboratory: program, answer and figure; then procedure, derivation, tables and claims. The
// question is in the page's header. Or the answer to a question beside PyTorch, or the list of all experiments.
const main = document.getElementById("main");
const relations = {"<=": "≤", ">=": "≥", ">": ">", "==": "=", in: "in"};
const colours = ["--first", "--second", "--third", "--apart", "--outputs", "--parameters"];

/** The bound of a claim: one number, or the two ends of an interval. */
function bound_text(bound) {
  return bound.length === 1 ? figure_text(bound[0]) : `[${bound.map(figure_text).join(", ")}]`;
}

function mark(holds) {
  return h(holds ? "span.better" : "span.worse", {role: "img", "aria-label": holds ? "holds" : "does not hold"}, holds ? "✓" : "✗");
}

/** Every claim with its measured value and its bound, a column for each precision. Folded unless one fails. */
function claims_section() {
  const cell = (claim, precision) => {
    const seen = claim[precision];
    if (!seen) return h("td", {"data-label": precision}, "–");
    return h("td", {"data-label": precision}, mark(seen.holds), ` ${seen.measured === null ? "not a number" : figure_text(seen.measured)} `,
      h("small", {}, `${relations[claim.relation]} ${bound_text(seen.bound)}`));
  };
  const rows = run.claims.map((claim) => h("tr", {}, h("th", {scope: "row"}, claim.text), run.precisions.map((p) => cell(claim, p))));
  const failed = run.claims.filter((claim) => run.precisions.some((p) => claim[p] && !claim[p].holds)).length;
  return h("details.folded", {id: "claims", ...(failed ? {open: ""} : {})},
    h("summary", {}, mark(!failed), ` ${run.claims.length - failed} of ${run.claims.length} claims hold`),
    h("p.caption", {}, "Each claim compares a measured value with its bound. The run asserts it."),
    h("div.scroll", {tabindex: 0, role: "region", "aria-label": "claims"},
      h("table.claims", {}, h("thead", {}, h("tr", {}, h("th", {scope: "col"}, "claim"), run.precisions.map((p) => h("th", {scope: "col"}, p)))), h("tbody", {}, rows))));
}

/** An element with MathML, which the program made of a formula. */
function formula(tag, mathml) {
  const element = h(tag, {});
  element.innerHTML = mathml;
  return element;
}

/** Program, answer and figure, which the first screen shows. */
function opening(figure) {
  return h("section.opening" + (figure ? "" : ".alone"), {"aria-label": "Answer"},
    h("div.told", {},
      run.program ? h("details.program", {}, h("summary", {}, "The smallest program that shows it"),
        h("pre.scroll", {tabindex: 0, role: "region", "aria-label": "program"}, h("code", {}, run.program))) : null,
      h("p.answer", {id: "answer"}, run.answer)),
    figure);
}

/** A program, whose start up to the definition of sines(), the same in all of them, is folded. */
function program_pane(language, program) {
  const start = program.match(/^[^]*?^(?:def|Tensor) sines[^]*?\n\n/m)?.[0] ?? "";
  const code = (text, name) => h("pre.scroll", {tabindex: 0, role: "region", "aria-label": name}, h("code", {}, text));
  return h("div.pane", {}, h("h2", {}, language), code(program.slice(start.length).trim(), `program for ${language}`),
    start ? h("details", {}, h("summary", {}, "Its first lines: sines(shape) has sin(i²) as element i"), code(start.trim(), `first lines for ${language}`)) : null);
}

function computed_section() {
  return h("section", {"aria-label": "Computation"},
    run.remarks ? [h("h2", {}, "Further findings"), h("p.prose", {}, run.remarks)] : [],
    h("h2", {}, "Computation"),
    h("p.prose", {}, run.computed),
    h("p.caption", {}, run.asked_in ? `Asked in ${run.asked_in}.` : `One of the ${run.group}.`));
}

/** The formulas, and the blocks that derive the answer. */
function derivation_section(figures) {
  return h("section", {"aria-label": "Derivation"}, h("h2", {}, "Derivation"),
    h("ul.formulas", {}, run.formulas.map((one) => formula("li", one))),
    figures.length ? h("div.figures", {}, figures) : null);
}

const range = (first, last) => first === last ? String(first) : `${first} to ${last}`;

/** A matrix as a rectangle in which every head's blocks have the head's colour. */
function outline(matrix) {
  const share = (part, whole) => `${(100 * part / whole).toFixed(4)}%`;
  const blocks = matrix.blocks.map((b) => h("i", {title: `head ${b.head}: rows ${range(b.first_row, b.last_row)}, columns ${range(b.first_column, b.last_column)}`,
    "--colour": head_colour(b.head), style: `top:${share(b.first_row, matrix.rows)};height:${share(b.last_row - b.first_row + 1, matrix.rows)};`
      + `left:${share(b.first_column, matrix.columns)};width:${share(b.last_column - b.first_column + 1, matrix.columns)}`}));
  const said = matrix.blocks.map((b) => `head ${b.head} has rows ${range(b.first_row, b.last_row)} and columns ${range(b.first_column, b.last_column)}`).join("; ");
  return h("div", {"--columns": matrix.columns}, h("p", {}, h("b", {}, matrix.name), h("span", {}, `${matrix.rows} × ${matrix.columns}`)),
    h("div.outline", {role: "img", "aria-label": `${matrix.name}, ${matrix.rows} by ${matrix.columns}: ${said}`, style: `aspect-ratio:${matrix.columns}/${matrix.rows}`}, blocks));
}

function head_legend(block) {
  const heads = [...new Set(block.matrices.flatMap((matrix) => matrix.blocks.map((one) => one.head)))].sort((a, b) => a - b);
  return h("ul.legend.of-heads", {}, heads.map((head) => h("li", {}, swatch(head), `head ${head}`)));
}

const drawn = {
  table: (block) => [block.shown === "folded" ? fold("Values", () => block_table(block)) : block_table(block)],
  matrices: (block) => block.steps.map((step) => h("div.step", {},
    formula("h4", step.formula),
    h("div.parts", {}, step.parts.map((part) => h("div.scroll", {tabindex: 0, role: "region", "aria-label": `${step.name}, ${part.name}`},
      h("table.corner", {}, h("caption", {}, `${part.name} ${part.shape}`),
        h("tbody", {}, part.corner.map((row) => h("tr", {}, row.map((n) => h("td", {}, number_text(n)))))))))))),
  maps: (block, index) => {
    const row = map_row(`${block.title}: left and right change the map, up and down the row`,
      block.maps.map((map) => map_card({...map, name: map.joint ? `${map.joint} ${map.name}` : map.name, top: block.top ?? 1}, block.queries, block.keys, `block ${index}`)));
    row.classList.toggle("terms", block.maps.some((map) => map.joint));
    return [row, fold("Values", () => h("div", {}, block.maps.map((map) => [h("h4", {}, map.name), table(["", ...block.keys],
      map.rows.map((row, q) => [block.queries[q], ...row.map((w) => w === null ? "not a number" : w.toFixed(3))]), `${block.title}, ${map.name}`)]).flat()))];
  },
  heads: (block) => [h("div.outlines", {}, block.matrices.map(outline)), head_legend(block),
    numbers(block.title, ["matrix", "head", "rows", "columns"], () => block.matrices.flatMap((matrix) => matrix.blocks.map((one) =>
      [matrix.name, one.head, range(one.first_row, one.last_row), range(one.first_column, one.last_column)])))],
};
drawn.shapes = drawn.table;

function block_figure(block, index) {
  if (block.type !== "chart") return h("figure.wide", {}, h("h3", {}, block.title), h("p.caption", {}, block.caption), drawn[block.type](block, index));
  const series = block.series.map((s, i) => ({name: s.name, colour: colours[i % colours.length], dashed: i >= colours.length / 2 && block.series.length > 2,
    points: s.points.map(([x, y]) => ({x, y}))}));
  const xs = series.flatMap((s) => s.points.map((p) => p.x));
  const figure = curve_figure(block, series, {log: block.log, x: block.x, dots: true, tight: true, from: xs.length > 1 ? Math.min(...xs) : undefined,
    y: {title: {display: true, text: block.y, color: () => css("--soft"), font: {size: 12}}}});
  figure.classList.add("wide");
  return figure;
}

/** The figure that shows the answer, with its caption below the drawing; null if no block is marked. */
function answering_figure() {
  const index = run.blocks.findIndex((block) => block.figure);
  if (index < 0) return null;
  const figure = block_figure(run.blocks[index], index), caption = figure.querySelector(".caption");
  figure.id = "figure";
  figure.insertBefore(caption, figure.querySelector(":scope > details"));
  return figure;
}

function lab_facts(parts) {
  const facts = document.getElementById("facts");
  facts.append(...parts.map((part) => h("span", {}, part)), run.command ? h("code", {}, run.command) : "");
  return facts;
}

/** Links to the previous and next page of the run, and to its index. */
function neighbours() {
  if (!run.nav) return null;
  const links = [["index", "All experiments"], ["previous", "Previous: "], ["next", "Next: "]].filter(([key]) => run.nav[key])
    .map(([key, text]) => h("a", {href: run.nav[key].file, rel: key}, key === "index" ? text : text + run.nav[key].name));
  return h("nav.neighbours", {"aria-label": "experiments"}, links);
}

function build_experiment() {
  document.body.classList.add("experiment");
  const seconds = Object.values(run.seconds).reduce((a, b) => a + b, 0);
  const facts = lab_facts([`experiment ${run.name}`, ...Object.entries(run.options).map(([key, value]) => `${key} ${value}`), run.precisions.join(" and "), `${seconds.toFixed(1)} s`]);
  const figures = (wanted) => run.blocks.map((block, i) => wanted(block) && !block.figure ? block_figure(block, i) : null).filter(Boolean);
  const derives = (block) => block.type === "matrices" || block.type === "shapes";
  const results = figures((block) => !derives(block));
  main.append(...[opening(answering_figure()), computed_section(), derivation_section(figures(derives)),
    results.length ? h("section", {"aria-label": "Results"}, h("h2", {}, "Results"), h("div.figures", {}, results)) : null,
    claims_section(), run.environment ? folded("Environment", run.environment) : null, facts, neighbours()].filter(Boolean));
}

function build_answer() {
  document.body.classList.add("experiment", "beside");
  const facts = lab_facts([`asked in ${run.asked_in || run.group}`, "derivation, further findings and claims:"]);
  const told = h("section.told", {"aria-label": "Answer"}, h("p.caption", {}, "Both programs print:"),
    h("p.printed", {}, h("code", {}, run.twin.printed.trim())), h("p.answer", {id: "answer"}, run.twin.sentence));
  main.append(h("div.columns.opening.alone", {}, h("div.column", {}, program_pane("PyTorch", run.twin.pytorch), answering_figure()),
    h("div.column", {}, program_pane("headroom", run.program), told)), facts);
}

function build_index() {
  lab_facts([]);
  const card = (e) => h("article.card", {}, h("h3", {}, h("a", {href: e.file}, e.title)), h("p.caption", {}, e.asked_in ? `${e.name}, from ${e.asked_in}` : e.name),
    h("p", {}, e.answer), h("p.verdict", {}, mark(!e.failed.length), e.failed.length ? ` ${e.failed.join("; ")}` : ` ${e.claims} claims hold`));
  const groups = [...new Set(run.experiments.map((e) => e.group))];
  main.append(...groups.map((group) => h("section", {"aria-label": group}, h("h2", {}, group[0].toUpperCase() + group.slice(1)),
    h("div.figures", {}, run.experiments.filter((e) => e.group === group).map(card)))), run.environment ? folded("Environment", run.environment) : "");
}

({"lab-index": build_index, "lab-answer": build_answer}[run.kind] ?? build_experiment)();
draw_charts();
refresh();
