// The values of a game do not depend on how its subsets were batched.
#include "headroom_measure/importance/head_game.hpp"

#include <cmath>
#include <numeric>

#include "headroom/base/at.hpp"
#include "headroom/base/parallel.hpp"
#include "headroom/base/rng.hpp"
#include "headroom/data/embedded_tasks.hpp"
#include "headroom/train/evaluation.hpp"
#include "support/catch.hpp"
#include "support/fixed_learner.hpp"

using namespace headroom;
using namespace headroom::test;

namespace {

struct Case {
  const char* name;
  Task task;
  ModelConfig config = {};
  Index examples = 64;
};

/// A learner of random weights, the same each time.
std::unique_ptr<Learner> learner_of(const Case& of) {
  const LearnerOptions options{.length = 9, .seed = 3};
  return make_learner(of.task, fitted_to(of.task, of.config, options), options);
}

ModelConfig config_of(Index layers, Index heads, Index width) {
  ModelConfig config;
  config.layers = layers;
  config.block.heads = heads;
  config.block.width = width;
  config.block.dropout = 0;
  return config;
}

TextCorpus text_of(Index tokens) {
  TextCorpus corpus{
      .name = "text",
      .vocabulary = Vocabulary::of_text(TokenKind::characters, Specials::none, "abcdefgh"),
      .train = {},
      .validation = {}};
  Rng rng(4, "text");
  for (Index i = 0; i < tokens; ++i) {
    (i < 100 ? corpus.train : corpus.validation).push_back(std::int32_t(rng.below(8)));
  }
  return corpus;
}

/// All kinds of models, with full batches of 64 examples and with a last batch of 1 and of 37. With
/// width 128 the output layer of a classifier is a product of few rows, if there are few examples.
std::vector<Case> cases() {
  const TaskOptions few{.train = 20, .validation = 300, .test = 4};
  return {{"encoder-decoder", make_dates_task(few), config_of(1, 3, 24)},
          {"encoder-decoder, 65 examples", make_dates_task(few), config_of(1, 3, 36), 65},
          {"classifier, 37 examples", make_brackets_task(few), config_of(2, 3, 24), 37},
          {"wide classifier, 65 examples", make_brackets_task(few), config_of(1, 4, 128), 65},
          {"language model, 65 examples", text_of(100 + 9 * 300), config_of(2, 3, 24), 65}};
}

/// Some subsets: all of them, or 60.
std::vector<HeadSet> some_subsets(const HeadGame& game) {
  std::vector<HeadSet> subsets{game.all(), HeadSet()};
  Rng rng(8, "subsets");
  for (Index i = 0; i < 58; ++i) {
    subsets.push_back(HeadSet::of_bits(std::uint64_t(rng.below(Index(game.all().bits() + 1)))));
  }
  return subsets;
}

/// The number of threads in a scope.
class Threads {
 public:
  explicit Threads(int count) : before_(num_threads()) { set_num_threads(count); }
  ~Threads() { set_num_threads(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_;
};

/// Counts what is asked of the batches of another learner.
class CountingLearner : public FixedLearner {
 public:
  CountingLearner(Learner& inner) : inner_(inner) {}  // NOLINT: a test's own
  Index encoded = 0, forward = 0;

  Seq2Seq& model() override { return dynamic_cast<Seq2Seq&>(inner_.model()); }
  void visit(ExampleSet set, Index most,
             const std::function<void(const ProbedBatch&)>& see) override {
    inner_.visit(set, most, [&](const ProbedBatch& batch) { see(counted(batch)); });
  }

 private:
  ProbedBatch counted(const ProbedBatch& batch) {
    ProbedBatch result = batch;
    result.picked = [this, batch](std::span<const Index> rows) {
      return counted(batch.picked(rows));
    };
    result.encoded = [this, batch](HeadProbe& probe) {
      ++encoded;
      return batch.encoded(probe);
    };
    result.losses_from = [this, batch](const Tensor& output, HeadProbe& probe) {
      ++forward;
      return batch.losses_from(output, probe);
    };
    return result;
  }

  Learner& inner_;
};

}  // namespace

TEST_CASE("the bits of a value depend neither on other subsets nor on the number of threads",
          "[slow]") {
  for (const Case& of : cases()) {
    INFO(of.name);
    const auto learner = learner_of(of);
    const auto game = [&] { return HeadGame(*learner, ExampleSet::importance, of.examples); };
    const std::vector<HeadSet> subsets = some_subsets(game());
    std::vector<double> alone;
    for (const HeadSet& subset : subsets) alone.push_back(game().value(subset));
    Rng rng(12, "groups");
    for (const int threads : {1, 2, 3}) {
      const Threads now(threads);
      CHECK(game().values(subsets) == alone);
      HeadGame parts = game();
      std::vector<double> in_parts;
      for (std::size_t first = 0; first < subsets.size();) {
        const auto count = std::min(std::size_t(1 + rng.below(9)), subsets.size() - first);
        for (const double value : parts.values(std::span(subsets).subspan(first, count))) {
          in_parts.push_back(value);
        }
        first += count;
      }
      CHECK(in_parts == alone);
      std::vector<HeadSet> reversed(subsets.rbegin(), subsets.rend());
      std::vector<double> backwards = game().values(reversed);
      std::reverse(backwards.begin(), backwards.end());
      CHECK(backwards == alone);
    }
  }
}

TEST_CASE("values of many subsets are the losses of plain forward passes") {
  for (const Case& of : cases()) {
    INFO(of.name);
    const auto learner = learner_of(of);
    HeadGame game(*learner, ExampleSet::importance, of.examples);
    const std::vector<HeadSet> subsets = some_subsets(game);
    const std::vector<double> values = game.values(subsets);
    std::vector<double> plain;
    for (const HeadSet& subset : subsets) {
      const Evaluating now(learner->model());
      double sum = 0;
      learner->visit(ExampleSet::importance, of.examples, [&](const ProbedBatch& batch) {
        HeadProbe probe;
        for (const NamedAttention& found : attentions(learner->model())) {
          Array gates = ones({found.attention->config().heads});
          for (Index i = 0; i < game.size(); ++i) {
            const HeadId& head = at(game.players(), i);
            if (found.id(head.head) == head && !subset.contains(i)) gates[head.head] = 0;
          }
          probe.gates[found.location()] = constant(gates);
        }
        const Tensor losses = batch.losses(probe);
        for (const Real loss : losses.value().span()) sum += double(loss);
      });
      plain.push_back(sum / double(of.examples));
    }
    CHECK(game.examples() == of.examples);
    for (std::size_t s = 0; s < values.size(); ++s) {
      CHECK(std::abs(values[s] - plain[s]) < (is_double ? 1e-12 : 1e-5));
    }
    if (of.examples % 32 == 0) CHECK(values == plain);  // to the bit: no batch was filled up
    CHECK(std::abs(values[0] - values[1]) > 1e-4);      // heads do matter
  }
}

TEST_CASE("the encoder runs once for each of its subsets, and subsets share forward passes",
          "[slow]") {
  const Case of = cases()[0];
  const auto inner = learner_of(of);
  CountingLearner learner(*inner);
  HeadGame game(learner, ExampleSet::importance, of.examples);
  REQUIRE(game.size() == 9);
  std::vector<HeadSet> all;
  for (std::uint64_t bits = 0; bits <= game.all().bits(); ++bits) {
    all.push_back(HeadSet::of_bits(bits));
  }
  CHECK(game.values(all) == HeadGame(*inner, ExampleSet::importance, of.examples).values(all));
  CHECK(learner.encoded == 8);
  CHECK(learner.forward <= 512 / 2);
  CHECK(game.passes() == 512);
  // Of the losses of examples, v is the mean.
  double share = 0;
  const auto losses = game.example_losses(all, [&](double done) {
    CHECK(done > share);
    share = done;
  });
  CHECK(share == 1);
  for (std::size_t s = 0; s < all.size(); ++s) {
    REQUIRE(losses[s].size() == 64);
    CHECK(std::accumulate(losses[s].begin(), losses[s].end(), 0.0) / 64 == game.value(all[s]));
  }
}
