// Greedy decoding, beam search and sampling on handmade writers whose correct result is known.
#include "headroom/nn/decoding.hpp"

#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "headroom/base/error.hpp"
#include "support/catch.hpp"
#include "support/close.hpp"

using namespace headroom;

namespace {

using Tokens = std::vector<std::int32_t>;

/// A writer whose next probabilities are a given function of the tokens that a row was fed.
class TableWriter : public Writer {
 public:
  using Table = std::function<std::vector<double>(const Tokens& fed)>;
  TableWriter(Index batch, Index room, Table table)
      : fed_(static_cast<std::size_t>(batch)), room_(room), table_(std::move(table)) {}

  Array next(const Ids& ids) override {
    REQUIRE(ids.dim(0) == batch());
    REQUIRE(ids.dim(1) <= room());
    std::vector<Real> logits;
    Index tokens = 0;
    for (Index b = 0; b < batch(); ++b) {
      Tokens& fed = fed_[static_cast<std::size_t>(b)];
      for (Index i = 0; i < ids.dim(1); ++i) fed.push_back(ids[b * ids.dim(1) + i]);
      const std::vector<double> probabilities = table_(fed);
      tokens = Index(probabilities.size());
      for (const double p : probabilities) logits.push_back(Real(std::log(p)));
    }
    rows_fed_ += batch();
    room_ -= ids.dim(1);
    return Array({batch(), tokens}, std::span<const Real>(logits));
  }
  void reorder(std::span<const Index> rows) override {
    std::vector<Tokens> moved;
    for (const Index row : rows) moved.push_back(fed_.at(static_cast<std::size_t>(row)));
    fed_ = std::move(moved);
  }
  Index batch() const override { return Index(fed_.size()); }
  Index room() const override { return room_; }

  Index rows_fed() const { return rows_fed_; }

 private:
  std::vector<Tokens> fed_;
  Index room_, rows_fed_ = 0;
  Table table_;
};

/// Random but fixed probabilities for every prefix.
TableWriter::Table random_table(Index tokens, std::uint64_t seed) {
  return [tokens, seed](const Tokens& fed) {
    std::uint64_t path = 1;
    for (const std::int32_t id : fed) path = path * 31 + static_cast<std::uint64_t>(id) + 7;
    Rng rng(seed, "table", path);
    std::vector<double> p;
    double total = 0;
    for (Index i = 0; i < tokens; ++i) {
      p.push_back(std::exp(double(rng.normal())));
      total += p.back();
    }
    for (double& x : p) x /= total;
    return p;
  };
}

double score(const Written& w, double penalty) {
  const double length = double(w.ids.size()) + (w.finished ? 1 : 0);
  return w.log_probability / std::pow(std::max(length, 1.0), penalty);
}

/// Every sequence of at most `longest` tokens: finished ones first, best first.
std::vector<Written> brute_force(const TableWriter::Table& table, const DecodingLimits& limits,
                                 double penalty) {
  std::vector<Written> finished, unfinished, open{Written{}};
  for (Index length = 0; length < limits.longest; ++length) {
    std::vector<Written> longer;
    for (const Written& prefix : open) {
      Tokens fed{limits.begin};
      fed.insert(fed.end(), prefix.ids.begin(), prefix.ids.end());
      const std::vector<double> p = table(fed);
      for (std::size_t id = 0; id < p.size(); ++id) {
        Written next = prefix;
        next.log_probability += std::log(p[id]);
        next.finished = static_cast<std::int32_t>(id) == limits.end;
        if (next.finished) {
          finished.push_back(next);
        } else {
          next.ids.push_back(static_cast<std::int32_t>(id));
          longer.push_back(next);
        }
      }
    }
    open = std::move(longer);
  }
  unfinished = std::move(open);
  for (auto* list : {&finished, &unfinished}) {
    std::sort(list->begin(), list->end(),
              [&](const auto& a, const auto& b) { return score(a, penalty) > score(b, penalty); });
  }
  finished.insert(finished.end(), unfinished.begin(), unfinished.end());
  return finished;
}

const double probability_tolerance = is_double ? 1e-12 : 2e-6;

/// Tokens 0 to 3; 3 ends. The most probable first token does not begin the most probable sequence.
std::vector<double> trap(const Tokens& fed) {
  if (fed.size() == 1) return {0.5, 0.4, 0.05, 0.05};
  if (fed[1] == 0) return {0.25, 0.25, 0.25, 0.25};
  if (fed[1] == 1) return {0.02, 0.02, 0.01, 0.95};
  return {0.1, 0.2, 0.3, 0.4};
}

}  // namespace

