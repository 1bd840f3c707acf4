// Facts about this machine and this build.
#include "cli/environment.hpp"

#include <string>
#include <thread>

#include "headroom/base/invocation.hpp"
#include "headroom/base/parallel.hpp"
#include "headroom/base/text.hpp"
#include "headroom/ops/blas.hpp"
#include "headroom_runs/runs/manifest.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

std::string memory() {
  const std::string kilobytes = system_value("/proc/meminfo", "MemTotal");
  return kilobytes.empty() ? "unknown" : bytes_text(std::stod(kilobytes) * 1024);
}

}  // namespace

Record environment() {
  Record facts{{"headroom", HEADROOM_VERSION},
               {"precision", is_double ? "double" : "float"},
               {"processor", processor_description()},
               {"cores", std::thread::hardware_concurrency()},
               {"threads", num_threads()},
               {"memory", memory()},
               {"blas", blas_description()},
               {"compiler", __VERSION__},
               {"built with", HEADROOM_BUILT_WITH}};
  // A page shows them at its top.
  if (const std::string own = own_functions(); !own.empty()) facts["own functions"] = own;
  return facts;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
