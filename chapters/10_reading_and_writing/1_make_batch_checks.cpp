// Checks make_batch on random examples, array by array.
#include <fmt/format.h>

#include <algorithm>

#include "common/checks.hpp"
#include "headroom/data/batches.hpp"

namespace {

using namespace headroom;  // NOLINT: the checks of an exercise read like the library

const Vocabulary letters = Vocabulary::of_text(TokenKind::characters, Specials::all, "abcdefg");

Tokens random_tokens(Index length, Rng& rng) {
  Tokens tokens;
  for (Index i = 0; i < length; ++i) {
    tokens.push_back(static_cast<std::int32_t>(4 + rng.below(letters.size() - 4)));
  }
  return tokens;
}

/// Random examples of unequal lengths, and a batch of some of them in another order.
struct Case {
  explicit Case(std::uint64_t seed) {
    Rng rng(seed, "10/1");
    for (Index i = 0; i < 9; ++i) {
      set.push_back({random_tokens(1 + (5 * i) % 7, rng), random_tokens(1 + (4 * i) % 9, rng)});
    }
    wanted = {8, 3, 5, 0};
  }
  Seq2SeqBatch yours() const { return make_batch(set, wanted, letters, letters); }

  std::vector<Seq2SeqExample> set;
  std::vector<Index> wanted;
};

/// Row by row: the tokens of an example for each row.
template <class Row>
std::vector<Tokens> rows_of(const Case& c, Row row) {
  std::vector<Tokens> rows;
  for (const Index i : c.wanted) rows.push_back(row(c.set[std::size_t(i)]));
  return rows;
}

/// Rows side by side, padded: plain loops.
Array padded(const std::vector<Tokens>& rows, std::int32_t filler) {
  std::size_t longest = 1;
  for (const Tokens& row : rows) longest = std::max(longest, row.size());
  Array result({std::ssize(rows), Index(longest)}, Real(filler));
  for (std::size_t b = 0; b < rows.size(); ++b) {
    for (std::size_t t = 0; t < rows[b].size(); ++t) {
      result[Index(b * longest + t)] = Real(rows[b][t]);
    }
  }
  return result;
}

Tokens source_of(const Seq2SeqExample& e) { return e.source; }
Tokens with_begin(const Seq2SeqExample& e) {
  Tokens row{letters.bos()};
  row.insert(row.end(), e.target.begin(), e.target.end());
  return row;
}
Tokens with_end(const Seq2SeqExample& e) {
  Tokens row = e.target;
  row.push_back(letters.eos());
  return row;
}
Array as_numbers(const Ids& ids) {
  if (!ids.defined()) return {};
  Array result(ids.shape());
  for (Index i = 0; i < ids.size(); ++i) result[i] = Real(ids[i]);
  return result;
}

const chapter::Names names{{"row", "position"}, {}};

void check_lengths(const std::string& which, const std::vector<Tokens>& rows, const Ids& yours) {
  Array right({std::ssize(rows)});
  for (std::size_t b = 0; b < rows.size(); ++b) {
    right[Index(b)] = Real(rows[b].size());
  }
  chapter::require_equal(fmt::format("the {}", which), right, as_numbers(yours), {{"row"}, {}});
}

}  // namespace

TEST_CASE("source: the ids, padded", "[10/1]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Case c(seed);
    chapter::require_equal("the elements of source", padded(rows_of(c, source_of), letters.pad()),
                           as_numbers(c.yours().source), names);
    check_lengths("source_lengths", rows_of(c, source_of), c.yours().source_lengths);
  }
}

TEST_CASE("target_in: what the decoder reads", "[10/1]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Case c(seed);
    const Seq2SeqBatch batch = c.yours();
    const Array right = padded(rows_of(c, with_begin), ignored_label);
    const Array labels = as_numbers(batch.labels);
    const bool exchanged = labels.defined() && labels.shape() == right.shape() &&
                           std::equal(right.data(), right.data() + right.size(), labels.data());
    chapter::require_equal(
        "the elements of target_in", padded(rows_of(c, with_begin), letters.pad()),
        as_numbers(batch.target_in), names,
        {{exchanged ? "target_in and labels were exchanged: the decoder would read the answer and "
                      "name the token before"
                    : "the decoder reads the token that it should name: target_in and labels have "
                      "the same token in each column. Begin with <bos>, so that position t has "
                      "read the tokens before label t",
          [&c] { return padded(rows_of(c, with_end), letters.pad()); }}});
  }
}

TEST_CASE("labels: what the decoder should name", "[10/1]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Case c(seed);
    chapter::require_equal("the elements of labels", padded(rows_of(c, with_end), ignored_label),
                           as_numbers(c.yours().labels), names);
  }
}

TEST_CASE("target_lengths and the counts", "[10/1]") {
  for (const std::uint64_t seed : chapter::seeds) {
    const Case c(seed);
    const Seq2SeqBatch batch = c.yours();
    check_lengths("target_lengths", rows_of(c, with_end), batch.target_lengths);
    chapter::require(batch.examples == c.wanted,
                     "the list `examples` of the batch is not the one that was given.");
    const auto count = [](const std::vector<Tokens>& rows) {
      Index sum = 0;
      for (const Tokens& row : rows) sum += std::ssize(row);
      return sum;
    };
    const auto check_count = [](const char* which, Index right, Index all, Index yours) {
      chapter::require(
          yours == right,
          fmt::format("{} is {}, expected {}.{}", which, yours, right,
                      yours == all
                          ? "\nIt looks as if padding was counted: the speed in tokens per second "
                            "would grow with the emptiness of the batch."
                          : ""));
    };
    check_count("source_tokens", count(rows_of(c, source_of)), batch.source.size(),
                batch.source_tokens);
    check_count("target_tokens", count(rows_of(c, with_end)), batch.target_in.size(),
                batch.target_tokens);
  }
}

TEST_CASE("a batch of one, and an example without any token", "[10/1]") {
  Case c(1);
  c.set[2] = {{}, {}};
  c.wanted = {2};
  const Seq2SeqBatch batch = c.yours();
  chapter::require_equal("the elements of target_in", Array({1, 1}, Real(letters.bos())),
                         as_numbers(batch.target_in), names);
  chapter::require_equal("the elements of labels", Array({1, 1}, Real(letters.eos())),
                         as_numbers(batch.labels), names);
  chapter::require_equal("the elements of source", Array({1, 1}, Real(letters.pad())),
                         as_numbers(batch.source), names);
}
