//! title: greedy
//! replaces: headroom::greedy
//! minutes: 25
//! difficulty: 2
//! path: short
//! needs: 10/1
//! hint: Three sentences are written at once, and the second one ends first. Which row of the
//!   logits belongs to the third one in the next step?
//! hint: In each step, go through the rows. Choose the token, add its log-probability, and then
//!   either the sequence is finished or the token is kept. Collect three lists of the rows that go
//!   on: their numbers (for reorder), their results (the new `live`) and their tokens (the next
//!   input).
//! hint: best = std::max_element(scores.begin(), scores.end()), id = best - scores.begin(),
//!   log-probability += double(*best) - log_sum_exp(scores). If rows were lost,
//!   writer.reorder(rows). The next input is
//!   Ids({std::ssize(tokens), 1}, std::span<const std::int32_t>(tokens)).
//! after: beam_search() keeps several prefixes of each sequence instead of one, and sample() draws
//!   instead of taking the best: src/headroom/nn/beam_search.cpp and src/headroom/nn/sampling.cpp.
// Exercise 10/3, greedy: the decoder reads what it has written.
#include "3_greedy.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Row `row` of logits [B, V].
std::span<const Real> row_of(const Array& logits, std::size_t row) {
  const auto size = static_cast<std::size_t>(logits.dim(1));
  return logits.span().subspan(row * size, size);
}

/// log sum_v e^score_v. Throws NumericError unless it is finite.
double log_sum_exp(std::span<const Real> scores) {
  const auto most = double(*std::max_element(scores.begin(), scores.end()));
  double sum = 0;
  for (const Real score : scores) sum += std::exp(double(score) - most);
  const double result = most + std::log(sum);
  if (!std::isfinite(result)) throw NumericError("greedy: the model's logits contain a NaN");
  return result;
}

}  // namespace

