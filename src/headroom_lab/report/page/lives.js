// The life of a head: a slider over the measured steps, the chosen head's map and curves, and all heads at that step.

/** The removals and returns of a head in order: [{x: step, text}]. */
function turns_of(name) {
  const turns = (run.timeline || []).flatMap(({step, removed = [], regrown = []}) => [
    ...(removed.includes(name) ? [{x: step, text: "removed"}] : []), ...(regrown.includes(name) ? [{x: step, text: "came back"}] : [])]);
  const removed_at = heads_by_name.get(name)?.removed_at;
  return turns.length || !is_number(removed_at) ? turns : [{x: removed_at, text: "removed"}];
}

/** The latest turn of a head up to a step, in words: "alive", "removed at step 700". */
function fate(name, step) {
  const turn = turns_of(name).filter(({x}) => x <= step).at(-1);
  return !turn ? "alive" : turn.text === "removed" ? `removed at step ${commas(turn.x)}` : `alive, came back at step ${commas(turn.x)}`;
}

/** The curves of a head: the measured cost, and the cost that its gate gradient predicts. */
function life_curves(name) {
  const points = (value) => run.lives.map((line) => ({x: line.step, y: value(line, line.heads.indexOf(name))})).filter(({y}) => is_number(y));
  return [{name: "cost of removal", colour: "--first", points: points((line, at) => line.cost[at])},
    {name: "predicted by the gate gradient, −dL/dg", colour: "--second", dashed: true, points: points((line, at) => is_number(line.gate_gradient[at]) ? -line.gate_gradient[at] : null)}];
}

