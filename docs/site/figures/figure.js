// The figures of all chapters use these functions. The script of a chapter, NN_name.js, is loaded after
// this one, has the chapter's figure.json as `record`, and calls
//
//   figure({
//     title: "What one sees, in one line",
//     start: {step: 0, word: "headroom"},  // the state: a value for each name
//     still: {step: 500},                  // of chapters/NN_name/figure.svg, where it is not `start`
//     controls: [slider(...), choice(...), toggle(...), button(...)],
//     play: {name: "step", seconds: 8},    // the slider that a play button moves; or none
//     draw(state, width) {                 // called anew for each state
//       return {height, parts,             // the picture: its height, and elements made by s()
//               text,                      // a line that says the state in words and numbers
//               values: {right: 100}};     // the numbers that tests read
//     },
//     drag(x, y, phase, state) {           // a pointer on the picture, phase "start" or "move";
//       return {step: 3};                  // returns what changes, or nothing. It needs a control
//     },                                   // that does the same by keyboard.
//   });
//
// The line of text is an <output> with the attributes data-values and data-state, both JSON. A
// picture is drawn for its width in pixels (300 to 720), so that its texts are 12 pixels high on
// every screen. All colours are variables of page.css: fill: "var(--first)".
"use strict";

const record = JSON.parse(document.getElementById("figure-record").textContent);
const reduced = matchMedia("(prefers-reduced-motion: reduce)").matches;
const still_width = 720;

// ---------------------------------------------------------------- elements

