// The attention weights of every head on one text: one forward pass that keeps all of them.
#include "headroom_runs/records/attention_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headroom/base/error.hpp"
#include "headroom/base/utf8.hpp"
#include "headroom/data/batches.hpp"
#include "headroom/nn/decoding.hpp"
#include "headroom_runs/records/head_records.hpp"
#include "headroom_runs/tables/table_tasks.hpp"
#include "records/forward_once.hpp"
#include "records/shown_tokens.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace attention_looking {
namespace {

/// A text as tokens of a vocabulary; `option` names it in errors.
Tokens known_tokens(const Vocabulary& vocabulary, const std::string& text, const char* what) {
  for (const std::string& token : vocabulary.tokens_in(text)) {
    if (vocabulary.knows(token)) continue;
    throw UsageError(
        fmt::format("{} \"{}\": \"{}\" is not one of the {} tokens in the model's vocabulary", what,
                    printable(text), printable(token), vocabulary.plain_size()));
  }
  return vocabulary.encode(text);
}

/// The input as tokens.
Tokens input_tokens(const Vocabulary& vocabulary, const AttentionQuestion& question,
                    Index longest) {
  Tokens tokens =
      question.tokens ? *question.tokens : known_tokens(vocabulary, question.input, "input");
  if (tokens.empty()) throw UsageError("the input is empty; give at least one token");
  if (Index(tokens.size()) > longest) {
    throw UsageError(
        fmt::format("the input has {} tokens; the model reads at most {}", tokens.size(), longest));
  }
  return tokens;
}

Tokens given_output(const Vocabulary& vocabulary, const AttentionQuestion& question, Index room) {
  Tokens tokens = known_tokens(vocabulary, *question.output, "output");
  if (Index(tokens.size()) > room) {
    throw UsageError(
        fmt::format("the output has {} tokens; there is room for {}", tokens.size(), room));
  }
  return tokens;
}

/// An input with its output: target[i] is predicted from target_in[0..i].
struct Passage : OneSequence {
  Tokens target;
  Tokens written;         // the output alone, without begin and end tokens
  std::size_t first = 0;  // index in target where it begins
  bool finished = true;
};

Passage read_and_written(const Seq2Seq& model, const Vocabulary& source, const Vocabulary& target,
                         const AttentionQuestion& question) {
  Passage passage;
  passage.source = input_tokens(source, question, model.config.longest);
  const Index room = model.config.longest - 1;  // the begin token has a position too
  if (question.output) {
    passage.written = given_output(target, question, room);
  } else {
    const Padded padded = pad(std::span(&passage.source, 1), 0);
    const auto writer = make_writer(model, padded.ids, padded.lengths);
    const DecodingLimits limits{
        .begin = target.bos(), .end = target.eos(), .never = target.unk(), .longest = room};
    const Written best = greedy(*writer, limits).front();
    passage.written = best.ids;
    passage.finished = best.finished;
  }
  passage.target_in = passage.target = passage.written;
  passage.target_in.insert(passage.target_in.begin(), target.bos());
  if (passage.finished) {
    passage.target.push_back(target.eos());
  } else {
    passage.target_in.pop_back();
  }
  return passage;
}

Passage read_and_written(const LanguageModel& model, const Vocabulary& vocabulary,
                         const AttentionQuestion& question) {
  const Tokens prompt = input_tokens(vocabulary, question, model.config.longest);
  const auto read = Index(prompt.size());
  const Index room = model.config.longest - read + 1;  // the last token is not read again
  Passage passage;
  if (question.output) {
    passage.written = given_output(vocabulary, question, room);
  } else {
    Rng unused(0, "greedy");
    passage.written = sample(*make_writer(model, 1), {.longest = std::min(question.write, room)},
                             {.temperature = 0}, unused, Ids({1, read}, std::span(prompt)))
                          .front()
                          .ids;
  }
  Tokens text = prompt;
  text.insert(text.end(), passage.written.begin(), passage.written.end());
  if (text.size() < 2)
    throw UsageError("a text of one token has no earlier token to attend to; give more");
  passage.target_in.assign(text.begin(), text.end() - 1);
  passage.target.assign(text.begin() + 1, text.end());
  passage.first = prompt.size() - 1;
  return passage;
}

/// A row of logits as probabilities.
std::vector<double> probabilities(const Array& logits, Index row) {
  const Index tokens = logits.dim(1);
  std::vector<double> p(static_cast<std::size_t>(tokens));
  for (std::size_t i = 0; i < p.size(); ++i) {
    p[i] = double(logits[row * tokens + Index(i)]);
  }
  const double largest = *std::max_element(p.begin(), p.end());
  double sum = 0;
  for (double& v : p) sum += v = std::exp(v - largest);
  for (double& v : p) v /= sum;
  return p;
}

/// The probability of the output, the end token included.
double probability_of(const Passage& passage, const Array& logits) {
  double product = 1;
  for (std::size_t i = passage.first; i < passage.target.size(); ++i) {
    const auto wanted = static_cast<std::size_t>(passage.target[i]);
    product *= probabilities(logits, Index(i))[wanted];
  }
  return product;
}

std::vector<HeadState> all_heads(Module& model) {
  std::vector<HeadState> heads;
  for (const NamedAttention& found : attentions(model)) {
    const auto alive = found.attention->alive();
    for (Index head = 0; head < found.attention->config().heads; ++head) {
      const bool removed = std::find(alive.begin(), alive.end(), head) == alive.end();
      heads.push_back({found.id(head), removed});
    }
  }
  return heads;
}

/// The classes in descending order of probability.
Answer class_answer(const SavedModel& saved, const Array& logits) {
  const std::vector<double> p = probabilities(logits, 0);
  const std::vector<std::string> names = classes_of(saved);
  std::vector<ClassProbability> classes;
  for (std::size_t i = 0; i < p.size(); ++i) classes.push_back({names[i], p[i]});
  std::stable_sort(classes.begin(), classes.end(),
                   [](const auto& a, const auto& b) { return a.probability > b.probability; });
  return {.text = classes[0].name, .probability = classes[0].probability, .classes = classes};
}

ModelFacts facts(const SavedModel& saved, const std::vector<HeadState>& heads) {
  const bool named =
      saved.about.is_object() && saved.about.contains("name") && saved.about["name"].is_string();
  return {.task = named ? saved.about["name"].get<std::string>() : "",
          .family = saved.config.kind,
          .layout = saved.config.block.layout,
          .parameters = count_parameters(*saved.model),
          .heads = Index(heads.size()),
          .alive = std::count_if(heads.begin(), heads.end(),
                                 [](const HeadState& head) { return !head.removed; }),
          .longest = saved.config.longest};
}

/// Adds input and output of a model with an output.
void add_passage(AttentionRecord& record, const Passage& passage, const Vocabulary& target,
                 const Array& logits) {
  record.example.target = shown_tokens(target, passage.target);
  record.example.decoder_input = shown_tokens(target, passage.target_in);
  record.answer = {.text = target.decode(passage.written),
                   .probability = probability_of(passage, logits),
                   .finished = passage.finished};
}

}  // namespace
}  // namespace attention_looking