TEST_CASE("greedy takes the likeliest token, the lowest id of equals, and stops at the end token") {
  TableWriter writer(1, 10, trap);
  const std::vector<Written> written = greedy(writer, {.begin = 0, .end = 3, .longest = 3});
  REQUIRE(written.size() == 1);
  CHECK(written[0].ids == Tokens{0, 0, 0});
  CHECK_FALSE(written[0].finished);
  CHECK(std::abs(written[0].log_probability - std::log(0.5 * 0.25 * 0.25)) < probability_tolerance);
}

TEST_CASE("greedy feeds the begin token first") {
  TableWriter writer(1, 10, [](const Tokens& fed) {
    CHECK(fed[0] == 7);
    return std::vector<double>{0.1, 0.9};
  });
  const Written written = greedy(writer, {.begin = 7, .end = 1, .longest = 3})[0];
  CHECK(written.ids.empty());
  CHECK(written.finished);
}

TEST_CASE("a token that is never an output is not generated, and others keep their probabilities") {
  const auto model = [](const Tokens&) { return std::vector<double>{0.1, 0.6, 0.2, 0.1}; };
  const DecodingLimits limits{.begin = 0, .end = 3, .never = 1, .longest = 2};
  TableWriter one(1, 10, model), two(2, 10, model);
  const Written greedily = greedy(one, limits)[0];
  CHECK(greedily.ids == Tokens{2, 2});
  CHECK(std::abs(greedily.log_probability - std::log(0.2 * 0.2)) < probability_tolerance);
  const auto beams = beam_search(two, 2, limits);
  for (const Written& written : beams[0]) {
    CHECK(std::count(written.ids.begin(), written.ids.end(), 1) == 0);
  }
}

TEST_CASE("sequences that are done leave the writer and the others go on undisturbed") {
  // The prompt of a row is a number; the row ends when it has been fed that many tokens.
  TableWriter writer(4, 20, [](const Tokens& fed) {
    const bool done = static_cast<std::int32_t>(fed.size()) >= fed[0];
    return done ? std::vector<double>{0.05, 0.05, 0.9} : std::vector<double>{0.1, 0.8, 0.1};
  });
  Rng rng(1);
  std::vector<Tokens> steps;
  const auto written =
      sample(writer, {.end = 2, .longest = 9}, {.temperature = 0}, rng, Ids({4, 1}, {3, 1, 9, 2}),
             [&](const Tokens& step) { steps.push_back(step); });
  CHECK(written[0].ids.size() == 2);
  CHECK(written[1].ids.empty());
  CHECK(written[2].ids.size() == 8);
  CHECK(written[3].ids.size() == 1);
  for (const Written& w : written) CHECK(w.finished);
  CHECK(writer.rows_fed() == 3 + 1 + 9 + 2);
  REQUIRE(steps.size() == 9);
  CHECK(steps[0] == Tokens{1, 2, 1, 1});
  CHECK(steps[1] == Tokens{1, -1, 1, 2});
  CHECK(steps[8] == Tokens{-1, -1, 2, -1});
}

TEST_CASE("writing stops when the writer has no room left") {
  TableWriter writer(1, 4, [](const Tokens&) { return std::vector<double>{0.9, 0.1}; });
  CHECK(greedy(writer, {.end = 1, .longest = 100})[0].ids.size() == 4);
  TableWriter beams(2, 4, [](const Tokens&) { return std::vector<double>{0.9, 0.1}; });
  CHECK(beam_search(beams, 2, {.begin = 0, .end = -1, .longest = 100})[0][0].ids.size() == 4);
}

TEST_CASE("beam search finds the better sequence where greedy is trapped") {
  const DecodingLimits limits{.begin = 0, .end = 3, .longest = 4};
  TableWriter one(1, 10, trap), two(2, 10, trap);
  const Written lured = greedy(one, limits)[0];
  const Written found = beam_search(two, 2, limits)[0][0];
  CHECK(found.ids == Tokens{1});
  CHECK(found.finished);
  CHECK(found.log_probability > lured.log_probability);
  CHECK(std::abs(found.log_probability - std::log(0.4 * 0.95)) < probability_tolerance);
}

TEST_CASE("a sequence that ends leaves its place to the next likeliest prefix") {
  // Tokens 0, 1, 2; 2 ends. The end is the most probable first token; the better of the other two
  // ranks third.
  TableWriter writer(2, 10, [](const Tokens& fed) -> std::vector<double> {
    if (fed.size() == 1) return {0.3, 0.2, 0.5};
    if (fed[1] == 0) return {0.4, 0.3, 0.3};
    return {0.005, 0.005, 0.99};
  });
  const std::vector<Written> found =
      beam_search(writer, 2, {.begin = 0, .end = 2, .longest = 5}, 0)[0];
  REQUIRE(found.size() == 2);
  CHECK(found[0].ids.empty());
  CHECK(found[1].ids == Tokens{1});
  CHECK(found[1].finished);
}

