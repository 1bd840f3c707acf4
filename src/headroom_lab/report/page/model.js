// The forward pass of headroom's models in plain JavaScript, from a record of their weights in half
// precision (heads/model_record.hpp). A sequence is an array of rows, a row the C values of a token.

/** Decodes 16 bits as a half-precision number (IEEE 754 binary16). */
function half_number(bits) {
  const exponent = bits >> 10 & 31, fraction = bits & 1023;
  const size = exponent === 31 ? (fraction ? NaN : Infinity)
    : exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25);
  return bits & 0x8000 ? -size : size;
}

/** Decodes base64 text of little-endian half-precision numbers. */
function half_numbers(text) {
  const bytes = atob(text);
  return Float64Array.from({length: bytes.length / 2},
    (_, i) => half_number(bytes.charCodeAt(2 * i) | bytes.charCodeAt(2 * i + 1) << 8));
}

const head_key = (kind, layer, head) => `${kind} ${layer}.${head}`;

/** Loads a model: {config, parameters by name, attentions by path, vocabularies, classes}. */
function load_model(record) {
  const parameters = new Map(record.parameters.map((p) => [p.name, {shape: p.shape, numbers: half_numbers(p.half)}]));
  const attentions = new Map(record.attentions.map((a) => [a.path, load_attention(a, parameters)]));
  return {config: record.config, vocabularies: record.vocabularies, classes: record.classes, parameters, attentions};
}

/** A view of rows [begin, end) of a parameter: the rows of one head. */
function rows_of(parameter, begin, end) {
  const width = parameter.shape[1] ?? 1;
  return {shape: [end - begin, ...parameter.shape.slice(1)], numbers: parameter.numbers.subarray(begin * width, end * width)};
}

/** The bias added to the scaled score of query i and key j: none, -slope |i - j|, or an element of the head's table. */
function score_bias_of(record, head) {
  if (!record) return () => 0;
  const numbers = half_numbers(record.half), [, queries, keys] = record.shape;
  if (queries === undefined) return (i, j) => -numbers[head] * Math.abs(i - j);
  return (i, j) => numbers[(head * queries + i) * keys + j];
}

/** Every live head with its part of each parameter, independent of the layout. */
function load_attention(record, parameters) {
  const parameter = (slice) => parameters.get(`${record.path}.${slice.name}`);
  const heads = record.alive.map((head) => {
    const part = (role) => {
      const slice = record.slices.find((s) => s.role === role && (s.head === head || s.head === -2 || s.group.includes(head)));
      return slice && rows_of(parameter(slice), slice.begin, slice.end);
    };
    const output = record.slices.find((s) => s.role === "output" && s.head === head);
    return {
      key: head_key(record.kind, record.layer, head), bias: score_bias_of(record.score_bias, head),
      input: [head * record.head_dim, (head + 1) * record.head_dim],  // the columns that a small projection reads
      W_Q: part("query"), b_Q: part("query_bias"), W_K: part("key"), b_K: part("key_bias"),
      W_V: part("value"), b_V: part("value_bias"), W_O: parameter(output), first: output.begin,
    };
  });
  const bias = record.slices.find((slice) => slice.role === "output_bias");
  return {heads, head_dim: record.head_dim, b_O: bias && parameter(bias)};
}

// ---------------------------------------------------------------- layers

/** x W^T + b, row by row. */
function linear(x, weight, bias) {
  const [out, width] = weight.shape;
  return x.map((row) => {
    const y = new Float64Array(out);
    for (let o = 0; o < out; o++) {
      let sum = bias ? bias.numbers[o] : 0;
      for (let i = 0; i < width; i++) sum += weight.numbers[o * width + i] * row[i];
      y[o] = sum;
    }
    return y;
  });
}

const added = (x, y) => x.map((row, t) => row.map((v, c) => v + y[t][c]));

/** Layer norm, (x - mean) / sqrt(variance + epsilon) w + b, or RMS norm, x / sqrt(mean of x^2 + epsilon) w. */
function normalised(model, name, x) {
  const {norm, epsilon} = model.config;
  const weight = model.parameters.get(`${name}.weight`).numbers, bias = model.parameters.get(`${name}.bias`)?.numbers;
  return x.map((row) => {
    const mean = norm === "layer" ? row.reduce((sum, v) => sum + v, 0) / row.length : 0;
    const variance = row.reduce((sum, v) => sum + (v - mean) ** 2, 0) / row.length;
    const scale = 1 / Math.sqrt(variance + epsilon);
    return row.map((v, c) => (v - mean) * scale * weight[c] + (bias ? bias[c] : 0));
  });
}

