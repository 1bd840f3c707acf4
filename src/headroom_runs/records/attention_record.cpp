// The attention weights of every head on one text: one forward pass that keeps all of them.
#include "headroom_runs/records/attention_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "headroom/base/at.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/utf8.hpp"
#include "headroom/data/batches.hpp"
#include "headroom/nn/decoding.hpp"
#include "headroom_foreign/tokenizers/sentence_piece.hpp"
#include "headroom_runs/records/head_records.hpp"
#include "headroom_runs/runs/open_model.hpp"
#include "headroom_runs/tables/table_tasks.hpp"
#include "records/forward_once.hpp"
#include "records/shown_tokens.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace attention_looking {
namespace {

constexpr Index most_weights = 12'000'000;  // of all maps together
constexpr std::size_t most_guesses = 5;     // that are shown of one masked token
constexpr std::size_t guesses_each = 2;     // that are shown of each of several

/// A text as tokens; `what` names it in errors. Throws UsageError for a token that is not in a
/// vocabulary of ours, whose <unk> stands for nothing that could be shown.
Tokens known_tokens(const Tokenizer& tokenizer, const std::string& text, const char* what) {
  if (const auto* vocabulary = dynamic_cast<const Vocabulary*>(&tokenizer)) {
    for (const std::string& token : vocabulary->tokens_in(text)) {
      if (vocabulary->knows(token)) continue;
      throw UsageError(
          fmt::format("{} \"{}\": \"{}\" is not one of the {} tokens in the model's vocabulary",
                      what, printable(text), printable(token), vocabulary->plain_size()));
    }
  }
  return tokenizer.encode(text);
}

/// The same, but every "[MASK]" in the text is the token to be guessed.
Tokens masked_tokens(const Tokenizer& tokenizer, const std::string& text) {
  const std::optional<std::int32_t> mask = tokenizer.special_ids().mask;
  if (!mask) return known_tokens(tokenizer, text, "input");
  const std::string word = tokenizer.token(*mask);
  Tokens tokens;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = text.find(word, begin);
    const Tokens part = known_tokens(tokenizer, text.substr(begin, end - begin), "input");
    tokens.insert(tokens.end(), part.begin(), part.end());
    if (end == text.npos) break;
    tokens.push_back(*mask);
    begin = end + word.size();
  }
  return tokens;
}

/// The input as tokens, with those around it that the model expects.
Tokens input_tokens(const Tokenizer& tokenizer, const AttentionQuestion& question,
                    const ModelConfig& config) {
  Tokens tokens = question.tokens ? *question.tokens
                  : config.kind == ModelKind::masked_language_model
                      ? masked_tokens(tokenizer, question.input)
                      : known_tokens(tokenizer, question.input, "input");
  if (tokens.empty()) throw UsageError("the input is empty; give at least one token");
  const std::size_t plain = tokens.size();
  tokens = tokenizer.framed(std::move(tokens));
  if (Index(tokens.size()) > config.longest) {
    const std::size_t around = tokens.size() - plain;
    throw UsageError(fmt::format("the input has {} tokens{}; the model reads at most {}", plain,
                                 around == 0 ? "" : fmt::format(" and {} around them", around),
                                 config.longest));
  }
  return tokens;
}

Tokens given_output(const Tokenizer& tokenizer, const AttentionQuestion& question, Index room) {
  const auto* pieces = dynamic_cast<const SentencePieceTokenizer*>(&tokenizer);
  Tokens tokens = pieces != nullptr ? pieces->encode_target(*question.output)
                                    : known_tokens(tokenizer, *question.output, "output");
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

Passage read_and_written(const Seq2Seq& model, const Tokenizer& source, const Tokenizer& target,
                         DecodingLimits limits, const AttentionQuestion& question) {
  Passage passage;
  passage.source = input_tokens(source, question, model.config);
  const Index room = model.config.longest - 1;  // the begin token has a position too
  if (question.output) {
    passage.written = given_output(target, question, room);
  } else {
    const Padded padded = pad(std::span(&passage.source, 1), 0);
    const auto writer = make_writer(model, padded.ids, padded.lengths);
    limits.longest = room;
    const Written best = greedy(*writer, limits).front();
    passage.written = best.ids;
    passage.finished = best.finished;
  }
  passage.target_in = passage.target = passage.written;
  passage.target_in.insert(passage.target_in.begin(), limits.begin);
  if (passage.finished) {
    passage.target.push_back(limits.end);
  } else {
    passage.target_in.pop_back();
  }
  return passage;
}

Passage read_and_written(const LanguageModel& model, const Tokenizer& tokenizer,
                         DecodingLimits limits, const AttentionQuestion& question) {
  const Tokens prompt = input_tokens(tokenizer, question, model.config);
  const auto read = Index(prompt.size());
  const Index room = model.config.longest - read + 1;  // the last token is not read again
  Passage passage;
  bool ended = false;
  if (question.output) {
    passage.written = given_output(tokenizer, question, room);
  } else {
    Rng unused(0, "greedy");
    limits.longest = std::min(question.write, room);
    const Written best = sample(*make_writer(model, 1), limits, {.temperature = 0}, unused,
                                Ids({1, read}, std::span(prompt)))
                             .front();
    passage.written = best.ids;
    ended = best.finished;
  }
  Tokens text = prompt;
  text.insert(text.end(), passage.written.begin(), passage.written.end());
  if (ended) text.push_back(limits.end);
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

/// A number, of a model with one output.
Answer number_answer(const SavedModel& saved, const Array& logits) {
  return {.text = fmt::format("{:.4g}", double(logits[0])),
          .note = fmt::format("a number, {}", classes_of(saved)[0])};
}

/// The most probable tokens of each masked place.
Answer guesses(const Tokenizer& tokenizer, const Tokens& tokens, const Array& logits) {
  const std::optional<std::int32_t> mask = tokenizer.special_ids().mask;
  const auto places = mask ? std::count(tokens.begin(), tokens.end(), *mask) : 0;
  Answer answer{.probability = 1};
  Index place = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!mask || tokens[i] != *mask) continue;
    ++place;
    const std::vector<double> p = probabilities(logits, Index(i));
    Tokens order(std::size_t(std::min(tokenizer.size(), Index(p.size()))));
    std::iota(order.begin(), order.end(), 0);
    const std::size_t most = std::min(places > 1 ? guesses_each : most_guesses, order.size());
    std::partial_sort(order.begin(), order.begin() + std::ptrdiff_t(most), order.end(),
                      [&](std::int32_t a, std::int32_t b) { return at(p, a) > at(p, b); });
    for (std::size_t g = 0; g < most; ++g) {
      const std::string token = shown_tokens(tokenizer, {order[g]})[0];
      answer.classes.push_back(
          {places > 1 ? fmt::format("{}: {}", place, token) : token, at(p, order[g])});
    }
    answer.text += (place > 1 ? " " : "") + shown_tokens(tokenizer, {order[0]})[0];
    answer.probability *= at(p, order[0]);
  }
  if (place > 0) return answer;
  const std::string word = mask ? tokenizer.token(*mask) : "[MASK]";
  return {.note = fmt::format("nothing: the input has no {} to be guessed", word)};
}

