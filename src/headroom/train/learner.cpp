// Learners for the three kinds of tasks.
#include "headroom/train/learner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <type_traits>

#include "headroom/algebra/algebra.hpp"
#include "headroom/base/at.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/names.hpp"
#include "headroom/base/rng.hpp"
#include "headroom/ops/arithmetic.hpp"
#include "headroom/ops/losses.hpp"
#include "headroom/ops/reductions.hpp"
#include "headroom/train/checkpoint.hpp"
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

// ---------------------------------------------------------------- sets of examples

/// The examples that a task keeps back, in three sets; see ExampleSet.
template <class T>
struct HeldOut {
  std::vector<T> importance, selection, validation;

  std::vector<T>& of(ExampleSet set) {
    return set == ExampleSet::importance  ? importance
           : set == ExampleSet::selection ? selection
                                          : validation;
  }
};

/// The tokens as the bytes of a text, for a hash.
std::string bytes_of(const Tokens& tokens) {
  std::string bytes;
  for (const std::int32_t token : tokens) bytes += std::to_string(token) + " ";
  return bytes;
}

std::string text_of(const Seq2SeqQuestion& question) { return bytes_of(question.source); }
std::string text_of(const LabelledExample& example) { return bytes_of(example.tokens); }
std::string text_of(const TextBatch& window) {
  return bytes_of({window.inputs.span().begin(), window.inputs.span().end()});
}

template <class T>
HeldOut<T> split(const std::vector<T>& all) {
  std::vector<std::uint64_t> hashes;
  for (const T& example : all) hashes.push_back(hash_name(text_of(example)));
  const std::vector<ExampleSet> set_of = held_out_sets(hashes);
  HeldOut<T> sets;
  for (std::size_t i = 0; i < all.size(); ++i) sets.of(set_of[i]).push_back(all[i]);
  return sets;
}

std::vector<Seq2SeqExample> to_learn(const std::vector<Seq2SeqQuestion>& questions) {
  return first_answers(questions);
}
const std::vector<LabelledExample>& to_learn(const std::vector<LabelledExample>& examples) {
  return examples;
}

void require_examples(bool some, ExampleSet set) {
  if (some) return;
  throw UsageError(
      fmt::format("the {} set is empty: the task keeps back too few examples", name_of(set)),
      {"validation", "split"});
}

// ---------------------------------------------------------------- batches under a probe

Seq2SeqBatch picked(const Seq2SeqBatch& batch, std::span<const Index> rows) {
  Seq2SeqBatch result;
  for (const auto member :
       {&Seq2SeqBatch::source, &Seq2SeqBatch::source_lengths, &Seq2SeqBatch::target_in,
        &Seq2SeqBatch::labels, &Seq2SeqBatch::target_lengths}) {
    result.*member = pick_rows(batch.*member, rows);
  }
  return result;
}

ClassificationBatch picked(const ClassificationBatch& batch, std::span<const Index> rows) {
  return {.tokens = pick_rows(batch.tokens, rows),
          .lengths = pick_rows(batch.lengths, rows),
          .labels = pick_rows(batch.labels, rows),
          .examples = {}};
}

TextBatch picked(const TextBatch& batch, std::span<const Index> rows) {
  return {pick_rows(batch.inputs, rows), pick_rows(batch.labels, rows)};
}

/// Learner::part_of_loss().
template <class Model, class Batch>
Tensor part_loss(const Model& model, const Batch& batch, Index part, const LearnerOptions& options,
                 HeadProbe* probe) {
  const Index all = batch.labels.dim(0), first = part * all / options.accumulate;
  std::vector<Index> rows(std::size_t((part + 1) * all / options.accumulate - first));
  if (rows.empty()) return {};
  std::iota(rows.begin(), rows.end(), first);
  const Batch some = picked(batch, rows);
  const auto count = [](const Ids& labels) {
    return labels.size() - std::ranges::count(labels.span(), ignored_label);
  };
  return training_loss(model, some, options.label_smoothing, probe) *
         (Real(count(some.labels)) / Real(count(batch.labels)));
}

/// A batch of a learner's own, whose rows can be picked.
template <class Model, class Batch>
ProbedBatch probed_batch(const Model& model, const Batch& batch) {
  ProbedBatch result = probed(
      batch.labels, [&model, batch](HeadProbe& probe) { return logits_of(model, batch, &probe); });
  result.picked = [&model, batch](std::span<const Index> rows) {
    return probed_batch(model, picked(batch, rows));
  };
  if constexpr (std::is_same_v<Model, Seq2Seq>) {
    result.encoded = [&model, batch](HeadProbe& probe) { return encoded(model, batch, &probe); };
    result.losses_from = [&model, batch](const Tensor& output, HeadProbe& probe) {
      return example_losses(logits_from(model, batch, output, &probe), batch.labels);
    };
  }
  return result;
}

