// The page of `headroom attend`: the attention maps of one text. Another text can be typed, heads can be
// switched off, and the address holds the state, so that a link shows the same.
const main = document.getElementById("main");
const present = kinds.filter(({kind}) => run.heads.some((head) => head.kind === kind));
const head_count = 1 + Math.max(...run.heads.map((head) => head.head));

// The state in the address. focus: {layer, head} when one head fills the page, else null; off: keys of heads.
const usual_kind = (present.find(({kind}) => kind === "cross") ?? present[0]).kind;
const state = {input: run.input, output: run.output ?? null, kind: usual_kind, focus: null, off: new Set()};
let now = {example: run.example, answer: run.answer};  // with the heads that are on
let whole = now;                                       // with all heads
const marks_of_keys = [];                                 // marks under a key: {head, element}, per key

/** Turns the bytes of a map with many weights into its rows; 255 is 1. */
function unpack(map) {
  if (!map.bytes) return;
  const bytes = atob(map.bytes), {keys} = axes(run.example, map.kind);
  map.rows = Array.from({length: bytes.length / keys.length}, (_, q) => keys.map((key, k) => bytes.charCodeAt(q * keys.length + k) / 255));
  delete map.bytes;
}

run.example.maps.forEach(unpack);

// ---------------------------------------------------------------- state and address

/** Returns true if input and output are those of the record. */
const as_written = () => state.input === run.input && state.output === (run.output ?? null);

/** The example of an evaluation whose maps are in the record, because this page cannot compute them; or undefined. */
const kept_maps = (input, output) => (run.evaluation?.worst ?? []).find((one) => one.example && one.asked === input && (one.given ?? null) === output);

const place_of = (head) => head ? {layer: head.layer, head: head.head} : null;

/** A head's key in the form used in the address: "cross 0.3" becomes "cross.0.3". */
const dotted = (key) => key.replace(" ", ".");

function address() {
  const parts = new URLSearchParams();
  if (!as_written()) {
    parts.set("input", state.input);
    if (state.output !== null) parts.set("output", state.output);
  }
  parts.set("kind", state.kind);
  if (state.focus) parts.set("head", `${state.focus.layer}.${state.focus.head}`);
  const row = locked[side_of(state.kind)];
  if (row !== null) parts.set("token", row + 1);
  if (state.off.size) parts.set("off", [...state.off].map(dotted).join(","));
  return "#" + parts;
}

/** Writes the state into the address: as a new entry of the history, or in place of the last one. */
function remember(place) {
  const wanted = address();
  if (wanted === location.hash) return;
  if (place) history.pushState(null, "", wanted);
  else history.replaceState(null, "", wanted);
}

let moving = false;

/** Calls `act` and adds an entry to the history unless it returns false. */
function move(act) {
  moving = true;
  const moved = act() !== false;
  moving = false;
  if (moved) remember(true);
}

/** Reads the state from the address only, and ignores parts that do not exist here. Returns the row to lock, or -1. */
function recall() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const living = (key) => run.heads.find((head) => key_of(head) === key && !head.removed);
  const asked = parts.has("input") && (model || kept_maps(parts.get("input"), parts.get("output")));
  state.input = asked ? parts.get("input") : run.input;
  state.output = run.model.family === "classifier" ? null : asked ? parts.get("output") : run.output ?? null;
  state.kind = present.some(({kind}) => kind === parts.get("kind")) ? parts.get("kind") : usual_kind;
  state.focus = place_of(living(`${state.kind} ${parts.get("head")}`));
  const off = (parts.get("off") ?? "").split(",").map((text) => text.replace(".", " "));
  state.off = new Set(off.filter((key) => model && living(key)));
  const token = Number(parts.get("token"));
  return Number.isInteger(token) ? token - 1 : -1;
}

const unlock = () => { for (const rows of [locked, chosen]) rows.source = rows.target = null; };
const side_of = (kind) => kinds.find((k) => k.kind === kind).rows;

// ---------------------------------------------------------------- the model's answer

