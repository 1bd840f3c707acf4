// The learner of a model of a folder.
#include "headroom_foreign/learning/folder_learner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include "headroom/algebra/algebra.hpp"
#include "headroom/base/at.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/names.hpp"
#include "headroom/data/batch_plan.hpp"
#include "headroom/data/batches.hpp"
#include "headroom/ops/arithmetic.hpp"
#include "headroom/ops/losses.hpp"
#include "headroom/ops/reductions.hpp"
#include "headroom/train/checkpoint.hpp"
#include "headroom/train/evaluation.hpp"
#include "learning/folder_batch.hpp"
#include "learning/neighbours.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Examples in one forward pass of an evaluation, and logits at most: the vocabularies are large.
constexpr Index most_in_batch = 64, most_logits = 16'000'000;

Index length_of(const FolderExample& example) {
  return std::ssize(example.tokens) + std::ssize(example.target);
}

/// At most `most` of a set, evenly spread.
std::vector<FolderExample> some_of(const std::vector<FolderExample>& set, Index most) {
  const Index all = std::ssize(set), count = std::min(most, all);
  std::vector<FolderExample> some;
  for (Index i = 0; i < count; ++i) some.push_back(at(set, i * all / count));
  return some;
}

/// The batches taken so far, which choose the next examples and their masks.
class FolderPosition : public Stateful {
 public:
  FolderPosition(const std::vector<FolderExample>& train, Index batch_size, std::uint64_t seed) {
    std::vector<Index> lengths;
    for (const FolderExample& example : train) lengths.push_back(length_of(example));
    if (!lengths.empty()) plan_.emplace(std::move(lengths), batch_size, seed);
  }
  std::vector<Index> next() {
    if (!plan_) throw UsageError("the data have no examples for training");
    ++batches_;
    return plan_->next();
  }
  /// Differs in every batch; 0 is that of evaluations.
  std::uint64_t round() const { return std::uint64_t(batches_); }

  void save_state(StateWriter to) const override {
    to.integer("batches", batches_);
    if (plan_) plan_->save_state(to.part("plan"));
  }
  void load_state(const StateReader& from) override {
    batches_ = from.integer("batches");
    if (batches_ < 0) throw FileError(from.where("batches") + " is negative");
    if (plan_) plan_->load_state(from.part("plan"));
  }

 private:
  std::optional<BatchPlan> plan_;
  Index batches_ = 0;
};

/// The embeddings of texts by the model as it is in its folder. Each is computed once and alone,
/// so that its bits do not depend on the batch in which a text comes first: a resumed run has the
/// same.
class FormerEmbeddings {
 public:
  explicit FormerEmbeddings(std::function<std::unique_ptr<Module>()> make)
      : make_(std::move(make)) {}

  /// [B, C].
  Array of(std::span<const FolderExample> examples) {
    std::vector<Array> rows;
    for (const FolderExample& example : examples) {
      const auto found = known_.find(example.tokens);
      rows.push_back(found != known_.end() ? found->second
                                           : known_[example.tokens] = embedded(example.tokens));
    }
    return concat(rows, 0);
  }

 private:
  Array embedded(const Tokens& tokens) {
    if (model_ == nullptr) model_ = make_();
    const Evaluating now(*model_);
    const Padded one = pad(std::span(&tokens, 1), 0);
    FolderBatch batch;
    batch.ids = one.ids;
    batch.lengths = one.lengths;
    return folder_embeddings(*model_, batch, nullptr).value();
  }

  std::function<std::unique_ptr<Module>()> make_;
  std::unique_ptr<Module> model_;
  std::map<Tokens, Array> known_;
};

class FolderLearner : public Learner {
 public:
  FolderLearner(FolderTask task, std::unique_ptr<Module> model, const LearnerOptions& options,
                std::function<std::unique_ptr<Module>()> original)
      : task_(std::move(task)),
        model_(std::move(model)),
        config_(*config_of(*model_)),
        options_(options),
        former_(std::move(original)),
        position_(task_.train, options.batch_size * options.accumulate, options.seed) {
    const auto fitting = objectives_of(config_.kind);
    if (std::find(fitting.begin(), fitting.end(), task_.objective) == fitting.end()) {
      throw UsageError(fmt::format("the objective {} does not fit a {}", name_of(task_.objective),
                                   name_of(config_.kind)));
    }
  }

  Module& model() override { return *model_; }
  Index next_batch() override {
    std::vector<FolderExample> examples;
    for (const Index i : position_.next()) examples.push_back(at(task_.train, i));
    batch_ = batch_of(examples, position_.round());
    return batch_.label_count();
  }
  Tensor loss(HeadProbe* probe) override { return mean_loss_of(batch_, probe); }
  Tensor part_of_loss(Index part, HeadProbe* probe) override {
    const Index all = batch_.ids.dim(0), first = part * all / options_.accumulate;
    std::vector<Index> rows(std::size_t((part + 1) * all / options_.accumulate - first));
    if (rows.empty()) return {};
    std::iota(rows.begin(), rows.end(), first);
    const FolderBatch some = batch_.picked(rows);
    return mean_loss_of(some, probe) * (Real(some.label_count()) / Real(batch_.label_count()));
  }

  Record evaluate() override { return measured(ExampleSet::validation, options_.quick); }
  Record test() override { return measured(ExampleSet::test, std::ssize(task_.test)); }
  const char* measure() const override { return answers() ? "accuracy" : "validation_loss"; }
  BestSoFar::Better better() const override {
    return answers() ? BestSoFar::Better::higher : BestSoFar::Better::lower;
  }
  Stateful& position() override { return position_; }
  Record about() const override { return task_.about; }

