// Experiment: a question, and a function that answers it with numbers and asserts them.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "headroom_lab/lab/lab_record.hpp"
#include "headroom_lab/lab/notebook.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The sizes that an experiment accepts. The heads must also divide the width.
struct LabLimits {
  Index least_heads = 1, most_heads = 64;
  Index least_head_dim = 1;
  Index most_width = 1024;
};

/// One file of src/headroom_lab/lab/experiments/, one line of the registry in
/// src/headroom_lab/lab/experiments.cpp.
struct Experiment {
  std::string name;  // as typed: "head-slices"
  /// Source of the question: "a forum thread on pruning the heads of BERT"; "" if there is none.
  std::string asked_in = {};
  std::string title;     // one line, for lists
  std::string question;  // in one sentence
  /// Other words in which the question is asked, for experiments_about().
  std::string words = {};
  /// The smallest program that shows the answer. The registry fills it in from
  /// examples/lab/NAME.cpp.
  std::string program = {};
  /// The answer in one sentence, of an experiment with a program in PyTorch.
  std::string sentence = {};
  /// That program. The registry fills it in from `sentence`, examples/lab/NAME.py and NAME.txt.
  std::optional<LabTwin> twin = {};
  std::string computed;  // the procedure, in a few sentences
  std::vector<std::string> formulas;
  LabOptions defaults;  // the sizes in the question, if it names some
  LabLimits limits;
  /// Writes blocks, claims and the answer. Options are complete and admissible. Random numbers come
  /// from Rng(options.seed, ...) only, so that a run can be repeated.
  void (*run)(const LabOptions& options, Notebook& book);

  /// Heading of the experiment's group in lists.
  const char* group() const {
    return asked_in.empty() ? "questions about gradients and training"
                            : "questions from forums and courses";
  }
};

/// Returns all experiments: those with `asked_in` first, then the others.
const std::deque<Experiment>& experiments();
/// Appends an experiment that a program defines itself. Must be called before the first call of
/// experiments(). Throws UsageError for a name that is taken.
void add_experiment(Experiment experiment);
/// Finds an experiment by name. Throws UsageError for an unknown name, with the nearest known one.
const Experiment& find_experiment(const std::string& name);

/// Fills in the experiment's default sizes where none were given (also for heads if only the width
/// was given, and the reverse). Throws UsageError for sizes that it does not accept.
LabOptions completed(const Experiment& experiment, LabOptions options);

/// Runs an experiment in this build's precision. Throws UsageError as completed() does.
LabRecord run_experiment(const Experiment& experiment, const LabOptions& options);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