TEST_CASE("a beam of width 1 is greedy") {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto table = random_table(4, seed);
    const DecodingLimits limits{.begin = 0, .end = 2, .longest = 6};
    TableWriter a(1, 10, table), b(1, 10, table);
    const Written plain = greedy(a, limits)[0];
    const std::vector<Written> beam = beam_search(b, 1, limits)[0];
    REQUIRE(beam.size() == 1);
    CHECK(beam[0].ids == plain.ids);
    CHECK(beam[0].finished == plain.finished);
    CHECK(std::abs(beam[0].log_probability - plain.log_probability) < 1e-12);
  }
}

TEST_CASE("a beam that is wide enough finds what brute force finds, in the same order") {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    for (const double penalty : {0.0, 0.6, 1.0}) {
      const auto table = random_table(3, seed);
      const DecodingLimits limits{.begin = 1, .end = 0, .longest = 4};
      const Index width = 40;  // more than the 15 + 16 sequences there are
      TableWriter writer(width, 10, table);
      const std::vector<Written> all = brute_force(table, limits, penalty);
      const std::vector<Written> found = beam_search(writer, width, limits, Real(penalty))[0];
      REQUIRE(found.size() == all.size());
      for (std::size_t i = 0; i < all.size(); ++i) {
        INFO("seed " << seed << ", penalty " << penalty << ", place " << i);
        CHECK(found[i].ids == all[i].ids);
        CHECK(found[i].finished == all[i].finished);
        CHECK(std::abs(found[i].log_probability - all[i].log_probability) <
              10 * probability_tolerance);
      }
    }
  }
}

TEST_CASE("a narrow beam keeps the likeliest prefixes of every length") {
  // Without an end token the search only ranks prefixes: compared with a naive implementation.
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto table = random_table(5, seed);
    const DecodingLimits limits{.begin = 0, .end = -1, .longest = 5};
    const Index width = 3;
    std::vector<Written> beam{Written{}};
    for (Index step = 0; step < limits.longest; ++step) {
      std::vector<Written> all;
      for (const Written& prefix : beam) {
        Tokens fed{limits.begin};
        fed.insert(fed.end(), prefix.ids.begin(), prefix.ids.end());
        const std::vector<double> p = table(fed);
        for (std::size_t id = 0; id < p.size(); ++id) {
          Written next = prefix;
          next.ids.push_back(static_cast<std::int32_t>(id));
          next.log_probability += std::log(p[id]);
          all.push_back(next);
        }
      }
      std::sort(all.begin(), all.end(),
                [](const auto& a, const auto& b) { return a.log_probability > b.log_probability; });
      all.resize(static_cast<std::size_t>(width));
      beam = all;
    }
    TableWriter writer(width, 10, table);
    const std::vector<Written> found = beam_search(writer, width, limits)[0];
    REQUIRE(found.size() == beam.size());
    for (std::size_t i = 0; i < beam.size(); ++i) CHECK(found[i].ids == beam[i].ids);
  }
}

TEST_CASE("examples of a batch are searched as if each were alone") {
  const DecodingLimits limits{.begin = 0, .end = 2, .longest = 6};
  for (const Index width : {1, 2, 3}) {
    const auto table = random_table(4, 77);
    TableWriter alone(width, 10, table), batch(3 * width, 10, table);
    const auto one = beam_search(alone, width, limits)[0];
    for (const auto& each : beam_search(batch, width, limits)) {
      REQUIRE(each.size() == one.size());
      for (std::size_t i = 0; i < one.size(); ++i) CHECK(each[i].ids == one[i].ids);
    }
  }
}

// ---------------------------------------------------------------- sampling

namespace {

const std::vector<double> die{0.05, 0.3, 0.1, 0.35, 0.2};

/// Relative frequencies of the tokens drawn from `die`.
std::vector<double> frequencies(const SamplingOptions& options) {
  const Index draws = 40000;
  TableWriter writer(draws, 2, [](const Tokens&) { return die; });
  Rng rng(5, "draws");
  std::vector<double> counts(die.size());
  for (const Written& w : sample(writer, {.longest = 1}, options, rng)) {
    counts[static_cast<std::size_t>(w.ids.at(0))] += 1.0 / double(draws);
  }
  return counts;
}

/// Four standard deviations of a frequency in 40,000 draws are at most 0.01.
void check_frequencies(const std::vector<double>& actual, const std::vector<double>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO("token " << i << ": " << actual[i] << " for " << expected[i]);
    CHECK(std::abs(actual[i] - expected[i]) < 0.01);
    if (expected[i] == 0) CHECK(actual[i] == 0);
  }
}

}  // namespace

TEST_CASE("sampling follows the model's distribution") { check_frequencies(frequencies({}), die); }

