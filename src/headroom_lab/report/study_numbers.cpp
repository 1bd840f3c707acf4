// Numbers of a study that findings, tables and page share.
#include "report/study_numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "headroom/base/names.hpp"
#include "headroom/train/measures.hpp"
#include "headroom_lab/report/study.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// A measure on the validation or on the test set: "cut.test.loss" for "cut.validation_loss".
std::string on_set(std::string measure, bool test) {
  const std::string cut = measure.starts_with("cut.") ? "cut." : "";
  measure.erase(0, cut.size());
  if (measure.starts_with("test.")) measure.erase(0, 5);
  if (measure == "loss" || measure == "validation_loss") {
    return cut + (test ? "test.loss" : "validation_loss");
  }
  return cut + (test ? "test." : "") + measure;
}

/// The first measure of a declaration on one of these sets, if it is declared there, else `other`.
std::string declared_on(const StudyResults& results, bool test, const std::string& other) {
  const Record& measures = results.declaration.at("measures");
  const std::string name = on_set(measures.at(0).get<std::string>(), test);
  return std::find(measures.begin(), measures.end(), Record(name)) != measures.end() ? name : other;
}

}  // namespace

std::string choice_measure(const StudyResults& results) {
  return declared_on(results, false, results.declaration.at("measures").at(0).get<std::string>());
}

std::string report_measure(const StudyResults& results) {
  return declared_on(results, true, choice_measure(results));
}

std::vector<const StudyContrast*> from_all_heads(const StudyResults& results) {
  const std::string chosen_by = choice_measure(results);
  std::vector<const StudyContrast*> all;
  for (const StudyContrast& contrast : results.contrasts) {
    const bool control = std::find(results.controls.begin(), results.controls.end(),
                                   contrast.arm) != results.controls.end();
    if (contrast.measure != chosen_by || contrast.against != name_of(StudyControl::none) ||
        control) {
      continue;
    }
    all.push_back(&contrast);
  }
  return all;
}

double scale_of(const std::string& measure) { return is_share(measure) ? 100 : 1; }

std::string measure_title(const std::string& measure) {
  return measure_in_words(measure) + (is_share(measure) ? " (%)" : "");
}

bool StudyGroup::has(Index condition) const {
  return std::find(conditions.begin(), conditions.end(), condition) != conditions.end();
}

std::vector<StudyGroup> groups_of(const StudyResults& results) {
  std::vector<StudyGroup> all;
  for (std::size_t c = 0; c < results.conditions.size(); ++c) {
    std::string text;
    for (const auto& [name, level] : results.levels[c]) {
      if (name == "prune") continue;
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, plain_text(level));
    }
    const auto known = std::find_if(all.begin(), all.end(),
                                    [&](const StudyGroup& group) { return group.text == text; });
    if (known != all.end()) {
      known->conditions.push_back(Index(c));
    } else {
      all.push_back({text, {Index(c)}});
    }
  }
  return all;
}

std::string measure_in_words(const std::string& measure) {
  std::string name = measure.substr(measure.rfind('.') + 1);
  const bool test = measure.find("test.") != std::string::npos;
  for (const Measure& quality : quality_measures) {
    if (name == quality.key) name = quality.name;
  }
  if (name == "validation_loss") name = "validation loss";
  if (name == "loss") name = "loss";
  return name + (test ? " on the test set" : "") +
         (measure.starts_with("cut.") ? ", right after the last removal" : "");
}

std::string study_warning(const StudyResults& results) {
  Index unlearned = 0;
  const StudyTaskCheck* known = nullptr;
  for (const StudyTaskCheck& run : results.task_checks) {
    if (run.learned()) continue;
    ++unlearned;
    if (run.check && known == nullptr) known = &run;
  }
  if (unlearned == 0) return "";
  if (known == nullptr) {
    return fmt::format(
        "It is not known whether the models have learned the task: a version that did not check it "
        "trained {} of {} models with all heads; run the study anew in another folder",
        unlearned, results.task_checks.size());
  }
  return fmt::format(
      "The models have not learned the task: with all heads, {} of {} are not clearly better than "
      "the best constant answer (seed {}: {})",
      unlearned, results.task_checks.size(), known->seed, known->check->text());
}

std::vector<AcceptableLoss> acceptable_losses(const StudyResults& results) {
  if (!study_warning(results).empty()) return {};
  const std::string chosen_by = choice_measure(results);
  const double acceptable = results.declaration.value("acceptable_loss", 0.01);
  std::vector<AcceptableLoss> all;
  for (const StudyContrast* contrast : from_all_heads(results)) {
    if (!contrast->decides()) continue;
    const double lost =
        higher_is_better(chosen_by) ? -contrast->interval->low : contrast->interval->high;
    if (lost > acceptable) continue;
    for (const StudyMean& mean : results.means) {
      if (mean.condition == contrast->condition && mean.arm == contrast->arm &&
          mean.measure == chosen_by) {
        all.push_back({contrast->condition, contrast->arm, mean.heads});
      }
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const AcceptableLoss& a, const AcceptableLoss& b) {
    return a.heads < b.heads;
  });
  return all;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
