// Sizes of the models of a study, and the record of their times.
#include "headroom_lab/study/latency.hpp"

#include <utility>

#include "headroom/io/atomic_file.hpp"
#include "headroom/io/fields.hpp"
#include "headroom/io/json.hpp"
#include "headroom_lab/study/work.hpp"
#include "study/folder.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The part of a run's summary.json that says which heads its model has.
struct HeadsLeft {
  std::vector<HeadId> alive = {};
  std::map<std::string, Record> others = {};

  using T = HeadsLeft;
  using Fields = Listed<&T::alive, all_others<&T::others>>;
};

std::filesystem::path latency_file(const std::filesystem::path& folder) {
  return StudyFolder{folder}.work("latency");
}

}  // namespace

std::vector<StudySize> study_sizes(const StudyPlan& plan, const std::filesystem::path& path) {
  const StudyFolder folder{path};
  std::map<std::string, std::filesystem::path> trunks;  // the first one of each architecture
  std::map<std::pair<std::string, std::map<AttentionLocation, Index>>, std::vector<std::string>>
      sizes;
  for (const StudyCell& cell : plan.cells) {
    const std::string file = (folder.cell(cell.key) / "summary.json").string();
    if (!std::filesystem::exists(file)) continue;
    const std::string architecture = json_of(cell.settings().training.model).dump();
    trunks.try_emplace(architecture, folder.checkpoint(cell.trunk));
    std::map<AttentionLocation, Index> alive;
    for (const HeadId& head : struct_of<HeadsLeft>(parse_json(read_file(file), file), file).alive) {
      ++alive[{head.kind, head.layer}];
    }
    sizes[{architecture, alive}].push_back(cell.key);
  }
  std::vector<StudySize> all;
  for (const auto& [size, cells] : sizes) {
    all.push_back({trunks.at(size.first), size.second, cells});
  }
  return all;
}

void write_latency(const std::filesystem::path& folder, StudyLatency latency) {
  const StudyWork now = work_done_now(0);
  latency.finished = now.finished;
  latency.machine = now.machine;
  latency.processor = now.processor;
  write_file(latency_file(folder), json_of(latency).dump(2) + "\n");
}

StudyLatency read_latency(const std::filesystem::path& folder) {
  const std::string file = latency_file(folder).string();
  if (!std::filesystem::exists(file)) return {};
  return struct_of<StudyLatency>(parse_json(read_file(file), file), file);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