/// Throws UsageError if the maps of a text of so many tokens on each side would be too large.
void check_maps(const std::vector<HeadState>& heads, const Passage& passage) {
  const auto source = std::ssize(passage.source), target = std::ssize(passage.target_in);
  Index weights = 0;
  for (const HeadState& head : heads) {
    if (head.removed) continue;
    const bool reads_source = head.id.kind != AttentionKind::decoder_self;
    const bool of_source = head.id.kind == AttentionKind::encoder_self;
    weights += (of_source ? source : target) * (reads_source ? source : target);
  }
  if (weights <= most_weights) return;
  throw UsageError(fmt::format(
      "the maps of {} heads for this text have {:.1f} million weights, more than the {} million "
      "that can be shown; give a shorter text",
      heads.size(), double(weights) / 1e6, most_weights / 1'000'000));
}

ModelFacts facts(const SavedModel& saved, const std::vector<HeadState>& heads) {
  const auto text = [&](const char* member) {
    const Record& about = saved.about;
    const bool there = about.is_object() && about.contains(member) && about[member].is_string();
    return there ? about[member].get<std::string>() : "";
  };
  return {.task = text("name"),
          .architecture = text("architecture"),
          .family = saved.config.kind,
          .layout = saved.config.block.layout,
          .parameters = count_parameters(*saved.model),
          .heads = Index(heads.size()),
          .alive = std::count_if(heads.begin(), heads.end(),
                                 [](const HeadState& head) { return !head.removed; }),
          .longest = saved.config.longest};
}

/// Adds input and output of a model with an output.
void add_passage(AttentionRecord& record, const Passage& passage, const Tokenizer& target,
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
  const auto look = [&] {
    check_maps(record.heads, passage);
    return forward_once(model, passage, &probe);
  };
  const ModelKind kind = saved.config.kind;
  const bool answers = has_outputs(saved);
  if (question.output &&
      (!answers || kind == ModelKind::classifier || kind == ModelKind::masked_language_model)) {
    throw UsageError(fmt::format("a {} has no output text", record.model.architecture.empty()
                                                                ? name_of(kind)
                                                                : record.model.architecture));
  }
  if (kind == ModelKind::seq2seq) {
    const Tokenizer &source = saved.tokenizer("source"), &target = saved.tokenizer("target");
    passage = read_and_written(saved.seq2seq(), source, target, limits_of(saved), question);
    record.example.source = shown_tokens(source, passage.source);
    add_passage(record, passage, target, look());
  } else if (kind == ModelKind::language_model) {
    const Tokenizer& tokens = saved.tokenizer("tokens");
    AttentionQuestion asked = question;
    if (!answers) asked.output = "";
    passage = read_and_written(saved.language_model(), tokens, limits_of(saved), asked);
    add_passage(record, passage, tokens, look());
  } else {
    const Tokenizer& tokens = saved.tokenizer("tokens");
    passage.source = input_tokens(tokens, question, saved.config);
    record.example.source = shown_tokens(tokens, passage.source);
    const Array logits = look();
    if (kind == ModelKind::masked_language_model) {
      record.answer = guesses(tokens, passage.source, logits);
    } else if (kind == ModelKind::classifier) {
      record.answer =
          logits.size() == 1 ? number_answer(saved, logits) : class_answer(saved, logits);
    }
  }
  if (!answers) record.answer = {.note = "none: this model has no output"};
  record.example.maps = map_records(model, probe);
  record.ids = {passage.source, passage.target_in, passage.target};
  return record;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
