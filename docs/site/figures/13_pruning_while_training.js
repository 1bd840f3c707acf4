// The life of twelve heads: the cost of each over training, and the share of right dates.
const {heads, before, arms} = record, cut = arms[0].frames[0].step, end = arms[0].frames.at(-1).step;
const texts = {"none": "no head", "6, greedy": "six, chosen by greedy", "the encoder's": "the encoder's", "the decoder's own": "the decoder's own"};
const just_after = cut + 0.5;  // the moment after the removal: there is a frame on either side of it
const kinds = [...new Set(heads.map((head) => head.kind))], most = Math.max(...[...before, ...arms.flatMap((arm) => arm.frames)].flatMap((frame) => frame.costs));

/** All moments of a run: {at, exact, costs}. */
function moments(name) {
  const after = arms.find((arm) => arm.name === name).frames.map((frame) => ({at: frame.step === cut ? just_after : frame.step, ...frame}));
  return [...before.map((frame) => ({at: frame.step, ...frame})), ...name === "none" ? after.slice(1) : after];
}

const name_of = (i) => `${heads[i].kind} ${heads[i].head}`;
const step_text = (at) => at === just_after ? `${cut}, after it` : String(at);
const left = 78, row_high = 18, x_of = (width) => scale([0, end], [left, width - 44]);

figure({
  title: `The life of ${heads.length} heads, some of which go after step ${cut}`,
  start: {at: 0, gone: "6, greedy"},
  still: {at: 900},
  play: {name: "at", seconds: 9},
  controls: [
    slider("at", "training step", ({gone}) => moments(gone).map((moment) => moment.at), step_text),
    choice("gone", `removed after step ${cut}`, arms.map((arm) => [arm.name, texts[arm.name]])),
  ],
  draw({at, gone}, width) {
    const all = moments(gone), index = all.findIndex((moment) => moment.at === at), now = all[index], x = x_of(width), top = 26;
    const row_y = (i) => top + i * row_high + kinds.indexOf(heads[i].kind) * 8;
    const until = (k) => k + 1 < all.length ? x(all[k + 1].at) : x(end) + 6;
    const parts = [label(left, 12, "cost of each head, as strength of colour"), label(width, 12, "now", {"text-anchor": "end"})];
    heads.forEach((head, i) => {
      const y = row_y(i), cost = now.costs[i];
      if (head.head === 0) parts.push(label(0, y + 13, head.kind, {fill: "var(--ink)"}));
      parts.push(label(left - 8, y + 13, String(head.head), {"text-anchor": "end"}), rect(left, y, x(end) + 6 - left, row_high - 2, {fill: "none", stroke: "var(--grid)"}));
      all.slice(0, index + 1).forEach((moment, k) => {
        if (moment.costs[i] === null || moment.at === just_after && until(k) - x(moment.at) < 1) return;
        parts.push(rect(x(moment.at), y, until(k) - x(moment.at) + 0.3, row_high - 2, shade(Math.sqrt(Math.max(0, moment.costs[i]) / most), `var(--kind-${head.kind})`)));
      });
      if (cost === null) parts.push(line(x(cut), y + row_high / 2 - 1, x(at) + 4, y + row_high / 2 - 1, {stroke: "var(--goal)", "stroke-dasharray": "2 5"}));
      parts.push(label(width, y + 13, cost === null ? "gone" : cost.toFixed(2), {"text-anchor": "end", fill: cost === null ? "var(--soft)" : "var(--ink)"}));
    });
    const bottom = row_y(heads.length - 1) + row_high, chart = bottom + 44, y = scale([0, 100], [chart + 110, chart]);
    const points = (run) => run.map((moment) => [x(Math.floor(moment.at)), y(moment.exact)]);
    parts.push(axis_left(y, left, [[0, "0 %"], [50, "50 %"], [100, "100 %"]], null, x(end)), label(0, chart - 18, "dates without a mistake"), axis_below(x, y(0), [0, 300, cut, end], "training step"));
    if (gone !== "none") parts.push(curve(points(moments("none").filter((moment) => moment.at >= cut && moment.at <= Math.max(at, cut))), {stroke: "var(--goal)", "stroke-dasharray": "4 4"}));
    parts.push(curve(points(all.slice(0, index + 1)), {stroke: "var(--first)", "stroke-width": 2.5}), dot(x(at), y(now.exact), 5, {fill: "var(--first)"}),
      line(x(at), top - 4, x(at), y(0), {stroke: "var(--ink)", "stroke-opacity": 0.5}));
    if (gone !== "none") parts.push(line(x(cut), top - 4, x(cut), y(0), {stroke: "var(--second)", "stroke-dasharray": "4 3"}));
    const live = now.costs.filter((cost) => cost !== null), costliest = now.costs.indexOf(Math.max(...live));
    const whole = moments("none").find((moment) => moment.at === at);
    const beside = gone === "none" || at <= cut ? "" : at === just_after ? ` Just before, it read ${plain(before.at(-1).exact)} %.` : ` With all heads it would be ${plain(whole.exact)} %.`;
    return {height: chart + 110 + 38, parts, values: {exact: now.exact, heads: live.length, cost: now.costs[costliest]},
      text: `${at === just_after ? "Right after the removal" : `Step ${at}`}: with ${live.length} heads, ${plain(now.exact)} % of the dates are right.${beside} The costliest head is ${name_of(costliest)} (${now.costs[costliest].toFixed(2)}).`};
  },
  drag(x, y, phase, {gone}) {
    const place = x_of(shown.picture.firstElementChild.viewBox.baseVal.width).inverse(x);
    return {at: moments(gone).reduce((best, {at}) => Math.abs(at - place) < Math.abs(best - place) ? at : best, 0)};
  },
});
