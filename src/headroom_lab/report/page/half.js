// The page of half_of_the_heads: the choices as a table, and for each model the losses of all halves in order, with
// the place of each choice.
const main = document.getElementById("main");
const fixed = (value, digits) => is_number(value) ? value.toFixed(digits) : "–";

/** A row for each choice: the losses, the rank, the exact match and, of a single model, the removed heads. */
function choices_table(choices) {
  const listed = choices.some((c) => c.removed);
  const titles = ["heads chosen by", "loss right after", "rank", "loss after recovery", "dates right", ...(listed ? ["removed"] : [])];
  const rows = choices.map((c) => h(c.by === "you" ? "tr.you" : "tr", {}, h("th", {scope: "row"}, c.by), h("td", {}, fixed(c.after, 2)), h("td", {}, fixed(c.rank, 0)),
    h("td", {}, fixed(c.recovered, 3)), h("td", {}, `${fixed(100 * c.exact, 1)} %`), listed ? h("td", {}, c.removed.replaceAll(",", " ")) : null));
  return h("div.scroll", {tabindex: 0, role: "region", "aria-label": "losses by choice"}, h("table", {}, h("thead", {}, h("tr", {}, titles.map((t) => h("th", {scope: "col"}, t)))), h("tbody", {}, rows)));
}

/** The losses of all halves, from the best to the worst, on a logarithmic axis. */
function curve(model) {
  const losses = model.losses, width = 640, height = 220, left = 46, bottom = 26;
  const low = Math.log(losses[0]), high = Math.log(losses.at(-1)) + 1e-9;
  const x = (rank) => left + (width - left - 12) * (rank - 1) / (losses.length - 1);
  const y = (loss) => 10 + (height - 10 - bottom) * (high - Math.log(loss)) / (high - low);
  const line = losses.map((loss, i) => `${i ? "L" : "M"}${x(i + 1).toFixed(1)} ${y(loss).toFixed(1)}`).join("");
  const ticks = [losses[0], Math.exp((low + high) / 2), losses.at(-1)];
  const svg = h("div.picture");
  const placed = model.choices.filter((c) => is_number(c.rank) && c.removed);
  svg.innerHTML = `<svg viewBox="0 0 ${width} ${height}" role="img"><title></title>`
    + ticks.map((t) => `<line class="axis" x1="${left}" x2="${width}" y1="${y(t)}" y2="${y(t)}"/><text x="${left - 6}" y="${y(t) + 4}" text-anchor="end">${number_text(t)}</text>`).join("")
    + `<text x="${left}" y="${height - 6}">the best half</text><text x="${width}" y="${height - 6}" text-anchor="end">the worst of ${losses.length}</text><path class="all" d="${line}"/>`
    + placed.map((c) => `<circle class="mark${c.by === "you" ? " you" : ""}" cx="${x(c.rank).toFixed(1)}" cy="${y(c.after).toFixed(1)}" r="5"><title></title></circle>`).join("") + "</svg>";
  const titles = svg.querySelectorAll("title");
  titles[0].textContent = `losses of all halves of model ${model.seed}`;
  placed.forEach((c, i) => { titles[i + 1].textContent = `${c.by}: rank ${c.rank}, loss ${number_text(c.after)}`; });
  return svg;
}

function model_section(model) {
  const yours = model.choices.find((c) => c.by === "you");
  return h("section.half", {}, h("h2", {}, `Model ${model.seed}`), h("p.caption", {}, yours ? `Removed: ${yours.removed}. The blue point is this choice; the others are chosen by programs.` : "The points are chosen by programs."),
    h("div.card", {}, curve(model), choices_table(model.choices)),
    fold("Heads", () => table(["head", "cost alone", "sensitivity", "Shapley value"], model.heads.map((head) => [head.name, number_text(head.cost), number_text(head.sensitivity), number_text(head.shapley)]),
      "measured on other examples than the losses above")));
}

document.getElementById("facts").append(...[run.date, `models ${run.models.map((model) => model.seed).join(", ")}`, run.own && `with the learner's functions: ${run.own}`].filter(Boolean).map((part) => h("span", {}, part)));
main.append(h("section.half", {}, h("h2", {}, "Mean of all models"), h("div.card", {}, choices_table(run.means)),
  h("p.caption", {}, `A single number proves nothing: these are ${run.models.length} models, and after recovery luck has a large part. The best half is known only afterwards, from the same examples that measure it.`)),
  ...run.models.map(model_section));
