// Launchers tell their copies apart by environment variables.
#include <cstdlib>
#include <string>

#include "headroom_lab/study/run.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

std::optional<Index> number(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return std::nullopt;
  char* end = nullptr;
  const Index value = std::strtoll(text, &end, 10);
  return *end == '\0' ? std::optional(value) : std::nullopt;
}

}  // namespace

StudyCopy study_copy() {
  struct Launcher {
    const char *rank, *copies, *first;
  };
  constexpr Launcher launchers[] = {
      {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", nullptr},
      {"PMI_RANK", "PMI_SIZE", nullptr},
      {"SLURM_PROCID", "SLURM_NTASKS", nullptr},
      {"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN"}};
  for (const auto& [rank, copies, first] : launchers) {
    const std::optional<Index> mine = number(rank), all = number(copies);
    if (!mine || !all || *all < 1) continue;
    // A job array of single tasks: each has rank 0 of 1 within itself.
    if (*all == 1 && number("SLURM_ARRAY_TASK_COUNT").value_or(1) > 1 && first == nullptr) continue;
    const Index from_zero = *mine - (first == nullptr ? 0 : number(first).value_or(0));
    return {from_zero < 0 ? 0 : from_zero % *all, *all, true};
  }
  return {};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