function made(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

/** An element of the page: h("p.title", {id: "a"}, child, "text"). */
function h(tag, attributes, ...children) {
  const [name, ...classes] = tag.split(".");
  const element = document.createElement(name);
  if (classes.length) element.className = classes.join(" ");
  return made(element, attributes, children);
}

/** An element of a picture: s("rect", {x: 0, y: 0, width: 8, height: 8, fill: "var(--first)"}). */
const s = (tag, attributes, ...children) => made(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

/** A text of a picture, whose baseline begins at (x, y): label(0, 10, "loss", {"text-anchor": "end"}). */
const label = (x, y, text, attributes) => s("text", {x: short(x), y: short(y), fill: "var(--soft)", ...attributes}, text);

const rect = (x, y, width, height, attributes) => s("rect", {x: short(x), y: short(y), width: short(width), height: short(height), ...attributes});
const line = (x1, y1, x2, y2, attributes) => s("line", {x1: short(x1), y1: short(y1), x2: short(x2), y2: short(y2), stroke: "var(--line)", ...attributes});
const dot = (x, y, r, attributes) => s("circle", {cx: short(x), cy: short(y), r, ...attributes});

/** A curve through points [x, y]; one that is not finite leaves a gap. */
function curve(points, attributes) {
  let pen = "M", d = "";
  for (const [x, y] of points) {
    if (Number.isFinite(x) && Number.isFinite(y)) { d += `${pen}${short(x)} ${short(y)}`; pen = "L"; }
    else pen = "M";
  }
  return s("path", {d, fill: "none", "stroke-width": 2, "stroke-linejoin": "round", "stroke-linecap": "round", ...attributes});
}

/** An arrow from (x1, y1) to (x2, y2); its head is `size` long. */
function arrow(x1, y1, x2, y2, {stroke = "var(--goal)", size = 7, ...attributes} = {}) {
  const angle = Math.atan2(y2 - y1, x2 - x1);
  const wing = (turn) => [x2 - size * Math.cos(angle + turn), y2 - size * Math.sin(angle + turn)];
  return s("g", attributes, line(x1, y1, x2 - size / 2 * Math.cos(angle), y2 - size / 2 * Math.sin(angle), {stroke, "stroke-width": 1.5}),
    s("path", {d: "M" + [[x2, y2], wing(0.45), wing(-0.45)].map((p) => p.map(short).join(" ")).join("L") + "Z", fill: stroke}));
}

/** A number of pixels with one digit after the point. */
const short = (pixels) => Number(pixels.toFixed(1));

// ---------------------------------------------------------------- scales and numbers

/** A function from values to pixels, with its inverse: scale([1, 1e-9], [40, 300], {log: true}). */
function scale([from, to], [first, last], {log = false} = {}) {
  const on = log ? Math.log10 : (value) => value, off = log ? (value) => 10 ** value : (value) => value;
  const to_pixels = (value) => first + (on(value) - on(from)) / (on(to) - on(from)) * (last - first);
  return Object.assign(to_pixels, {first, last,
    inverse: (pixels) => off(on(from) + (pixels - first) / (last - first) * (on(to) - on(from)))});
}

/** The lower axis: ticks are values, or pairs of a value and its text. */
function axis_below(x, y, ticks, title) {
  const pairs = ticks.map((tick) => Array.isArray(tick) ? tick : [tick, plain(tick)]);
  return [line(x.first, y, x.last, y, {stroke: "var(--goal)"}),
    pairs.map(([value, text]) => [line(x(value), y, x(value), y + 4, {stroke: "var(--goal)"}), label(x(value), y + 17, text, {"text-anchor": "middle"})]),
    title ? label((x.first + x.last) / 2, y + 34, title, {"text-anchor": "middle"}) : null];
}

/** The axis at the left, with lines across up to the pixel `right`; its title is above it. */
function axis_left(y, x, ticks, title, right) {
  const pairs = ticks.map((tick) => Array.isArray(tick) ? tick : [tick, plain(tick)]);
  return [pairs.map(([value, text]) => [line(x, y(value), right, y(value), {stroke: "var(--grid)"}), label(x - 6, y(value) + 4, text, {"text-anchor": "end"})]),
    title ? label(0, Math.min(y.first, y.last) - 12, title) : null];
}

/** A number as the texts of figures say it: "1,024", "0.0322", "3.1e-7". */
function plain(value, digits = 3) {
  if (!Number.isFinite(value)) return Number.isNaN(value) || value === null ? "not a number" : value < 0 ? "-∞" : "∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size < 1e-3 || size >= 1e7) return value.toExponential(1).replace("e+", "e").replace(".0e", "e");
  if (Number.isInteger(value)) return value.toLocaleString("en-US");
  return String(Number(value.toPrecision(digits)));
}

/** The powers of ten as ticks of an axis, every `by`-th: [[1e-3, "10⁻³"], ...]. */
function powers(first, last, by = 1) {
  const high = (number) => [...String(number)].map((c) => c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]).join("");
  return [...Array(Math.floor((last - first) / by) + 1).keys()].map((i) => [10 ** (first + i * by), `10${high(first + i * by)}`]);
}

/** The share of a colour on the card: a heat map's cell. */
const shade = (share, colour = "var(--first)") => ({fill: colour, "fill-opacity": short_share(share)});
const short_share = (share) => Number(Math.max(0, Math.min(1, share)).toFixed(3));

// ---------------------------------------------------------------- controls

/** A slider over a list of values, or a function of the state that returns one; `said(value)` is their text. */
function slider(name, title, list, said = String) {
  const values_of = (state) => typeof list === "function" ? list(state) : list;
  const input = h("input", {type: "range", min: 0, max: 0, step: 1, name, oninput: () => change({[name]: values_of(shown.state)[input.value]})});
  const now = h("b.now");
  return {name, values_of, get values() { return values_of(shown.state); }, element: h("label.slider", {}, h("span", {}, title), input, now), show(state) {
    input.max = values_of(state).length - 1;
    input.value = Math.max(0, values_of(state).indexOf(state[name]));
    now.textContent = said(state[name]);
    input.setAttribute("aria-valuetext", said(state[name]));
  }};
}

/** One of several: options are values, or pairs of a value and its text. */
function choice(name, title, options) {
  const pairs = options.map((option) => Array.isArray(option) ? option : [option, String(option)]);
  const inputs = pairs.map(([value]) => h("input", {type: "radio", name, value: JSON.stringify(value), onchange: () => change({[name]: value})}));
  return {name, element: h("fieldset.choice", {}, h("legend", {}, title), pairs.map(([, text], i) => h("label", {}, inputs[i], h("span", {}, text)))),
    show(state) { pairs.forEach(([value], i) => { inputs[i].checked = value === state[name]; }); }};
}

/** Yes or no. */
function toggle(name, title) {
  const input = h("input", {type: "checkbox", name, onchange: () => change({[name]: input.checked})});
  return {name, element: h("label.toggle", {}, input, h("span", {}, title)), show(state) { input.checked = state[name]; }};
}

/** A button; `act(state)` returns what changes. */
function button(title, act) {
  return {element: h("button.plain", {type: "button", onclick: () => change(act(shown.state))}, title), show() {}};
}

/** Makes a part of a picture a button. Its `key` keeps the focus on it when the picture is drawn anew. */
function press(part, key, name, act) {
  const go = () => change(act());
  return made(part, {tabindex: 0, role: "button", "aria-label": name, "data-key": key, class: "press", onclick: go, onkeydown: (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    go();
  }}, []);
}

// ---------------------------------------------------------------- the figure

let shown = null;  // {given, state, picture, output, playing}

function figure(given) {
  const place = document.querySelector("figure.moving");
  const picture = h("div.picture"), output = h("output", {"aria-live": "polite"});
  const controls = given.controls.map((control) => control.element);
  shown = {given, state: {...given.start}, picture, output, playing: null, name: place.dataset.text};
  const moved = given.play ? given.controls.find((control) => control.name === given.play.name) : null;
  place.append(h("p.title", {}, given.title), picture, output, h("div.controls", {}, moved ? play_buttons(moved, given.play) : null, controls));
  if (given.drag) by_pointer(picture, given.drag);
  new ResizeObserver(redraw).observe(picture);
  redraw();
}

function change(changes) {
  if (!changes) return;
  Object.assign(shown.state, changes);
  for (const {name, values_of} of shown.given.controls) {  // a slider whose list is shorter now
    if (values_of && !values_of(shown.state).includes(shown.state[name])) shown.state[name] = values_of(shown.state).at(-1);
  }
  redraw();
}

function redraw() {
  const {given, state, picture, output} = shown;
  const width = Math.round(Math.max(300, Math.min(still_width, picture.clientWidth)));
  const {height, parts, text, values} = given.draw(state, width);
  const key = picture.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  const drawn = s("svg", {viewBox: `0 0 ${width} ${short(height)}`, width, height: short(height), "aria-label": shown.name}, parts);
  drawn.setAttribute("role", drawn.querySelector("[tabindex]") ? "group" : "img");
  picture.replaceChildren(drawn);
  if (key) picture.querySelector(`[data-key="${key}"]`)?.focus();
  output.textContent = text;
  output.dataset.values = JSON.stringify(values);
  output.dataset.state = JSON.stringify(state);
  given.controls.forEach((control) => control.show(state));
}

/** Play and pause, and a step back and forward. Who wants no motion gets the steps alone. */
function play_buttons(control, {name, seconds}) {
  const at = () => control.values.indexOf(shown.state[name]);
  const step = (by) => { stop(); change({[name]: control.values[Math.max(0, Math.min(control.values.length - 1, at() + by))]}); };
  const play = h("button.plain", {type: "button", "data-act": "play", onclick: () => shown.playing === null ? start() : stop()}, "Play");
  const stop = () => {
    cancelAnimationFrame(shown.playing);
    shown.playing = null;
    play.textContent = "Play";
    shown.output.setAttribute("aria-live", "polite");
  };
  const start = () => {
    const {values} = control, last = values.length - 1, from = at() >= last ? 0 : at();
    let began = null;
    play.textContent = "Pause";
    shown.output.setAttribute("aria-live", "off");  // not every frame is read out
    const next = (time) => {
      began ??= time;
      const index = Math.min(last, from + Math.floor((time - began) / 1000 / seconds * last));
      if (index !== at()) change({[name]: values[index]});
      if (index < last) shown.playing = requestAnimationFrame(next);
      else stop();
    };
    shown.playing = requestAnimationFrame(next);
  };
  control.element.addEventListener("input", stop);
  return h("div.play", {}, reduced ? null : play,
    h("button.plain", {type: "button", "data-act": "back", "aria-label": "one step back", onclick: () => step(-1)}, "‹"),
    h("button.plain", {type: "button", "data-act": "forward", "aria-label": "one step forward", onclick: () => step(1)}, "›"));
}

/** Calls drag(x, y, phase, state) with pixels of the picture. */
function by_pointer(picture, drag) {
  let down = false;
  const at = (event, phase) => {
    const drawn = picture.firstElementChild, box = drawn.getBoundingClientRect();
    const zoom = drawn.viewBox.baseVal.width / box.width;
    change(drag((event.clientX - box.left) * zoom, (event.clientY - box.top) * zoom, phase, shown.state));
  };
  picture.classList.add("dragged");
  picture.addEventListener("pointerdown", (event) => { down = true; picture.setPointerCapture(event.pointerId); at(event, "start"); });
  picture.addEventListener("pointermove", (event) => { if (down) at(event, "move"); });
  for (const end of ["pointerup", "pointercancel"]) picture.addEventListener(end, () => { down = false; });
}

/** The still: the picture between the title and the line of text, on a card of its own. */
function still() {
  const {given} = shown, pad = 24, inner = still_width - 2 * pad;
  const {height, parts, text} = given.draw({...given.start, ...given.still}, inner);
  const lines = [""];
  for (const word of text.split(" ")) {
    if ((lines.at(-1) + word).length > 92) lines.push("");
    lines[lines.length - 1] += word + " ";
  }
  const all = short(height + 72 + 20 * lines.length);
  const drawn = s("svg", {xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${still_width} ${all}`, width: still_width, height: all, role: "img"},
    rect(0.5, 0.5, still_width - 1, all - 1, {rx: 14, fill: "var(--card)", stroke: "var(--line)"}),
    label(pad, 36, given.title, {fill: "var(--ink)", "font-size": 16, "font-weight": 600}),
    s("g", {transform: `translate(${pad} 52)`}, parts),
    lines.map((words, i) => label(pad, short(height + 76 + 20 * i), words.trim(), {fill: "var(--ink)", "font-size": 14})));
  for (const part of drawn.querySelectorAll("[tabindex]")) for (const name of ["tabindex", "role", "aria-label", "data-key", "class"]) part.removeAttribute(name);
  return drawn.outerHTML;
}