// ---------------------------------------------------------------- tasks with examples

/// The common part of learners over sets of examples.
template <class TaskType, class Model, class Loader, class Batch>
class ExampleLearner : public Learner {
 public:
  ExampleLearner(TaskType task, const ModelConfig& config, const LearnerOptions& options)
      : task_(std::move(task)),
        options_(options),
        rng_(options.seed, "init", static_cast<std::uint64_t>(options.init)),
        model_(config, rng_),
        loader_(task_, options.batch_size * options.accumulate, options.seed),
        held_out_(split(task_.validation)) {}

  Module& model() override { return model_; }
  Index next_batch() override {
    batch_ = loader_.next();
    return label_count(batch_);
  }
  Tensor loss(HeadProbe* probe) override {
    return training_loss(model_, batch_, options_.label_smoothing, probe);
  }
  Tensor part_of_loss(Index part, HeadProbe* probe) override {
    return part_loss(model_, batch_, part, options_, probe);
  }
  Record evaluate() override {
    return measured(some_of(held_out_.validation, options_.quick), "validation_loss");
  }
  Record test() override { return measured(task_.test, "test_loss"); }
  Stateful& position() override { return loader_.plan; }
  Record about() const override { return task_record(task_); }
  void visit(ExampleSet set, Index most,
             const std::function<void(const ProbedBatch&)>& see) override {
    const Examples examples = set == ExampleSet::train ? some_of(task_.train, most)
                              : set == ExampleSet::test
                                  ? to_learn(some_of(task_.test, most))
                                  : to_learn(some_of(held_out_.of(set), most));
    require_examples(!examples.empty(), set);
    for (const Batch& batch : batches_of(examples)) see(probed_batch(model_, batch));
  }

 protected:
  using Questions = decltype(TaskType::test);
  using Question = typename Questions::value_type;
  using Examples = decltype(TaskType::train);
  virtual Record measured(const Questions& questions, const char* loss_name) = 0;
  virtual std::vector<Batch> batches_of(const Examples& examples) const = 0;

  TaskType task_;
  LearnerOptions options_;
  Rng rng_;
  Model model_;
  Loader loader_;
  HeldOut<Question> held_out_;
  Batch batch_;
};

class Seq2SeqLearner : public ExampleLearner<Seq2SeqTask, Seq2Seq, Seq2SeqLoader, Seq2SeqBatch> {
 public:
  using ExampleLearner::ExampleLearner;

  const char* measure() const override {
    return task_.name == "g2p" ? "per" : of_words() ? "wer" : "exact_match";
  }
  BestSoFar::Better better() const override {
    return of_words() ? BestSoFar::Better::lower : BestSoFar::Better::higher;
  }

 private:
  /// Words and phonemes as targets: then nearness counts too.
  bool of_words() const { return task_.target.kind() == TokenKind::words; }
  std::vector<Seq2SeqBatch> batches_of(const Examples& examples) const override {
    return evaluation_batches(examples, probe_batch, task_.source, task_.target);
  }

  Record measured(const Questions& questions, const char* loss_name) override {
    const auto batches =
        evaluation_batches(first_answers(questions), evaluation_batch, task_.source, task_.target);
    Record record{{loss_name, mean_loss(model_, batches)}};
    const SequenceScore score = score_greedily(model_, questions, task_.source, task_.target);
    const bool is_g2p = task_.name == "g2p";
    record[is_g2p ? "per" : "exact_match"] =
        is_g2p ? score.token_error_rate() : score.exact_match();
    if (of_words()) record["wer"] = is_g2p ? score.word_error_rate() : score.token_error_rate();
    return record;
  }
};

