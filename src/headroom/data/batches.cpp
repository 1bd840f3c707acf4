// Batches: examples padded to arrays.
#include "headroom/data/batches.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headroom/base/at.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/rng.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

template <class Example, class Length>
std::vector<Index> lengths_of(std::span<const Example> set, Length length_of) {
  std::vector<Index> lengths;
  for (const Example& example : set) lengths.push_back(length_of(example));
  return lengths;
}

Index sum(const Ids& ids) {
  Index total = 0;
  for (const std::int32_t id : ids.span()) total += id;
  return total;
}

// The cost of a batch grows with the lengths of source and target.
Index both_sides(const Seq2SeqExample& example) {
  return std::ssize(example.source) + std::ssize(example.target);
}
Index only_side(const LabelledExample& example) { return std::ssize(example.tokens); }

}  // namespace

Padded pad(std::span<const Tokens> rows, std::int32_t filler) {
  const auto count = std::ssize(rows);
  Index longest = 1;
  for (const Tokens& row : rows) longest = std::max(longest, std::ssize(row));
  Padded result{Ids(Shape{count, longest}, filler), Ids(Shape{count})};
  for (Index b = 0; b < count; ++b) {
    const Tokens& row = at(rows, b);
    std::copy(row.begin(), row.end(), result.ids.data() + b * longest);
    result.lengths[b] = static_cast<std::int32_t>(row.size());
  }
  return result;
}

Seq2SeqBatch make_batch(std::span<const Seq2SeqExample> set, std::vector<Index> examples,
                        const Vocabulary& source, const Vocabulary& target) {
  std::vector<Tokens> sources, targets_in, labels;
  for (const Index i : examples) {
    const Seq2SeqExample& example = at(set, i);
    sources.push_back(example.source);
    targets_in.push_back({target.bos()});
    targets_in.back().insert(targets_in.back().end(), example.target.begin(), example.target.end());
    labels.push_back(example.target);
    labels.back().push_back(target.eos());
  }
  const Padded from = pad(sources, source.pad()), to = pad(targets_in, target.pad());
  return {.source = from.ids,
          .source_lengths = from.lengths,
          .target_in = to.ids,
          .labels = pad(labels, ignored_label).ids,
          .target_lengths = to.lengths,
          .examples = std::move(examples),
          .source_tokens = sum(from.lengths),
          .target_tokens = sum(to.lengths)};
}

std::vector<Seq2SeqBatch> evaluation_batches(std::span<const Seq2SeqExample> set, Index batch_size,
                                             const Vocabulary& source, const Vocabulary& target) {
  std::vector<Seq2SeqBatch> batches;
  for (auto& examples : batches_by_length(lengths_of(set, both_sides), batch_size)) {
    batches.push_back(make_batch(set, std::move(examples), source, target));
  }
  return batches;
}

ClassificationBatch make_batch(std::span<const LabelledExample> set, std::vector<Index> examples,
                               const Vocabulary& vocabulary) {
  std::vector<Tokens> rows;
  Ids labels(Shape{std::ssize(examples)});
  for (const Index i : examples) {
    labels[std::ssize(rows)] = at(set, i).label;
    rows.push_back(at(set, i).tokens);
  }
  const Padded padded = pad(rows, vocabulary.pad());
  return {.tokens = padded.ids,
          .lengths = padded.lengths,
          .labels = labels,
          .examples = std::move(examples)};
}

std::vector<ClassificationBatch> evaluation_batches(std::span<const LabelledExample> set,
                                                    Index batch_size,
                                                    const Vocabulary& vocabulary) {
  std::vector<ClassificationBatch> batches;
  for (auto& examples : batches_by_length(lengths_of(set, only_side), batch_size)) {
    batches.push_back(make_batch(set, std::move(examples), vocabulary));
  }
  return batches;
}

TextBatch random_windows(std::span<const std::int32_t> text, Index batch_size, Index length,
                         std::uint64_t seed, Index step) {
  const Index places = std::ssize(text) - length;
  if (batch_size < 1 || length < 1 || places < 1) {
    throw UsageError(
        fmt::format("text windows: {} windows of {} tokens need a text longer than one "
                    "window, but it has {} tokens",
                    batch_size, length, text.size()));
  }
  TextBatch batch{Ids(Shape{batch_size, length}), Ids(Shape{batch_size, length})};
  Rng rng(seed, "data", static_cast<std::uint64_t>(step));
  for (Index b = 0; b < batch_size; ++b) {
    const std::int32_t* window = text.data() + rng.below(places);
    std::copy_n(window, length, batch.inputs.data() + b * length);
    std::copy_n(window + 1, length, batch.labels.data() + b * length);
  }
  return batch;
}

std::vector<TextBatch> evaluation_windows(std::span<const std::int32_t> text, Index batch_size,
                                          Index length) {
  const Index labels = std::ssize(text) - 1;
  if (batch_size < 1 || length < 1 || labels < 1) {
    throw UsageError(
        fmt::format("text windows: batches of {} windows of {} tokens over a text of "
                    "{}: it needs at least two tokens",
                    batch_size, length, text.size()));
  }
  const Index windows = (labels + length - 1) / length;
  std::vector<TextBatch> batches;
  for (Index first = 0; first < windows; first += batch_size) {
    const Shape shape{std::min(batch_size, windows - first), length};
    TextBatch batch{Ids(shape, 0), Ids(shape, ignored_label)};
    const Index begin = first * length, count = std::min(shape.size(), labels - begin);
    std::copy_n(text.data() + begin, count, batch.inputs.data());
    std::copy_n(text.data() + begin + 1, count, batch.labels.data());
    batches.push_back(std::move(batch));
  }
  return batches;
}

Seq2SeqLoader::Seq2SeqLoader(const Seq2SeqTask& task, Index batch_size, std::uint64_t seed)
    : plan(lengths_of(std::span<const Seq2SeqExample>(task.train), both_sides), batch_size, seed),
      task_(&task) {}

ClassificationLoader::ClassificationLoader(const ClassificationTask& task, Index batch_size,
                                           std::uint64_t seed)
    : plan(lengths_of(std::span<const LabelledExample>(task.train), only_side), batch_size, seed),
      task_(&task) {}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