/** Computes and draws again. Returns false, and changes only the message, if the model cannot read the input. */
function update() {
  try {
    // An answer with heads off is compared with one of the same rounded weights, so that only the heads differ.
    const found = as_written() ? run : kept_maps(state.input, state.output);
    const all = found && !state.off.size ? {example: found.example, answer: found.answer} : answered(state);
    now = state.off.size ? answered(state, state.off) : all;
    whole = all;
  } catch (error) {
    say(error.message + ".");
    return false;
  }
  say("");
  show_answer();
  show_maps();
  return true;
}

const message = h("p.worse", {role: "alert"});
const say = (text) => { message.textContent = text; };
const answers = h("dl.answers", {"aria-live": "polite"});

function show_answer() {
  const written = {language_model: "The model continues", classifier: "The model predicts", masked_language_model: "The model guesses", encoder: "Output"}[run.model.family] ?? "The model generates";
  const off = [...state.off];
  answers.replaceChildren(...answer_line(state.output === null ? written : "Given as output", whole.answer),
    ...(off.length ? answer_line(`Without ${off.length === 1 ? off[0] : `${off.length} heads`}`, now.answer, whole.answer) : []));
  all_on.hidden = !off.length;
  const title = `“${brief(visible(state.input))}”` + (whole.answer.text ? ` → “${brief(visible(whole.answer.text))}”` : "");
  if (!run.evaluation) document.querySelector("h1").textContent = document.title = title;
}

/** Shows an input, with an output or with the model's (null). Returns false, and stays, if the model cannot read it. */
function show_input(input, output) {
  const before = {input: state.input, output: state.output}, rows = {...locked};
  Object.assign(state, {input, output});
  unlock();
  move(update);
  if (!message.textContent) return true;
  Object.assign(state, before);
  Object.assign(locked, rows);
  Object.assign(chosen, rows);
  return false;
}

const all_on = h("button.plain", {type: "button", hidden: "", onclick: switch_all_on}, "Switch all heads on");

const has_lines = run.model.family === "language_model", is_long = has_lines || run.input.length > 40;
const field = h(is_long ? "textarea" : "input", {id: "input", spellcheck: "false", autocomplete: "off", rows: is_long ? 3 : null, disabled: model ? null : "", onkeydown: enter});

/** Enter shows the input, unless it can have several lines. */
function enter(event) {
  if (event.key !== "Enter" || has_lines) return;
  event.preventDefault();
  field.form.requestSubmit();
}

/** The form for another input, or the reason why there is none. */
function question_section() {
  const submit = (event) => {
    event.preventDefault();
    show_input(field.value, null);
  };
  const form = h("form.ask", {onsubmit: submit}, h("label", {for: "input"}, "Input"), field, model ? h("button.plain", {type: "submit"}, "Show") : null);
  return h("section", {"aria-label": "Input and answer"}, form, message, answers, all_on, h("p.caption", {}, about_model()));
}

// ---------------------------------------------------------------- maps

const tabs = h("div.tabs", {role: "tablist", "aria-label": "kind of attention"});
const view = h("div", {id: "maps", role: "tabpanel"});
const spoken = h("p.unseen", {"aria-live": "polite"});

function choose_kind(kind) {
  if (side_of(kind) !== side_of(state.kind)) unlock();
  Object.assign(state, {kind, focus: null});
  move(show_maps);
}

/** Shows one head enlarged, or all heads; then the focus returns to the name of the head that was enlarged. */
function focus_on(head) {
  const left = state.focus && head_key(state.kind, state.focus.layer, state.focus.head);
  state.focus = place_of(head);
  move(show_maps);
  if (head) view.querySelector(".back").focus();
  else [...view.querySelectorAll("button.name")].find((name) => name.value === left)?.focus();
}

function switch_head(head, on) {
  if (on) state.off.delete(key_of(head));
  else state.off.add(key_of(head));
  move(update);
  [...view.querySelectorAll(".switch input")].find((box) => box.value === key_of(head))?.focus();
}

