// Checks greedy() on a writer with known scores, against a plain loop over sequences.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "common/checks.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/nn/decoding.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library
using Tokens = std::vector<std::int32_t>;

/// The scores after the tokens that sequence `sequence` was fed.
using Scores = std::function<std::vector<Real>(Index sequence, const Tokens& fed)>;

/// A writer with given scores. Its rows are sequences 0, 1, ... of a batch.
class KnownWriter : public Writer {
 public:
  KnownWriter(Index batch, Scores scores) : scores_(std::move(scores)) {
    for (Index b = 0; b < batch; ++b) rows_.push_back({b, {}});
  }
  Array next(const Ids& ids) override {
    chapter::require(
        ids.rank() == 2 && ids.dim(1) == 1,
        fmt::format("the writer was fed ids {}; it takes [rows, 1], the newest token of each row. "
                    "It keeps the earlier ones itself.",
                    ids.shape().text()));
    chapter::require(
        ids.dim(0) == batch(),
        fmt::format("the writer still has {} rows, and was fed tokens for {}: it must be told "
                    "which rows go on.",
                    batch(), ids.dim(0)));
    std::vector<Real> all;
    Index count = 0;
    for (Index b = 0; b < batch(); ++b) {
      Row& row = rows_[std::size_t(b)];
      row.fed.push_back(ids[b]);
      const std::vector<Real> scores = scores_(row.sequence, row.fed);
      all.insert(all.end(), scores.begin(), scores.end());
      count = std::ssize(scores);
      most_fed_ = std::max(most_fed_, std::ssize(row.fed));
    }
    rows_fed_ += batch();
    return Array({batch(), count}, std::span<const Real>(all));
  }
  void reorder(std::span<const Index> rows) override {
    std::vector<Row> moved;
    for (const Index row : rows) moved.push_back(rows_.at(std::size_t(row)));
    rows_ = std::move(moved);
  }
  Index batch() const override { return std::ssize(rows_); }
  Index room() const override { return 50 - most_fed_; }
  Index rows_fed() const { return rows_fed_; }

 private:
  struct Row {
    Index sequence;
    Tokens fed;
  };
  std::vector<Row> rows_;
  Scores scores_;
  Index rows_fed_ = 0, most_fed_ = 0;
};

/// Random scores for every prefix of every sequence. They do not sum to anything in particular.
Scores random_scores(Index tokens, std::uint64_t seed) {
  return [tokens, seed](Index sequence, const Tokens& fed) {
    std::uint64_t path = std::uint64_t(sequence) + 1;
    for (const std::int32_t id : fed) path = path * 31 + std::uint64_t(id) + 7;
    Rng rng(seed, "10/3", path);
    const Real shift = 3 * rng.normal();
    std::vector<Real> scores;
    for (Index i = 0; i < tokens; ++i) scores.push_back(shift + 2 * rng.normal());
    return scores;
  };
}

/// Sequence b ends after b + 2 tokens; until then its tokens depend on it.
Scores ends_one_by_one(std::int32_t end) {
  return [end](Index sequence, const Tokens& fed) {
    std::vector<Real> scores(6, 0);
    const bool done = std::ssize(fed) > sequence + 2;
    scores[std::size_t(done ? end : std::int32_t(sequence + std::ssize(fed)) % end)] = 2;
    return scores;
  };
}

double log_sum_exp(const std::vector<Real>& scores) {
  double sum = 0;
  for (const Real score : scores) sum += std::exp(double(score));
  return std::log(sum);
}

/// All sequences, in plain loops.
std::vector<Written> expected(Index batch, const Scores& scores, const DecodingLimits& limits) {
  std::vector<Written> results;
  for (Index b = 0; b < batch; ++b) {
    Written mine;
    Tokens fed{limits.begin};
    for (Index step = 0; step < limits.longest && !mine.finished; ++step) {
      const std::vector<Real> all = scores(b, fed);
      const auto best = std::max_element(all.begin(), all.end());  // the first of equal ones
      const auto id = std::int32_t(best - all.begin());
      mine.log_probability += double(*best) - log_sum_exp(all);
      mine.finished = id == limits.end;
      if (!mine.finished) mine.ids.push_back(id);
      fed.push_back(id);
    }
    results.push_back(mine);
  }
  return results;
}

bool same(const std::vector<Written>& a, const std::vector<Written>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Written& one, const Written& other) {
                      return one.ids == other.ids && one.finished == other.finished;
                    });
}

std::string text(const Written& w) {
  return fmt::format("[{}]{}", fmt::join(w.ids, " "), w.finished ? ", finished" : "");
}

/// A row for each sequence: whether it is finished, and its tokens.
Array as_numbers(const std::vector<Written>& list) {
  std::size_t longest = 0;
  for (const Written& w : list) longest = std::max(longest, w.ids.size());
  Array result({std::ssize(list), Index(longest) + 1}, -1);
  for (std::size_t b = 0; b < list.size(); ++b) {
    Real* row = result.data() + Index(b * (longest + 1));
    *row = list[b].finished ? 1 : 0;
    std::copy(list[b].ids.begin(), list[b].ids.end(), row + 1);
  }
  return result;
}

