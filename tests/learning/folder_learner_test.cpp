// Learners of models of folders: their losses by hand, parts of batches, heads without.
#include "headroom_foreign/learning/folder_learner.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "headroom/base/error.hpp"
#include "headroom/data/batches.hpp"
#include "headroom/ops/arithmetic.hpp"
#include "headroom/ops/losses.hpp"
#include "headroom/ops/reductions.hpp"
#include "headroom/train/evaluation.hpp"
#include "support/catch.hpp"
#include "support/close.hpp"
#include "support/small_folders.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;
using Catch::Contains;

namespace {

/// The architecture with which an objective is tested.
const std::map<FolderObjective, const char*> objectives{
    {FolderObjective::text, "GPT2LMHeadModel"},
    {FolderObjective::masked, "BertForMaskedLM"},
    {FolderObjective::classify, "BertForSequenceClassification"},
    {FolderObjective::pairs, "MarianMTModel"},
    {FolderObjective::keep, "BertModel"}};

constexpr double rounding = is_double ? 1e-12 : 2e-5;

FolderTask task_of(FolderObjective objective) {
  FolderTask task;
  task.objective = objective;
  task.ids = {.pad = 0, .unk = {}, .begin = 10, .end = 1, .mask = 9};
  task.before = task.after = 1;
  if (objective == FolderObjective::classify) task.classes = {"a", "b", "c"};
  Rng rng(3, "examples");
  const auto draw = [&](Index length) {
    Tokens tokens;
    for (Index i = 0; i < length; ++i) tokens.push_back(std::int32_t(2 + rng.below(7)));
    return tokens;
  };
  for (auto* set : {&task.train, &task.importance, &task.selection, &task.validation, &task.test}) {
    for (Index i = 0; i < 9; ++i) {
      set->push_back({draw(3 + i % 4), draw(1 + i % 3), std::int32_t(i % 3)});
    }
  }
  return task;
}

/// A learner of a small folder, which must outlive it.
struct Made {
  explicit Made(FolderObjective objective, LearnerOptions options = {.batch_size = 4})
      : Made(task_of(objective), options) {}
  explicit Made(FolderTask task, LearnerOptions options = {.batch_size = 4})
      : folder(open_model_folder(small_folder(objectives.at(task.objective)).write(place))),
        learner(make_folder_learner(std::move(task), folder.load(), options,
                                    [this] { return folder.load(); })) {}
  TemporaryFolder place;
  ModelFolder folder;
  std::unique_ptr<Learner> learner;
};

std::map<std::string, Array> gradients_of(Module& model) {
  std::map<std::string, Array> gradients;
  for (const auto& [name, tensor] : parameters(model)) {
    if (tensor.grad().defined()) gradients[name] = tensor.grad();
  }
  return gradients;
}

std::vector<Real> losses_of(const ProbedBatch& batch, HeadProbe& probe) {
  const Tensor losses = batch.losses(probe);
  return {losses.value().span().begin(), losses.value().span().end()};
}

double cosine_of(const Array& x, const Array& y) {
  double xy = 0, xx = 0, yy = 0;
  for (Index i = 0; i < x.size(); ++i) {
    xy += double(x[i]) * double(y[i]);
    xx += double(x[i]) * double(x[i]);
    yy += double(y[i]) * double(y[i]);
  }
  return xy / std::sqrt(xx * yy);
}

/// The mean hidden state of a text, without padding and without a batch.
Array mean_state(const Module& model, const Tokens& tokens, HeadProbe* probe = nullptr) {
  const NoGrad quiet;
  const Index length = std::ssize(tokens);
  Ids ids({1, length}), lengths({1}, std::int32_t(length));
  std::copy(tokens.begin(), tokens.end(), ids.data());
  const auto& encoder = dynamic_cast<const TextEncoder&>(model);
  return mean(encoder(ids, lengths, probe), {1}).value();
}

}  // namespace

TEST_CASE("the parts of a batch add up to the whole, for each objective") {
  for (const auto& [objective, architecture] : objectives) {
    INFO(architecture);
    Made whole(objective, {.batch_size = 6}), parts(objective, {.batch_size = 2, .accumulate = 3});
    CHECK(whole.learner->next_batch() == parts.learner->next_batch());
    const Tensor loss = whole.learner->loss();
    loss.backward();
    double sum_of_parts = 0;
    for (Index part = 0; part < 3; ++part) {
      const Tensor one = parts.learner->part_of_loss(part, nullptr);
      sum_of_parts += double(one.item());
      one.backward();
    }
    CHECK(std::abs(double(loss.item()) - sum_of_parts) < rounding);
    const auto expected = gradients_of(whole.learner->model());
    const auto found = gradients_of(parts.learner->model());
    REQUIRE(expected.size() == found.size());
    REQUIRE(expected.size() > 10);
    for (const auto& [name, gradient] : expected) {
      INFO(name);
      CHECK_THAT(found.at(name), test::close_at_scale(gradient, Real(rounding), Real(0.1)));
    }
  }
}