function switch_all_on() {
  state.off.clear();
  move(update);
  view.querySelector(".switch input")?.focus();
}

function show_maps() {
  const group = kinds.find(({kind}) => kind === state.kind);
  const heads = run.heads.filter((head) => head.kind === state.kind);
  const focused = state.focus && heads.find((head) => head.layer === state.focus.layer && head.head === state.focus.head);
  const axis = axes(now.example, state.kind);
  [...tabs.children].forEach((tab) => {
    tab.setAttribute("aria-selected", tab.value === state.kind);
    tab.tabIndex = tab.value === state.kind ? 0 : -1;
    if (tab.value === state.kind) view.setAttribute("aria-labelledby", tab.id);
  });
  maps.length = 0;
  strips = {};
  for (const side of ["source", "target"]) if (locked[side] >= axis.queries.length) locked[side] = chosen[side] = null;
  const rows = group.kind === "encoder" ? "tokens that attend" : "tokens being predicted";
  const parts = [h("p.caption", {}, `${group.title} · ${group.text}`), strip(group.rows, rows, axis.queries), key_strip(axis.keys, focused ? [focused] : heads, !focused)];
  const numbers_open = view.querySelector("details")?.open ?? false;
  view.replaceChildren(...parts, ...(focused ? detail(focused, heads, axis, group) : grid(heads, axis, group)));
  view.querySelector("details").open = numbers_open;
  refresh();
}

/** The attended tokens; below each, a mark for every head, arranged like the maps. */
function key_strip(keys, heads, all) {
  const columns = all ? head_count : 1;
  marks_of_keys.length = 0;
  const cells = keys.map((token) => {
    const marks = heads.map((head) => ({head, element: h("i", {"--colour": head_colour(head.head)})}));
    marks_of_keys.push(marks);
    return h("span.key", {}, h("b", {}, shown(token)), h("span.marks", {"--columns": columns, "aria-hidden": "true"}, marks.map((mark) => mark.element)));
  });
  return h("div.sentence", {}, h("span", {}, all ? "tokens attended to; a mark for every head: layers from top to bottom, heads in their colours" : "tokens attended to"), h("div.keys", {}, cells));
}

/** Announces the locked row; in the enlarged view of one head also the row under the pointer. (A map announces its own row.) */
function say_row() {
  const side = side_of(state.kind), on_map = document.activeElement?.tagName === "CANVAS";
  const row = locked[side] ?? (state.focus && !on_map ? chosen[side] : null);
  const text = row === null ? "" : maps.filter((entry) => !entry.gone).map(({map, queries, keys}) => `${head_name(map)}: ${reading(map.rows[row], keys, queries[row])}`).join("; ");
  if (spoken.textContent !== text) spoken.textContent = text;
}

/** Updates the marks for the chosen row, and announces it. */
function follow_row() {
  const row = chosen[side_of(state.kind)];
  const entry_of = new Map(maps.map((entry) => [key_of(entry.map), entry]));
  marks_of_keys.forEach((marks, k) => marks.forEach((mark) => {
    const entry = entry_of.get(key_of(mark.head));
    const weight = row === null || !entry || entry.gone ? 0 : entry.map.rows[row][k];
    const seen = weight < (marks.length > 24 ? 0.02 : 0) ? 0 : weight.toFixed(3);
    if (mark.seen !== seen) mark.element.style.opacity = mark.seen = seen;  // most of thousands stay 0
  }));
  say_row();
  if (!moving) remember(false);
}

/** All heads, a row for each layer; many of them as small pictures without labels. */
function grid(heads, axis, group) {
  const layers = [...new Set(heads.map((head) => head.layer))], many = heads.length > 24;
  const row_of = (layer) => {
    const row = map_row(row_title(group, layer), heads.filter((head) => head.layer === layer).map((head) => head_card(head, axis, group, false, many)));
    if (!many) return row;
    row.classList.add("many");
    row.style.setProperty("--heads", head_count);
    return row;
  };
  return [...layers.flatMap((layer) => [h("p.layer", {}, `layer ${layer}`), row_of(layer)]), rows_fold(group, axis.queries, axis.keys)];
}

