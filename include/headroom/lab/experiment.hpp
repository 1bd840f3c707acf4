// Experiment: a question, and a function that answers it with numbers and asserts them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "headroom/lab/lab_record.hpp"
#include "headroom/lab/notebook.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The sizes that an experiment accepts. The heads must also divide the width.
struct LabLimits {
  Index least_heads = 1, most_heads = 64;
  Index least_head_dim = 1;
  Index most_width = 1024;
};

/// One file of src/lab/experiments/, one line of the registry in src/lab/experiments.cpp.
struct Experiment {
  std::string name;  // as typed: "head-slices"
  /// The place where it is asked: "a forum thread on pruning the heads of BERT"; "" when nowhere.
  std::string asked_in = {};
  std::string title;     // one line, for lists
  std::string question;  // as it is asked there, if it is
  std::string computed;  // the procedure, in a few sentences
  std::vector<std::string> formulas;
  LabOptions defaults;  // the sizes in the question, if it names some
  LabLimits limits;
  /// Writes blocks, claims and the answer. Options are complete and admissible. What it draws comes
  /// from Rng(options.seed, ...) alone, so that it can be repeated.
  void (*run)(const LabOptions& options, Notebook& book);

  /// The heading under which lists show it.
  const char* group() const {
    return asked_in.empty() ? "the gradient laboratory" : "asked on forums and in courses";
  }
};

/// All experiments: those that somebody has asked, then the others.
std::span<const Experiment> experiments();
/// Adds one of a program's own at the end, before anybody has asked for experiments(). Throws
/// UsageError for a name that is taken.
void add_experiment(Experiment experiment);
/// Throws UsageError for a name that does not exist, with the nearest that does.
const Experiment& find_experiment(const std::string& name);

/// The options with the experiment's own sizes where none were given (when only one of width and
/// heads was given, the other stays its own). Throws UsageError for sizes that it does not take:
/// `head-slices: --heads 5 must divide --width 768 (try 4 or 6)`.
LabOptions completed(const Experiment& experiment, LabOptions options);

/// Runs an experiment in this build's precision. Throws UsageError as completed() does.
LabRecord run_experiment(const Experiment& experiment, const LabOptions& options);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