TEST_CASE("the loss of a text is that of its next tokens, that of a pair ends with its end") {
  Made text(FolderObjective::text), pairs(FolderObjective::pairs);
  const FolderTask task = task_of(FolderObjective::text);
  std::vector<double> expected;
  for (const FolderExample& example : task.test) {
    const NoGrad quiet;
    const auto& model = dynamic_cast<const LanguageModel&>(text.learner->model());
    const Index length = std::ssize(example.tokens) - 1;
    Ids ids({1, length}), next({1, length});
    std::copy_n(example.tokens.begin(), length, ids.data());
    std::copy_n(example.tokens.begin() + 1, length, next.data());
    expected.push_back(
        double(cross_entropy(model(ids), next, {.reduction = Reduction::sum}).item()));
  }
  std::sort(expected.begin(), expected.end());
  std::vector<double> found = example_losses(*text.learner, ExampleSet::test, 100);
  std::sort(found.begin(), found.end());
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    CHECK(std::abs(found[i] - expected[i]) < rounding * 10);

  pairs.learner->visit(ExampleSet::test, 1, [&](const ProbedBatch& batch) {
    const Tokens target = task_of(FolderObjective::pairs).test[0].target;
    REQUIRE(batch.labels.size() == std::ssize(target) + 1);
    CHECK(std::equal(target.begin(), target.end(), batch.labels.data()));
    CHECK(batch.labels[std::ssize(target)] == 1);
  });
}

TEST_CASE("masks hide a token of every text, the same ones in every evaluation") {
  Made made(FolderObjective::masked);
  const auto labels_of = [&] {
    std::vector<std::int32_t> labels;
    made.learner->visit(ExampleSet::validation, 100, [&](const ProbedBatch& batch) {
      const Index time = batch.labels.dim(1);
      for (Index b = 0; b < batch.examples; ++b) {
        const auto row = batch.labels.span().subspan(std::size_t(b * time), std::size_t(time));
        CHECK(std::ranges::count_if(row, [](auto label) { return label != ignored_label; }) == 1);
        CHECK(row[0] == ignored_label);  // the token before the text
      }
      labels.insert(labels.end(), batch.labels.span().begin(), batch.labels.span().end());
    });
    return labels;
  };
  const auto first = labels_of();
  CHECK(first == labels_of());
  // In training the same texts are masked anew in each epoch.
  std::set<double> losses;
  Made one(FolderObjective::masked, {.batch_size = 9});
  one.learner->model().eval();
  for (Index epoch = 0; epoch < 6; ++epoch) {
    CHECK(one.learner->next_batch() == 9);
    losses.insert(double(one.learner->loss().item()));
  }
  CHECK(losses.size() == 6);
}

TEST_CASE("keeping the embedding costs nothing at first, and its gradients vanish there") {
  Made made(FolderObjective::keep);
  Module& model = made.learner->model();
  const HeadId gone{AttentionKind::encoder_self, 1, 2};
  made.learner->visit(ExampleSet::test, 100, [&](const ProbedBatch& batch) {
    const auto gradient_of = [&](const auto& loss_of) {
      HeadProbe probe;
      const AttentionLocation place{AttentionKind::encoder_self, 1};
      probe.gates[place] = Tensor(ones({4}), true);
      sum(loss_of(probe)).backward();
      double most = 0;
      for (const Real g : probe.gates[place].grad().span()) {
        most = std::max(most, std::abs(double(g)));
      }
      zero_grad(model);
      return most;
    };
    CHECK(gradient_of([&](HeadProbe& probe) { return batch.losses(probe); }) < rounding * 10);
    CHECK(gradient_of([&](HeadProbe& probe) {
            return example_losses(batch.logits(probe), batch.labels);
          }) > 1e-4);
    HeadProbe whole, without;
    whole.gates.clear();
    without.gates[{gone.kind, gone.layer}] = constant(Array({4}, {1, 1, 0, 1}));
    const NoGrad quiet;
    for (const Real loss : losses_of(batch, whole)) {
      CHECK(std::abs(double(loss)) < rounding * 10);
    }
    const FolderTask task = task_of(FolderObjective::keep);
    double expected = 0, found = 0;
    for (const FolderExample& example : task.test) {
      HeadProbe probe;
      probe.gates = without.gates;
      expected += 1 - cosine_of(mean_state(model, example.tokens),
                                mean_state(model, example.tokens, &probe));
    }
    for (const Real loss : losses_of(batch, without)) found += double(loss);
    CHECK(found > 1e-4);
    CHECK(std::abs(found - expected) < rounding * 100);
  });
  CHECK(made.learner->test()["neighbours"] == 1.0);
  CHECK(std::abs(made.learner->test()["test_loss"].get<double>()) < rounding * 10);
}

TEST_CASE("neighbours are reported only if a text has more other texts than neighbours") {
  for (const std::size_t texts : {6UL, 7UL}) {
    FolderTask task = task_of(FolderObjective::keep);
    task.test.resize(texts);
    CHECK(Made(task).learner->test().contains("neighbours") == (texts == 7));
  }
}

