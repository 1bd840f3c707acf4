// StudyLatency: how long the models of a study take.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "headroom/base/listed.hpp"
#include "headroom/nn/attention.hpp"
#include "headroom_lab/study/plan.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The file `work/latency.json`: times of forward passes of the finished models. Models of the same
/// size have the same time, so each size is measured once.
struct StudyLatency {
  Index examples = 0, threads = 1;                          // of a forward pass
  std::string finished = {}, machine = {}, processor = {};  // as in StudyWork
  std::map<std::string, double> milliseconds = {};          // median, by key of the run

  using T = StudyLatency;
  using Fields =
      Listed<&T::examples, &T::threads, &T::finished, &T::machine, &T::processor, &T::milliseconds>;
};

/// Finished runs whose models have the same size: the same architecture with as many heads in each
/// attention.
struct StudySize {
  std::filesystem::path whole;               // a trunk with this architecture and all heads
  std::map<AttentionLocation, Index> alive;  // attentions without heads may be missing
  std::vector<std::string> cells;            // keys of the runs
};

/// The sizes of the models of the runs that are done, those of one architecture together. Throws
/// FileError and DataError for files that cannot be read.
std::vector<StudySize> study_sizes(const StudyPlan& plan, const std::filesystem::path& folder);

/// Writes and reads the file in the folder of a study. Without the file there are no times.
void write_latency(const std::filesystem::path& folder, StudyLatency latency);
StudyLatency read_latency(const std::filesystem::path& folder);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
