// The rows of the cross-attention, one for each letter that the model writes.
const words = record.words.map((one) => one.word);
const end = "end", said_of = (id) => record.tokens[id].startsWith("<") ? end : record.tokens[id];
const shown_tokens = record.tokens.map((token, id) => id).filter((id) => !record.tokens[id].startsWith("<") || record.tokens[id] === "<eos>");

/** The weights of a row: of one head, or the mean of both. */
function weights_of(row, head) {
  return head === "mean" ? row.heads[0].map((_, k) => row.heads.reduce((sum, one) => sum + one[k], 0) / row.heads.length) : row.heads[head];
}

figure({
  title: "Where the decoder looks while it writes a word backwards",
  start: {written: 0, word: "beach", head: "mean"},
  still: {written: 3},
  play: {name: "written", seconds: 6},
  controls: [
    slider("written", "tokens written", ({word}) => [...Array(record.words.find((one) => one.word === word).rows.length + 1).keys()]),
    choice("word", "the word", words),
    choice("head", "its weights in", [["mean", "both heads"], [0, "head 0"], [1, "head 1"]]),
  ],
  draw({written, word, head}, width) {
    const {rows} = record.words.find((one) => one.word === word), n = word.length;
    const count = written, done = rows.slice(0, count), now = done.at(-1);
    const wide = width >= 520, cell = Math.min(44, Math.floor((width - 96) / (7 + 0.6))), top = 74, left = 52;
    const mono = (x, y, text, attributes) => label(x, y, text, {class: "mono", "text-anchor": "middle", "font-size": 15, fill: "var(--ink)", ...attributes});
    const right = left + n * cell + 22, wanted = [...word].reverse().concat(end);
    const parts = [
      label(left, 12, "the encoder has read"), label(left + n * cell + 8, top - 12, "it writes"),
      [...word].map((letter, k) => [rect(left + k * cell + 2, 22, cell - 4, 28, {rx: 5, fill: "var(--first)", "fill-opacity": now ? short_share(weights_of(now, head)[k]) : 0, stroke: "var(--line)"}), mono(left + (k + 0.5) * cell, 41, letter)]),
      rows.map((row, t) => [label(left - 10, top + (t + 0.5) * cell + 4, t === 0 ? "start" : said_of(rows[t - 1].writes), {"text-anchor": "end", class: t === 0 ? null : "mono", "font-size": t === 0 ? 12 : 15, "fill-opacity": t <= count ? 1 : 0})]),
      rows.map((row, t) => [...word].map((_, k) => rect(left + k * cell + 1, top + t * cell + 1, cell - 2, cell - 2, {rx: 3, fill: "none", stroke: "var(--grid)"}))),
      done.map((row, t) => weights_of(row, head).map((weight, k) => rect(left + k * cell + 1, top + t * cell + 1, cell - 2, cell - 2, {rx: 3, ...shade(weight)}))),
      done.map((row, t) => {
        const text = said_of(row.writes), right_one = text === wanted[t];
        return [rect(right - 12, top + t * cell + 4, 36, cell - 8, {rx: 4, fill: right_one ? "var(--third)" : "var(--second)", "fill-opacity": 0.2}), mono(right + 6, top + (t + 0.5) * cell + 5, text, text === end ? {"font-size": 12} : {})];
      }),
    ];
    if (now) parts.push(rect(left - 1, top + (count - 1) * cell - 1, n * cell + 2, cell + 2, {fill: "none", stroke: "var(--ink)", "stroke-width": 1.5, rx: 4}));
    let height = top + rows.length * cell + 8;
    const bars = wide ? [right + 80, top] : [left, height + 30], high = wide ? Math.min(26, rows.length * cell / shown_tokens.length) : 17;
    const from = bars[0] + 28, room = Math.min(170, width - from - 52);
    parts.push(label(bars[0], bars[1] - 12, count ? "the chance of each token" : "chances"));
    shown_tokens.forEach((id, i) => {
      const y = bars[1] + i * high, chance = now ? now.chances[id] : 0;
      parts.push(label(from - 8, y + high / 2 + 4, said_of(id), {"text-anchor": "end", class: said_of(id) === end ? null : "mono"}), rect(from, y + 3, Math.max(1, room * chance), high - 6, {rx: 2, fill: now && id === now.writes ? "var(--first)" : "var(--goal)"}),
        chance >= 0.005 ? label(from + room * chance + 6, y + high / 2 + 4, `${plain(100 * chance)} %`) : null);
    });
    height = Math.max(height, bars[1] + shown_tokens.length * high + 6);
    const text = done.map((row) => said_of(row.writes)).filter((one) => one !== end).join("");
    if (!now) return {height, parts, values: {at: -1, weight: 0, chance: 0}, text: `Nothing is written yet. The encoder has read "${word}"; the decoder begins with a token that means "start".`};
    const own = weights_of(now, head), at = own.indexOf(Math.max(...own)), chance = now.chances[now.writes];
    const over = count === rows.length, backwards = [...word].reverse().join("");
    const verdict = !over ? "" : text === backwards ? " That is the word backwards." : ` It should be "${backwards}".${n > 6 ? " No word in its training had more than 6 letters." : ""}`;
    return {height, parts, values: {at, weight: own[at], chance},
      text: `Token ${count} is ${said_of(now.writes) === end ? "the end" : `"${said_of(now.writes)}"`}, with a chance of ${plain(100 * chance)} %. It looks most at letter ${at} of the source, "${word[at]}" (${plain(100 * own[at], 2)} %). Written: "${text}".${verdict}`};
  },
});