TEST_CASE("a set that is empty or has nothing to predict is refused, not measured as perfect") {
  for (const auto& [objective, architecture] : objectives) {
    INFO(architecture);
    FolderTask task = task_of(objective);
    task.test.clear();
    Made made(task);
    CHECK_THROWS_WITH(made.learner->test(), Contains("the test set is empty"));
    CHECK_NOTHROW(made.learner->evaluate());
  }
  FolderTask task = task_of(FolderObjective::masked);
  for (FolderExample& example : task.test) example.tokens = {10, 1};  // no text between its ends
  CHECK_THROWS_WITH(Made(task).learner->test(),
                    Contains("nothing can be measured on the test set"));
}

TEST_CASE("a gate of 0 and a removed head give the same losses, for each objective") {
  for (const auto& [objective, architecture] : objectives) {
    INFO(architecture);
    Made made(objective);
    Module& model = made.learner->model();
    const HeadId gone = live_heads(model)[1];
    std::vector<double> masked;
    made.learner->visit(ExampleSet::selection, 100, [&](const ProbedBatch& batch) {
      HeadProbe probe;
      Array gates = ones({4});
      gates[gone.head] = 0;
      probe.gates[{gone.kind, gone.layer}] = constant(gates);
      const NoGrad quiet;
      for (const Real loss : losses_of(batch, probe)) masked.push_back(double(loss));
    });
    const std::vector<double> whole = example_losses(*made.learner, ExampleSet::selection, 100);
    prune(model, std::vector{gone});
    const std::vector<double> compact = example_losses(*made.learner, ExampleSet::selection, 100);
    REQUIRE(masked.size() == 9);
    for (std::size_t i = 0; i < masked.size(); ++i) {
      CHECK(std::abs(masked[i] - compact[i]) < rounding * 10);
    }
    CHECK(whole != compact);
  }
}

TEST_CASE("a learner continues with the batch after the saved one") {
  for (const auto& [objective, architecture] : objectives) {
    INFO(architecture);
    Made first(objective), second(objective);
    for (Index i = 0; i < 4; ++i) first.learner->next_batch();
    TensorFile file;
    first.learner->position().save_state(StateWriter(file, "data."));
    second.learner->position().load_state(StateReader(file, "data."));
    first.learner->next_batch();
    second.learner->next_batch();
    first.learner->model().eval();
    second.learner->model().eval();
    CHECK(first.learner->loss().item() == second.learner->loss().item());
  }
}

TEST_CASE("an objective that a model cannot have is refused") {
  const TemporaryFolder place;
  const ModelFolder folder = open_model_folder(small_folder("GPT2LMHeadModel").write(place));
  CHECK_THROWS_WITH(make_folder_learner(task_of(FolderObjective::masked), folder.load(), {}),
                    Contains("masked does not fit a language_model"));
  Made made(FolderObjective::keep);
  FolderTask empty = task_of(FolderObjective::text);
  empty.train.clear();
  const auto learner = make_folder_learner(empty, folder.load(), {});
  CHECK_THROWS_WITH(learner->next_batch(), Contains("no examples for training"));
  CHECK(learner->test().contains("test_loss"));
}

TEST_CASE("examples that are picked from a batch have the losses and logits of the batch") {
  for (const FolderObjective objective : {FolderObjective::classify, FolderObjective::keep}) {
    Made made(objective);
    // A model without a head, so that the losses of keep differ from 0.
    prune(made.learner->model(), std::vector<HeadId>{{AttentionKind::encoder_self, 0, 1}});
    const NoGrad quiet;
    made.learner->visit(ExampleSet::test, 9, [&](const ProbedBatch& batch) {
      HeadProbe probe, picked_probe, logits_probe, picked_logits_probe;
      const std::vector<Real> all = losses_of(batch, probe);
      const std::vector<Index> rows{4, 0, 4, 7};
      const ProbedBatch picked = batch.picked(rows);
      const std::vector<Real> some = losses_of(picked, picked_probe);
      const Array logits = batch.logits(logits_probe).value(),
                  picked_logits = picked.logits(picked_logits_probe).value();
      REQUIRE(some.size() == rows.size());
      for (std::size_t i = 0; i < rows.size(); ++i) {
        CHECK(std::abs(double(some[i]) - double(all[std::size_t(rows[i])])) < rounding);
        CHECK(picked.labels[Index(i)] == batch.labels[rows[i]]);
        const Real* const theirs = logits.data() + rows[i] * logits.dim(1);
        for (Index j = 0; j < logits.dim(1); ++j) {
          const double here = double(picked_logits[Index(i) * logits.dim(1) + j]);
          CHECK(std::abs(here - double(theirs[j])) < 20 * rounding);
        }
      }
      CHECK(std::abs(double(all[0]) - double(all[4])) > 1e-7);
    });
  }
}
