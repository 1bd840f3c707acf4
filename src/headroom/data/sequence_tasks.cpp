// Tasks reverse, sort, numbers and spelling.
#include <algorithm>
#include <array>
#include <string>

#include "data/unique_draws.hpp"
#include "headroom/base/at.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/rng.hpp"
#include "headroom/data/embedded_tasks.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

using Pair = std::pair<std::string, std::string>;

// Draws pairs with different sources and divides them among the sets. `exist`: number of possible
// sources.
template <class Draw>
Seq2SeqTask generated_task(const char* name, Vocabulary source, Vocabulary target,
                           const TaskOptions& options, Index exist, Draw draw) {
  const SetSizes sizes = sizes_of(options, {10'000, 500, 1'000});
  const Index count = sizes.train + sizes.validation + sizes.test;
  if (count > exist / 2) {  // drawing the last ones would take too long
    throw UsageError(fmt::format(
        "task {}: {} examples are too many; at most half of all {} are drawn", name, count, exist));
  }
  Rng rng(options.seed, name);
  const std::vector<Pair> pairs = unique_draws(name, count, [&](Index) { return draw(rng); });
  Seq2SeqTask task{.name = name,
                   .source = std::move(source),
                   .target = std::move(target),
                   .train = {},
                   .validation = {},
                   .test = {},
                   .skipped = {}};
  for (Index i = 0; i < std::ssize(pairs); ++i) {
    const auto& [from, to] = at(pairs, i);
    Tokens from_tokens = task.source.encode(from), to_tokens = task.target.encode(to);
    if (i < sizes.train) {
      task.train.push_back({std::move(from_tokens), std::move(to_tokens)});
    } else {
      auto& set = i < sizes.train + sizes.validation ? task.validation : task.test;
      set.push_back({std::move(from_tokens), {std::move(to_tokens)}});
    }
  }
  return task;
}

// Four to twelve characters of `alphabet`.
std::string random_word(Rng& rng, std::string_view alphabet) {
  std::string word(static_cast<std::size_t>(4 + rng.below(9)), ' ');
  for (char& c : word) {
    c = at(alphabet, rng.below(std::ssize(alphabet)));
  }
  return word;
}

// A number with one to six digits, every length equally often.
Index random_number(Rng& rng) {
  Index limit = 10;
  for (Index digits = rng.below(6); digits > 0; --digits) limit *= 10;
  return limit == 10 ? rng.below(10) : limit / 10 + rng.below(limit - limit / 10);
}

constexpr Index all_numbers = 1'000'000;
constexpr Index many_words = 1'000'000'000'000;  // lower bound: 10 characters, 12 positions

constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz";
constexpr std::string_view digits = "0123456789";
constexpr std::array small_numbers{"zero",    "one",     "two",       "three",    "four",
                                   "five",    "six",     "seven",     "eight",    "nine",
                                   "ten",     "eleven",  "twelve",    "thirteen", "fourteen",
                                   "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
constexpr std::array tens{"",      "",      "twenty",  "thirty", "forty",
                          "fifty", "sixty", "seventy", "eighty", "ninety"};

std::string below_hundred(Index number) {
  const auto n = static_cast<std::size_t>(number);
  if (n < 20) return small_numbers[n];
  const std::string ten = tens[n / 10];
  return n % 10 == 0 ? ten : ten + "-" + small_numbers[n % 10];
}

Vocabulary of_characters(std::string_view alphabet) {
  return Vocabulary::of_text(TokenKind::characters, Specials::all, alphabet);
}

// Every word of number_words().
Vocabulary number_vocabulary() {
  std::string words = "hundred thousand and";
  for (Index number = 0; number < 100; ++number) words.append(" ").append(below_hundred(number));
  return Vocabulary::of_text(TokenKind::words, Specials::all, words);
}

}  // namespace

std::string number_words(Index number) {
  if (number < 0 || number > 999'999) {
    throw UsageError(fmt::format("number_words({}): only 0 to 999999 can be written", number));
  }
  if (number < 100) return below_hundred(number);
  const Index unit = number < 1000 ? 100 : 1000, rest = number % unit;
  std::string words = number_words(number / unit) + (unit == 100 ? " hundred" : " thousand");
  if (rest == 0) return words;
  return words + (rest < 100 ? " and " : " ") + number_words(rest);
}

Seq2SeqTask make_reverse_task(const TaskOptions& options) {
  return generated_task("reverse", of_characters(letters), of_characters(letters), options,
                        many_words, [](Rng& rng) {
                          const std::string word = random_word(rng, letters);
                          return Pair(word, std::string(word.rbegin(), word.rend()));
                        });
}

Seq2SeqTask make_sort_task(const TaskOptions& options) {
  return generated_task("sort", of_characters(digits), of_characters(digits), options, many_words,
                        [](Rng& rng) {
                          const std::string word = random_word(rng, digits);
                          std::string sorted = word;
                          std::sort(sorted.begin(), sorted.end());
                          return Pair(word, sorted);
                        });
}

Seq2SeqTask make_numbers_task(const TaskOptions& options) {
  return generated_task("numbers", number_vocabulary(), of_characters(digits), options, all_numbers,
                        [](Rng& rng) {
                          const Index number = random_number(rng);
                          return Pair(number_words(number), fmt::to_string(number));
                        });
}

Seq2SeqTask make_spelling_task(const TaskOptions& options) {
  return generated_task("spelling", of_characters(digits), number_vocabulary(), options,
                        all_numbers, [](Rng& rng) {
                          const Index number = random_number(rng);
                          return Pair(fmt::to_string(number), number_words(number));
                        });
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
