// Predictions in batches.
#include "headroom_runs/use/predictor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "headroom/base/at.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/utf8.hpp"
#include "headroom/data/batches.hpp"
#include "headroom/nn/decoding.hpp"
#include "headroom/ops/softmax.hpp"
#include "headroom/train/evaluation.hpp"
#include "headroom_runs/runs/open_model.hpp"
#include "headroom_runs/tables/table_tasks.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr std::int32_t filler = 0;  // behind a text, where nothing is read

const char* read_name(ModelKind kind) { return kind == ModelKind::seq2seq ? "source" : "tokens"; }
const char* written_name(ModelKind kind) {
  return kind == ModelKind::seq2seq ? "target" : "tokens";
}

}  // namespace

Predictor::Predictor(const SavedModel& saved, PredictOptions options)
    : saved_(&saved),
      options_(options),
      read_(&saved.tokenizer(read_name(saved.config.kind))),
      written_(&saved.tokenizer(written_name(saved.config.kind))) {
  const ModelKind kind = saved.config.kind;
  require_outputs(saved);
  if (kind == ModelKind::masked_language_model) {
    throw UsageError(fmt::format("{}: a {} predicts no outputs; attend shows its tokens for [MASK]",
                                 saved.origin, name_of(kind)),
                     {"model"});
  }
  if (kind == ModelKind::classifier && saved.config.target_vocabulary == 1) {
    throw UsageError(fmt::format("{}: has no classes: its output is one number", saved.origin),
                     {"model"});
  }
  if (kind == ModelKind::classifier) classes_ = classes_of(saved);
  if (kind != ModelKind::seq2seq && options.beam > 1) {
    throw UsageError(fmt::format("{}: a {} has no beam search", saved.origin, name_of(kind)),
                     {"beam"});
  }
  if (kind == ModelKind::language_model && options.candidates > 1) {
    throw UsageError(fmt::format("{}: a language model has one continuation", saved.origin),
                     {"candidates"});
  }
  if (kind == ModelKind::seq2seq && options.candidates > options.beam) {
    throw UsageError(fmt::format("{0} candidates need a beam of {0} or more", options.candidates),
                     {"candidates", "beam"});
  }
}

Tokens Predictor::tokens_of(const std::string& text, Prediction& prediction) const {
  const auto refuse = [&](std::string problem) {
    prediction.problem = std::move(problem);
    return Tokens();
  };
  if (find_malformed_utf8(text)) return refuse("the text is not valid UTF-8");
  if (const auto* vocabulary = dynamic_cast<const Vocabulary*>(read_)) {
    const bool has_unknown = vocabulary->specials() == Specials::all;
    for (const std::string& token : vocabulary->tokens_in(text)) {
      if (vocabulary->knows(token)) continue;
      if (!has_unknown) {
        return refuse(fmt::format("the model does not know \"{}\"", printable(token)));
      }
      auto& all = prediction.unknown;
      if (std::find(all.begin(), all.end(), token) == all.end()) all.push_back(token);
    }
  }
  Tokens tokens = read_->encode(text);
  if (tokens.empty()) return refuse("the text is empty");
  tokens = read_->framed(std::move(tokens));
  const Index longest = saved_->config.longest;
  if (saved_->config.kind == ModelKind::language_model) {  // it reads the end of a long text
    if (std::ssize(tokens) > longest) tokens.erase(tokens.begin(), tokens.end() - longest);
  } else if (std::ssize(tokens) > longest) {
    return refuse(fmt::format("{} tokens; the model reads at most {}", tokens.size(), longest));
  }
  return tokens;
}

void Predictor::generate(std::span<const Tokens> sources, std::span<Prediction* const> into) const {
  DecodingLimits limits = limits_of(*saved_);
  limits.longest = saved_->config.longest - 1;
  auto outputs =
      outputs_for(saved_->seq2seq(), sources, filler, limits, options_.beam, options_.batch_size);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    for (const Written& one : outputs[i]) {
      if (std::ssize(into[i]->candidates) == options_.candidates) break;
      into[i]->candidates.push_back({written_->decode(one.ids), one.log_probability, one.finished});
    }
  }
}

void Predictor::classify(std::span<const Tokens> texts, std::span<Prediction* const> into) const {
  const Classifier& model = saved_->classifier();
  std::vector<Index> lengths;
  for (const Tokens& tokens : texts) lengths.push_back(std::ssize(tokens));
  const NoGrad off;
  for (const std::vector<Index>& examples : batches_by_length(lengths, options_.batch_size)) {
    std::vector<Tokens> rows;
    for (const Index example : examples) rows.push_back(at(texts, example));
    const Padded batch = pad(rows, filler);
    const Array log_p = log_softmax(model(batch.ids, batch.lengths)).value();
    const Index classes = log_p.dim(1);
    for (std::size_t row = 0; row < examples.size(); ++row) {
      std::vector<Candidate>& ranked = at(into, examples[row])->candidates;
      for (Index c = 0; c < classes; ++c) {
        ranked.push_back({at(classes_, c), double(log_p[Index(row) * classes + c])});
      }
      std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
        return a.log_probability > b.log_probability;
      });
      ranked.resize(std::min(ranked.size(), std::size_t(options_.candidates)));
    }
  }
}

void Predictor::continue_texts(std::span<const Tokens> texts,
                               std::span<Prediction* const> into) const {
  std::map<std::size_t, std::vector<std::size_t>> by_length;  // a batch has no padding
  for (std::size_t i = 0; i < texts.size(); ++i) by_length[texts[i].size()].push_back(i);
  Rng unused(0, "greedy");
  DecodingLimits limits = limits_of(*saved_);
  limits.longest = options_.length;
  for (const auto& [length, all] : by_length) {
    const auto most = std::size_t(options_.batch_size);
    for (std::size_t first = 0; first < all.size(); first += most) {
      const std::size_t count = std::min(most, all.size() - first);
      std::vector<Tokens> rows;
      for (std::size_t row = 0; row < count; ++row) rows.push_back(texts[all[first + row]]);
      const auto writer = make_writer(saved_->language_model(), Index(count));
      const auto written = sample(*writer, limits, {.temperature = 0}, unused, pad(rows, 0).ids);
      for (std::size_t row = 0; row < count; ++row) {
        const Written& one = written[row];
        into[all[first + row]]->candidates = {
            {written_->decode(one.ids), one.log_probability, one.finished}};
      }
    }
  }
}

std::vector<Prediction> Predictor::predict(std::span<const std::string> texts) const {
  std::vector<Prediction> predictions(texts.size());
  std::vector<Tokens> read;
  std::vector<Prediction*> into;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    Tokens tokens = tokens_of(texts[i], predictions[i]);
    if (tokens.empty()) continue;
    read.push_back(std::move(tokens));
    into.push_back(&predictions[i]);
  }
  if (read.empty()) return predictions;
  switch (saved_->config.kind) {
    case ModelKind::seq2seq: generate(read, into); break;
    case ModelKind::classifier: classify(read, into); break;
    case ModelKind::language_model: continue_texts(read, into); break;
    case ModelKind::encoder:
    case ModelKind::masked_language_model: break;  // refused by the constructor
  }
  return predictions;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
