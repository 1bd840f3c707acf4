// Generated tasks: right answers, disjoint sets, the same for the same seed.
#include "headroom/data/embedded_tasks.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "headroom/base/error.hpp"
#include "support/catch.hpp"

using namespace headroom;
using Catch::Contains;

namespace {

// Source and target texts of all sets, in order.
struct Texts {
  std::vector<std::pair<std::string, std::string>> train, validation, test;
};

Texts texts_of(const Seq2SeqTask& task) {
  const auto pair = [&](const Tokens& source, const Tokens& target) {
    return std::pair(task.source.decode(source), task.target.decode(target));
  };
  Texts texts;
  for (const auto& e : task.train) texts.train.push_back(pair(e.source, e.target));
  for (const auto& q : task.validation) texts.validation.push_back(pair(q.source, q.answers.at(0)));
  for (const auto& q : task.test) texts.test.push_back(pair(q.source, q.answers.at(0)));
  return texts;
}

template <class Visit>
void for_each_pair(const Texts& texts, Visit visit) {
  for (const auto* set : {&texts.train, &texts.validation, &texts.test}) {
    for (const auto& [source, target] : *set) visit(source, target);
  }
}

Seq2SeqTask small(const std::function<Seq2SeqTask(const TaskOptions&)>& make,
                  std::uint64_t seed = 1) {
  return make({.seed = seed, .train = 2'000, .validation = 100, .test = 200});
}

}  // namespace

TEST_CASE("sets have the sizes asked for, no input twice, and nothing unknown") {
  const auto make =
      GENERATE(as<std::function<Seq2SeqTask(const TaskOptions&)>>{}, make_reverse_task,
               make_sort_task, make_numbers_task, make_spelling_task, make_dates_task);
  const Seq2SeqTask task = small(make);
  INFO(task.name);
  CHECK(task.train.size() == 2'000);
  CHECK(task.validation.size() == 100);
  CHECK(task.test.size() == 200);
  std::set<Tokens> inputs;
  for (const auto& example : task.train) inputs.insert(example.source);
  for (const auto* set : {&task.validation, &task.test}) {
    for (const auto& question : *set) {
      inputs.insert(question.source);
      CHECK(question.answers.size() == 1);
    }
  }
  CHECK(inputs.size() == 2'300);
  for (const auto& example : task.train) {
    REQUIRE(std::count(example.source.begin(), example.source.end(), task.source.unk()) == 0);
    REQUIRE(std::count(example.target.begin(), example.target.end(), task.target.unk()) == 0);
    REQUIRE(Index(example.source.size()) <= task.longest_source());
    REQUIRE(Index(example.target.size()) <= task.longest_target());
  }
}

TEST_CASE("the same seed gives the same task, another seed another one") {
  const auto make = GENERATE(as<std::function<Seq2SeqTask(const TaskOptions&)>>{},
                             make_reverse_task, make_numbers_task, make_dates_task);
  const Texts a = texts_of(small(make)), b = texts_of(small(make)), c = texts_of(small(make, 2));
  CHECK(a.train == b.train);
  CHECK(a.test == b.test);
  CHECK(a.train != c.train);
  CHECK(a.test != c.test);
}

TEST_CASE("reversed and sorted answers are right") {
  for_each_pair(texts_of(small(make_reverse_task)),
                [](std::string source, const std::string& target) {
                  std::reverse(source.begin(), source.end());
                  REQUIRE(source == target);
                });
  for_each_pair(texts_of(small(make_sort_task)), [](std::string source, const std::string& target) {
    std::sort(source.begin(), source.end());
    REQUIRE(source == target);
  });
}

TEST_CASE("words have four to twelve tokens, numbers one to six digits") {
  std::set<std::size_t> reversed, sorted, read, spelt;
  for_each_pair(texts_of(small(make_reverse_task)),
                [&](const std::string& source, auto&) { reversed.insert(source.size()); });
  for_each_pair(texts_of(small(make_sort_task)),
                [&](const std::string& source, auto&) { sorted.insert(source.size()); });
  for_each_pair(texts_of(small(make_numbers_task)),
                [&](auto&, const std::string& target) { read.insert(target.size()); });
  for_each_pair(texts_of(small(make_spelling_task)),
                [&](const std::string& source, auto&) { spelt.insert(source.size()); });
  CHECK(reversed == std::set<std::size_t>{4, 5, 6, 7, 8, 9, 10, 11, 12});
  CHECK(sorted == reversed);
  CHECK(read == std::set<std::size_t>{1, 2, 3, 4, 5, 6});
  CHECK(spelt == read);
}

TEST_CASE("numbers are written as in English") {
  CHECK(number_words(0) == "zero");
  CHECK(number_words(13) == "thirteen");
  CHECK(number_words(40) == "forty");
  CHECK(number_words(99) == "ninety-nine");
  CHECK(number_words(100) == "one hundred");
  CHECK(number_words(412) == "four hundred and twelve");
  CHECK(number_words(1'000) == "one thousand");
  CHECK(number_words(1'005) == "one thousand and five");
  CHECK(number_words(20'340) == "twenty thousand three hundred and forty");
  CHECK(number_words(999'999) ==
        "nine hundred and ninety-nine thousand nine hundred and ninety-nine");
  CHECK_THROWS_WITH(number_words(1'000'000), Contains("only 0 to 999999"));
  CHECK_THROWS_AS(number_words(-1), UsageError);
}

TEST_CASE("number words and digits answer each other") {
  for_each_pair(texts_of(small(make_numbers_task)),
                [](const std::string& source, const std::string& target) {
                  REQUIRE(source == number_words(std::stoll(target)));
                });
  for_each_pair(texts_of(small(make_spelling_task)),
                [](const std::string& source, const std::string& target) {
                  REQUIRE(target == number_words(std::stoll(source)));
                });
}

TEST_CASE("dates are written in at least eight ways, with the right weekday") {
  const Date date{2021, 5, 3};
  const std::vector<std::string> expected{
      "3 May 2021",         "May 3, 2021",           "3rd of May, 2021", "May 3rd, 2021",
      "Monday, 3 May 2021", "Mon, May 3, 2021",      "03-MAY-2021",      "2021/05/03",
      "3.5.2021",           "the third of May 2021", "2021 May 3",       "20210503"};
  REQUIRE(expected.size() == date_forms);
  for (int form = 0; form < date_forms; ++form) {
    CHECK(written_date(date, form) == expected[static_cast<std::size_t>(form)]);
  }
  CHECK(iso_date({1900, 1, 2}) == "1900-01-02");
  CHECK(weekday({1900, 1, 1}) == 0);
  CHECK(weekday({2000, 2, 29}) == 1);
  CHECK(weekday({2099, 12, 31}) == 3);
  CHECK(written_date({1999, 9, 22}, 2) == "22nd of September, 1999");
  CHECK(written_date({1999, 9, 11}, 3) == "September 11th, 1999");
  CHECK(written_date({1999, 9, 12}, 3) == "September 12th, 1999");
  CHECK(written_date({1999, 9, 13}, 3) == "September 13th, 1999");
  CHECK(written_date({1999, 9, 21}, 3) == "September 21st, 1999");
  CHECK(written_date({1999, 9, 23}, 3) == "September 23rd, 1999");
  CHECK(written_date({1999, 12, 31}, 9) == "the thirty-first of December 1999");
  CHECK_THROWS_AS(written_date(date, date_forms), UsageError);
}

TEST_CASE("no written date can mean two days") {
  std::map<std::string, std::string> meaning;
  for (const int year : {1911, 2011, 2012}) {
    for (int month = 1; month <= 12; ++month) {
      for (int day = 1; day <= 28; ++day) {
        for (int form = 0; form < date_forms; ++form) {
          const Date date{year, month, day};
          const auto [place, is_new] = meaning.emplace(written_date(date, form), iso_date(date));
          REQUIRE(is_new);
        }
      }
    }
  }
}

TEST_CASE("days of the validation and test sets are not trained on in any form") {
  const Seq2SeqTask task = make_dates_task({});
  CHECK(task.train.size() == 20'000);
  CHECK(task.validation.size() == 500);
  CHECK(task.test.size() == 1'000);
  const Texts texts = texts_of(task);
  std::set<std::string> trained, unseen;
  std::set<std::string> years;
  for (const auto& [source, day] : texts.train) {
    trained.insert(day);
    years.insert(day.substr(0, 4));
  }
  for (const auto* set : {&texts.validation, &texts.test}) {
    for (const auto& [source, day] : *set) {
      CHECK(unseen.insert(day).second);
      CHECK(trained.count(day) == 0);
    }
  }
  CHECK(years.size() == 200);
  CHECK(task.longest_target() == 10);
}

TEST_CASE("every form of a date is about equally frequent, and every one reads as its day") {
  const Seq2SeqTask task = make_dates_task({});
  std::map<std::string, Date> days;
  for (int year = 1900; year < 2100; ++year) {
    for (int month = 1; month <= 12; ++month) {
      for (int day = 1; day <= 31; ++day) days[iso_date({year, month, day})] = {year, month, day};
    }
  }
  std::vector<int> counts(date_forms, 0);
  for (const auto& [source, target] : texts_of(task).train) {
    int form = 0;
    while (form < date_forms && written_date(days.at(target), form) != source) ++form;
    REQUIRE(form < date_forms);
    ++counts[static_cast<std::size_t>(form)];
  }
  for (const int count : counts) CHECK(std::abs(count - 20'000 / date_forms) < 250);
}

TEST_CASE("half of the bracket sequences are balanced, and the others nearly so") {
  const ClassificationTask task = make_brackets_task({});
  CHECK(task.classes == std::vector<std::string>{"unbalanced", "balanced"});
  std::set<std::string> inputs;
  Index right_counts = 0, unbalanced = 0;
  for (const auto* set : {&task.train, &task.validation, &task.test}) {
    Index balanced = 0;
    for (const LabelledExample& example : *set) {
      const std::string text = task.tokens.decode(example.tokens);
      REQUIRE(inputs.insert(text).second);
      REQUIRE(is_balanced(text) == (example.label == 1));
      REQUIRE((text.size() % 2 == 0 && text.size() >= 8 && text.size() <= 24));
      balanced += example.label;
      if (example.label == 1) continue;
      ++unbalanced;
      const auto count = [&](char c) { return std::count(text.begin(), text.end(), c); };
      right_counts +=
          count('(') == count(')') && count('[') == count(']') && count('{') == count('}');
    }
    CHECK(2 * balanced == Index(set->size()));
  }
  CHECK(task.longest() == 24);
  CHECK(right_counts > unbalanced / 3);  // counting brackets is not enough
}

TEST_CASE("balance needs order and kind, not counts") {
  CHECK(is_balanced(""));
  CHECK(is_balanced("([]{})()"));
  CHECK_FALSE(is_balanced("([)]"));
  CHECK_FALSE(is_balanced("([))"));
  CHECK_FALSE(is_balanced(")("));
  CHECK_FALSE(is_balanced("(("));
  CHECK_FALSE(is_balanced("(]"));
}

TEST_CASE("the longest source and target are those of every set and every answer") {
  const Vocabulary letters = Vocabulary::of_text(TokenKind::characters, Specials::all, "a");
  const auto a = [](std::size_t length) { return Tokens(length, 4); };
  Seq2SeqTask task{.name = "by hand",
                   .source = letters,
                   .target = letters,
                   .train = {{a(2), a(2)}},
                   .validation = {{a(1), {a(1)}}},
                   .test = {{a(1), {a(1), a(1)}}},
                   .skipped = {}};
  CHECK(task.longest_source() == 2);
  CHECK(task.longest_target() == 2);
  task.validation[0] = {a(3), {a(4)}};
  CHECK(task.longest_source() == 3);
  CHECK(task.longest_target() == 4);
  task.test[0] = {a(5), {a(1), a(6)}};
  CHECK(task.longest_source() == 5);
  CHECK(task.longest_target() == 6);
}

TEST_CASE("numbers that were drawn already do not count against those that are still to come") {
  CHECK(make_numbers_task({.train = 50'000}).train.size() == 50'000);
}

TEST_CASE("sizes that cannot be had are refused") {
  CHECK_THROWS_WITH(make_numbers_task({.train = 1'000'000}),
                    Contains("at most half of all 1000000 are drawn"));
  CHECK_THROWS_WITH(make_dates_task({.test = 60'000}), Contains("at most half of all 73049"));
  CHECK_THROWS_WITH(make_sort_task({.train = -1}), Contains("each needs at least one"));
}
