// The page of `headroom runs compare`: tables of measures and settings, curves, and the heads of every run.
const main = document.getElementById("main");

/** A colour for each run and model, the same in every figure. */
const names_of_series = [...new Set(run.curves.flatMap((curve) => curve.series.map((series) => series.name)))];
const colour_of = (name) => head_variable(names_of_series.indexOf(name));

function curve_section(curve) {
  const series = curve.series.map(({name, points}) => ({name, colour: colour_of(name), points: points.map(([x, y]) => ({x, y}))}));
  return curve_figure({title: capital(curve.name), caption: ""}, series, {unit: curve.unit, log: !curve.unit, y: curve.unit ? {beginAtZero: true} : undefined});
}

const capital = (text) => text[0].toUpperCase() + text.slice(1);

/** The heads of one run: a row for each layer of each kind, a cell for each head. */
function heads_of(one) {
  const rows = kinds.flatMap(({kind}) => {
    const own = one.heads.filter((head) => head.kind === kind);
    const layers = [...new Set(own.map((head) => head.layer))];
    return layers.map((layer) => h("tr", {}, h("th", {scope: "row"}, `${kind} ${layer}`), own.filter((head) => head.layer === layer).map((head) =>
      head.removed ? h("td.gone", {title: `${head_name(head)}: removed`}, h("s", {}, `${head.head}`)) : h("td", {title: `${head_name(head)}: alive`, "--share": 0.45}, `${head.head}`))));
  });
  const left = one.heads.filter((head) => !head.removed).length;
  return h("figure", {}, h("h3", {}, one.name), h("p.caption", {}, `${left} of ${one.heads.length} heads are left`), h("table.heads", {}, h("tbody", {}, rows)));
}

const table_section = (block) => h("section", {"aria-label": block.title}, h("h2", {}, block.title), block.rows.length ? block_table(block) : null);

main.append(table_section(run.measures), table_section(run.settings),
  h("section", {"aria-label": "Curves"}, h("h2", {}, "Over the steps"), h("div.figures", {}, run.curves.map(curve_section))),
  h("section", {"aria-label": "Heads"}, h("h2", {}, "Heads that are left"), h("div.grids", {}, run.runs.map(heads_of))));
draw_charts();
