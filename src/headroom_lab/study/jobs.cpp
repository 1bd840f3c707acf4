// The jobs of a study.
#include "study/jobs.hpp"

#include <fmt/format.h>

#include <map>

#include "headroom/base/names.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

std::vector<StudyJob> jobs_of(const StudyDeclaration& declaration, const StudyPlan& plan) {
  std::vector<StudyJob> jobs;
  std::map<std::string, std::size_t> trunks, scores, cells;
  for (std::size_t i = 0; i < plan.trunks.size(); ++i) {
    const std::string& key = plan.trunks[i].key;
    trunks[key] = jobs.size();
    jobs.push_back({StudyJob::Kind::trunk, "trunk-" + key, i, {}, declaration.trunk.until});
  }
  for (std::size_t i = 0; i < plan.trunks.size(); ++i) {
    const std::string& key = plan.trunks[i].key;
    scores[key] = jobs.size();
    jobs.push_back({StudyJob::Kind::scores, "scores-" + key, i, {trunks.at(key)}});
  }
  for (std::size_t i = 0; i < plan.cells.size(); ++i) {
    const StudyCell& cell = plan.cells[i];
    StudyJob job{StudyJob::Kind::cell,
                 "cell-" + cell.key,
                 i,
                 {trunks.at(cell.trunk)},
                 steps_of(cell, declaration)};
    if (cell.control == StudyControl::costliest_first) job.needs.push_back(scores.at(cell.trunk));
    if (!cell.reference.empty()) job.needs.push_back(cells.at(cell.reference));
    cells[cell.key] = jobs.size();
    jobs.push_back(std::move(job));
  }
  return jobs;
}

std::filesystem::path result_of(const StudyJob& job, const StudyPlan& plan,
                                const StudyFolder& folder) {
  switch (job.kind) {
    case StudyJob::Kind::trunk: return folder.trunk(plan.trunks[job.index].key) / "summary.json";
    case StudyJob::Kind::scores: return folder.scores(plan.trunks[job.index].key);
    case StudyJob::Kind::cell: break;
  }
  return folder.cell(plan.cells[job.index].key) / "summary.json";
}

std::string title_of(const StudyJob& job, const StudyPlan& plan) {
  const auto data = [&](Index seed, Index fold) {
    const bool folds = plan.trunks.back().fold > 0;
    return fmt::format("seed {}{}", seed, folds ? fmt::format(", fold {}", fold + 1) : "");
  };
  if (job.kind != StudyJob::Kind::cell) {
    const TrunkPlan& trunk = plan.trunks[job.index];
    return fmt::format("{}: {}", data(trunk.seed, trunk.fold),
                       job.kind == StudyJob::Kind::trunk ? "trunk" : "importance");
  }
  const StudyCell& cell = plan.cells[job.index];
  for (const StudyEntry& entry : plan.entries) {
    if (entry.cell != cell.key) continue;
    const std::string condition = plan.conditions[entry.condition].text();
    return fmt::format("{}{}{}: {}{}", data(cell.seed, cell.fold), condition.empty() ? "" : ", ",
                       condition, entry.arm,
                       cell.draw > 0 ? fmt::format(" {}", cell.draw + 1) : "");
  }
  return cell.key;
}

Words command_of(const StudyJob& job, const StudyDeclaration& declaration, const StudyPlan& plan,
                 const StudyFolder& folder) {
  switch (job.kind) {
    case StudyJob::Kind::trunk: return trunk_command(plan.trunks[job.index], declaration, folder);
    case StudyJob::Kind::scores:
      return scores_command(plan.trunks[job.index], declaration,
                            folder.checkpoint(plan.trunks[job.index].key));
    case StudyJob::Kind::cell: break;
  }
  return cell_command(plan.cells[job.index], declaration, folder);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