AttentionRecord attention_record(const SavedModel& saved, const AttentionQuestion& question) {
  using namespace attention_looking;
  Module& model = *saved.model;
  AttentionRecord record{.input = question.input,
                         .write = question.write,
                         .heads = all_heads(model),
                         .output = question.output};
  record.model = facts(saved, record.heads);
  HeadProbe probe;
  probe.maps = true;
  Passage passage;
  const auto look = [&] { return forward_once(model, passage, &probe); };
  if (saved.config.kind == ModelKind::seq2seq) {
    const Vocabulary source = saved.vocabulary("source"), target = saved.vocabulary("target");
    passage = read_and_written(saved.seq2seq(), source, target, question);
    record.example.source = shown_tokens(source, passage.source);
    add_passage(record, passage, target, look());
  } else if (saved.config.kind == ModelKind::language_model) {
    const Vocabulary tokens = saved.vocabulary("tokens");
    passage = read_and_written(saved.language_model(), tokens, question);
    add_passage(record, passage, tokens, look());
  } else {
    if (question.output) throw UsageError("a classifier has no output text");
    const Vocabulary tokens = saved.vocabulary("tokens");
    passage.source = input_tokens(tokens, question, saved.config.longest);
    record.example.source = shown_tokens(tokens, passage.source);
    record.answer = class_answer(saved, look());
  }
  record.example.maps = map_records(model, probe);
  record.ids = {passage.source, passage.target_in, passage.target};
  return record;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