/** The error function by its series 2/sqrt(pi) e^(-x^2) sum of 2^n x^(2n+1) / (2n+1)!!, whose terms have one sign. */
function erf(x) {
  if (Math.abs(x) > 6) return Math.sign(x);
  let term = x, sum = x;
  for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum); n++) sum += term *= 2 * x * x / (2 * n + 1);
  return 2 / Math.sqrt(Math.PI) * Math.exp(-x * x) * sum;
}

const activations = {
  relu: (x) => Math.max(x, 0),
  gelu: (x) => x * (1 + erf(x / Math.SQRT2)) / 2,
  gelu_tanh: (x) => x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3))) / 2,
  silu: (x) => x / (1 + Math.exp(-x)),
  tanh: Math.tanh,
  sigmoid: (x) => 1 / (1 + Math.exp(-x)),
};

function feed_forward(model, path, x) {
  const layer = (name, rows) => linear(rows, model.parameters.get(`${path}.${name}.weight`), model.parameters.get(`${path}.${name}.bias`));
  const hidden = layer("linear1", x).map((row) => row.map(activations[model.config.activation]));
  return layer("linear2", hidden);
}

function softmax(scores) {
  const largest = Math.max(...scores);
  const powers = Array.from(scores, (s) => Math.exp(s - largest));
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((p) => p / sum);
}

/**
 * y = b_O + sum over heads of gate_h A_h W_O^h with A_h = softmax(Q_h K_h^T / sqrt(D) + score bias) V_h.
 * Appends keys and values of `memory` to the head's cache; without memory the cache is only read.
 * Causal: row i of x attends to the rows cached before this call and to the first i + 1 rows of memory.
 * `probe` has gates by head (1 where there is none) and collects the maps.
 */
function attend(model, path, x, memory, causal, cache, probe) {
  const {heads, head_dim, b_O} = model.attentions.get(path);
  const y = x.map(() => b_O ? Float64Array.from(b_O.numbers) : new Float64Array(model.config.width));
  for (const head of heads) {
    const read = (rows, weight) => weight.shape[1] < rows[0].length ? rows.map((row) => row.subarray(...head.input)) : rows;
    const kept = cache[head.key] ??= {keys: [], values: [], queries: 0};
    const before = kept.keys.length, first = kept.queries;  // position of the first query
    kept.queries += x.length;
    if (memory) {
      kept.keys.push(...linear(read(memory, head.W_K), head.W_K, head.b_K));
      kept.values.push(...linear(read(memory, head.W_V), head.W_V, head.b_V));
    }
    const queries = linear(read(x, head.W_Q), head.W_Q, head.b_Q);
    const scale = 1 / Math.sqrt(head_dim), gate = probe.gates[head.key] ?? 1;
    const map = probe.maps[head.key] ??= [];
    queries.forEach((query, i) => {
      const seen = causal ? before + i + 1 : kept.keys.length;
      const weights = softmax(kept.keys.slice(0, seen).map((key, j) => scale * dot(query, key) + head.bias(first + i, j)));
      map.push(weights);
      if (gate !== 0) add_output(y[i], head, gate, mixed(weights, kept.values));
    });
  }
  return y;
}

