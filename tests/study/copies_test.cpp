// The environment variables of launchers.
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "headroom_lab/study/run.hpp"
#include "support/catch.hpp"

using namespace headroom;

namespace {

StudyCopy with(const std::vector<std::pair<std::string, std::string>>& variables) {
  for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
  const StudyCopy copy = study_copy();
  for (const auto& [name, value] : variables) unsetenv(name.c_str());
  return copy;
}

}  // namespace

TEST_CASE("launchers say which copy this is") {
  CHECK_FALSE(with({}).launched);
  CHECK(with({}).copies == 1);
  const std::vector<std::vector<std::pair<std::string, std::string>>> launchers{
      {{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "4"}},
      {{"PMI_RANK", "2"}, {"PMI_SIZE", "4"}},
      {{"SLURM_PROCID", "2"}, {"SLURM_NTASKS", "4"}},
      {{"SLURM_ARRAY_TASK_ID", "12"},
       {"SLURM_ARRAY_TASK_MIN", "10"},
       {"SLURM_ARRAY_TASK_COUNT", "4"}},
      // Each task of a job array is also the only task of a job.
      {{"SLURM_PROCID", "0"},
       {"SLURM_NTASKS", "1"},
       {"SLURM_ARRAY_TASK_ID", "2"},
       {"SLURM_ARRAY_TASK_MIN", "0"},
       {"SLURM_ARRAY_TASK_COUNT", "4"}}};
  for (const auto& variables : launchers) {
    INFO(variables[0].first);
    const StudyCopy copy = with(variables);
    CHECK(copy.launched);
    CHECK(copy.rank == 2);
    CHECK(copy.copies == 4);
  }
  CHECK_FALSE(with({{"PMI_RANK", "two"}, {"PMI_SIZE", "4"}}).launched);
  CHECK_FALSE(with({{"PMI_RANK", "0"}, {"PMI_SIZE", ""}}).launched);
}
