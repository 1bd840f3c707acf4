// Collects the records of a study's jobs.
#include "headroom_lab/study/provenance.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "headroom/io/atomic_file.hpp"
#include "headroom/io/checksums.hpp"
#include "headroom_lab/study/results.hpp"
#include "headroom_lab/study/work.hpp"
#include "study/jobs.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Adds a value to a sorted list that has each value once.
template <class T>
void add(std::vector<T>& list, const T& value) {
  const auto place = std::lower_bound(list.begin(), list.end(), value);
  if (place == list.end() || *place != value) list.insert(place, value);
}

void add_work(StudyProvenance& to, const std::string& job, const StudyWork& work) {
  add(to.versions, work.version);
  if (!work.study.empty()) add(to.commands, work.study);
  add(to.machines, work.machine);
  add(to.processors, work.processor);
  add(to.blas, work.blas);
  add(to.threads, work.threads);
  if (to.from.empty() || work.finished < to.from) to.from = work.finished;
  to.to = std::max(to.to, work.finished);
  to.seconds += work.seconds;
  if (work.resumed) ++to.resumed;
  to.runs[job] = {work.seconds, work.resumed, work.finished, work.machine, work.processor};
}

/// The processors of an arm's runs by seed, and those that have no record as "".
using ModelsBySeed = std::map<Index, std::set<std::string>>;

ModelsBySeed processors_of(const std::string& arm, Index condition, const StudyResults& results) {
  ModelsBySeed processors;
  for (const StudyRole& role : results.roles) {
    if (role.arm != arm || role.condition != condition) continue;
    const auto cell = std::find_if(results.cells.begin(), results.cells.end(),
                                   [&](const CellResult& c) { return c.key == role.cell; });
    const auto run = results.provenance.runs.find("cell-" + role.cell);
    if (cell == results.cells.end() || run == results.provenance.runs.end()) continue;
    processors[cell->seed].insert(run->second.processor);
  }
  return processors;
}

}  // namespace

StudyProvenance provenance_of(const StudyDeclaration& declaration, const StudyPlan& plan,
                              const std::filesystem::path& path) {
  const StudyFolder folder{path};
  StudyProvenance provenance;
  if (std::filesystem::exists(folder.declaration())) {
    provenance.declaration = "fnv1a64:" + checksum(read_file(folder.declaration()));
  }
  for (const StudyJob& job : jobs_of(declaration, plan)) {
    if (!std::filesystem::exists(result_of(job, plan, folder))) continue;
    if (const std::optional<StudyWork> work = read_work(folder.work(job.name))) {
      add_work(provenance, job.name, *work);
    } else {
      ++provenance.unrecorded;
    }
  }
  provenance.latency = read_latency(path);
  return provenance;
}

std::string processors_warning(const StudyResults& results) {
  if (results.provenance.processors.size() < 2) return "";
  const bool any_family = std::any_of(results.contrasts.begin(), results.contrasts.end(),
                                      [](const StudyContrast& c) { return c.in_family; });
  Index compared = 0, confounded = 0;
  std::set<std::string> models;
  for (const StudyContrast& contrast : results.contrasts) {
    if (any_family && !contrast.in_family) continue;
    ++compared;
    const ModelsBySeed arm = processors_of(contrast.arm, contrast.condition, results),
                       against = processors_of(contrast.against, contrast.condition, results);
    bool differ = false;
    for (const auto& [seed, processors] : arm) {
      const auto other = against.find(seed);
      if (other == against.end() || other->second == processors) continue;
      differ = true;
      for (const auto& part : {processors, other->second}) models.insert(part.begin(), part.end());
    }
    if (differ) ++confounded;
  }
  if (confounded == 0) return "";
  return fmt::format(
      "Arms are confounded with processors: in {} of {} comparisons, runs of the same seed were "
      "trained on different models ({})",
      confounded, compared, fmt::join(models, "; "));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
