// The registry: every experiment has one file in experiments/ and one line here.
#include <fmt/format.h>

#include <chrono>

#include "headroom/base/error.hpp"
#include "headroom/base/registry.hpp"
#include "headroom_lab/lab/experiment.hpp"
#include "lab/programs.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Experiment head_slices_experiment();
Experiment layouts_experiment();
Experiment shared_head_experiment();
Experiment head_count_experiment();
Experiment d2l_experiment();
Experiment single_vs_multi_experiment();
Experiment head_count_training_experiment();
Experiment transplant_experiment();
Experiment rounding_experiment();
Experiment init_experiment();
Experiment optimizers_experiment();
Experiment clipping_experiment();
Experiment symmetry_experiment();
Experiment dead_parameters_experiment();
Experiment shared_head_training_experiment();
Experiment euler_experiment();
Experiment importance_over_training_experiment();
Experiment planted_heads_experiment();
Experiment groups_experiment();
Experiment jacobian_experiment();
Experiment dropout_streams_experiment();
Experiment speed_of_layouts_experiment();

namespace {

constexpr Experiment (*registry[])() = {
    // questions from forums and courses
    head_slices_experiment, layouts_experiment, shared_head_experiment, head_count_experiment,
    d2l_experiment, single_vs_multi_experiment, head_count_training_experiment,
    // questions about gradients and training
    transplant_experiment, rounding_experiment, init_experiment, optimizers_experiment,
    clipping_experiment, symmetry_experiment, dead_parameters_experiment,
    shared_head_training_experiment, euler_experiment, importance_over_training_experiment,
    planted_heads_experiment, groups_experiment, jacobian_experiment, dropout_streams_experiment,
    speed_of_layouts_experiment};

Registry<Experiment>& all_experiments() {
  static Registry<Experiment> all("experiment", [] {
    std::deque<Experiment> list;
    for (const auto make : registry) {
      list.push_back(make());
      Experiment& made = list.back();
      made.program = lab_example(made.name + ".cpp");
      if (made.sentence.empty()) continue;
      made.twin = LabTwin{made.sentence, std::string(lab_example(made.name + ".py")),
                          std::string(lab_example(made.name + ".txt"))};
    }
    return list;
  }());
  return all;
}

/// " (try 4 or 6)": the nearest divisors of the width around `heads` that are admissible.
std::string divisors_near(const Experiment& experiment, Index width, Index heads) {
  const LabLimits& limits = experiment.limits;
  const auto fits = [&](Index h) {
    return h >= limits.least_heads && h <= limits.most_heads && h >= 1 && width % h == 0 &&
           width / h >= limits.least_head_dim;
  };
  std::string text;
  for (Index h = heads; h >= 1 && text.empty(); --h) {
    if (fits(h)) text = std::to_string(h);
  }
  for (Index h = heads + 1; h <= limits.most_heads; ++h) {
    if (!fits(h)) continue;
    text += (text.empty() ? "" : " or ") + std::to_string(h);
    break;
  }
  return text.empty() ? "" : fmt::format(" (try {})", text);
}

}  // namespace

const std::deque<Experiment>& experiments() { return all_experiments().all(); }
void add_experiment(Experiment experiment) { all_experiments().add(std::move(experiment)); }

const Experiment& find_experiment(const std::string& name) {
  if (const Experiment* const found = all_experiments().find(name)) return *found;
  const std::string near = did_you_mean(name, all_experiments().names());
  throw UsageError(
      fmt::format("no experiment \"{}\"{}", name, near.empty() ? " (lab list shows all)" : near));
}

LabOptions completed(const Experiment& experiment, LabOptions options) {
  const LabLimits& limits = experiment.limits;
  if (options.width == 0) options.width = experiment.defaults.width;
  if (options.heads == 0) options.heads = experiment.defaults.heads;
  const auto refuse = [&](const std::string& why) {
    throw UsageError(fmt::format("{}: {}", experiment.name, why));
  };
  const Index width = options.width, heads = options.heads;
  if (width < 1 || width > limits.most_width) {
    refuse(fmt::format("width {} is not in 1 to {}", width, limits.most_width));
  }
  if (heads < limits.least_heads || heads > limits.most_heads) {
    refuse(
        fmt::format("heads {} is not in {} to {}", heads, limits.least_heads, limits.most_heads));
  }
  if (width % heads != 0) {
    refuse(fmt::format("heads {} must divide width {}{}", heads, width,
                       divisors_near(experiment, width, heads)));
  }
  if (options.head_dim() < limits.least_head_dim) {
    refuse(fmt::format("width {} over heads {} leaves {} features a head, needed are {}", width,
                       heads, options.head_dim(), limits.least_head_dim));
  }
  return options;
}

LabRecord run_experiment(const Experiment& experiment, const LabOptions& given) {
  const auto began = std::chrono::steady_clock::now();
  LabRecord record;
  record.name = experiment.name;
  record.title = experiment.title;
  record.asked_in = experiment.asked_in;
  record.group = experiment.group();
  record.question = experiment.question;
  record.program = experiment.program;
  record.twin = experiment.twin;
  record.computed = experiment.computed;
  record.formulas = experiment.formulas;
  record.options = completed(experiment, given);
  Notebook book;
  experiment.run(record.options, book);
  book.write_into(record);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - began;
  record.seconds[record.precisions.front()] = seconds.count();
  return record;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
