// Numbers of a study that findings and page share.
#include "report/study_numbers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headroom/base/names.hpp"
#include "headroom/train/measures.hpp"
#include "headroom_lab/report/study.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

std::vector<const StudyContrast*> from_all_heads(const StudyResults& results) {
  const auto first = results.declaration.at("measures").at(0).get<std::string>();
  std::vector<const StudyContrast*> all;
  for (const StudyContrast& contrast : results.contrasts) {
    const bool control = std::find(results.controls.begin(), results.controls.end(),
                                   contrast.arm) != results.controls.end();
    if (contrast.measure != first || contrast.against != name_of(StudyControl::none) || control) {
      continue;
    }
    all.push_back(&contrast);
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
  const auto first = results.declaration.at("measures").at(0).get<std::string>();
  const double acceptable = results.declaration.value("acceptable_loss", 0.01);
  std::vector<AcceptableLoss> all;
  for (const StudyContrast* contrast : from_all_heads(results)) {
    if (!contrast->decides()) continue;
    const double lost =
        higher_is_better(first) ? -contrast->interval->low : contrast->interval->high;
    if (lost > acceptable) continue;
    for (const StudyMean& mean : results.means) {
      if (mean.condition == contrast->condition && mean.arm == contrast->arm &&
          mean.measure == first) {
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
