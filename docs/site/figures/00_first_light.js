// The film of one head: its attention map while it learns, for either of two words.
const {frames} = record;
const steps = frames.map((frame) => frame.step);
const words = frames[0].words.map((word) => word.read);

/** The share of the weight that is in other cells for the other word. */
function moved(frame) {
  const [one, other] = frame.words.map((word) => word.weights), rows = frame.words[0].read.length;
  return one.reduce((sum, weight, i) => sum + Math.abs(weight - other[i]) / 2, 0) / rows;
}

figure({
  title: "One head learns to write a word backwards",
  start: {step: 0, word: words[0]},
  still: {step: 170},
  play: {name: "step", seconds: 7},
  controls: [
    slider("step", "training step", steps),
    choice("word", "the word", words),
  ],
  draw({step, word}, width) {
    const frame = frames[steps.indexOf(step)], {written, weights} = frame.words[words.indexOf(word)];
    const n = word.length, wanted = [...word].reverse().join("");
    const cell = Math.min(40, Math.floor((width - 92) / (n + 1.4)));
    const left = Math.max(66, (width - cell * (n + 1.4)) / 2), top = 46;
    const hits = [...written].map((letter, i) => letter === wanted[i]);
    const letter = (x, y, text, attributes) => label(x, y, text, {class: "mono", "text-anchor": "middle", "font-size": 15, ...attributes});
    const parts = [
      label(left + cell * n / 2, 12, "it reads", {"text-anchor": "middle"}),
      label(left + cell * (n + 0.9), 12, "it writes", {"text-anchor": "middle"}),
      [...word].map((text, k) => letter(left + (k + 0.5) * cell, top - 12, text, {fill: "var(--ink)"})),
      label(left - 8, top - 12, "position", {"text-anchor": "end"}),
      rect(left, top, cell * n, cell * n, {fill: "var(--grid)"}),
    ];
    for (let row = 0; row < n; ++row) {
      const y = top + row * cell;
      parts.push(letter(left - 12, y + cell / 2 + 5, String(row), {fill: "var(--soft)"}));
      for (let k = 0; k < n; ++k) {
        parts.push(rect(left + k * cell + 1, y + 1, cell - 2, cell - 2, {rx: 3, fill: "var(--card)"}),
          rect(left + k * cell + 1, y + 1, cell - 2, cell - 2, {rx: 3, ...shade(weights[row * n + k])}));
      }
      parts.push(rect(left + cell * (n + 0.4) + 1, y + 1, cell - 2, cell - 2, {rx: 3, fill: hits[row] ? "var(--third)" : "none", "fill-opacity": 0.22, stroke: hits[row] ? "var(--third)" : "var(--line)"}),
        letter(left + cell * (n + 0.9), y + cell / 2 + 5, written[row], {fill: "var(--ink)"}));
    }
    return {height: top + cell * n + 6, parts, values: {right: frame.right, moved: moved(frame)},
      text: `Step ${step}: ${plain(frame.right, 2)} % of the letters of all words are right. With the other word, ${plain(100 * moved(frame), 2)} % of the weight is in another cell.`};
  },
});
