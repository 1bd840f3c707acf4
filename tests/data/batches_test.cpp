// Batches: padding, teacher forcing, every example once per epoch, resuming at any step.
#include "headroom/data/batches.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>
#include <set>

#include "headroom/base/error.hpp"
#include "headroom/base/rng.hpp"
#include "headroom/data/embedded_tasks.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;
using Catch::Contains;

namespace {

std::vector<Index> random_lengths(Index count) {
  Rng rng(3);
  std::vector<Index> lengths;
  for (Index i = 0; i < count; ++i) lengths.push_back(rng.below(40));
  return lengths;
}

std::vector<std::int32_t> numbers(const Ids& ids) { return {ids.span().begin(), ids.span().end()}; }

}  // namespace

TEST_CASE("a batch teaches with the target shifted by one, padded and ignored beyond its end") {
  const Vocabulary letters = Vocabulary::of_text(TokenKind::characters, Specials::all, "abc");
  const std::vector<Seq2SeqExample> set{{letters.encode("abc"), letters.encode("c")},
                                        {{}, {}},
                                        {letters.encode("b"), letters.encode("ba")}};
  const Seq2SeqBatch batch = make_batch(set, {2, 0}, letters, letters);
  CHECK(batch.source.shape() == Shape{2, 3});
  CHECK(numbers(batch.source) == Tokens{5, 0, 0, 4, 5, 6});
  CHECK(numbers(batch.source_lengths) == Tokens{1, 3});
  CHECK(batch.target_in.shape() == Shape{2, 3});
  CHECK(numbers(batch.target_in) == Tokens{1, 5, 4, 1, 6, 0});
  CHECK(numbers(batch.labels) == Tokens{5, 4, 2, 6, 2, -100});
  CHECK(numbers(batch.target_lengths) == Tokens{3, 2});
  CHECK(batch.examples == std::vector<Index>{2, 0});
  CHECK(batch.source_tokens == 4);
  CHECK(batch.target_tokens == 5);

  const Seq2SeqBatch empty = make_batch(set, {1}, letters, letters);
  CHECK(numbers(empty.source) == Tokens{0});
  CHECK(numbers(empty.source_lengths) == Tokens{0});
  CHECK(numbers(empty.labels) == Tokens{2});
}

TEST_CASE("a classification batch is padded and labelled") {
  const Vocabulary brackets = Vocabulary::of_text(TokenKind::characters, Specials::all, "()");
  const std::vector<LabelledExample> set{{brackets.encode("(())"), 1}, {brackets.encode(")("), 0}};
  const ClassificationBatch batch = make_batch(set, {1, 0}, brackets);
  CHECK(numbers(batch.tokens) == Tokens{5, 4, 0, 0, 4, 4, 5, 5});
  CHECK(numbers(batch.lengths) == Tokens{2, 4});
  CHECK(numbers(batch.labels) == Tokens{0, 1});
}

TEST_CASE("an epoch holds every example once, in another order each time, the same by seed") {
  const Index count = GENERATE(1, 7, 64, 1'000, 4'097);
  const Index batch_size = GENERATE(1, 8, 64);
  BatchPlan plan(random_lengths(count), batch_size, 5), twin(random_lengths(count), batch_size, 5);
  std::vector<std::vector<Index>> epochs;
  for (Index epoch = 0; epoch < 3; ++epoch) {
    std::vector<Index> order;
    const Index batches = plan.batches_per_epoch();
    CHECK(batches == (count + batch_size - 1) / batch_size);
    for (Index i = 0; i < batches; ++i) {
      REQUIRE(plan.epoch() == epoch);
      REQUIRE(plan.position() == i);
      REQUIRE(plan.progress() == double(epoch) + double(i) / double(batches));
      const std::vector<Index> batch = plan.next();
      REQUIRE(batch == twin.next());
      REQUIRE(Index(batch.size()) <= batch_size);
      order.insert(order.end(), batch.begin(), batch.end());
    }
    epochs.push_back(order);
    std::sort(order.begin(), order.end());
    std::vector<Index> all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), Index{0});
    REQUIRE(order == all);
  }
  if (count >= 64) CHECK(epochs[0] != epochs[1]);
  if (count >= 64) CHECK(BatchPlan(random_lengths(count), batch_size, 6).next() != epochs[0]);
}

