// The benchmark of memory: the working memory of a training step.
#include <malloc.h>

#include <fstream>
#include <string>

#include "cli/bench/bench.hpp"
#include "headroom/array/pool.hpp"
#include "headroom/base/error.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// A line of /proc/self/status in bytes: "VmRSS", the resident set, or "VmHWM", its peak.
double resident(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key + ":")) return 1024 * std::stod(line.substr(key.size() + 1));
  }
  throw FileError("bench memory: /proc/self/status has no " + key + "; it needs Linux");
}

/// Returns free memory to the system and resets the peak.
void start_afresh() {
  trim_pool();
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << 5;
}

}  // namespace

Record bench_memory(const BenchCase& bench_case, const BenchOptions& options) {
  constexpr BenchCase tiny = {"tiny", 1, 1, 8, 4, 1, 4};
  BenchStep(tiny, options)();  // allocates the libraries' own buffers
  start_afresh();
  const double before = resident("VmRSS");
  BenchStep step(bench_case, options);
  const Index steps = options.steps > 0 ? options.steps : 4;
  for (Index i = 0; i < steps; ++i) step();
  const auto parameters = double(step.parameters()) * sizeof(Real);
  return {{"params", step.parameters()},
          {"working_bytes", resident("VmHWM") - before - 4 * parameters},
          {"parameter_bytes", 4 * parameters}};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
