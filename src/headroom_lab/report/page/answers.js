// The model inside a page: its answers with some heads switched off, and their text. Used by the page of
// `headroom attend` and by the front page of the site.
const key_of = (head) => head_key(head.kind, head.layer, head.head);
const record = run.page_model;
const model = record.left_out ? null : load_model(record);

const last_whole = {question: null, found: null};

/** The example and answer of the model in this page for {input, output}; `off` has the keys of heads that are switched off. */
function answered({input, output}, off = new Set()) {
  const compute = () => answer_to(model, {input, output, write: run.write}, Object.fromEntries([...off].map((key) => [key, 0])));
  if (off.size) return compute();
  const question = JSON.stringify([input, output]);  // with all heads, it is computed once per input
  if (question !== last_whole.question) Object.assign(last_whole, {found: compute(), question});
  return last_whole.found;
}

const percent = (p) => p > 0.999 ? "over 99.9 %" : p < 0.001 ? "under 0.1 %" : `${(100 * p).toFixed(1)} %`;
const visible = (text) => [...text].map((character) => character === " " ? character : shown(character)).join("");
const brief = (text) => [...text].length > 60 ? [...text].slice(0, 59).join("") + "…" : text;

/** Splits an answer into its tokens: a class, words with the spaces before them, or characters. */
function pieces({text, classes}) {
  if (classes) return [text];
  const vocabulary = record.vocabularies?.target ?? record.vocabularies?.tokens;
  return vocabulary?.kind === "words" ? text.split(/(?= )/) : [...visible(text)];
}

/** An answer; tokens that differ from another one are marked. */
function answer_text(answer, other) {
  const tokens = pieces(answer), others = other && pieces(other);
  return tokens.length ? tokens.map((token, i) => others && others[i] !== token ? h("mark", {}, token) : token) : [h("i", {}, "nothing")];
}

/** A line of a list of answers: its title, the answer and the probability, or why there is none. */
const answer_line = (title, answer, other) => [h("dt", {}, title),
  h("dd", {}, answer.note && !answer.text ? null : h("code", {}, answer_text(answer, other)), h("span", {}, answer.note ? answer.note : answer.classes ? answer.classes.map((c) => `${c.name} ${percent(c.probability)}`).join(", ") : `probability ${percent(answer.probability)}`,
    answer.finished === false ? ", cut off" : ""))];

/** How the logits of the page compare with the program's, or why the page has no model. */
function about_model() {
  if (!model) return `You cannot type another input or switch heads off here: ${record.left_out}.`;
  const {logits} = forward(model, run.ids.source, run.ids.target_in);
  const difference = Math.max(...logits.map((row, t) => Math.max(...Array.from(row, (v, i) => Math.abs(v - record.logits[t][i])))));
  document.documentElement.dataset.difference = difference;
  return "This page runs the model with weights rounded to half precision. For the original text, "
    + `rounding changes a logit by at most ${number_text(record.rounding)}, and with the same weights the program's logits `
    + (difference <= 1e-4 ? `agree to ${difference < 1e-6 ? "0.000001" : number_text(difference)}.`
      : `differ by ${number_text(difference)}: the results of this page are not reliable.`);
}