function dot(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

/** The weighted sum of the values: the head's output A_h of one row. */
function mixed(weights, values) {
  const output = new Float64Array(values[0].length);
  weights.forEach((weight, k) => { for (let d = 0; d < output.length; d++) output[d] += weight * values[k][d]; });
  return output;
}

/** y += gate A_h W_O^h: the head's columns of the output projection. */
function add_output(y, head, gate, output) {
  const width = head.W_O.shape[1];
  for (let c = 0; c < y.length; c++) {
    for (let d = 0; d < output.length; d++) y[c] += gate * output[d] * head.W_O.numbers[c * width + head.first + d];
  }
}

/** Pre-norm x + f(norm(x)), post-norm norm(x + f(x)). */
function residual(model, norm, x, f) {
  return model.config.norm_first ? added(x, f(normalised(model, norm, x))) : normalised(model, norm, added(x, f(x)));
}

/** A layer: self-attention, cross-attention if there is an encoder, feed-forward. */
function layer(model, path, x, {causal, memory}, cache, probe) {
  let y = residual(model, `${path}.norm1`, x, (v) => attend(model, `${path}.self_attn`, v, v, causal, cache, probe));
  const crossed = model.attentions.has(`${path}.multihead_attn`);
  if (crossed) y = residual(model, `${path}.norm2`, y, (v) => attend(model, `${path}.multihead_attn`, v, memory, false, cache, probe));
  return residual(model, `${path}.norm${crossed ? 3 : 2}`, y, (v) => feed_forward(model, path, v));
}

function stack(model, name, x, seen, cache, probe) {
  let y = x;
  for (let i = 0; i < model.config.layers; i++) y = layer(model, `${name}.layers.${i}`, y, seen, cache, probe);
  return model.config.norm_first ? normalised(model, `${name}.norm`, y) : y;
}

/** Embeddings (times sqrt(C) with sinusoidal positions) plus the positions from `first` on; side is "", "source_" or "target_". */
function embed(model, side, ids, first = 0) {
  const {width, positions} = model.config;
  const table = model.parameters.get(`${side}embedding.weight`).numbers;
  const learned = model.parameters.get(`${side}positions.weight`)?.numbers;
  const sinusoid = (t, c) => Math.fround((c % 2 ? Math.cos : Math.sin)(t / 10000 ** ((c - c % 2) / width)));
  return ids.map((id, i) => Float64Array.from({length: width}, (_, c) => {
    const value = table[id * width + c];
    if (positions === "sinusoidal") return value * Math.sqrt(width) + sinusoid(first + i, c);
    return positions === "learned" ? value + learned[(first + i) * width + c] : value;
  }));
}

function logits_of(model, side, x) {
  const weight = model.parameters.get("output.weight") ?? model.parameters.get(`${side}embedding.weight`);  // tied
  return linear(x, weight, model.parameters.get("output.bias"));
}

// ---------------------------------------------------------------- whole models

/** Returns read(ids), which appends tokens and returns the logits after each of them. */
function reader(model, source, probe) {
  const cache = {};
  let length = 0;
  const seq2seq = model.config.kind === "seq2seq";
  const side = seq2seq ? "target_" : "";
  let memory = seq2seq ? stack(model, "encoder", embed(model, "source_", source), {causal: false}, {}, probe) : null;
  return (ids) => {
    const x = embed(model, side, ids, length);
    length += ids.length;
    const y = stack(model, "decoder", x, {causal: true, memory}, cache, probe);
    memory = null;  // its keys and values are cached by now
    return logits_of(model, side, y);
  };
}

/** Applies a linear layer to the mean of the encoder's output over positions: [logits]. */
function classify(model, ids, probe) {
  const rows = stack(model, "encoder", embed(model, "", ids), {causal: false}, {}, probe);
  const mean = rows[0].map((_, c) => rows.reduce((sum, row) => sum + row[c], 0) / rows.length);
  return logits_of(model, "", [mean]);
}

/** Logits and maps of given tokens: `target_in` is the input of the decoder or language model. */
function forward(model, source, target_in, gates = {}) {
  const probe = {gates, maps: {}};
  const logits = model.config.kind === "classifier" ? classify(model, source, probe) : reader(model, source, probe)(target_in);
  return {logits, maps: whole_rows(probe.maps)};
}

/** Rows of causal maps, padded with zeros to the same length. */
function whole_rows(maps) {
  for (const rows of Object.values(maps)) {
    const keys = Math.max(...rows.map((row) => row.length));
    for (const row of rows) while (row.length < keys) row.push(0);
  }
  return maps;
}

/** The index of the largest logit; `never` is not taken. */
const likeliest = (row, never) => row.reduce((best, v, i) => v > row[best] && i !== never ? i : best, 0);

/**
 * Reads `prompt` (and a source if there is an encoder) and generates greedily at most `most` tokens, up to `end`;
 * or takes `given` as the generated tokens. target[i] was generated after target_in[i].
 */
function write_on(model, {source, prompt, given, end, most}, gates = {}) {
  const probe = {gates, maps: {}};
  const read = reader(model, source, probe);
  const planned = given && (end === null ? given : [...given, end]);
  const count = planned ? planned.length : most;
  const target_in = count ? [...prompt] : prompt.slice(0, -1), written = [];  // the last token is not read
  const logits = read(target_in);
  while (written.length < count && written.at(-1) !== end) {
    if (written.length) {
      target_in.push(written.at(-1));
      logits.push(...read([written.at(-1)]));
    }
    written.push(planned ? planned[written.length] : likeliest(logits.at(-1), end === null ? null : unknown_token));
  }
  const target = [...prompt.slice(1), ...written];
  const probability = written.reduce((product, id, i) => product * softmax(logits[prompt.length - 1 + i])[id], 1);
  return {source, target_in, target, written, finished: written.at(-1) === end, logits, maps: whole_rows(probe.maps), probability};
}

// ---------------------------------------------------------------- tokens

/** The id of <unk>, where a vocabulary has it: no output has it. */
const unknown_token = 3;

/** Special tokens by id, as a page shows them; they come first in a vocabulary and occur in no text. */
const special_tokens = {none: [], bos: ["^"], all: ["<pad>", "^", "$", "<unk>"]};

const token_of = (vocabulary, id) => [...special_tokens[vocabulary.specials], ...vocabulary.tokens][id];

/** The tokens of a text: code points, words between spaces, or bytes, of which those from 128 are written as "\\xC3". */
const tokens_in = (vocabulary, text) => vocabulary.kind === "characters" ? [...text]
  : vocabulary.kind === "bytes" ? [...new TextEncoder().encode(text)].map((byte) => byte < 128 ? String.fromCodePoint(byte) : `\\x${byte.toString(16).toUpperCase()}`)
  : text.split(/[ \t\n]+/).filter(Boolean);

const names_of_blanks = new Map([[" ", "space"], ["\n", "line end"], ["\t", "tab"]]);

/** The ids of a text's tokens; throws an Error with a sentence for a token that is not in the vocabulary. */
function encoded(vocabulary, text) {
  return tokens_in(vocabulary, text).map((token) => {
    const id = vocabulary.tokens.indexOf(token);
    if (id >= 0) return id + special_tokens[vocabulary.specials].length;
    const known = vocabulary.tokens.length > 100 ? "" : `: ${vocabulary.tokens.map((s) => names_of_blanks.get(s) ?? s).join(" ")}`;
    throw new Error(`“${token}” is not one of the ${vocabulary.tokens.length} tokens in the model's vocabulary${known}`);
  });
}

/** The text of tokens, without special ones. */
function decoded(vocabulary, ids) {
  const specials = special_tokens[vocabulary.specials].length;
  const tokens = ids.filter((id) => id >= specials).map((id) => vocabulary.tokens[id - specials]);
  if (vocabulary.kind === "bytes") return new TextDecoder().decode(Uint8Array.from(tokens, (token) => token.length === 4 ? parseInt(token.slice(2), 16) : token.codePointAt(0)));
  return tokens.join(vocabulary.kind === "words" ? " " : "");
}

/**
 * The model's output for a text, in the form of an attention_record()'s example and answer. `output`: a text that is
 * taken as generated, or null; `write`: maximum tokens of a language model; gates by head. Throws Errors with a sentence.
 */
function answer_to(model, {input, output, write}, gates = {}) {
  const {kind, longest} = model.config, {vocabularies} = model;
  const ids = encoded(vocabularies.source ?? vocabularies.tokens, input);
  if (!ids.length) throw new Error("Type at least one token");
  if (ids.length > longest) throw new Error(`The input has ${ids.length} tokens; the model reads at most ${longest}`);
  const source = ids.map((id) => token_of(vocabularies.source ?? vocabularies.tokens, id));
  if (kind === "classifier") {
    const {logits, maps} = forward(model, ids, [], gates);
    const classes = Array.from(softmax(logits[0]), (probability, i) => ({name: model.classes?.[i] ?? `class ${i}`, probability}))
      .sort((a, b) => b.probability - a.probability);
    return {example: {source, maps: map_list(maps)}, answer: {text: classes[0].name, probability: classes[0].probability, classes}};
  }
  const seq2seq = kind === "seq2seq";
  const target = seq2seq ? vocabularies.target : vocabularies.tokens;
  const given = output === null ? null : encoded(target, output);
  const room = seq2seq ? longest - 1 : longest - ids.length + 1;
  if (given && given.length > room) throw new Error(`The output has ${given.length} tokens; at most ${room} fit`);
  const result = write_on(model, seq2seq ? {source: ids, prompt: [1], given, end: 2, most: room}
    : {source: [], prompt: ids, given, end: null, most: Math.min(write, room)}, gates);
  if (!result.target.length) throw new Error("The text needs at least two tokens");
  const shown = (list) => list.map((id) => token_of(target, id));
  return {
    example: {...(seq2seq ? {source} : {}), target: shown(result.target), decoder_input: shown(result.target_in), maps: map_list(result.maps)},
    answer: {text: decoded(target, result.written), probability: result.probability, finished: !seq2seq || result.finished},
  };
}

/** Maps by head as a list of {kind, layer, head, rows}. */
function map_list(maps) {
  return Object.entries(maps).map(([key, rows]) => {
    const [, kind, layer, head] = key.match(/^(\w+) (\d+)\.(\d+)$/);
    return {kind, layer: Number(layer), head: Number(head), rows};
  });
}
