// The forward pass inside a page computes what C++ computes with the same weights.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "headroom/autograd/tape.hpp"
#include "report/attend_support.hpp"
#include "support/browser.hpp"
#include "support/catch.hpp"
#include "support/own_layouts.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;

namespace {

const std::string input = "abcadb", output = "xyzzy";

/// A model's record, and the results of C++ with the same half-rounded weights and some gates.
Record model_case(const SavedModel& saved) {
  round_to_half(*saved.model);
  const bool writes = saved.config.kind != ModelKind::classifier;
  const bool language = saved.config.kind == ModelKind::language_model;
  AttentionQuestion question{.input = input, .write = 5};
  Record result = {{"model", json_of(model_record(saved))},
                   {"greedy", json_of(attention_record(saved, question))}};
  if (writes) question.output = language ? "dabba" : output;
  const ExampleIds ids = attention_record(saved, question).ids;
  result["ids"] = json_of(ids);

  Rng rng(11, "gates");
  HeadProbe probe;
  probe.maps = true;
  result["gates"] = Record::object();
  for (const NamedAttention& found : attentions(*saved.model)) {
    Array gates({found.attention->config().heads});
    for (Index head = 0; head < gates.size(); ++head) {
      gates[head] = Real(rng.below(3)) / 2;  // off, half, on
      result["gates"][found.id(head).text()] = double(gates[head]);
    }
    probe.gates[found.location()] = Tensor(gates);
  }
  const NoGrad quiet;
  const auto row = [](const Tokens& tokens) {
    return Ids({1, Index(tokens.size())}, std::span(tokens));
  };
  Array logits;
  if (language) {
    logits = saved.language_model()(row(ids.target_in), &probe).value();
  } else {
    const Ids source = row(ids.source), lengths({1}, {static_cast<std::int32_t>(source.dim(1))});
    logits = writes ? saved.seq2seq()(source, lengths, row(ids.target_in), &probe).value()
                    : saved.classifier()(source, lengths, &probe).value();
  }
  for (const Real logit : logits.span()) result["logits"].push_back(double(logit));
  for (const NamedAttention& found : attentions(*saved.model)) {
    const Tensor& seen = probe.seen.at(found.location()).maps;
    if (!seen.defined()) continue;
    const Array& maps = seen.value();
    const Index each = maps.dim(2) * maps.dim(3);
    Index at = 0;
    for (const Index head : found.attention->alive()) {
      Record& map = result["maps"][found.id(head).text()];
      for (const Index end = at + each; at < end; ++at) {
        map.push_back(double(maps[at]));
      }
    }
  }
  return result;
}

/// Every kind of model in every layout. Together they cover every option of a configuration; some
/// are pruned, one down to attentions without any head.
std::vector<Record> all_cases() {
  std::vector<Record> cases;
  const auto add = [&](ModelKind kind, Layout layout, const auto& change,
                       std::vector<HeadId> removed = {}) {
    ModelConfig config = test::small_config(kind, layout);
    change(config);
    cases.push_back(model_case(test::small_saved_model(config, removed)));
    cases.back()["name"] = fmt::format("{} {} {}", name_of(kind), name_of(layout), cases.size());
  };
  const auto encoder = [](Index l, Index h) { return HeadId{AttentionKind::encoder_self, l, h}; };
  const auto decoder = [](Index l, Index h) { return HeadId{AttentionKind::decoder_self, l, h}; };
  const auto cross = [](Index l, Index h) { return HeadId{AttentionKind::cross, l, h}; };
  const auto plain = [](ModelConfig&) {};
  add(ModelKind::seq2seq, Layout::separate, plain, {encoder(0, 1), decoder(1, 0), cross(0, 2)});
  add(ModelKind::seq2seq, Layout::fused, [](ModelConfig& c) {
    c.block.norm_first = false;
    c.block.activation = Activation::gelu;
    c.tied_output = true;
  });
  add(ModelKind::seq2seq, Layout::fused, [](ModelConfig& c) { c.block.head_dim = 5; },
      {encoder(1, 0), decoder(0, 0), decoder(0, 1), decoder(0, 2), cross(1, 1)});
  add(ModelKind::seq2seq, Layout::shared, plain, {encoder(0, 0), cross(1, 0), cross(1, 2)});
  add(ModelKind::language_model, Layout::separate, [](ModelConfig& c) {
    c.positions = PositionKind::learned;
    c.tied_output = true;
    c.block.activation = Activation::gelu_tanh;
  });
  add(ModelKind::language_model, Layout::fused,
      [](ModelConfig& c) {
        c.block.norm = NormKind::rms;
        c.block.bias = false;
        c.block.activation = Activation::silu;
      },
      {decoder(0, 0), decoder(1, 2)});
  add(ModelKind::language_model, Layout::shared, [](ModelConfig& c) { c.layers = 1; });
  add(ModelKind::classifier, Layout::separate,
      [](ModelConfig& c) {
        c.positions = PositionKind::none;
        c.block.activation = Activation::tanh;
      },
      {encoder(0, 0), encoder(0, 1), encoder(0, 2)});
  add(ModelKind::classifier, Layout::fused, [](ModelConfig& c) {
    c.block.norm_first = false;
    c.block.activation = Activation::sigmoid;
  });
  // The input is as long as the model allows.
  add(ModelKind::classifier, Layout::shared,
      [](ModelConfig& c) { c.longest = std::ssize(std::string(input)); });
  add(ModelKind::seq2seq, test::slopes_layout(), plain, {decoder(0, 1), encoder(1, 0)});
  add(ModelKind::language_model, test::table_layout(), plain, {decoder(0, 0)});
  add(ModelKind::seq2seq, test::grouped_layout(), plain,
      {encoder(0, 1), encoder(1, 2), cross(0, 0), cross(0, 1), decoder(0, 0)});
  add(ModelKind::language_model, test::one_key_layout(), plain, {decoder(0, 1)});
  return cases;
}

/// Faults that the comparison must find: a text in model.js, and its replacement.
const std::vector<std::pair<std::string, std::string>> faults = {
    {"const scale = 1 / Math.sqrt(head_dim)", "const scale = 1"},
    {"causal ? before + i + 1 : kept.keys.length", "kept.keys.length"},
    {"causal ? before + i + 1", "causal ? i + 1"},
    {"probe.gates[head.key] ?? 1", "1"},
    {"head.first + d]", "d]"},
    {"weight.shape[1] < rows[0].length ? rows", "false ? rows"},
    {"s.group.includes(head)", "s.group.length > 0"},
    {"(v - mean) * scale", "v * scale"},
    {"model.config.norm_first ? added", "true ? added"},
    {"norm === \"layer\" ?", "true ?"},
    {"value * Math.sqrt(width)", "value"},
    {"embed(model, side, ids, length)", "embed(model, side, ids, 0)"},
    {"c % 2 ? Math.cos : Math.sin", "c % 2 ? Math.sin : Math.cos"},
    {"value + learned[(first + i) * width + c]", "value"},
    {"model.parameters.get(\"output.weight\") ??", ""},
    {"`${side}embedding.weight`);  // tied", "`${side && \"source_\"}embedding.weight`);"},
    {"erf(x / Math.SQRT2)", "erf(x)"},
    {"0.044715", "0.44715"},
    {"exponent - 25", "exponent - 24"},
    {"bytes.charCodeAt(2 * i + 1) << 8", "0"},
    {"row[c], 0) / rows.length", "row[c], 0)"},
    {"bias ? bias.numbers[o] : 0", "0"},
    {"b_O ? Float64Array.from(b_O.numbers)", "false ? 0"},
    {"+ head.bias(first + i, j)", ""},
    {"head.bias(first + i, j)", "head.bias(i, j)"},
    {"-numbers[head] * Math.abs(i - j)", "-numbers[head] * (i - j)"},
    {"(head * queries + i) * keys + j", "i * keys + j"},
};

/// Compares in the browser, and writes the result into the document.
const char* const comparison = R"js(
const names = "load_model, forward, write_on, answer_to";
const built = (text) => new Function(`"use strict"; ${text}; return {${names}};`)();
const source = document.getElementById("model").textContent;
const {cases, faults} = JSON.parse(document.getElementById("cases").textContent);
const flat = (rows) => rows.flatMap((row) => Array.from(row));
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** The largest difference of two lists; infinite when it is not a number, or they do not match. */
function apart(a, b) {
  if (a.length !== b.length) return Infinity;
  const each = a.map((v, i) => Number.isFinite(v) ? Math.abs(v - b[i]) : Infinity);
  return Math.max(0, ...each);
}

/** Of all logits, computed at once and token by token, and of all maps. */
function difference(js, c) {
  const model = js.load_model(c.model), maps_there = c.maps ?? {};
  const {logits, maps} = js.forward(model, c.ids.source, c.ids.target_in, c.gates);
  const of_maps = Object.keys(maps_there).map((key) => apart(flat(maps[key]), maps_there[key]));
  const extra = Object.keys(maps).length === of_maps.length ? 0 : Infinity;
  let in_steps = 0;
  if (c.ids.target_in.length) {
    const [first, ...rest] = c.ids.target_in;
    const given = {source: c.ids.source, prompt: [first], given: [...rest, 0], end: null, most: 0};
    in_steps = apart(flat(js.write_on(model, given, c.gates).logits), c.logits);
  }
  const at_once = apart(flat(logits), c.logits);
  return {logits: Math.max(at_once, in_steps), maps: Math.max(extra, ...of_maps)};
}

/** Of the greedy answer: its tokens must be the same, its probabilities and maps close. */
function answer_difference(js, c) {
  const {input, write, example: there, answer: wanted} = c.greedy;
  const {example, answer} = js.answer_to(js.load_model(c.model), {input, output: null, write});
  const sides = ["source", "target", "decoder_input"];
  if (!sides.every((side) => same(example[side], there[side]))) return Infinity;
  if (answer.text !== wanted.text) return Infinity;
  if ((answer.finished ?? true) !== (wanted.finished ?? true)) return Infinity;
  const names = (list) => (list ?? []).map((entry) => entry.name);
  if (!same(names(answer.classes), names(wanted.classes))) return Infinity;
  const chances = (found) => [found, ...(found.classes ?? [])].map((entry) => entry.probability);
  const of_maps = there.maps.map((map) => {
    const is_it = (m) => ["kind", "layer", "head"].every((key) => m[key] === map[key]);
    return apart(flat(example.maps.find(is_it).rows), flat(map.rows)) - 5e-5;  // those are rounded
  });
  return Math.max(apart(chances(answer), chances(wanted)), ...of_maps);
}

/** Whether a fault is planted, noticed by its numbers, and throws, which would prove nothing. */
function tried([from, to]) {
  const seen = {from, planted: source.includes(from), threw: "", noticed: false};
  try {
    const js = built(source.replace(from, to));
    seen.noticed = Math.max(...cases.flatMap((c) => Object.values(difference(js, c)))) > 1e-3;
  } catch (error) {
    seen.threw = String(error);
  }
  return seen;
}

const right = built(source);
const result = {
  cases: cases.map((c) => (
    {name: c.name, ...difference(right, c), answer: answer_difference(right, c)})),
  faults: faults.map(tried),
};
const text = JSON.stringify(result, (key, value) => value === Infinity ? 1e300 : value);
document.getElementById("result").textContent = text;
)js";