  void visit(ExampleSet set, Index most,
             const std::function<void(const ProbedBatch&)>& see) override {
    each_batch(set, most, [&](const FolderBatch& batch) { see(probed_batch(batch)); });
  }

 private:
  bool answers() const { return task_.objective == FolderObjective::classify; }

  bool keeps() const { return task_.objective == FolderObjective::keep; }

  bool predicts_tokens() const { return !answers() && !keeps(); }

  FolderBatch batch_of(std::span<const FolderExample> examples, std::uint64_t round) {
    FolderBatch batch =
        make_folder_batch(task_, examples, config_.source_vocabulary, options_.seed, round);
    if (keeps()) batch.former = former_.of(examples);
    return batch;
  }

  /// Batches of examples of similar lengths.
  void each_batch(ExampleSet set, Index most, const std::function<void(const FolderBatch&)>& see) {
    const std::vector<FolderExample> examples = some_of(task_.of(set), most);
    if (examples.empty()) {
      throw UsageError(
          fmt::format("the {} set is empty: the data have too few examples", name_of(set)),
          {"data", "split"});
    }
    std::vector<Index> lengths;
    Index longest = 1;
    for (const FolderExample& example : examples) {
      lengths.push_back(length_of(example));
      longest = std::max(longest, lengths.back());
    }
    const Index size = predicts_tokens()
                           ? std::clamp(most_logits / (longest * config_.target_vocabulary),
                                        Index(1), most_in_batch)
                           : most_in_batch;
    for (const std::vector<Index>& rows : batches_by_length(lengths, size)) {
      std::vector<FolderExample> some;
      for (const Index row : rows) some.push_back(at(examples, row));
      see(batch_of(some, 0));
    }
  }

  /// Not for logits of tokens, of which copies of a batch would need too much memory.
  std::function<ProbedBatch(std::span<const Index>)> picker(const FolderBatch& batch) const {
    if (predicts_tokens()) return {};
    return [this, batch](std::span<const Index> rows) { return probed_batch(batch.picked(rows)); };
  }

  ProbedBatch probed_batch(const FolderBatch& batch) const {
    const Module& model = *model_;
    const FolderObjective objective = task_.objective;
    return {
        .examples = batch.ids.dim(0),
        .losses = [&model, objective, batch](
                      HeadProbe& probe) { return folder_losses(model, objective, batch, &probe); },
        .logits = [&model, objective, batch](
                      HeadProbe& probe) { return folder_logits(model, objective, batch, &probe); },
        .labels = batch.labels,
        .picked = picker(batch)};
  }

  /// The mean over the labels that count.
  Tensor mean_loss_of(const FolderBatch& batch, HeadProbe* probe) const {
    if (keeps()) {
      return mean(folder_losses(*model_, task_.objective, batch, probe));
    }
    return cross_entropy(folder_logits(*model_, task_.objective, batch, probe), batch.labels,
                         {.label_smoothing = options_.label_smoothing});
  }

  Record measured(ExampleSet set, Index most) {
    const Evaluating now(*model_);
    double loss = 0;
    Index labels = 0, right = 0;
    Neighbours neighbours;
    each_batch(set, most, [&](const FolderBatch& batch) {
      labels += batch.label_count();
      if (keeps()) {
        const Array present = folder_embeddings(*model_, batch, nullptr).value();
        neighbours.add(batch.former, present);
        for (Index i = 0; i < present.size(); ++i) {
          loss -= double(present[i]) * double(batch.former[i]);
        }
        loss += double(batch.ids.dim(0));
        return;
      }
      const Tensor logits = folder_logits(*model_, task_.objective, batch, nullptr);
      loss += double(cross_entropy(logits, batch.labels, {.reduction = Reduction::sum}).value()[0]);
      right += right_answers(logits.value(), batch.labels);
    });
    if (labels == 0) {
      throw UsageError(
          fmt::format("nothing can be measured on the {} set: no token of it is to be predicted",
                      name_of(set)),
          {"data", "split"});
    }
    if (keeps()) loss = std::max(loss, 0.0);  // a cosine may round to above 1
    Record record{{fmt::format("{}_loss", name_of(set)), loss / double(labels)}};
    if (keeps() && std::isfinite(loss)) {  // else no text is nearer than another
      if (const auto kept = neighbours.kept()) record["neighbours"] = *kept;
    } else if (answers() || task_.objective == FolderObjective::masked) {
      record["accuracy"] = double(right) / double(labels);
    }
    return record;
  }

  /// How many of the labels that count have the highest logit.
  static Index right_answers(const Array& logits, const Ids& labels) {
    const Index classes = logits.dim(-1);
    Index right = 0;
    for (Index i = 0; i < labels.size(); ++i) {
      if (labels[i] == ignored_label) continue;
      const Real* const row = logits.data() + i * classes;
      const Real* const largest = std::max_element(row, row + classes);
      right += Index(largest - row == labels[i] && std::isfinite(*largest));
    }
    return right;
  }

  FolderTask task_;
  std::unique_ptr<Module> model_;
  ModelConfig config_;
  LearnerOptions options_;
  FormerEmbeddings former_;
  FolderPosition position_;
  FolderBatch batch_;
};

}  // namespace

std::unique_ptr<Learner> make_folder_learner(FolderTask task, std::unique_ptr<Module> model,
                                             const LearnerOptions& options,
                                             std::function<std::unique_ptr<Module>()> original) {
  return std::make_unique<FolderLearner>(std::move(task), std::move(model), options,
                                         std::move(original));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
