// A date, the model's answer, and a button and a map for every head: the front page of the site, and the page that
// `headroom demo --page` writes, which also says who made the model.
const off = new Set();  // keys of the heads that are switched off
let input = run.input;

const months = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];

/** A random date in one of the forms that the model has learned. */
function random_date() {
  const pick = (n) => Math.floor(n * Math.random());
  const [y, m, d] = [1900 + pick(200), 1 + pick(12), 1 + pick(28)];
  const month = months[m - 1], ending = d > 3 && d < 21 ? "th" : ["th", "st", "nd", "rd"][d % 10] ?? "th";
  return [`${d} ${month} ${y}`, `${month} ${d}, ${y}`, `${d}${ending} of ${month}, ${y}`, `${month} ${d}${ending}, ${y}`, `${d}.${m}.${y}`, `${y} ${month.slice(0, 3)} ${d}`][pick(6)];
}

const field = h("input", {id: "date", value: input, spellcheck: "false", autocomplete: "off", maxlength: model.config.longest, oninput: () => ask(field.value)});
const message = h("p.worse", {role: "alert"});
const answers = h("dl.answers", {"aria-live": "polite"});
const status = h("span");
const all_on = h("button.plain", {type: "button", onclick: () => switch_heads(run.heads, true)}, "Switch all heads on");
const sentences = h("div");
const groups = ["cross", "encoder", "decoder"].map((kind) => ({...kinds.find((group) => group.kind === kind),
  heads: run.heads.filter((head) => head.kind === kind), section: h("section.group")}));

function ask(text) {
  input = text;
  show_soon();
}

function new_date() {
  field.value = random_date();
  ask(field.value);
}

function switch_heads(heads, on) {
  for (const head of heads) {
    if (on) off.delete(key_of(head));
    else off.add(key_of(head));
  }
  show_soon();
}

let waiting = false;

/** Shows the answer with the next frame; changes before then are shown together. */
function show_soon() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; show(); });
}

function show() {
  const question = {input, output: null};
  try {
    const whole = answered(question), now = off.size ? answered(question, off) : whole;
    message.textContent = "";
    show_answers(whole.answer, now.answer);
    show_maps(now.example);
  } catch (error) {
    message.textContent = error.message + ".";
  }
}

function show_answers(whole, now) {
  const all = run.heads.length;
  answers.replaceChildren(...answer_line(`All ${all} heads`, whole), ...answer_line(`${all - off.size} heads on`, now, whole));
  status.textContent = off.size ? `${off.size} of ${all} heads are off.` : "Click the name of a head to switch it off.";
  all_on.disabled = !off.size;
}

function show_maps(example) {
  const focused = document.activeElement?.dataset.key;
  maps.length = 0;
  strips = {};
  for (const side of ["source", "target"]) if (chosen[side] >= example[side].length) chosen[side] = locked[side] = null;
  sentences.replaceChildren(strip("target", "The answer: point at a character to see where each head looks for it.", example.target), strip("source", "The input: shaded where the cross-attention looks.", example.source));
  for (const group of groups) {
    const open = group.section.querySelector("details")?.open ?? false;
    group.section.replaceChildren(...group_parts(group, example));
    group.section.querySelector("details").open = open;
  }
  if (focused) document.querySelector(`[data-key="${focused}"]`)?.focus();
  refresh();
}

/** The heads of one kind of attention: a button for all, a card for each, and the table of the maps' values. */
function group_parts(group, example) {
  const on = group.heads.some((head) => !off.has(key_of(head))), {queries, keys} = axes(example, group.kind);
  const all = h("button.link", {type: "button", "data-key": group.kind, onclick: () => switch_heads(group.heads, !on)}, `switch all ${group.heads.length} ${on ? "off" : "on"}`);
  return [h("p.title", {}, h("b", {}, group.title), all), h("p.caption", {}, group.text),
    map_row(`${group.title}: left and right change the head, up and down the row`, group.heads.map((head) => head_card(head, group, example, queries, keys))),
    rows_fold(group, queries, keys)];
}

/** A head's button and map. */
function head_card(head, group, example, queries, keys) {
  const key = key_of(head), on = !off.has(key);
  const button = h("button.head", {type: "button", "data-key": key, "aria-pressed": on, "aria-label": `head ${key}`, onclick: () => switch_heads([head], !on)},
    swatch(head.head), `${head.layer}.${head.head}`, h("span", {}, on ? "on" : "off"));
  const map = example.maps.find((m) => key_of(m) === key);
  return h("div.map" + (on ? "" : ".off"), {}, button, map_canvas({map, queries, keys, side: group.rows, gone: !on}));
}

/** The functions that the maker wrote, and how the model was made. */
function maker_facts({functions, made}) {
  if (functions.length) document.getElementById("facts").append(h("span", {}, `${functions.length} function${functions.length > 1 ? "s" : ""} written by hand: `,
    functions.flatMap((name, i) => [i ? ", " : "", h("code", {}, name)])));
  document.getElementById("facts").append(h("span", {}, made));
}

if (run.maker) maker_facts(run.maker);
(document.getElementById("demo") ?? document.getElementById("main")).append(
  h("div.top", {}, h("div", {},
    h("form.ask", {onsubmit: (event) => event.preventDefault()}, h("label", {for: "date"}, "A date"), field, h("button.plain", {type: "button", onclick: new_date}, "Another date")),
    message, answers, h("p.status", {}, status, all_on)), sentences),
  ...groups.map((group) => group.section),
  h("p.caption", {}, "A head is named by its layer and its number: 1.0 is the first head of the second layer. ", about_model()));
show();