std::string between(const std::string& text, const std::string& open, const std::string& close) {
  const std::size_t begin = text.find(open);
  REQUIRE(begin != std::string::npos);
  return text.substr(begin, text.find(close, begin) - begin);
}

/// The values of a key of the configuration in all cases.
std::set<std::string> names_in(const std::vector<Record>& cases, const char* key) {
  std::set<std::string> names;
  for (const Record& one : cases) names.insert(one["model"]["config"][key].get<std::string>());
  return names;
}

template <class Enum>
std::set<std::string> all_names() {
  std::set<std::string> names;
  for (const Enum member : all_of<Enum>()) names.insert(name_of(member));
  return names;
}

}  // namespace

TEST_CASE("the comparison of model.js covers every name that a configuration can have") {
  const std::vector<Record> cases = all_cases();
  // Pages leave out models with parts of other programs.
  std::set<std::string> kinds = all_names<ModelKind>(), positions = all_names<PositionKind>();
  for (const char* without : {"encoder", "masked_language_model"}) kinds.erase(without);
  positions.erase("sinusoidal_halves");
  CHECK(names_in(cases, "kind") == kinds);
  const std::set<std::string> layouts = names_in(cases, "layout"), built_in = all_names<Layout>();
  CHECK(std::includes(layouts.begin(), layouts.end(), built_in.begin(), built_in.end()));
  CHECK(names_in(cases, "activation") == all_names<Activation>());
  CHECK(names_in(cases, "norm") == all_names<NormKind>());
  CHECK(names_in(cases, "positions") == positions);
}

