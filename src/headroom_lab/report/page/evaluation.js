// The upper part of the page of `headroom evaluate`: tables, and the worst examples, each of which shows its maps
// below, on the page of `headroom attend`.
const scored = run.evaluation;

/** Shows the maps of one of the examples and moves there. */
function show_worst(one, output) {
  if (!show_input(one.asked, output)) return;
  field.value = one.asked;
  document.getElementById("maps-of-one").scrollIntoView({behavior: "smooth"});
}

/** The texts of an example: the input, the accepted outputs and the model's; buttons show maps. */
function worst_row(one, i) {
  const button = (text, output, label) => one.example || model ? h("button.plain", {type: "button", "aria-label": label, onclick: () => show_worst(one, output)}, text) : text;
  const expected = (one.expected ?? []).map(visible).join(" | ");
  const cells = [button(`${i + 1}`, one.given ?? null, `maps of example ${i + 1}`), visible(one.input)];
  if (run.model.family !== "language_model") cells.push(expected, h("span" + (one.right ? "" : ".worse"), {}, visible(one.output ?? "") || h("i", {}, "nothing")));
  return [...cells, number_text(one.loss)];
}

function evaluation_sections() {
  const titles = run.model.family === "language_model" ? ["", "text", "loss"] : ["", "input", "right", "predicted", "loss"];
  const rows = table(titles, scored.worst.map(worst_row), "the worst examples");
  rows.classList.add("examples");
  return [
    h("section", {"aria-label": "Results"}, scored.notes ? h("p.caption", {}, scored.notes) : null,
      h("div.figures", {}, scored.tables.map((block) => h("figure", {}, h("h3", {}, block.title), block_table(block))))),
    h("section", {"aria-label": "The worst examples"}, h("h2", {}, scored.worst.length === 1 ? "The example" : `The ${scored.worst.length} worst examples`),
      h("p.caption", {}, (run.model.family === "language_model" ? "Those with the highest loss first." : "Wrong ones first, then by the loss of the right output.") + " The number shows an example's attention maps below."), rows),
    h("h2", {id: "maps-of-one"}, "One example"),
  ];
}
