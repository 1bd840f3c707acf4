// Heads as slices: the queries of one ring of letters, cut into H slices, and the map of each head.
const {layers, places, width: channels} = record;
const layer_of = (state) => layers.find((one) => one.heads === state.heads);
const head_colour = (head) => `var(--head-${head % 12})`;

/** The mean weight of a map on the place before each place, or after it, around the ring. */
const share = (map, by) => map.reduce((sum, weight, i) => sum + ((i % places - Math.floor(i / places) - by + places) % places === 0 ? weight : 0), 0) / places;

figure({
  title: "More heads: thinner slices, more maps, the same parameters",
  start: {heads: 1},
  still: {heads: 4},
  controls: [slider("heads", "heads", layers.map((layer) => layer.heads), (n) => n === 1 ? "1 head" : `${n} heads`)],
  draw(state, width) {
    const {heads, parameters, right, queries, maps} = layer_of(state), features = channels / heads, narrow = width < 480;
    const gap = heads === 1 ? 0 : Math.min(12, (narrow ? 48 : 90) / (heads - 1)), cell = (width - gap * (heads - 1)) / channels, high = narrow ? 11 : 14, top = 24;
    const left = (head) => head * (features * cell + gap);
    const most = Math.max(...queries.flat().map(Math.abs));
    const parts = [label(0, 12, narrow ? "queries: 6 tokens, 64 channels" : "the queries: a row for each of the 6 places on the ring, 64 channels wide")];
    queries.forEach((values, head) => {
      parts.push(rect(left(head) - 2, top - 2, features * cell + 4, places * high + 4, {rx: 3, fill: head_colour(head), "fill-opacity": 0.1}));
      values.forEach((value, i) => parts.push(rect(left(head) + (i % features) * cell, top + Math.floor(i / features) * high, cell - (narrow ? 0.3 : 1), high - 1, shade(0.08 + 0.92 * Math.abs(value) / most, head_colour(head)))));
    });
    // A map below each slice; on a narrow screen, or where slices are thin, in rows.
    const across = Math.min(heads, narrow ? 4 : 8), room = Math.min(150, (width - 12 * (across - 1)) / across), pixel = room / places;
    const spread = (width - across * room) / across, below = top + places * high + (heads > across ? 18 : narrow ? 46 : 58);
    const place = (head) => ({x: spread / 2 + (head % across) * (room + spread), y: below + Math.floor(head / across) * (room + 36)});
    if (heads <= across) maps.forEach((_, head) => parts.push(arrow(left(head) + features * cell / 2, top + places * high + 5, place(head).x + room / 2, below - 8, {stroke: head_colour(head)})));
    maps.forEach((map, head) => {
      const {x, y} = place(head), before = share(map, -1), after = share(map, 1);
      parts.push(rect(x - 1, y - 1, room + 2, room + 2, {rx: 4, fill: "var(--card)", stroke: head_colour(head), "stroke-width": 1.5}));
      map.forEach((weight, i) => { if (weight > 0.004) parts.push(rect(x + (i % places) * pixel, y + Math.floor(i / places) * pixel, pixel, pixel, shade(weight, head_colour(head)))); });
      const side = Math.max(before, after) < 0.5 ? "both sides" : after > before ? `after ${plain(100 * after, 2)} %` : `before ${plain(100 * before, 2)} %`;
      parts.push(label(x + room / 2, y + room + 16, side, {"text-anchor": "middle"}));
    });
    const bottom = below + Math.ceil(heads / across) * (room + 36) + 14;
    parts.push(label(0, bottom - 6, narrow ? "below a map: its weight on the place before or after" : "the maps: a row for each place; below a map, how much of its weight is on the place before or after"));
    const weights = heads * places * places;
    return {height: bottom, parts, values: {right, parameters, weights, before: maps.map((map) => share(map, -1)), after: maps.map((map) => share(map, 1))},
      text: `${heads === 1 ? "One head" : `${heads} heads`} of ${features} features: ${plain(parameters)} parameters, and ${plain(weights)} weights for each ring of letters. Both neighbours are named right in ${plain(right)} % of all places.`};
  },
});
