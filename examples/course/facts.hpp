// Experiments of the course print their numbers by these functions. A number in a chapter's text
// must agree with one of these lines (tests/checks/chapters.py).
//
// The numbers that a chapter asks to predict stay open until the reader has predicted them. An
// experiment calls part("07/a") before it prints anything from which 07/a could be read. `learn
// run` then asks in a terminal, and names two files:
//
//   HEADROOM_PREDICTIONS   a line for each prediction: its name, question, words that are allowed
//                          instead of a number, and what was predicted, separated by tabs
//   HEADROOM_MEASURED      gets a line for each number shown: name, predicted, measured
//
// Without a terminal, without these files, or with `learn run --all`, everything is printed.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "headroom/base/text.hpp"
#include "headroom/base/written_number.hpp"

/// The number of claims that did not hold; finish() returns it.
inline int& failed_claims() {
  static int count = 0;
  return count;
}

/// A number that the reader may have predicted.
struct Prediction {
  std::string name, question, words, predicted;
};

/// Those of all chapters, empty if `learn run` did not name them.
inline std::vector<Prediction>& predictions() {
  static std::vector<Prediction> all = [] {
    std::vector<Prediction> read;
    const char* path = std::getenv("HEADROOM_PREDICTIONS");
    std::ifstream file(path == nullptr ? "" : path);
    for (std::string line; std::getline(file, line);) {
      std::istringstream fields(line);
      Prediction one;
      std::getline(fields, one.name, '\t');
      std::getline(fields, one.question, '\t');
      std::getline(fields, one.words, '\t');
      std::getline(fields, one.predicted, '\t');
      read.push_back(one);
    }
    return read;
  }();
  return all;
}

inline Prediction* prediction_of(const std::string& name) {
  for (Prediction& one : predictions()) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

/// Whether the text is a number, such as 0.5, 1e-8, 35 % or 1/3, or one of the words ("never,
/// all").
inline bool is_prediction(const std::string& text, const std::string& words) {
  return headroom::written_number(text).has_value() ||
         (", " + words + ",").find(", " + text + ",") != std::string::npos;
}

/// Hides what is printed from now on, or shows it again.
inline void hide_output(bool hide) {
  static const int shown = dup(STDOUT_FILENO);
  static bool hidden = false;
  if (hide == hidden) return;
  std::fflush(stdout);
  const int target = hide ? open("/dev/null", O_WRONLY) : shown;
  dup2(target, STDOUT_FILENO);
  if (hide) close(target);
  hidden = hide;
}

/// The names of the predictions that the reader skipped in this run.
inline std::vector<std::string>& still_open() {
  static std::vector<std::string> names;
  return names;
}

/// Asks for a prediction until the line is one or empty. Returns whether there is one.
inline bool ask(Prediction& one) {
  const std::string question = headroom::wrapped(one.question, 79, 6);
  std::printf("\n%s%s\n", one.name.c_str(), question.c_str() + one.name.size());
  while (true) {
    std::printf("      Your prediction (Enter skips it): ");
    std::fflush(stdout);
    std::string line;
    if (!std::getline(std::cin, line)) std::printf("\n");
    line.erase(0, line.find_first_not_of(" \t"));
    line.erase(line.find_last_not_of(" \t\r") + 1);
    if (line.empty()) return false;
    if (is_prediction(line, one.words)) {
      one.predicted = line;
      return true;
    }
    std::printf("      A number, such as 0.5, 1e-8, 35%% or 1/3%s%s.\n",
                one.words.empty() ? "" : ", or one of: ", one.words.c_str());
  }
}

/// Begins the part of the output that answers these predictions. In a terminal it asks for those
/// that are open. If one is skipped, everything up to the next part is hidden.
template <class... Names>
void part(const Names&... names) {
  hide_output(false);
  bool open = false;
  for (const std::string& name : {std::string(names)...}) {
    Prediction* one = prediction_of(name);
    if (one == nullptr || !one->predicted.empty() || std::getenv("HEADROOM_ASK") == nullptr ||
        isatty(STDIN_FILENO) == 0 || isatty(STDOUT_FILENO) == 0) {
      continue;
    }
    std::vector<std::string>& skipped = still_open();
    if (std::find(skipped.begin(), skipped.end(), name) == skipped.end()) {
      if (ask(*one)) continue;
      skipped.push_back(name);
    }
    open = true;
  }
  hide_output(open);
}

/// Prints "key   value". With the name of a prediction ("07/a"), also what the reader predicted.
inline void fact(const char* key, double value, const char* prediction = "") {
  std::printf(std::floor(value) == value ? "%-32s %.0f" : "%-32s %.3g", key, value);
  const Prediction* one = prediction_of(prediction);
  if (one != nullptr && !one->predicted.empty()) {
    std::printf("   (you predicted %s)", one->predicted.c_str());
    if (const char* path = std::getenv("HEADROOM_MEASURED")) {
      std::ofstream(path, std::ios::app)
          << one->name << '\t' << one->predicted << '\t' << value << '\n';
    }
  }
  std::printf("\n");
}

/// A fact that must lie between two bounds.
inline void claim(const char* key, double value, double least, double most,
                  const char* prediction = "") {
  fact(key, value, prediction);
  if (value >= least && value <= most) return;
  hide_output(false);
  std::printf("  does not hold: %s is %g, expected %g to %g\n", key, value, least, most);
  ++failed_claims();
}

/// Says what stays open. Returns the exit code of the experiment.
inline int finish() {
  hide_output(false);
  if (!still_open().empty()) {
    std::printf("\nStill open:");
    for (const std::string& name : still_open()) std::printf(" %s", name.c_str());
    std::printf(". Run it again to predict, or with --all to see everything.\n");
  }
  return failed_claims();
}
