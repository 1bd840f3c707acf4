// One row of attention: scores, a scale that one drags, a mask that one paints, and the weights.
const {scores, head_dim} = record;
const n = scores.length, usual = 1 / Math.sqrt(head_dim);
const scales = [...Array(29).keys()].map((i) => 2 ** (-6 + i / 4));
const most = 4, least = -2.2;  // scores are drawn between these; their numbers tell the rest

/** The weights of the keys: a softmax over those that are allowed, or the two repairs that fail. */
function weights_of({scale: factor, allowed, masked}) {
  const instead = {skipped: NaN, number: -1e9, infinity: -Infinity}[masked];
  const used = scores.map((score, i) => allowed[i] ? score * factor : instead);
  const taken = used.map((_, i) => allowed[i] || masked !== "skipped");
  if (!taken.some(Boolean)) return used.map(() => 0);
  const largest = Math.max(...used.filter((_, i) => taken[i]));
  const powers = used.map((score, i) => taken[i] ? Math.exp(score - largest) : 0);
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => power / sum);
}

const entropy_of = (weights) => -weights.reduce((sum, p) => sum + (p > 0 ? p * Math.log(p) : 0), 0);
const flipped = (allowed, key, value = !allowed[key]) => allowed.map((one, i) => i === key ? value : one);

const frame = (width) => {
  const narrow = width < 480, left = narrow ? 4 : 104, step = (width - left - 4) / n;
  return {left, step, middle: (key) => left + (key + 0.5) * step, zero: narrow ? 110 : 100, mask: narrow ? 196 : 166, floor: narrow ? 372 : 326};
};

function told({allowed, masked, scale: factor}, weights, entropy) {
  const open = allowed.filter(Boolean).length;
  if (open === 0 && masked === "skipped") return "No key is allowed. Skipped, every weight is 0, and the output is a 0 that harms nobody.";
  if (open === 0 && masked === "number") return `No key is allowed, and all scores are the same -1e9: every weight is ${plain(weights[0])}. The query averages what it must not see.`;
  if (open === 0) return "No key is allowed, and infinity minus infinity is not a number. Nor is any weight, and nothing that follows.";
  const name = factor === usual ? ` (one over the root of ${head_dim})` : "";
  return `Scale ${plain(factor)}${name}: the entropy is ${plain(entropy)}, as if ${plain(Math.exp(entropy), 2)} of ${open} keys had equal weights. The largest weight is ${plain(Math.max(...weights), 2)}.`;
}

let paint = true;  // what a pointer that moves over the mask writes

figure({
  title: "The scale decides how many keys get weight, the mask which ones",
  start: {scale: usual, allowed: scores.map(() => true), masked: "skipped"},
  still: {scale: 0.25, allowed: scores.map((_, i) => i < n - 2)},
  controls: [
    slider("scale", "scale", scales, (factor) => factor === usual ? "1/√64" : plain(factor, 2)),
    choice("masked", "a masked key", [["skipped", "is skipped"], ["number", "gets -1e9"], ["infinity", "gets -∞"]]),
    button("Mask all", () => ({allowed: scores.map(() => false)})),
    button("Allow all", () => ({allowed: scores.map(() => true)})),
  ],
  drag(px, py, phase, state) {
    const {left, step, mask} = frame(document.querySelector(".picture svg").viewBox.baseVal.width);
    const key = Math.floor((px - left) / step);
    if (key < 0 || key >= n || phase === "start" && Math.abs(py - mask - 16) > 22) { if (phase === "start") paint = null; return null; }
    if (phase === "start") paint = !state.allowed[key];
    return paint === null ? null : {allowed: flipped(state.allowed, key, paint)};
  },
  draw(state, width) {
    const {left, step, middle, zero, mask, floor} = frame(width), narrow = width < 480, {allowed} = state;
    const weights = weights_of(state), entropy = entropy_of(weights);
    const wide = Math.min(46, step * 0.66), up = scale([0, most], [zero, zero - 74]), high = scale([0, 1], [floor, floor - 100]);
    const parts = [
      label(0, narrow ? 12 : zero - 30, "scores × scale"),
      line(left, zero, width - 4, zero, {stroke: "var(--goal)"}),
      label(0, narrow ? mask - 8 : mask + 20, "mask: paint it"),
      label(0, narrow ? floor - 122 : floor - 50, "weights"),
      line(left, floor, width - 4, floor, {stroke: "var(--goal)"}),
    ];
    scores.forEach((score, key) => {
      const x = middle(key), value = score * state.scale, end = up(Math.max(least, Math.min(most, value))), p = weights[key];
      const kept = allowed[key], colour = kept ? "var(--first)" : "var(--goal)";
      parts.push(rect(x - wide / 2, Math.min(zero, end), wide, Math.abs(end - zero), {rx: 2, fill: colour, "fill-opacity": kept ? 0.85 : 0.25, stroke: kept ? "none" : colour, "stroke-dasharray": "3 3"}),
        label(x, value < 0 ? Math.max(end, zero) + 14 : Math.min(end, zero) - 5, plain(value, 2), {"text-anchor": "middle", fill: kept ? "var(--ink)" : "var(--soft)"}));
      parts.push(press(s("g", {}, rect(x - wide / 2, mask, wide, 32, {rx: 6, fill: kept ? "var(--third)" : "var(--card)", "fill-opacity": kept ? 0.25 : 1, stroke: kept ? "var(--third)" : "var(--goal)", "stroke-width": 1.5}),
        label(x, mask + 21, kept ? "1" : "0", {"text-anchor": "middle", fill: "var(--ink)", "font-weight": 600})), `key-${key}`, `key ${key} is ${kept ? "allowed" : "masked"}`, () => ({allowed: flipped(shown.state.allowed, key)})));
      const number = Number.isFinite(p);
      parts.push(number ? rect(x - wide / 2, high(p), wide, floor - high(p), {rx: 2, fill: kept ? "var(--second)" : "var(--bad)"}) : null,
        label(x, (number ? high(p) : floor) - 5, number ? (p < 0.005 ? "0" : p.toFixed(2)) : "?", {"text-anchor": "middle", fill: number ? "var(--ink)" : "var(--bad)", "font-weight": number ? 400 : 600}),
        label(x, floor + 16, `key ${key}`.slice(narrow ? 4 : 0), {"text-anchor": "middle"}));
    });
    return {height: floor + 22, parts, values: {entropy, weights: weights.map((p) => Number.isFinite(p) ? p : "not a number")}, text: told(state, weights, entropy)};
  },
});
