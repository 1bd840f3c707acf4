// Learners for the three kinds of tasks.
#include "headroom/train/learner.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headroom/base/at.hpp"
#include "headroom/base/error.hpp"
#include "headroom/ops/losses.hpp"
#include "headroom/train/evaluation.hpp"
#include "headroom/train/objectives.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Examples in one forward pass of an evaluation.
constexpr Index evaluation_batch = 128, probe_batch = 64;

/// At most `most` of all, evenly spread: sets may be sorted.
template <class T>
std::vector<T> some_of(const std::vector<T>& all, Index most) {
  const auto size = Index(all.size());
  const Index count = std::min(most, size);
  std::vector<T> some;
  for (Index i = 0; i < count; ++i) some.push_back(at(all, i * size / count));
  return some;
}

// ---------------------------------------------------------------- tasks with examples

/// The common part of learners over sets of examples.
template <class TaskType, class Model, class Loader, class Batch>
class ExampleLearner : public Learner {
 public:
  ExampleLearner(TaskType task, const ModelConfig& config, const LearnerOptions& options)
      : task_(std::move(task)),
        options_(options),
        rng_(options.seed, "init"),
        model_(config, rng_),
        loader_(task_, options.batch_size, options.seed) {}

  Module& model() override { return model_; }
  Index next_batch() override {
    batch_ = loader_.next();
    return label_count(batch_);
  }
  Tensor loss(HeadProbe* probe) override {
    return training_loss(model_, batch_, options_.label_smoothing, probe);
  }
  Record evaluate() override {
    return measured(some_of(task_.validation, options_.quick), "validation_loss");
  }
  Record test() override { return measured(task_.test, "test_loss"); }
  Stateful& position() override { return loader_.plan; }
  Record about() const override { return task_record(task_); }

 protected:
  using Questions = decltype(TaskType::test);
  virtual Record measured(const Questions& questions, const char* loss_name) = 0;

  TaskType task_;
  LearnerOptions options_;
  Rng rng_;
  Model model_;
  Loader loader_;
  Batch batch_;
};

class Seq2SeqLearner : public ExampleLearner<Seq2SeqTask, Seq2Seq, Seq2SeqLoader, Seq2SeqBatch> {
 public:
  using ExampleLearner::ExampleLearner;

  const char* measure() const override { return phonemes() ? "per" : "exact_match"; }
  BestSoFar::Better better() const override {
    return phonemes() ? BestSoFar::Better::lower : BestSoFar::Better::higher;
  }
  void visit_validation(Index most,
                        const std::function<void(Index, const Probed&)>& visit) override {
    const auto pairs = first_answers(some_of(task_.validation, most));
    for (const auto& batch : evaluation_batches(pairs, probe_batch, task_.source, task_.target)) {
      visit(batch.source.dim(0), [&](HeadProbe& probe) {
        return cross_entropy(model_(batch.source, batch.source_lengths, batch.target_in, &probe),
                             batch.labels, {.reduction = Reduction::sum});
      });
    }
  }

 private:
  /// Words as targets are phonemes: then nearness counts too.
  bool phonemes() const { return task_.target.kind() == TokenKind::words; }

  Record measured(const Questions& questions, const char* loss_name) override {
    const auto batches =
        evaluation_batches(first_answers(questions), evaluation_batch, task_.source, task_.target);
    Record record{{loss_name, mean_loss(model_, batches)}};
    const SequenceScore score = score_greedily(model_, questions, task_.source, task_.target);
    if (phonemes()) {
      record["per"] = score.token_error_rate();
      record["wer"] = score.word_error_rate();
    } else {
      record["exact_match"] = score.exact_match();
    }
    return record;
  }
};

class ClassifierLearner : public ExampleLearner<ClassificationTask, Classifier,
                                                ClassificationLoader, ClassificationBatch> {
 public:
  using ExampleLearner::ExampleLearner;

  const char* measure() const override { return "accuracy"; }
  BestSoFar::Better better() const override { return BestSoFar::Better::higher; }
  void visit_validation(Index most,
                        const std::function<void(Index, const Probed&)>& visit) override {
    const auto examples = some_of(task_.validation, most);
    for (const auto& batch : evaluation_batches(examples, probe_batch, task_.tokens)) {
      visit(batch.tokens.dim(0), [&](HeadProbe& probe) {
        return cross_entropy(model_(batch.tokens, batch.lengths, &probe), batch.labels,
                             {.reduction = Reduction::sum});
      });
    }
  }

 private:
  Record measured(const Questions& questions, const char* loss_name) override {
    const auto batches = evaluation_batches(questions, evaluation_batch, task_.tokens);
    return {{loss_name, mean_loss(model_, batches)}, {"accuracy", accuracy(model_, batches)}};
  }
};