TEST_CASE("temperature sharpens and flattens: p^(1/t), normalised") {
  for (const double t : {0.5, 2.0}) {
    std::vector<double> expected;
    double total = 0;
    for (const double p : die) total += std::pow(p, 1 / t);
    for (const double p : die) expected.push_back(std::pow(p, 1 / t) / total);
    check_frequencies(frequencies({.temperature = Real(t)}), expected);
  }
}

TEST_CASE("top_k draws from the k likeliest only") {
  check_frequencies(frequencies({.top_k = 2}), {0, 0.3 / 0.65, 0, 0.35 / 0.65, 0});
  check_frequencies(frequencies({.top_k = 1}), {0, 0, 0, 1, 0});
  check_frequencies(frequencies({.top_k = 99}), die);
}

TEST_CASE("top_p draws from the likeliest that together reach p") {
  check_frequencies(frequencies({.top_p = Real(0.3)}), {0, 0, 0, 1, 0});
  check_frequencies(frequencies({.top_p = Real(0.6)}), {0, 0.3 / 0.65, 0, 0.35 / 0.65, 0});
  check_frequencies(frequencies({.top_p = Real(0.7)}), {0, 0.3 / 0.85, 0, 0.35 / 0.85, 0.2 / 0.85});
  // The 2 most probable have shares 0.46 and 0.54: one token reaches 0.5.
  check_frequencies(frequencies({.top_k = 2, .top_p = Real(0.5)}), {0, 0, 0, 1, 0});
}

TEST_CASE("temperature 0 is greedy and draws nothing") {
  const auto table = random_table(6, 3);
  TableWriter a(2, 20, table), b(2, 20, table);
  Rng rng(1);
  const RngState before = rng.state();
  const DecodingLimits limits{.begin = 0, .end = 5, .longest = 12};
  const auto cold = sample(a, limits, {.temperature = 0, .top_k = 3, .top_p = Real(0.5)}, rng);
  CHECK(rng.state() == before);
  const auto plain = greedy(b, limits);
  for (std::size_t i = 0; i < plain.size(); ++i) CHECK(cold[i].ids == plain[i].ids);
}

TEST_CASE("equal seeds draw equal texts, other seeds others") {
  const auto text = [](std::uint64_t seed) {
    TableWriter writer(1, 50, random_table(8, 9));
    Rng rng(seed);
    return sample(writer, {.longest = 40}, {}, rng)[0].ids;
  };
  CHECK(text(1) == text(1));
  CHECK(text(1) != text(2));
}

TEST_CASE("a token of probability zero is never drawn, by sampling or by a beam") {
  const auto table = [](const Tokens&) { return std::vector<double>{0, 0.5, 0, 0.5, 0}; };
  TableWriter writer(500, 20, table);
  Rng rng(4);
  const auto drawn = sample(writer, {.longest = 20}, {}, rng);
  REQUIRE(drawn.size() == 500);
  for (const Written& w : drawn) {
    CHECK(w.ids.size() == 20);
    for (const std::int32_t id : w.ids) CHECK((id == 1 || id == 3));
  }
  TableWriter beams(4, 20, table);
  const auto found = beam_search(beams, 4, {.longest = 2});
  REQUIRE(found.size() == 1);
  REQUIRE(found[0].size() == 4);
  for (const Written& w : found[0]) {
    CHECK(w.ids.size() == 2);
    for (const std::int32_t id : w.ids) CHECK((id == 1 || id == 3));
  }
}

TEST_CASE("wrong options are refused with a remedy") {
  TableWriter writer(3, 4, [](const Tokens&) { return die; });
  Rng rng(1);
  const auto with = [&](SamplingOptions options, const Ids& prompt = {}) {
    return sample(writer, {}, options, rng, prompt);
  };
  CHECK_THROWS_WITH(with({.temperature = -1}), Catch::Contains("0 is greedy"));
  CHECK_THROWS_WITH(with({.top_k = -2}), Catch::Contains("0 keeps all"));
  CHECK_THROWS_WITH(with({.top_p = 0}), Catch::Contains("(0, 1]"));
  CHECK_THROWS_WITH(with({.top_p = Real(1.5)}), Catch::Contains("(0, 1]"));
  CHECK_THROWS_WITH(with({}, Ids({3, 5}, 1)), Catch::Contains("shorten the prompt"));
  CHECK_THROWS_WITH(with({}, Ids({2, 1}, 1)), Catch::Contains("prompt [2, 1] for 3 sequences"));
  CHECK_THROWS_WITH(greedy(writer, {.longest = -1}), Catch::Contains("is negative"));
  CHECK_THROWS_WITH(beam_search(writer, 2, {}), Catch::Contains("copies of each example"));
  CHECK_THROWS_AS(beam_search(writer, 0, {}), UsageError);
  TableWriter sick(1, 4, [](const Tokens&) {
    return std::vector<double>{0.5, std::numeric_limits<double>::quiet_NaN()};
  });
  CHECK_THROWS_AS(greedy(sick, {}), NumericError);
}
