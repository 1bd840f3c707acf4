// The command lines of a study's runs, and the heads that controls remove.
#include "study/commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "headroom/base/error.hpp"
#include "headroom/base/head_list.hpp"
#include "headroom/base/names.hpp"
#include "headroom/base/rng.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/json.hpp"
#include "headroom/nn/models.hpp"
#include "headroom/train/checkpoint.hpp"
#include "headroom_measure/importance/budget.hpp"
#include "headroom_measure/pruning/pruner.hpp"
#include "headroom_runs/runs/folds.hpp"
#include "study/head_scores_file.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

std::vector<HeadId> shuffled(std::vector<HeadId> heads, Rng rng) {
  shuffle(heads, rng);
  return heads;
}

/// The heads that another cell removed.
std::vector<HeadId> removed_in(const std::string& key, const StudyFolder& folder) {
  const std::string file = (folder.cell(key) / "summary.json").string();
  const Record summary = parse_json(read_file(file), file);
  std::vector<HeadId> removed;
  if (!summary.is_object() || !summary.contains("heads")) return removed;
  for (const auto& head : struct_of<std::vector<HeadHistory>>(summary["heads"], file + ": heads")) {
    if (head.removed_at) removed.push_back(head.id);
  }
  return removed;
}

/// The heads of a trunk, in descending order of their cost of removal.
std::vector<HeadId> costliest(const std::string& trunk, const StudyFolder& folder) {
  const HeadScoresFile scores = head_scores_in(folder.scores(trunk));
  std::vector<HeadId> heads;
  for (const HeadHistory& head : scores.heads) heads.push_back(head.id);
  std::map<HeadId, double> cost;
  for (const HeadScoresFile::Metric& metric : scores.metrics) {
    if (metric.name != "leave_one_out") continue;
    for (std::size_t i = 0; i < heads.size(); ++i) cost[heads[i]] = metric.scores[i];
  }
  std::stable_sort(heads.begin(), heads.end(),
                   [&](const HeadId& a, const HeadId& b) { return cost[a] > cost[b]; });
  return heads;
}

/// Chooses `remove` heads, as evenly as possible from all attentions.
std::vector<HeadId> spread(const std::vector<HeadId>& heads, Index remove) {
  std::map<AttentionLocation, std::vector<HeadId>> left;
  for (const HeadId& head : heads) left[{head.kind, head.layer}].push_back(head);
  std::vector<HeadId> removed;
  while (Index(removed.size()) < remove) {
    const auto fullest = std::max_element(
        left.begin(), left.end(),
        [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    removed.push_back(fullest->second.back());
    fullest->second.pop_back();
  }
  return removed;
}

/// The heads that a control removes, or that its model lacks from the start.
std::vector<HeadId> heads_of(const StudyCell& cell, const StudyFolder& folder) {
  const SavedModel trunk = load_model(folder.checkpoint(cell.trunk));
  const std::vector<HeadId> all = live_heads(*trunk.model);
  if (cell.remove > Index(all.size())) {
    throw UsageError(fmt::format("a control cannot remove {} of {} heads; lower removal.prune",
                                 cell.remove, all.size()));
  }
  const Rng rng(static_cast<std::uint64_t>(cell.seed), "random heads of a study",
                static_cast<std::uint64_t>(cell.draw));
  switch (*cell.control) {
    case StudyControl::none: return {};
    case StudyControl::random:
      return first_allowed(*trunk.model, shuffled(all, rng), cell.remove,
                           cell.settings().pruning.budget);
    case StudyControl::same_allocation: {
      std::map<AttentionLocation, Index> room;
      for (const HeadId& head : removed_in(cell.reference, folder)) ++room[{head.kind, head.layer}];
      std::vector<HeadId> heads = shuffled(all, rng);
      std::erase_if(heads, [&](const HeadId& head) {
        return room[{head.kind, head.layer}]-- <= 0;
      });
      return heads;
    }
    case StudyControl::costliest_first:
      return first_allowed(*trunk.model, costliest(cell.trunk, folder), cell.remove,
                           cell.settings().pruning.budget);
    case StudyControl::same_mask_reinitialised: return removed_in(cell.reference, folder);
    case StudyControl::small_from_start: return spread(all, cell.remove);
  }
  return {};
}

/// The command that begins a run in a folder, or continues the run of the folder.
Words train(const std::filesystem::path& folder, const GivenSettings& options, Words data,
            Words more) {
  const std::string out = folder.string();
  if (std::filesystem::exists(folder / "config.json")) {
    return {"train", "--out", out, "--resume", "--threads", "1"};
  }
  Words words{"train", "--out", out, "--force", "--threads", "1", "--no-page"};
  for (Words part : {words_of(options), std::move(data), std::move(more)}) {
    words.insert(words.end(), part.begin(), part.end());
  }
  return words;
}

}  // namespace

Words words_of(const GivenSettings& options) {
  Words words;
  for (const auto& [name, value] : options) {
    if (value.is_boolean()) {
      if (value.get<bool>()) words.push_back(option_text(name));
      continue;
    }
    words.push_back(option_text(name));
    words.push_back(plain_text(value));
  }
  return words;
}

Words data_words(Index seed, Index fold, const StudyDeclaration& declaration) {
  Words words{"--seed", std::to_string(seed)};
  if (declaration.folds > 1) {
    words.insert(words.end(), {"--fold", Fold{fold + 1, declaration.folds}.text()});
  }
  return words;
}

Words trunk_command(const TrunkPlan& trunk, const StudyDeclaration& declaration,
                    const StudyFolder& folder) {
  return train(folder.trunk(trunk.key), trunk.options,
               data_words(trunk.seed, trunk.fold, declaration),
               {"--until", std::to_string(declaration.trunk.until), "--no-test"});
}

Words scores_command(const TrunkPlan& trunk, const StudyDeclaration& declaration,
                     const std::string& checkpoint) {
  const StudyImportance& importance = declaration.importance;
  std::string metrics = importance.metrics;
  const bool costs = std::find(declaration.controls.begin(), declaration.controls.end(),
                               StudyControl::costliest_first) != declaration.controls.end();
  if (costs && metrics != "all" && metrics.find("leave_one_out") == std::string::npos) {
    metrics += ",leave_one_out";
  }
  Words words{"importance",
              "--model",
              checkpoint,
              "--metric",
              metrics,
              "--examples",
              std::to_string(importance.examples),
              "--seed",
              std::to_string(trunk.seed),
              "--threads",
              "1",
              "--json"};
  if (importance.oracle) words.emplace_back("--oracle");
  return words;
}

bool measures(const StudyDeclaration& declaration, const char* part) {
  return std::any_of(
      declaration.measures.begin(), declaration.measures.end(),
      [&](const std::string& measure) { return measure.find(part) != measure.npos; });
}

Words cell_command(const StudyCell& cell, const StudyDeclaration& declaration,
                   const StudyFolder& folder) {
  Words more;
  if (!measures(declaration, "test.")) more.emplace_back("--no-test");
  if (measures(declaration, "cut.")) more.emplace_back("--measure-cut");
  if (cell.branches()) {
    more.insert(more.end(), {"--branch", folder.trunk(cell.trunk).string()});
  }
  if (cell.control == StudyControl::same_mask_reinitialised) {
    more.insert(more.end(), {"--init", "1"});
  }
  if (cell.control && cell.control != StudyControl::none) {
    more.emplace_back(cell.branches() ? "--remove" : "--without");
    more.push_back(heads_text(heads_of(cell, folder)));
  }
  return train(folder.cell(cell.key), cell.options, data_words(cell.seed, cell.fold, declaration),
               std::move(more));
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