class ClassifierLearner : public ExampleLearner<ClassificationTask, Classifier,
                                                ClassificationLoader, ClassificationBatch> {
 public:
  using ExampleLearner::ExampleLearner;

  const char* measure() const override { return "accuracy"; }
  BestSoFar::Better better() const override { return BestSoFar::Better::higher; }

 private:
  std::vector<ClassificationBatch> batches_of(const Examples& examples) const override {
    return evaluation_batches(examples, probe_batch, task_.tokens);
  }
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
        rng_(options.seed, "init", static_cast<std::uint64_t>(options.init)),
        model_(config, rng_),
        held_out_(split(windows_of(corpus_.validation))) {}

  Module& model() override { return model_; }
  Index next_batch() override {
    batch_ = random_windows(corpus_.train, options_.batch_size * options_.accumulate,
                            options_.length, options_.seed, position_.step++);
    return label_count(batch_);
  }
  Tensor loss(HeadProbe* probe) override {
    return training_loss(model_, batch_, options_.label_smoothing, probe);
  }
  Tensor part_of_loss(Index part, HeadProbe* probe) override {
    return part_loss(model_, batch_, part, options_, probe);
  }
  Record evaluate() override {
    return {{"validation_loss",
             mean_loss(model_, joined(some_of(held_out_.validation, options_.quick)))}};
  }
  Record test() override {
    const auto windows = evaluation_windows(corpus_.validation, probe_batch, options_.length);
    return {{"validation_loss", mean_loss(model_, windows)}};
  }
  const char* measure() const override { return "validation_loss"; }
  BestSoFar::Better better() const override { return BestSoFar::Better::lower; }
  Stateful& position() override { return position_; }
  Record about() const override { return task_record(corpus_); }
  void visit(ExampleSet set, Index most,
             const std::function<void(const ProbedBatch&)>& see) override {
    const std::vector<TextBatch> windows =
        some_of(set == ExampleSet::train  ? windows_of(corpus_.train)
                : set == ExampleSet::test ? windows_of(corpus_.validation)
                                          : held_out_.of(set),
                most);
    require_examples(!windows.empty(), set);
    for (const TextBatch& batch : joined(windows)) see(probed_batch(model_, batch));
  }

 private:
  /// Windows side by side, each as a batch of one.
  std::vector<TextBatch> windows_of(const Tokens& text) const {
    return evaluation_windows(text, 1, options_.length);
  }
  /// The windows in batches of at most probe_batch.
  static std::vector<TextBatch> joined(const std::vector<TextBatch>& windows) {
    std::vector<TextBatch> batches;
    const auto all = Index(windows.size());
    for (Index first = 0; first < all; first += probe_batch) {
      const Shape& window = windows[0].inputs.shape();
      const Shape shape = window.with(0, std::min(probe_batch, all - first));
      TextBatch batch{Ids(shape), Ids(shape)};
      for (Index row = 0; row < shape[0]; ++row) {
        const TextBatch& from = at(windows, first + row);
        std::copy_n(from.inputs.data(), window.size(), batch.inputs.data() + row * window.size());
        std::copy_n(from.labels.data(), window.size(), batch.labels.data() + row * window.size());
      }
      batches.push_back(std::move(batch));
    }
    return batches;
  }

  TextCorpus corpus_;
  LearnerOptions options_;
  Rng rng_;
  LanguageModel model_;
  HeldOut<TextBatch> held_out_;
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

std::vector<ExampleSet> held_out_sets(std::span<const std::uint64_t> hashes, double share) {
  const auto part = std::size_t(double(hashes.size()) * share);
  if (part == 0) return std::vector(hashes.size(), ExampleSet::validation);
  std::vector<std::uint64_t> sorted(hashes.begin(), hashes.end());
  sorted.push_back(~std::uint64_t{0});
  std::sort(sorted.begin(), sorted.end());
  std::vector<ExampleSet> sets;
  for (const std::uint64_t hash : hashes) {
    sets.push_back(hash < sorted[part]       ? ExampleSet::importance
                   : hash < sorted[2 * part] ? ExampleSet::selection
                                             : ExampleSet::validation);
  }
  return sets;
}

Tensor example_losses(const Tensor& logits, const Ids& labels) {
  const Tensor all = cross_entropy(logits, labels, {.reduction = Reduction::none});
  return labels.rank() == 1 ? all : sum(all, {1});
}

std::vector<double> example_losses(Learner& learner, ExampleSet set, Index most) {
  const Evaluating now(learner.model());
  std::vector<double> losses;
  learner.visit(set, most, [&](const ProbedBatch& batch) {
    HeadProbe probe;
    const Tensor of_batch = batch.losses(probe);
    for (const Real loss : of_batch.value().span()) losses.push_back(double(loss));
  });
  return losses;
}

ProbedBatch probed(const Ids& labels, std::function<Tensor(HeadProbe& probe)> logits) {
  const auto losses = [labels, logits](HeadProbe& probe) {
    return example_losses(logits(probe), labels);
  };
  return {labels.dim(0), losses, logits, labels};
}

void require_examples(const Task& task) {
  const auto require = [](const std::string& name, const char* set, bool empty) {
    if (!empty) return;
    throw DataError(
        fmt::format("task {}: its data have no examples for {}; a run needs more data", name, set));
  };
  std::visit(
      [&](const auto& t) {
        require(t.name, "training", t.train.empty());
        require(t.name, "validation", t.validation.empty());
        if constexpr (requires { t.test; }) require(t.name, "the test", t.test.empty());
      },
      task);
}

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
