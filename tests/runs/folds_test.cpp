// Folds: over all parts of a task every example is tested once, and none of it is trained on.
#include "headroom_runs/runs/folds.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "headroom/base/error.hpp"
#include "headroom/base/record_json.hpp"
#include "headroom/data/embedded_tasks.hpp"
#include "headroom_runs/runs/training_settings.hpp"
#include "support/catch.hpp"

using namespace headroom;
using Catch::Matchers::Contains;

namespace {

/// A source with an answer; of a labelled example the label.
using Pair = std::pair<Tokens, Tokens>;
using Pairs = std::multiset<Pair>;

struct Sets {
  Pairs train, validation, test;
};

Sets sets_of(const Seq2SeqTask& task) {
  const auto pairs = [](const std::vector<Seq2SeqQuestion>& questions) {
    Pairs all;
    for (const auto& [source, answers] : questions) {
      for (const Tokens& answer : answers) all.emplace(source, answer);
    }
    return all;
  };
  Sets sets{{}, pairs(task.validation), pairs(task.test)};
  for (const auto& [source, target] : task.train) sets.train.emplace(source, target);
  return sets;
}

Sets sets_of(const ClassificationTask& task) {
  const auto pairs = [](const std::vector<LabelledExample>& examples) {
    Pairs all;
    for (const auto& [tokens, label] : examples) all.emplace(tokens, Tokens{label});
    return all;
  };
  return {pairs(task.train), pairs(task.validation), pairs(task.test)};
}

Pairs joined(Pairs a, const Pairs& b) {
  a.insert(b.begin(), b.end());
  return a;
}

/// Checks all folds of a task. Returns the numbers of examples that they test.
template <class TaskType>
std::vector<std::size_t> check_folds(const TaskType& task, Index parts, bool answers_apart) {
  const Sets whole = sets_of(task);
  Pairs tested;
  std::vector<std::size_t> sizes;
  for (Index part = 1; part <= parts; ++part) {
    const Sets fold = sets_of(std::get<TaskType>(hold_out(task, {part, parts})));
    CHECK(fold.validation == whole.validation);
    CHECK(joined(fold.train, fold.test) == joined(whole.train, whole.test));
    std::set<Tokens> sources, answers;
    for (const auto& [source, answer] : fold.train) {
      sources.insert(source);
      answers.insert(answer);
    }
    for (const auto& [source, answer] : fold.test) {
      REQUIRE_FALSE(sources.contains(source));
      REQUIRE_FALSE((answers_apart && answers.contains(answer)));
    }
    tested.insert(fold.test.begin(), fold.test.end());
    sizes.push_back(fold.test.size());
  }
  CHECK(tested == joined(whole.train, whole.test));
  return sizes;
}

/// The largest part less the smallest.
std::size_t spread(const std::vector<std::size_t>& sizes) {
  const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
  return *most - *least;
}

}  // namespace

TEST_CASE("over all folds of a task every example is tested once, and never trained on") {
  const Index parts = GENERATE(2, 5);
  for (const char* name : {"reverse", "sort", "numbers", "spelling", "dates"}) {
    INFO(name << " in " << parts);
    const Task task = make_task(name, {.seed = 4, .train = 300, .validation = 40, .test = 61});
    CHECK(spread(check_folds(std::get<Seq2SeqTask>(task), parts, true)) <= 1);
  }
  const Task brackets =
      make_task("brackets", {.seed = 4, .train = 300, .validation = 40, .test = 61});
  CHECK(spread(check_folds(std::get<ClassificationTask>(brackets), parts, false)) <= 1);
}

TEST_CASE("of many dates in several forms, all forms of a day are in one part") {
  const Seq2SeqTask task =
      make_dates_task({.seed = 2, .train = 20'000, .validation = 1'000, .test = 1'000});
  std::map<Tokens, int> forms;
  for (const auto& [source, target] : task.train) ++forms[target];
  const auto most = std::max_element(
      forms.begin(), forms.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  REQUIRE(most->second > 1);
  CHECK(spread(check_folds(task, 4, true)) <= 1);
}

TEST_CASE("words with several answers, and answers of several words, stay together") {
  Seq2SeqTask task = make_reverse_task({.train = 1, .validation = 1, .test = 1});
  // 5 and 6 sound alike, 6 and 7, too, in another way; 8 and 9 have nothing in common with them.
  task.train = {{{5}, {50}}, {{6}, {50}}, {{8}, {80}}};
  task.test = {{{7}, {{70}, {51}}}, {{9}, {{90}, {91}}}};
  task.train.push_back({{6}, {51}});
  CHECK(check_folds(task, 3, true).size() == 3);
  for (Index part = 1; part <= 3; ++part) {
    const auto fold = std::get<Seq2SeqTask>(hold_out(task, {part, 3}));
    for (const auto& [source, answers] : fold.test) {
      INFO(source.front());
      CHECK(answers.size() == (source == Tokens{5} || source == Tokens{8} ? 1 : 2));
    }
  }
  CHECK_THROWS_WITH(hold_out(task, {1, 4}),
                    Contains("4 parts are too many") && Contains("3 groups"));
}

TEST_CASE("parts do not depend on the order of the examples") {
  const ClassificationTask task = make_brackets_task({.train = 90, .validation = 4, .test = 30});
  ClassificationTask turned = task;
  std::swap(turned.train, turned.test);
  std::reverse(turned.train.begin(), turned.train.end());
  for (Index part = 1; part <= 3; ++part) {
    const Fold fold{part, 3};
    CHECK(sets_of(std::get<ClassificationTask>(hold_out(task, fold))).test ==
          sets_of(std::get<ClassificationTask>(hold_out(turned, fold))).test);
  }
}

TEST_CASE("a fold in words and in config.json") {
  CHECK(fold_from("2/5", "--fold") == Fold{2, 5});
  CHECK(fold_from("2/5", "--fold").text() == "2/5");
  for (const char* wrong : {"", "2", "2/", "/5", "0/5", "6/5", "1/1", "-1/5", "2/5x", "2 /5",
                            "2/99999999999999999999"}) {
    INFO(wrong);
    CHECK_THROWS_WITH(fold_from(wrong, "--fold"),
                      "--fold " + std::string(wrong) +
                          " must be K/N with 1 <= K <= N and N at least 2, such as 2/5");
  }
  const Task text =
      TextCorpus{.name = "text",
                 .vocabulary = Vocabulary::of_text(TokenKind::characters, Specials::none, "ab"),
                 .train = {0, 1},
                 .validation = {1}};
  CHECK_THROWS_WITH(hold_out(text, {1, 2}), Contains("has no folds"));

  TrainingSettings settings;
  settings.task = "reverse";
  settings.data = {.train = 30, .validation = 4, .test = 10};
  settings.steps = 1;
  settings.derive();
  CHECK_FALSE(settings.to_record()["task"].contains("fold"));
  CHECK(std::get<Seq2SeqTask>(settings.make_task()).test.size() == 10);
  settings.fold = {3, 4};
  Record record = settings.to_record();
  CHECK(record["task"]["fold"] == "3/4");
  const TrainingSettings read = TrainingSettings::from_record(record, "config.json");
  CHECK(read.fold == settings.fold);
  CHECK(sets_of(std::get<Seq2SeqTask>(read.make_task())).test ==
        sets_of(std::get<Seq2SeqTask>(hold_out(make_task("reverse", settings.data), {3, 4}))).test);
  record["task"]["fold"] = "5/4";
  CHECK_THROWS_AS(TrainingSettings::from_record(record, "config.json"), FileError);
}