std::vector<Written> greedy(Writer& writer, const DecodingLimits& limits) {
  if (limits.longest < 0) throw UsageError("greedy: the maximum number of tokens is negative");
  if (writer.room() < 1) throw UsageError("greedy: the writer has no room");

  std::vector<Written> results(static_cast<std::size_t>(writer.batch()));
  std::vector<std::size_t> live;  // the result to which each row of the writer belongs
  for (std::size_t b = 0; b < results.size(); ++b) live.push_back(b);
  //! solution
  Ids newest({writer.batch(), 1}, limits.begin);  // the next input of each row
  //! skeleton
  // Ids newest = chapter::todo("the first input of each row");
  //! mistake no_begin: limits.begin was not fed: the first input of every row was 0. The model has
  //!   never seen a sequence that begins like that
  // Ids newest({writer.batch(), 1}, 0);
  //! end

  for (Index step = 0; step < limits.longest && !live.empty(); ++step) {
    if (writer.room() < 1 && !writer.slide()) break;
    const Array logits = writer.next(newest);  // [live.size(), V]
    std::vector<Index> rows;                   // those that go on, their results and tokens
    std::vector<std::size_t> going_on;
    std::vector<std::int32_t> tokens;
    for (std::size_t row = 0; row < live.size(); ++row) {
      const std::span<const Real> scores = row_of(logits, row);
      //! solution
      std::vector<Real> allowed(scores.begin(), scores.end());
      constexpr Real never = -std::numeric_limits<Real>::infinity();
      if (limits.never >= 0) allowed[std::size_t(limits.never)] = never;
      const auto best = std::max_element(allowed.begin(), allowed.end());
      const auto id = static_cast<std::int32_t>(best - allowed.begin());
      //! skeleton
      // const std::int32_t id = chapter::todo("the token with the largest score");
      //! mistake last_of_equals: of two tokens with the same score, the higher id was taken
      // std::int32_t id = 0;
      // for (std::int32_t v = 0; v < std::int32_t(scores.size()); ++v) {
      //   if (scores[std::size_t(v)] >= scores[std::size_t(id)]) id = v;
      // }
      // const auto best = scores.begin() + id;
      //! mistake first_row: every sequence gets the token of row 0 of the scores
      // const std::span<const Real> first = row_of(logits, 0);
      // const auto id = static_cast<std::int32_t>(std::max_element(first.begin(), first.end()) -
      //                                           first.begin());
      // const auto best = scores.begin() + id;
      //! end

      //! solution
      Written& mine = results[live[row]];
      mine.log_probability += double(*best) - log_sum_exp(scores);
      mine.finished = id == limits.end;
      if (mine.finished) continue;
      mine.ids.push_back(id);
      rows.push_back(Index(row));
      going_on.push_back(live[row]);
      tokens.push_back(id);
      //! skeleton
      // const bool ends = chapter::todo("write down: id, log-probability, or that it is finished");
      // if (ends) continue;
      // tokens.push_back(id);
      //! mistake wrong_result: after the first sequence had ended, tokens went to the wrong result.
      //!   Row 1 of the writer is then no longer sequence 1: live[row] is
      //- Written& mine = results[live[row]];
      //+ Written& mine = results[row];
      //! mistake goes_on: the writing went on behind the end token
      //- mine.finished = id == limits.end;
      //- if (mine.finished) continue;
      //- mine.ids.push_back(id);
      //+ if (id == limits.end) mine.finished = true;
      //+ if (id != limits.end) mine.ids.push_back(id);
      //! mistake end_is_kept: the end token is among the ids. It says that there are no more
      //- if (mine.finished) continue;
      //  mine.ids.push_back(id);
      //+ if (mine.finished) continue;
      //! mistake never_finished: no sequence is marked as finished
      //- mine.finished = id == limits.end;
      //- if (mine.finished) continue;
      //+ if (id == limits.end) continue;
      //! mistake sum_of_scores: the scores were added. They are not yet log-probabilities: subtract
      //!   log_sum_exp(scores)
      //- mine.log_probability += double(*best) - log_sum_exp(scores);
      //+ mine.log_probability += double(*best);
      //! mistake end_is_free: the log-probability of the end token is missing: to stop was a
      //!   decision, too
      //- mine.log_probability += double(*best) - log_sum_exp(scores);
      //  mine.finished = id == limits.end;
      //  if (mine.finished) continue;
      //+ mine.log_probability += double(*best) - log_sum_exp(scores);
      //! mistake first_ends_all: the first sequence that ended stopped all others
      //- if (mine.finished) continue;
      //- mine.ids.push_back(id);
      //+ if (!mine.finished) mine.ids.push_back(id);
      // ...
      //  tokens.push_back(id);
      //+ if (row + 1 == live.size()) {
      //+   for (const Written& one : results) {
      //+     if (one.finished) return results;
      //+   }
      //+ }
      //! mistake old_input: the writer was fed the same token in every step, not the one that had
      //!   just been written
      //- tokens.push_back(id);
      //+ tokens.push_back(limits.begin);
      //! wrong not_removed: finished sequences were not removed from the writer
      // Written& mine = results[live[row]];
      // if (!mine.finished) {
      //   mine.log_probability += double(*best) - log_sum_exp(scores);
      //   mine.finished = id == limits.end;
      //   if (!mine.finished) mine.ids.push_back(id);
      // }
      // rows.push_back(Index(row));
      // going_on.push_back(live[row]);
      // tokens.push_back(id);
      // if (row + 1 == live.size()) {
      //   bool all = true;
      //   for (const Written& one : results) all = all && one.finished;
      //   if (all) return results;
      // }
      //! end
    }
    //! solution
    if (rows.size() < live.size()) writer.reorder(rows);
    live = going_on;
    newest = Ids({std::ssize(tokens), 1}, std::span<const std::int32_t>(tokens));
    //! skeleton
    // live = going_on;
    // newest = chapter::todo("the next input; and what must the writer be told?");
    //! wrong rows_stay: the writer still has
    //- if (rows.size() < live.size()) writer.reorder(rows);
    //! end
  }
  return results;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
