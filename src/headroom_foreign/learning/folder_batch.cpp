// Batches of examples for the models of folders, and their losses.
#include "learning/folder_batch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headroom/algebra/algebra.hpp"
#include "headroom/base/at.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/names.hpp"
#include "headroom/base/rng.hpp"
#include "headroom/data/batches.hpp"
#include "headroom/ops/arithmetic.hpp"
#include "headroom/ops/matmul.hpp"
#include "headroom/ops/reductions.hpp"
#include "headroom_foreign/learning/folder_learner.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr Real contrast_scale = 20;  // of cosines as logits
constexpr std::int32_t filler = 0;   // behind a text, where nothing is read
constexpr double masked_share = 0.15, shown_as_mask = 0.8, shown_as_random = 0.1;

/// The labels of one text, ignored_label where nothing is masked; `tokens` become what the model
/// is shown. Devlin et al. 2019, section 3.1.
Tokens mask(Tokens& tokens, const FolderTask& task, Index vocabulary, Rng rng) {
  Tokens labels(tokens.size(), ignored_label);
  const Index count = std::ssize(tokens) - task.before - task.after;
  if (count < 1) return labels;
  std::vector<Index> places = random_order(count, rng);
  places.resize(std::size_t(std::max(Index(1), Index(masked_share * double(count)))));
  for (const Index place : places) {
    std::int32_t& token = at(tokens, task.before + place);
    at(labels, task.before + place) = token;
    const double draw = double(rng.uniform());
    if (draw < shown_as_mask) {
      token = *task.ids.mask;
    } else if (draw < shown_as_mask + shown_as_random) {
      token = std::int32_t(rng.below(vocabulary));
    }
  }
  return labels;
}

template <class Model>
const Model& as(const Module& model, FolderObjective objective) {
  if (const auto* found = dynamic_cast<const Model*>(&model)) return *found;
  throw UsageError(
      fmt::format("the objective {} does not fit {}", name_of(objective), model.title()));
}

}  // namespace

FolderBatch FolderBatch::picked(std::span<const Index> rows) const {
  const auto pick = [&](const Ids& ids) { return ids.size() == 0 ? Ids() : pick_rows(ids, rows); };
  return {.ids = pick(ids),
          .lengths = pick(lengths),
          .target_in = pick(target_in),
          .target_lengths = pick(target_lengths),
          .labels = pick(labels),
          .former = former};
}

Index FolderBatch::label_count() const {
  return labels.size() - std::ranges::count(labels.span(), ignored_label);
}

FolderBatch make_folder_batch(const FolderTask& task, std::span<const FolderExample> examples,
                              Index vocabulary, std::uint64_t seed, std::uint64_t round) {
  std::vector<Tokens> inputs, targets, labels;
  Ids numbers(Shape{std::ssize(examples)});  // the label of each example
  for (Index b = 0; b < std::ssize(examples); ++b) {
    const FolderExample& example = at(examples, b);
    Tokens tokens = example.tokens;
    numbers[b] = task.objective == FolderObjective::keep ? std::int32_t(b) : example.label;
    if (task.objective == FolderObjective::masked) {
      labels.push_back(mask(tokens, task, vocabulary, Rng(seed, "mask", hash_of(example) + round)));
    } else if (task.objective == FolderObjective::text) {
      labels.emplace_back(tokens.begin() + 1, tokens.end());
      tokens.pop_back();
    } else if (task.objective == FolderObjective::pairs) {
      targets.push_back({*task.ids.begin});
      targets.back().insert(targets.back().end(), example.target.begin(), example.target.end());
      labels.push_back(example.target);
      labels.back().push_back(*task.ids.end);
    }
    inputs.push_back(std::move(tokens));
  }
  FolderBatch batch;
  const Padded padded = pad(inputs, filler);
  batch.ids = padded.ids;
  batch.lengths = padded.lengths;
  batch.labels = labels.empty() ? numbers : pad(labels, ignored_label).ids;
  if (!targets.empty()) {
    const Padded in = pad(targets, filler);
    batch.target_in = in.ids;
    batch.target_lengths = in.lengths;
  }
  return batch;
}

Tensor text_embeddings(const Tensor& hidden, const Ids& lengths) {
  const Index batch = hidden.dim(0), time = hidden.dim(1);
  Array here = zeros({batch, time, 1});
  for (Index b = 0; b < batch; ++b) {
    std::fill_n(here.data() + b * time, lengths[b], Real(1));
  }
  const Tensor total = sum(hidden * constant(here), {1});
  return total / sqrt(sum(total * total, {1}, true));
}

Tensor folder_embeddings(const Module& model, const FolderBatch& batch, HeadProbe* probe) {
  const auto& encoder = as<TextEncoder>(model, FolderObjective::keep);
  if (probe != nullptr) probe->query_lengths = {{AttentionKind::encoder_self, batch.lengths}};
  return text_embeddings(encoder(batch.ids, batch.lengths, probe), batch.lengths);
}

Tensor folder_logits(const Module& model, FolderObjective objective, const FolderBatch& batch,
                     HeadProbe* probe) {
  if (objective == FolderObjective::keep) {
    const Tensor former = constant(transposed(batch.former));
    return matmul(folder_embeddings(model, batch, probe), former) * contrast_scale;
  }
  const bool decodes = objective == FolderObjective::text;
  const AttentionKind kind = decodes ? AttentionKind::decoder_self : AttentionKind::encoder_self;
  if (probe != nullptr) probe->query_lengths = {{kind, batch.lengths}};
  switch (objective) {
    case FolderObjective::text: return as<LanguageModel>(model, objective)(batch.ids, probe);
    case FolderObjective::masked:
      return as<MaskedLanguageModel>(model, objective)(batch.ids, batch.lengths, probe);
    case FolderObjective::classify:
      return as<Classifier>(model, objective)(batch.ids, batch.lengths, probe);
    default: break;
  }
  if (probe != nullptr) {
    probe->query_lengths[AttentionKind::decoder_self] = batch.target_lengths;
    probe->query_lengths[AttentionKind::cross] = batch.target_lengths;
  }
  return as<Seq2Seq>(model, objective)(batch.ids, batch.lengths, batch.target_in, probe);
}

Tensor folder_losses(const Module& model, FolderObjective objective, const FolderBatch& batch,
                     HeadProbe* probe) {
  if (objective != FolderObjective::keep) {
    return example_losses(folder_logits(model, objective, batch, probe), batch.labels);
  }
  std::vector<Index> own(batch.labels.span().begin(), batch.labels.span().end());
  const Tensor former = constant(pick_rows(batch.former, std::span<const Index>(own)));
  return 1 - sum(folder_embeddings(model, batch, probe) * former, {1});
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