/** One head: its name, its switch and its map, `plain` without labels. */
function head_card(head, axis, group, alone, plain = false) {
  const off = state.off.has(key_of(head));
  const name = alone ? h("b.name", {}, swatch(head.head), key_of(head))
    : h("button.name", {type: "button", value: key_of(head), disabled: head.removed ? "" : null, "aria-label": `${key_of(head)}: ${head.removed ? "removed" : "show it large"}`, onclick: () => focus_on(head)}, swatch(head.head), `head ${head.head}`);
  if (head.removed) return h("div.map.removed", {}, h("p", {}, name), h("div.none", {}, "removed"));
  const on_off = model ? h("label.switch", {}, h("input", {type: "checkbox", value: key_of(head), checked: off ? null : "",
    "aria-label": `${key_of(head)} on`, onchange: (event) => switch_head(head, event.target.checked)}), off ? "off" : "on") : null;
  const map = now.example.maps.find((m) => key_of(m) === key_of(head));
  return h("div.map" + (off ? ".off" : ""), {}, h("p", {}, name, on_off),
    map ? map_canvas({map, queries: axis.queries, keys: axis.keys, side: group.rows, gone: off, plain}) : h("div.none", {}, "no map"));
}

/** One head enlarged: its map, its weights, and buttons to go back and to the previous and next head. */
function detail(head, heads, axis, group) {
  const alive = heads.filter((h) => !h.removed), at = alive.indexOf(head);
  const to = (other, text) => other ? h("button.plain", {type: "button", onclick: () => focus_on(other)}, text(key_of(other))) : null;
  return [h("p.ways", {}, h("button.plain.back", {type: "button", onclick: () => focus_on(null)}, "All heads"),
    to(alive[at - 1], (name) => `← ${name}`), to(alive[at + 1], (name) => `${name} →`)),
  h("div.single", {}, map_row(row_title(group, head.layer), [head_card(head, axis, group, true)])), rows_fold(group, axis.queries, axis.keys)];
}

// ---------------------------------------------------------------- start

function attend_facts() {
  const {model: m} = run;
  const parts = [m.architecture ? `${m.architecture} of Transformers` : m.task && `task ${m.task}`, m.family.replaceAll("_", " "), `layout ${m.layout}`, `${m.alive} of ${m.heads} heads`, `${commas(m.parameters)} parameters`, m.file];
  document.getElementById("facts").append(...parts.filter(Boolean).map((part) => h("span", {}, part)));
}

function start() {
  attend_facts();
  for (const {kind, title} of present) tabs.append(h("button", {role: "tab", type: "button", id: `kind-${kind}`, "aria-controls": "maps", value: kind, onclick: () => choose_kind(kind)}, title));
  arrows(tabs, (i) => choose_kind(present[i].kind));
  main.append(...(run.evaluation ? evaluation_sections() : []), question_section(), h("section", {"aria-label": "Attention maps"}, h("h2", {}, "Attention maps of all heads"),
    h("p.caption", {}, "Point at a token, or move to it by keyboard, to see which tokens every head attends to from it; click or press Enter to lock it. A head's name enlarges its map."
      + (model ? " Its switch removes the head's contribution to the layer's output." : "")), tabs, view, spoken), run.environment ? folded("Environment", run.environment) : "");
  followers.push(follow_row);
  restore();
}

/** Shows the state in the address. */
function restore() {
  const row = recall();
  field.value = state.input;
  unlock();
  if (row >= 0) locked[side_of(state.kind)] = chosen[side_of(state.kind)] = row;
  if (update()) return;
  Object.assign(state, {input: run.input, output: run.output ?? null});  // the message stays; the rest as recorded
  const sentence = message.textContent;
  update();
  say(sentence);
}

addEventListener("hashchange", restore);
start();
