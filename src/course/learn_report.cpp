// Writes the page for the learner.
#include "course/learn_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "course/learn_ask.hpp"
#include "course/learn_attempts.hpp"
#include "course/learn_predictions.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom_lab/report/plain_page.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

using Events = std::vector<AttemptEvent>;

Table exercises_table(const Course& course, Workspace& workspace, const Events& events) {
  Table table;
  table.title = "Exercises";
  table.columns = {"exercise", "state", "minutes", "attempts", "hints"};
  for (const Exercise& exercise : course.exercises) {
    const auto attempts = std::count_if(events.begin(), events.end(), [&](const AttemptEvent& e) {
      return e.what == "attempt" && e.exercise == exercise.id;
    });
    const bool begun = std::any_of(events.begin(), events.end(), [&](const AttemptEvent& e) {
      return e.exercise == exercise.id;
    });
    const ExerciseState& state = workspace.of(exercise);
    if (!begun && !state.passed) continue;
    const char* word = !state.passed ? "begun" : state.given_up ? "shown" : "done";
    table.rows.push_back(
        {exercise.text(), word,
         begun ? Value(Index(std::lround(active_minutes(events, exercise.id)))) : Value(), attempts,
         state.hints});
  }
  table.caption =
      table.rows.empty()
          ? sentence("Nothing yet. {} learn begins with the first exercise.", invocation())
          : Text(
                "Minutes count pauses of more than ten minutes as ten. An attempt is a file that "
                "was checked and differs from the one before.");
  return table;
}

Table diagnoses_table(const Course& course, const Events& events) {
  std::map<std::pair<std::string, std::string>, Index> times;
  for (const AttemptEvent& event : events) {
    if (event.what != "attempt" || event.passed.value_or(true)) continue;
    ++times[{event.exercise, event.diagnosis}];
  }
  Table table;
  table.title = "What the checks said";
  table.columns = {"exercise", "diagnosis", "times"};
  for (const auto& [key, count] : times) {
    const auto& [id, diagnosis] = key;
    const auto exercise = std::find_if(course.exercises.begin(), course.exercises.end(),
                                       [&](const Exercise& one) { return one.id == id; });
    table.rows.push_back(
        {id, exercise == course.exercises.end() ? diagnosis : diagnosis_text(*exercise, diagnosis),
         count});
  }
  table.caption = table.rows.empty()
                      ? "No attempt was wrong yet."
                      : "The sentence of the last check of each wrong file; \"none\" where the "
                        "numbers were wrong and no known mistake gives them.";
  return table;
}

/// The questions of all chapters.
ChapterAsk all_asked(const Course& course, std::map<std::string, ChapterQuestion>& questions) {
  ChapterAsk all;
  std::string last;
  for (const Exercise& exercise : course.exercises) {
    if (exercise.chapter == last) continue;
    last = exercise.chapter;
    const ChapterAsk ask = read_ask(course.texts(exercise, "ask.json"));
    all.predictions.insert(ask.predictions.begin(), ask.predictions.end());
    for (std::size_t i = 0; i < ask.questions.size(); ++i) {
      questions[fmt::format("{}/{}", exercise.part(), i + 1)] = ask.questions[i];
    }
  }
  return all;
}

Table predictions_table(const Workspace& workspace, const ChapterAsk& asked) {
  const std::map<std::string, double>& measured = workspace.state.measured;
  Table table;
  table.title = "Predictions";
  table.columns = {"prediction", "you predicted", "measured", "how near", "question"};
  for (const auto& [name, value] : workspace.state.predictions) {
    const auto question = asked.predictions.find(name);
    const auto shown = measured.find(name);
    table.rows.push_back({name, value, shown == measured.end() ? Value() : Value(shown->second),
                          shown == measured.end() ? "" : nearness(value, shown->second).text,
                          question == asked.predictions.end() ? "" : question->second.ask});
  }
  table.caption = table.rows.empty()
                      ? "Nothing predicted yet. An experiment asks before it shows a number."
                      : "No grades: a prediction that was far off is the one to remember.";
  return table;
}

Table questions_table(const Workspace& workspace,
                      const std::map<std::string, ChapterQuestion>& questions) {
  Table table;
  table.title = "Questions";
  table.columns = {"question", "text", "you chose", "right"};
  for (const auto& [name, option] : workspace.state.questions) {
    const auto found = questions.find(name);
    if (found == questions.end()) continue;
    const ChapterQuestion& question = found->second;
    const std::size_t chosen = std::size_t(option - 1);
    table.rows.push_back(
        {name, question.ask, chosen < question.options.size() ? question.options[chosen] : "",
         option - 1 == question.right ? "yes"
                                      : "no: " + question.because[std::size_t(question.right)]});
  }
  if (table.rows.empty()) {
    table.caption = "No question was answered yet. They come after the exercises of a chapter.";
  }
  return table;
}

}  // namespace

std::string report_page(const Course& course, Workspace& workspace) {
  const Events events = read_attempts(workspace.folder());
  std::map<std::string, ChapterQuestion> questions;
  const ChapterAsk asked = all_asked(course, questions);
  const auto done =
      std::count_if(course.exercises.begin(), course.exercises.end(),
                    [&](const Exercise& exercise) { return workspace.of(exercise).passed; });
  return plain_page(
      "Your course",
      fmt::format("{} of {} exercises are done. This page was made on your machine from your "
                  "workspace; nothing of it was sent anywhere.",
                  done, course.exercises.size()),
      {exercises_table(course, workspace, events), diagnoses_table(course, events),
       predictions_table(workspace, asked), questions_table(workspace, questions)});
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