void check(Index batch, const Scores& scores, const DecodingLimits& limits) {
  KnownWriter writer(batch, scores);
  const std::vector<Written> yours = greedy(writer, limits),
                             right = expected(batch, scores, limits);
  chapter::require(yours.size() == right.size(),
                   fmt::format("{} results for {} sequences.", yours.size(), right.size()));
  if (same(yours, right)) {
    SUCCEED();
    return;
  }
  std::string message = "the sequences are wrong (end token " + std::to_string(limits.end) + "):";
  for (std::size_t b = 0; b < right.size(); ++b) {
    const bool differs = !same({yours[b]}, {right[b]});
    message += fmt::format("\n   {} {}: expected {}\n      yours {}", differs ? '*' : ' ', b,
                           text(right[b]), text(yours[b]));
  }
  FAIL(message << chapter::looks_as_if(as_numbers(yours)));
}

const DecodingLimits limits{.begin = 3, .end = 5, .longest = 8};

}  // namespace

TEST_CASE("one sequence: the likeliest token, again and again", "[10/3]") {
  for (const std::uint64_t seed : chapter::seeds) {
    check(1, random_scores(6, seed), {.begin = 3, .end = -1, .longest = 8});
  }
}

TEST_CASE("one sequence: the end token", "[10/3]") { check(1, ends_one_by_one(5), limits); }

TEST_CASE("several sequences, which end one by one", "[10/3]") {
  check(4, ends_one_by_one(5), limits);
  // The last one first.
  check(
      4, [](Index b, const Tokens& fed) { return ends_one_by_one(5)(3 - b, fed); }, limits);
  for (const std::uint64_t seed : chapter::seeds) check(6, random_scores(6, seed), limits);
}

TEST_CASE("equal scores: the lowest id", "[10/3]") {
  check(
      3, [](Index, const Tokens&) { return std::vector<Real>{0, 1, 1, 0, 1, 0}; }, limits);
}

TEST_CASE("log-probabilities", "[10/3]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Index batch = 6;
    const Scores scores = random_scores(6, seed);
    KnownWriter writer(batch, scores);
    const auto numbers = [&](const std::vector<Written>& list) {
      Array result({batch});
      for (Index b = 0; b < batch; ++b) result[b] = Real(list[std::size_t(b)].log_probability);
      return result;
    };
    chapter::require_equal("the log-probabilities", numbers(expected(batch, scores, limits)),
                           numbers(greedy(writer, limits)), {{"sequence"}, {}});
  }
}

TEST_CASE("a finished sequence leaves the writer", "[10/3]") {
  KnownWriter writer(4, ends_one_by_one(5));
  greedy(writer, limits);
  const Index needed = 3 + 4 + 5 + 6;
  chapter::require(writer.rows_fed() == needed,
                   fmt::format("the writer computed {} rows, and {} were needed: finished "
                               "sequences were not removed from the writer.",
                               writer.rows_fed(), needed));
}

TEST_CASE("the limits", "[10/3]") {
  const Scores endless = [](Index, const Tokens&) { return std::vector<Real>{0, 1}; };
  KnownWriter none(2, endless), some(2, endless), full(2, endless);
  chapter::require(greedy(none, {.longest = 0})[1].ids.empty() && none.rows_fed() == 0,
                   "with longest = 0, nothing is written.");
  chapter::require(greedy(some, {.longest = 7})[1].ids.size() == 7,
                   "with longest = 7, a sequence without an end has 7 tokens.");
  chapter::require(greedy(full, {.longest = 90})[1].ids.size() == 50,
                   "the writing stops when the writer has no room.");
}

TEST_CASE("a model writes a batch as it writes each sequence alone", "[10/3]") {
  for (const std::uint64_t seed : chapter::seeds) {
    Rng rng(seed, "10/3 model");
    ModelConfig config;
    config.block = {.width = 12, .heads = 3, .hidden = 16};
    config.layers = 1;
    config.source_vocabulary = config.target_vocabulary = 7;
    config.longest = 10;
    Seq2Seq model(config, rng);
    for (NamedParameter& p : parameters(model)) {
      p.tensor.set_value(chapter::random_array(p.tensor.shape(), rng));
    }
    model.eval();
    const Ids sources({3, 4}, {4, 5, 6, 0, 6, 4, 0, 0, 5, 5, 4, 6}), lengths({3}, {3, 2, 4});
    const auto together = greedy(*make_writer(model, sources, lengths), {.begin = 1, .end = 2});
    for (Index b = 0; b < 3; ++b) {
      Ids source({1, lengths[b]});
      for (Index t = 0; t < lengths[b]; ++t) source[t] = sources[4 * b + t];
      const auto alone =
          greedy(*make_writer(model, source, Ids({1}, lengths[b])), {.begin = 1, .end = 2});
      chapter::require(same(alone, {together[std::size_t(b)]}),
                       fmt::format("sequence {} of a batch is {}, and {} when it is alone.", b,
                                   text(together[std::size_t(b)]), text(alone[0])));
    }
  }
}
