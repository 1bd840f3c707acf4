// Losses and scores without training.
#include "headroom/train/evaluation.hpp"

#include <algorithm>

#include "headroom/base/at.hpp"
#include "headroom/ops/reductions.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The mean over labels from the means over batches.
template <class Model, class Batch>
double loss_per_label(Model& model, std::span<const Batch> batches) {
  const Evaluating now(model);
  double sum = 0;
  Index labels = 0;
  for (const Batch& batch : batches) {
    const Index count = label_count(batch);
    sum += double(training_loss(model, batch).item()) * double(count);
    labels += count;
  }
  return labels == 0 ? 0 : sum / double(labels);
}

}  // namespace

double mean_loss(Seq2Seq& model, std::span<const Seq2SeqBatch> batches) {
  return loss_per_label(model, batches);
}

double mean_loss(LanguageModel& model, std::span<const TextBatch> batches) {
  return loss_per_label(model, batches);
}

double mean_loss(Classifier& model, std::span<const ClassificationBatch> batches) {
  return loss_per_label(model, batches);
}

double accuracy(Classifier& model, std::span<const ClassificationBatch> batches) {
  const Evaluating now(model);
  Index right = 0, all = 0;
  for (const ClassificationBatch& batch : batches) {
    const Ids answers = argmax(model(batch.tokens, batch.lengths).value());
    for (Index b = 0; b < answers.size(); ++b) right += answers[b] == batch.labels[b] ? 1 : 0;
    all += answers.size();
  }
  return all == 0 ? 0 : double(right) / double(all);
}

std::vector<std::vector<Written>> outputs_for(Seq2Seq& model, std::span<const Tokens> sources,
                                              const Vocabulary& source, const Vocabulary& target,
                                              Index longest, Index beam, Index batch_size) {
  const DecodingLimits limits{
      .begin = target.bos(), .end = target.eos(), .never = target.unk(), .longest = longest};
  return outputs_for(model, sources, source.pad(), limits, beam, batch_size);
}

std::vector<std::vector<Written>> outputs_for(Seq2Seq& model, std::span<const Tokens> sources,
                                              std::int32_t filler, DecodingLimits limits,
                                              Index beam, Index batch_size) {
  const Evaluating now(model);
  limits.longest = std::min(limits.longest, model.config.longest);
  std::vector<Index> lengths;
  for (const Tokens& tokens : sources) lengths.push_back(Index(tokens.size()));
  std::vector<std::vector<Written>> outputs(sources.size());
  for (const std::vector<Index>& examples : batches_by_length(lengths, batch_size)) {
    std::vector<Tokens> rows;
    for (const Index e : examples) rows.push_back(at(sources, e));
    const Padded padded = pad(rows, filler);
    const std::unique_ptr<Writer> writer = make_writer(model, padded.ids, padded.lengths, beam);
    std::vector<std::vector<Written>> written;
    if (beam > 1) {
      written = beam_search(*writer, beam, limits);
    } else {
      for (Written& one : greedy(*writer, limits)) written.push_back({std::move(one)});
    }
    for (std::size_t b = 0; b < examples.size(); ++b) {
      outputs[static_cast<std::size_t>(examples[b])] = std::move(written[b]);
    }
  }
  return outputs;
}

SequenceScore score_greedily(Seq2Seq& model, std::span<const Seq2SeqQuestion> questions,
                             const Vocabulary& source, const Vocabulary& target, Index batch_size) {
  std::vector<Tokens> sources;
  std::size_t longest = 0;
  for (const Seq2SeqQuestion& question : questions) {
    sources.push_back(question.source);
    for (const Tokens& answer : question.answers) longest = std::max(longest, answer.size());
  }
  const Index most = Index(longest) + 4;
  const auto outputs = outputs_for(model, sources, source, target, most, 1, batch_size);
  SequenceScore score;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    score.add(outputs[i][0].ids, questions[i].answers);
  return score;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