TEST_CASE("every order of a few examples is as likely as any other") {
  BatchPlan plan({5, 5, 5}, 1, 1);
  std::map<std::vector<Index>, int> counts;
  for (int epoch = 0; epoch < 600; ++epoch) {
    std::vector<Index> order;
    for (int i = 0; i < 3; ++i) order.push_back(plan.next().at(0));
    ++counts[order];
  }
  CHECK(counts.size() == 6);
  for (const auto& [order, count] : counts) CHECK(std::abs(count - 100) < 35);
}

TEST_CASE("similar lengths come together, and short batches do not come first") {
  const std::vector<Index> lengths = random_lengths(20'000);
  BatchPlan plan(lengths, 64, 1);
  Index spread = 0, rising = 0, last = -1;
  const Index batches = plan.batches_per_epoch();
  for (Index i = 0; i < batches; ++i) {
    const std::vector<Index> batch = plan.next();
    const auto length = [&](Index e) { return lengths[static_cast<std::size_t>(e)]; };
    spread += length(batch.back()) - length(batch.front());
    rising += length(batch.front()) >= last;
    last = length(batch.front());
  }
  CHECK(double(spread) / double(batches) < 4);  // unsorted: near 40
  CHECK(double(rising) / double(batches) < 0.65);
}

TEST_CASE("a plan resumed at any step deals the same batches") {
  const TemporaryFolder folder;
  const std::vector<Index> lengths = random_lengths(50);
  const std::uint64_t seed = ~std::uint64_t{0};
  BatchPlan whole(lengths, 8, seed);
  for (int step = 0; step < 25; ++step) {
    TensorFile file;
    whole.save_state(StateWriter(file, "data."));
    file.write(folder / "state");
    BatchPlan resumed(lengths, 8, seed);
    resumed.load_state(StateReader(TensorFile::read(folder / "state"), "data."));
    CHECK(resumed.progress() == whole.progress());
    BatchPlan copy = whole;
    for (int i = 0; i < 10; ++i) REQUIRE(resumed.next() == copy.next());
    whole.next();
  }
}

TEST_CASE("a plan refuses the state of another one") {
  const std::vector<Index> lengths = random_lengths(50);
  TensorFile file;
  BatchPlan(lengths, 8, 1).save_state(StateWriter(file));
  const StateReader reader(file);
  std::vector<Index> other = lengths;
  ++other[7];
  CHECK_THROWS_WITH(BatchPlan(lengths, 4, 1).load_state(reader),
                    Contains("\"batch_size\" is 8 there but 4 in this run"));
  CHECK_THROWS_WITH(BatchPlan(lengths, 8, 2).load_state(reader), Contains("\"seed\" is 1"));
  CHECK_THROWS_WITH(BatchPlan(random_lengths(49), 8, 1).load_state(reader),
                    Contains("\"examples\""));
  CHECK_THROWS_WITH(BatchPlan(other, 8, 1).load_state(reader), Contains("\"fingerprint\""));
  file.metadata["position"] = std::string("7");
  CHECK_THROWS_WITH(BatchPlan(lengths, 8, 1).load_state(reader),
                    Contains("batch 7 does not exist"));
  file.metadata["position"] = std::string("-1");
  CHECK_THROWS_AS(BatchPlan(lengths, 8, 1).load_state(reader), FileError);
  CHECK_THROWS_WITH(BatchPlan({}, 8, 1),
                    "batches: 0 examples in batches of 8; both must be at least 1");
  CHECK_THROWS_AS(BatchPlan(lengths, 0, 1), UsageError);
}

TEST_CASE("the loader walks the plan, and evaluation sees every example once, by length") {
  const Seq2SeqTask task = make_reverse_task({.train = 100, .validation = 37, .test = 5});
  Seq2SeqLoader loader(task, 16, 1);
  BatchPlan plan = loader.plan;
  for (int i = 0; i < 10; ++i) {
    const Seq2SeqBatch batch = loader.next();
    CHECK(batch.examples == plan.next());
    const auto& first = task.train[static_cast<std::size_t>(batch.examples[0])];
    CHECK(std::equal(first.source.begin(), first.source.end(), batch.source.data()));
  }
  const auto pairs = first_answers(task.validation);
  std::set<Index> seen;
  Index last = 0;
  for (const Seq2SeqBatch& batch : evaluation_batches(pairs, 8, task.source, task.target)) {
    seen.insert(batch.examples.begin(), batch.examples.end());
    CHECK(batch.source.dim(1) >= last);
    last = batch.source.dim(1);
  }
  CHECK(seen.size() == 37);

  const ClassificationTask brackets = make_brackets_task({.train = 20, .validation = 9, .test = 2});
  CHECK(ClassificationLoader(brackets, 8, 1).next().labels.size() == 8);
  CHECK(evaluation_batches(brackets.validation, 4, brackets.tokens).size() == 3);
}

TEST_CASE("random windows are pieces of the text, by seed and step, from everywhere in it") {
  std::vector<std::int32_t> text(100);
  std::iota(text.begin(), text.end(), 0);
  std::set<std::int32_t> starts;
  for (Index step = 0; step < 100; ++step) {
    const TextBatch batch = random_windows(text, 4, 8, 9, step);
    CHECK(batch.inputs.shape() == Shape{4, 8});
    for (Index b = 0; b < 4; ++b) {
      starts.insert(batch.inputs[b * 8]);
      for (Index t = 0; t < 8; ++t) {
        REQUIRE(batch.inputs[b * 8 + t] == batch.inputs[b * 8] + t);
        REQUIRE(batch.labels[b * 8 + t] == batch.inputs[b * 8 + t] + 1);
      }
    }
  }
  CHECK(*starts.begin() == 0);
  CHECK(*starts.rbegin() == 91);  // its last label is the text's last token
  CHECK(starts.size() > 80);
  CHECK(numbers(random_windows(text, 4, 8, 9, 5).inputs) ==
        numbers(random_windows(text, 4, 8, 9, 5).inputs));
  CHECK(numbers(random_windows(text, 4, 8, 9, 5).inputs) !=
        numbers(random_windows(text, 4, 8, 9, 6).inputs));
  CHECK(numbers(random_windows(text, 4, 8, 9, 5).inputs) !=
        numbers(random_windows(text, 4, 8, 8, 5).inputs));
  CHECK_NOTHROW(random_windows(text, 1, 99, 1, 0));
  CHECK_THROWS_WITH(random_windows(text, 1, 100, 1, 0),
                    Contains("need a text longer than one window"));
}

TEST_CASE("evaluation windows make every token but the first a label exactly once") {
  const Index size = GENERATE(2, 8, 9, 10, 64, 65, 66, 100);
  std::vector<std::int32_t> text(static_cast<std::size_t>(size));
  std::iota(text.begin(), text.end(), 1);
  std::vector<std::int32_t> labels;
  for (const TextBatch& batch : evaluation_windows(text, 3, 8)) {
    CHECK(batch.inputs.dim(0) <= 3);
    CHECK(batch.inputs.dim(1) == 8);
    for (Index i = 0; i < batch.labels.size(); ++i) {
      if (batch.labels[i] == ignored_label) continue;
      REQUIRE(batch.labels[i] == batch.inputs[i] + 1);
      labels.push_back(batch.labels[i]);
    }
  }
  CHECK(labels == std::vector<std::int32_t>(text.begin() + 1, text.end()));
  CHECK_THROWS_AS(evaluation_windows(std::vector<std::int32_t>{1}, 3, 8), UsageError);
}
