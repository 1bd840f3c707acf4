// The lines of metrics.jsonl.
#pragma once

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "headroom/io/atomic_file.hpp"
#include "headroom/io/json.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Metrics without the times.
inline std::vector<Record> measurements(const std::filesystem::path& path) {
  std::vector<Record> lines;
  std::istringstream text(read_file(path));
  for (std::string line; std::getline(text, line);) {
    lines.push_back(parse_json(line, "metrics"));
    lines.back().erase("ms");
  }
  return lines;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