// ---------------------------------------------------------------- text

/// Random windows are a function of the step, so the number of steps is all there is to save.
class WindowPosition : public Stateful {
 public:
  Index step = 0;
  void save_state(StateWriter to) const override { to.integer("step", step); }
  void load_state(const StateReader& from) override {
    const std::int64_t saved = from.integer("step");
    if (saved < 0) throw FileError(fmt::format("{}: {} is negative", from.where("step"), saved));
    step = saved;
  }
};

class TextLearner : public Learner {
 public:
  TextLearner(TextCorpus corpus, const ModelConfig& config, const LearnerOptions& options)
      : corpus_(std::move(corpus)),
        options_(options),
        rng_(options.seed, "init"),
        model_(config, rng_) {}

  Module& model() override { return model_; }
  Index next_batch() override {
    batch_ = random_windows(corpus_.train, options_.batch_size, options_.length, options_.seed,
                            position_.step++);
    return label_count(batch_);
  }
  Tensor loss(HeadProbe* probe) override {
    return training_loss(model_, batch_, options_.label_smoothing, probe);
  }
  Record evaluate() override {
    auto windows = evaluation_windows(corpus_.validation, probe_batch, options_.length);
    const Index most = std::max<Index>(1, options_.quick / probe_batch);
    return {{"validation_loss", mean_loss(model_, some_of(windows, most))}};
  }
  Record test() override {
    const auto windows = evaluation_windows(corpus_.validation, probe_batch, options_.length);
    return {{"validation_loss", mean_loss(model_, windows)}};
  }
  const char* measure() const override { return "validation_loss"; }
  BestSoFar::Better better() const override { return BestSoFar::Better::lower; }
  Stateful& position() override { return position_; }
  Record about() const override { return task_record(corpus_); }
  void visit_validation(Index most,
                        const std::function<void(Index, const Probed&)>& visit) override {
    auto windows = evaluation_windows(corpus_.validation, probe_batch, options_.length);
    for (const TextBatch& batch : some_of(windows, std::max<Index>(1, most / probe_batch))) {
      visit(batch.inputs.dim(0), [&](HeadProbe& probe) {
        return cross_entropy(model_(batch.inputs, &probe), batch.labels,
                             {.reduction = Reduction::sum});
      });
    }
  }

 private:
  TextCorpus corpus_;
  LearnerOptions options_;
  Rng rng_;
  LanguageModel model_;
  WindowPosition position_;
  TextBatch batch_;
};

/// A visitor made of lambdas.
template <class... F>
struct Cases : F... {
  using F::operator()...;
};
template <class... F>
Cases(F...) -> Cases<F...>;

}  // namespace

ModelConfig fitted_to(const Task& task, ModelConfig config, const LearnerOptions& options) {
  std::visit(Cases{[&](const Seq2SeqTask& t) {
                     config.kind = ModelKind::seq2seq;
                     config.source_vocabulary = t.source.size();
                     config.target_vocabulary = t.target.size();
                     // Room for <bos> and for answers that are longer than any right one.
                     config.longest = std::max(t.longest_source(), t.longest_target()) + 8;
                   },
                   [&](const ClassificationTask& t) {
                     config.kind = ModelKind::classifier;
                     config.source_vocabulary = t.tokens.size();
                     config.target_vocabulary = Index(t.classes.size());
                     config.longest = t.longest();
                   },
                   [&](const TextCorpus& t) {
                     config.kind = ModelKind::language_model;
                     config.source_vocabulary = config.target_vocabulary = t.vocabulary.size();
                     config.longest = options.length;
                   }},
             task);
  return config;
}

std::unique_ptr<Learner> make_learner(Task task, const ModelConfig& config,
                                      const LearnerOptions& options) {
  return std::visit(Cases{[&](Seq2SeqTask& t) -> std::unique_ptr<Learner> {
                            return std::make_unique<Seq2SeqLearner>(std::move(t), config, options);
                          },
                          [&](ClassificationTask& t) -> std::unique_ptr<Learner> {
                            return std::make_unique<ClassifierLearner>(std::move(t), config,
                                                                       options);
                          },
                          [&](TextCorpus& t) -> std::unique_ptr<Learner> {
                            return std::make_unique<TextLearner>(std::move(t), config, options);
                          }},
                    task);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
