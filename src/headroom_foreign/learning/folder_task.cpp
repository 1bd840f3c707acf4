// The sets and objectives of a FolderTask.
#include "headroom_foreign/learning/folder_task.hpp"

#include <string>

#include "headroom/base/rng.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

const std::vector<FolderExample>& FolderTask::of(ExampleSet set) const {
  switch (set) {
    case ExampleSet::train: return train;
    case ExampleSet::importance: return importance;
    case ExampleSet::selection: return selection;
    case ExampleSet::validation: return validation;
    case ExampleSet::test: break;
  }
  return test;
}

std::uint64_t hash_of(const FolderExample& example) {
  std::string bytes;
  for (const std::int32_t token : example.tokens) bytes += std::to_string(token) + " ";
  return hash_name(bytes);
}

std::vector<FolderObjective> objectives_of(ModelKind kind) {
  switch (kind) {
    case ModelKind::seq2seq: return {FolderObjective::pairs};
    case ModelKind::language_model: return {FolderObjective::text};
    case ModelKind::classifier: return {FolderObjective::classify, FolderObjective::keep};
    case ModelKind::encoder: return {FolderObjective::keep, FolderObjective::classify};
    case ModelKind::masked_language_model:
      return {FolderObjective::masked, FolderObjective::keep, FolderObjective::classify};
  }
  return {};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
