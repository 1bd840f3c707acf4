// Predictions before the experiments of the course. Their questions are in the chapters' ask.json;
// the experiments ask them (examples/course/facts.hpp).
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "course/learn_ask.hpp"
#include "course/learn_course.hpp"
#include "course/learn_workspace.hpp"
#include "headroom/base/terminal.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The predictions of all chapters by their names, "07/a".
std::map<std::string, AskedPrediction> known_predictions(const Course& course);

/// The name of a prediction, "07/a" for "7/a". Throws UsageError, with the names that there are,
/// for an unknown one, and for a value that is neither a number, such as 0.5, 1e-8, 35% or 1/3, nor
/// an allowed word.
std::string checked_prediction(const Course& course, const std::string& name,
                               const std::string& value);

/// The two files through which an experiment knows of predictions (examples/course/facts.hpp).
struct PredictionFiles {
  std::filesystem::path asked, measured;
};
/// Writes the first of them, with the questions and what the learner has predicted.
PredictionFiles write_predictions(const Course& course, const Workspace& workspace);
/// Adds what an experiment wrote to the second file to the learner's state, and saves that. Does
/// nothing without such a file.
void read_measured(const Course& course, const PredictionFiles& files);

/// The distance of a prediction, "1e-8", "35 %", "1/3" or a word, from the measured number.
struct Nearness {
  std::string text;   // "the same", "12 % too small", "3 times too large", "a word"
  bool near = false;  // within a factor of 2
};
Nearness nearness(const std::string& predicted, double measured);

/// The learner's predictions beside the measured numbers, those of one chapter ("07") or all: how
/// near each of them is, and no grade.
std::string predictions_text(const Course& course, const Workspace& workspace,
                             const std::string& chapter, const TerminalStyle& style);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
