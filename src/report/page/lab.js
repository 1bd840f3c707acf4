// A page of the laboratory: its claims, then block by block its results; or the list of all
// experiments. The answer is in the page's header.
const main = document.getElementById("main");
const relations = {"<=": "≤", ">=": "≥", ">": ">", "==": "=", in: "in"};
const colours = ["--first", "--second", "--third", "--apart", "--outputs", "--parameters"];

/** The text of a cell: 1,050,624 or 0.252 or 3.1e-16. */
function figure_text(value) {
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return value ? "yes" : "no";
  return Number.isInteger(value) ? commas(value) : number_text(value);
}

/** The bound of a claim: one number, or the two ends of an interval. */
function bound_text(bound) {
  return bound.length === 1 ? figure_text(bound[0]) : `[${bound.map(figure_text).join(", ")}]`;
}

function mark(holds) {
  return h(holds ? "span.better" : "span.worse", {role: "img", "aria-label": holds ? "holds" : "does not hold"}, holds ? "✓" : "✗");
}

/** Every claim with its measured value and its bound, a column for each precision. */
function claims_section() {
  const cell = (claim, precision) => {
    const seen = claim[precision];
    if (!seen) return h("td", {"data-label": precision}, "–");
    return h("td", {"data-label": precision}, mark(seen.holds), ` ${seen.measured === null ? "not a number" : figure_text(seen.measured)} `,
      h("small", {}, `${relations[claim.relation]} ${bound_text(seen.bound)}`));
  };
  const rows = run.claims.map((claim) => h("tr", {}, h("th", {scope: "row"}, claim.text), run.precisions.map((p) => cell(claim, p))));
  const failed = run.claims.filter((claim) => run.precisions.some((p) => claim[p] && !claim[p].holds)).length;
  return h("section", {"aria-labelledby": "claims"},
    h("h2", {id: "claims"}, failed ? `${failed} of ${run.claims.length} claims do not hold` : "All claims hold"),
    h("p.caption", {}, "Each claim compares a measured value with its bound. The run asserts it."),
    h("div.scroll", {tabindex: 0, role: "region", "aria-label": "claims"},
      h("table.claims", {}, h("thead", {}, h("tr", {}, h("th", {scope: "col"}, "claim"), run.precisions.map((p) => h("th", {scope: "col"}, p)))), h("tbody", {}, rows))));
}

function question_section() {
  return h("section", {"aria-label": "Question"},
    h("h2", {}, "The question"),
    h("p.prose", {}, run.question),
    h("p.caption", {}, run.asked_in ? `From ${run.asked_in}.` : `From ${run.group}.`),
    h("h2", {}, "Computation"),
    h("p.prose", {}, run.computed),
    h("ul.formulas", {}, run.formulas.map((formula) => h("li", {}, h("code", {}, formula)))));
}

/** A table; columns of words are left-aligned, like the first one. */
function block_table(block) {
  const element = table(block.columns, block.rows.map((row) => row.map((c) => c === null ? "" : figure_text(c))), block.title);
  const words = block.columns.map((_, c) => block.type === "shapes" || block.rows.every((row) => typeof row[c] === "string" && /^[^0-9-]/.test(row[c])));
  for (const row of element.querySelectorAll("tr")) [...row.children].forEach((cell, c) => cell.classList.toggle("words", words[c]));
  return element;
}

const drawn = {
  table: (block) => [block_table(block)],
  matrices: (block) => block.steps.map((step) => h("div.step", {},
    h("h4", {}, `${step.name} = `, h("code", {}, step.formula)),
    h("div.parts", {}, step.parts.map((part) => h("div.scroll", {tabindex: 0, role: "region", "aria-label": `${step.name}, ${part.name}`},
      h("table.corner", {}, h("caption", {}, `${part.name} ${part.shape}`),
        h("tbody", {}, part.corner.map((row) => h("tr", {}, row.map((n) => h("td", {}, number_text(n)))))))))))),
  maps: (block, index) => [
    map_row(`${block.title}: left and right change the map, up and down the row`,
      block.maps.map((map) => map_card(map, block.queries, block.keys, `block ${index}`))),
    ...block.maps.map((map) => fold(`Values: ${map.name}`, () => table(["", ...block.keys],
      map.rows.map((row, q) => [block.queries[q], ...row.map((w) => w === null ? "not a number" : w.toFixed(3))]), `${block.title}, ${map.name}`)))],
};
drawn.shapes = drawn.table;

function block_figure(block, index) {
  if (block.type === "chart") {
    const series = block.series.map((s, i) => ({name: s.name, colour: colours[i % colours.length], dashed: i >= colours.length / 2 && block.series.length > 2,
      points: s.points.map(([x, y]) => ({x, y}))}));
    const figure = curve_figure(block, series, {log: block.log, x: block.x, dots: true,
      y: {title: {display: true, text: block.y, color: () => css("--soft"), font: {size: 12}}}});
    figure.classList.add("wide");
    return figure;
  }
  return h("figure.wide", {}, h("h3", {}, block.title), h("p.caption", {}, block.caption), drawn[block.type](block, index));
}

function lab_facts(parts) {
  document.getElementById("facts").append(...parts.map((part) => h("span", {}, part)), run.command ? h("code", {}, run.command) : "");
}

/** Links to the previous and next page of the run, and to its index. */
function neighbours() {
  if (!run.nav) return null;
  const links = [["index", "All experiments"], ["previous", "Previous: "], ["next", "Next: "]].filter(([key]) => run.nav[key])
    .map(([key, text]) => h("a", {href: run.nav[key].file, rel: key}, key === "index" ? text : text + run.nav[key].name));
  return h("nav.neighbours", {"aria-label": "experiments"}, links);
}

function build_experiment() {
  const seconds = Object.values(run.seconds).reduce((a, b) => a + b, 0);
  lab_facts([`experiment ${run.name}`, ...Object.entries(run.options).map(([key, value]) => `${key} ${value}`), run.precisions.join(" and "), `${seconds.toFixed(1)} s`]);
  main.append(...[neighbours(), question_section(), claims_section(),
    h("section", {"aria-label": "Results"}, h("h2", {}, "Results"), h("div.figures", {}, run.blocks.map(block_figure))),
    run.environment ? folded("Environment", run.environment) : null].filter(Boolean));
}

function build_index() {
  lab_facts([]);
  const card = (e) => h("article.card", {}, h("h3", {}, h("a", {href: e.file}, e.title)), h("p.caption", {}, e.asked_in ? `${e.name}, from ${e.asked_in}` : e.name),
    h("p", {}, e.answer), h("p.verdict", {}, mark(!e.failed.length), e.failed.length ? ` ${e.failed.join("; ")}` : ` ${e.claims} claims hold`));
  const groups = [...new Set(run.experiments.map((e) => e.group))];
  main.append(...groups.map((group) => h("section", {"aria-label": group}, h("h2", {}, group[0].toUpperCase() + group.slice(1)),
    h("div.figures", {}, run.experiments.filter((e) => e.group === group).map(card)))), run.environment ? folded("Environment", run.environment) : "");
}

(run.kind === "lab-index" ? build_index : build_experiment)();
draw_charts();
refresh();
