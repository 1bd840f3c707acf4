// The numbers that an experiment of the course prints and claims. A number in a chapter's text must
// agree with one of these lines (tests/checks/chapters.py).
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

/// The number of claims that did not hold; main() returns it as its exit code.
inline int& failed_claims() {
  static int count = 0;
  return count;
}

/// Prints "key   value". With the id of a prediction ("07/a"), also what the learner wrote down
/// with `learn predict`: HEADROOM_PREDICTIONS names a file of lines "07/a 1e-8".
inline void fact(const char* key, double value, const char* prediction = "") {
  std::printf(std::floor(value) == value ? "%-32s %.0f" : "%-32s %.3g", key, value);
  const char* path = std::getenv("HEADROOM_PREDICTIONS");
  if (path != nullptr && *prediction != '\0') {
    std::ifstream file(path);
    for (std::string id, predicted; file >> id && std::getline(file >> std::ws, predicted);) {
      if (id == prediction) std::printf("   (you predicted %s)", predicted.c_str());
    }
  }
  std::printf("\n");
}

/// A fact that must lie between two bounds.
inline void claim(const char* key, double value, double least, double most,
                  const char* prediction = "") {
  fact(key, value, prediction);
  if (value >= least && value <= most) return;
  std::printf("  does not hold: expected %g to %g\n", least, most);
  ++failed_claims();
}
