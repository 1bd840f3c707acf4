// Facts about this machine and this build.
#include "cli/environment.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "headroom/base/invocation.hpp"
#include "headroom/base/parallel.hpp"
#include "headroom/ops/blas.hpp"
#include "headroom/report/terminal.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The value after the first "key :" of a file such as /proc/cpuinfo; empty when there is none.
std::string first_value(const char* file, const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || !line.starts_with(key)) continue;
    const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? std::string() : line.substr(begin);
  }
  return {};
}

std::string processor() {
  const std::string model = first_value("/proc/cpuinfo", "model name");
  std::istringstream flags(first_value("/proc/cpuinfo", "flags"));
  std::set<std::string> has;
  for (std::string flag; flags >> flag;) has.insert(flag);
  std::vector<std::string> vectors;
  for (const char* name : {"avx2", "fma", "avx512f", "amx_tile"}) {
    if (has.contains(name)) vectors.emplace_back(name);
  }
  return fmt::format("{} ({})", model.empty() ? "unknown" : model, fmt::join(vectors, " "));
}

std::string memory() {
  const std::string kilobytes = first_value("/proc/meminfo", "MemTotal");
  return kilobytes.empty() ? "unknown" : bytes_text(std::stod(kilobytes) * 1024);
}

}  // namespace

Record environment() {
  Record facts{{"headroom", HEADROOM_VERSION},     {"precision", is_double ? "double" : "float"},
               {"processor", processor()},         {"cores", std::thread::hardware_concurrency()},
               {"threads", num_threads()},         {"memory", memory()},
               {"blas", blas_description()},       {"compiler", __VERSION__},
               {"built with", HEADROOM_BUILT_WITH}};
  // A page shows them at its top.
  if (const std::string own = own_functions(); !own.empty()) facts["own functions"] = own;
  return facts;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
