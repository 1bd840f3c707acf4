// The learner's predictions: names, the files of experiments, and how near they were.
#include "course/learn_predictions.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <sstream>

#include "course/learn_attempts.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/base/text.hpp"
#include "headroom/base/written_number.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom_lab/blocks/table.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

std::string joined(const std::vector<std::string>& words, const std::string& between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

}  // namespace

std::map<std::string, AskedPrediction> known_predictions(const Course& course) {
  std::map<std::string, AskedPrediction> known;
  std::string last;
  for (const Exercise& exercise : course.exercises) {
    if (exercise.chapter == last) continue;
    last = exercise.chapter;
    known.merge(read_ask(course.chapter(exercise)).predictions);
  }
  return known;
}

std::string checked_prediction(const Course& course, const std::string& name,
                               const std::string& value) {
  const std::string id = name.size() == 3 && name[1] == '/' ? "0" + name : name;
  const auto known = known_predictions(course);
  const auto found = known.find(id);
  if (found == known.end()) {
    std::vector<std::string> names;
    const std::string chapter = id.substr(0, id.find('/') + 1);
    for (const bool of_chapter : {true, false}) {  // all, if the chapter has none
      if (!names.empty()) break;
      for (const auto& [other, asked] : known) {
        if (of_chapter && (chapter.empty() || !other.starts_with(chapter))) continue;
        names.push_back(other);
      }
    }
    throw UsageError(
        fmt::format("there is no prediction \"{}\"; there are {}", name, joined(names, ", ")));
  }
  const std::vector<std::string>& words = found->second.words;
  if (!written_number(value) && std::find(words.begin(), words.end(), value) == words.end()) {
    std::string other;
    for (const std::string& word : words) other += fmt::format(" or \"{}\"", word);
    throw UsageError(fmt::format(
        "the prediction {} must be a number, such as 0.5, 1e-8, 35% or 1/3{}, not \"{}\"", id,
        other, value));
  }
  return id;
}

PredictionFiles write_predictions(const Course& course, const Workspace& workspace) {
  std::string lines;
  for (const auto& [id, asked] : known_predictions(course)) {
    const auto predicted = workspace.state.predictions.find(id);
    lines += fmt::format("{}\t{}\t{}\t{}\n", id, asked.ask, joined(asked.words, ", "),
                         predicted == workspace.state.predictions.end() ? "" : predicted->second);
  }
  PredictionFiles files{workspace.build() / "predictions.txt",
                        workspace.build() / fmt::format("measured.{}", getpid())};
  fs::create_directories(workspace.build());
  write_file(files.asked, lines);
  fs::remove(files.measured);
  return files;
}

void read_measured(const Course& course, const PredictionFiles& files) {
  if (!fs::exists(files.measured)) return;
  Workspace workspace(course);  // as it is now: other commands may have changed it
  std::istringstream lines(read_file(files.measured));
  std::string id, predicted, value;
  while (std::getline(lines, id, '\t') && std::getline(lines, predicted, '\t') &&
         std::getline(lines, value)) {
    workspace.state.predictions[id] = predicted;
    const std::optional<double> number = written_number(value);
    if (number) workspace.state.measured[id] = *number;
    note_prediction(workspace, id, predicted, number);
  }
  workspace.save();
  fs::remove(files.measured);
}

Nearness nearness(const std::string& predicted, double measured) {
  std::optional<double> number = written_number(predicted);
  if (!number) return {"a word", false};
  const double share = *number / 100;  // "35 %" beside 0.35
  if (predicted.ends_with('%') && std::abs(share - measured) < std::abs(*number - measured)) {
    number = share;
  }
  if (std::abs(*number - measured) <= 0.01 * std::abs(measured)) return {"the same", true};
  if (measured != 0 && *number != 0 && std::signbit(*number) != std::signbit(measured)) {
    return {"of the other sign", false};
  }
  const char* side = std::abs(*number) > std::abs(measured) ? "large" : "small";
  if (measured == 0 || *number == 0) return {fmt::format("too {}", side), false};
  const double ratio = *number / measured, times = std::max(ratio, 1 / ratio);
  if (times >= 2) return {fmt::format("{:.2g} times too {}", times, side), times == 2};
  return {fmt::format("{:.0f} % too {}", 100 * std::abs(ratio - 1), side), true};
}

std::string predictions_text(const Course& course, const Workspace& workspace,
                             const std::string& chapter, const TerminalStyle& style) {
  const auto all = known_predictions(course);
  std::set<std::string> chapters;
  for (const auto& [id, asked] : all) chapters.insert(id.substr(0, 2));
  const std::string number = (chapter.size() == 1 ? "0" : "") + chapter;
  if (!chapter.empty() && !chapters.contains(number)) {
    throw UsageError(
        fmt::format("there is no chapter \"{}\"; give its number: {} learn predictions 07", chapter,
                    invocation()));
  }
  Table table{.columns = {"", "predicted", "measured", "the prediction is"}};
  std::vector<std::string> open;
  std::set<std::string> begun{number};  // other chapters' open predictions are no news
  for (const auto& [id, value] : workspace.state.predictions) begun.insert(id.substr(0, 2));
  Index shown = 0, near = 0;
  for (const auto& [id, asked] : all) {
    if (!chapter.empty() && !id.starts_with(number)) continue;
    if (!begun.contains(id.substr(0, 2))) continue;
    const auto predicted = workspace.state.predictions.find(id);
    if (predicted == workspace.state.predictions.end()) {
      open.push_back(id);
      continue;
    }
    const auto measured = workspace.state.measured.find(id);
    const bool known = measured != workspace.state.measured.end();
    const Nearness how =
        known ? nearness(predicted->second, measured->second) : Nearness{"not run yet"};
    table.rows.push_back({Value(id), Value(predicted->second),
                          Value(known ? fmt::format("{:.3g}", measured->second) : "-"),
                          Value(how.text)});
    shown += known ? 1 : 0;
    near += how.near ? 1 : 0;
  }
  if (table.rows.empty()) {
    return wrapped(fmt::format(
                       "No prediction yet. An experiment asks for them: {} learn run first_light",
                       invocation()),
                   style.columns) +
           "\n";
  }
  std::string text = table_text(table, style);
  if (shown > 0) text += fmt::format("\n{} of {} within a factor of 2.\n", near, shown);
  if (!open.empty()) text += wrapped("Still open: " + joined(open, ", "), style.columns) + "\n";
  return text;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