function lives_section(finding) {
  const lines = run.lives, heads = measured_heads(lines), span = {from: 0, to: lines.at(-1).step};
  const most = Math.max(...lines.flatMap((line) => line.cost).filter(is_number), 0);
  let name = (heads.find((head) => turns_of(head.name).length) ?? heads[0]).name;
  const first = lines.map((line) => line.heads.includes(name)).lastIndexOf(true);
  let at = Math.max(0, first);

  const select = h("select", {id: "life-head", onchange: () => { name = select.value; show_head(); }},
    kinds.map(({kind, title}) => h("optgroup", {label: title}, heads.filter((head) => head.kind === kind)
      .map((head) => h("option", {value: head.name}, `${kind} layer ${head.layer}, head ${head.head}`)))).filter((group) => group.childElementCount));
  const slider = h("input", {id: "life-step", type: "range", min: 0, max: lines.length - 1, step: 1, oninput: () => { at = Number(slider.value); show_step(); }});
  const when = h("output", {for: "life-step"}), told = h("p.caption", {"aria-live": "polite"});
  const picture = h("div.picture"), canvas = h("canvas", {role: "img"});

  const cursor = () => [...turns_of(name), {x: lines[at].step, text: "", solid: true}];
  const curves = {canvas, make: () => {
    const series = life_curves(name);
    canvas.setAttribute("aria-label", `${name}: ` + [...series.filter((s) => s.points.length).map((s) => `${s.name} from ${number_text(s.points[0].y)} at step ${s.points[0].x} to ${number_text(s.points.at(-1).y)} at step ${s.points.at(-1).x}`),
      ...turns_of(name).map(({x, text}) => `${text} at step ${x}`)].join("; "));
    return line_chart(canvas, series, {dots: true, lines: cursor(), y: {beginAtZero: true}, ...span});
  }};
  charts.push(curves);

  /** All heads at the chosen step: a button for each, shaded by its cost. */
  const groups = kinds.flatMap(({kind, title}) => [...new Set(heads.filter((head) => head.kind === kind).map((head) => head.layer))].map((layer) => {
    const own = heads.filter((head) => head.kind === kind && head.layer === layer);
    const row = h("div.fates", {role: "toolbar", "aria-label": `${title}, layer ${layer}`}, own.map((head) => {
      head.button = h("button", {type: "button", onclick: () => { name = head.name; select.value = name; show_head(); }}, head.head);
      return head.button;
    }));
    own.forEach(({button}, i) => { button.tabIndex = i ? -1 : 0; });
    arrows(row);
    return h("div", {}, h("span", {}, `${kind} ${layer}`), row);
  }));

  function show_strip() {
    const line = lines[at];
    for (const head of heads) {
      const index = line.heads.indexOf(head.name), alive = index >= 0;
      const share = alive && most > 0 ? Math.sqrt(Math.max(0, line.cost[index]) / most) : 0;
      head.button.className = alive ? "" : "gone";
      head.button.style.setProperty("--share", share.toFixed(3));
      head.button.style.color = alive ? ink_on_heat(share) : "";
      head.button.setAttribute("aria-pressed", head.name === name);
      head.button.setAttribute("aria-label", `${head.name}, ${fate(head.name, line.step)}` + (alive ? `, cost ${number_text(line.cost[index])}` : ""));
    }
  }
  repaints.push(show_strip);

  function show_picture() {
    const {example, step} = lines[at], head = parsed_head(name);
    const map = example?.maps.find((one) => head_name(one) === name);
    const drawn = maps.findIndex((entry) => entry.side === "life");
    if (drawn >= 0) maps.splice(drawn, 1);
    const title = h("p", {}, h("b", {}, swatch(head.head), name), h("span", {}, `step ${commas(step)}`));
    if (!map) {
      picture.replaceChildren(h("div.maps", {}, h("div.map", {}, title, h("div.none", {}, lines[at].heads.includes(name) ? "no map" : fate(name, step)))));
      return;
    }
    const {queries, keys} = axes(example, head.kind);
    if ((chosen.life ?? 0) >= queries.length) chosen.life = locked.life = null;
    picture.replaceChildren(map_row(`${name}: up and down choose a row`,
      [h("div.map", {}, title, map_canvas({map: {name: `head ${head.head}`, rows: map.rows}, queries, keys, side: "life", gone: false}))]));
  }

  function show_step() {
    const line = lines[at], index = line.heads.indexOf(name);
    slider.value = at;
    when.textContent = `step ${commas(line.step)}`;
    slider.setAttribute("aria-valuetext", when.textContent);
    told.textContent = `${name} after step ${commas(line.step)}: ${index < 0 && fate(name, line.step) === "alive" ? "not measured" : fate(name, line.step)}`
      + (index >= 0 ? `. Without it the loss rises by ${number_text(line.cost[index])}; the gate gradient predicts ${number_text(-line.gate_gradient[index])}.` : ".");
    show_strip();
    show_picture();
    refresh();
    if (!curves.chart) return;
    curves.chart.options.plugins.marks.lines = cursor();
    curves.chart.update("none");
  }

  function show_head() {
    if (curves.chart) {
      curves.chart.destroy();
      curves.chart = curves.make();
    }
    show_step();
  }

  const values = () => heads.flatMap((head) => lines.filter((line) => line.heads.includes(head.name)).map((line) => {
    const index = line.heads.indexOf(head.name);
    return [head.name, commas(line.step), number_text(line.cost[index]), number_text(line.gate_gradient[index])];
  }));
  const legend = h("ul.legend", {}, life_curves(name).map((s) => h("li", {}, h("i" + (s.dashed ? ".dashed" : ""), {"--colour": `var(${s.colour})`, "aria-hidden": "true"}), s.name)));
  const section = h("section", {"aria-label": "The life of a head"}, h("h2", {}, finding.title), h("p.caption", {}, finding.caption),
    h("div.card", {}, h("div.life-choice", {}, h("label", {for: "life-head"}, "head"), select, h("label", {for: "life-step"}, "step"), slider, when), told,
      h("div.life", {}, picture, h("div", {}, legend, h("div.plot", {}, canvas))),
      h("p.caption", {}, "All heads at this step, shaded by cost; removed ones have an outline only."), h("div.strip", {}, groups),
      numbers(finding.title, ["head", "step", "cost of removal", "gate gradient"], values)));
  return {section, start: () => { select.value = name; show_step(); }};
}