TEST_CASE(
    "the page's forward pass gives C++'s logits and maps for every kind, layout and pruning") {
  if (!can_open_pages()) return;
  const std::vector<Record> cases = all_cases();
  const SavedModel any =
      test::small_saved_model(test::small_config(ModelKind::seq2seq, Layout::fused));
  const std::string page = attend_page(page_record(any, {.input = "ab"}));
  const std::string model_js =
      between(page, "// The forward pass of headroom's models", "// The model inside a page");
  REQUIRE(model_js.find("</script") == std::string::npos);
  const Record data = {{"cases", cases}, {"faults", faults}};
  const TemporaryFolder folder;
  folder.file("compare.html",
              fmt::format("<!doctype html><html><head></head><body><pre id=\"result\"></pre>"
                          "<script type=\"text/plain\" id=\"model\">{}</script>"
                          "<script type=\"application/json\" id=\"cases\">{}</script>"
                          "<script>{}</script></body></html>",
                          model_js, data.dump(), comparison));
  const OpenedPage opened = open_page(folder / "compare.html", folder / "profile", 800, false);
  REQUIRE(opened.code == 0);
  CHECK(opened.complaints == "");
  const std::string open = "<pre id=\"result\">";
  const std::string found = between(opened.dom, open, "</pre>").substr(open.size());
  REQUIRE(found != "");
  const Record result = Record::parse(found);
  REQUIRE(result["cases"].size() == cases.size());
  for (const Record& seen : result["cases"]) {
    INFO(seen.dump());
    CHECK(seen["logits"].get<double>() <= 1e-4);
    CHECK(seen["maps"].get<double>() <= 1e-4);
    CHECK(seen["answer"].get<double>() <= 1e-4);
  }
  for (const Record& fault : result["faults"]) {
    INFO(fault.dump());
    CHECK(fault["planted"] == true);
    CHECK(fault["noticed"] == true);
    CHECK(fault["threw"] == "");
  }
}
