// Lists of metrics as people write them.
#include "headroom_measure/importance/metric_names.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headroom/base/error.hpp"
#include "headroom/base/nearest.hpp"
#include "headroom/base/utf8.hpp"
#include "headroom_measure/importance/head_metric.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

std::vector<std::string> all_metrics(bool cheap) {
  std::vector<std::string> names;
  for (const MetricEntry& entry : head_metrics()) {
    if (!cheap || !entry.make()->plays()) names.push_back(entry.info.name);
  }
  return names;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::vector<std::string> metrics_in(const std::string& text, const std::string& shown) {
  std::vector<std::string> names;
  for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
    end = text.find(',', begin);
    const std::string name = text.substr(begin, end == std::string::npos ? end : end - begin);
    if (name == "all" || name == "cheap") {
      for (const std::string& metric : all_metrics(name == "cheap")) {
        if (!contains(names, metric)) names.push_back(metric);
      }
      continue;
    }
    if (contains(names, name)) {
      throw UsageError(fmt::format("{}: {} is given twice; name each metric once", shown, name));
    }
    const std::vector<std::string> known = all_metrics(false);
    if (!contains(known, name)) {
      throw UsageError(fmt::format("{} \"{}\" is none of all, cheap and the metrics{}", shown,
                                   printable(name), did_you_mean(name, known)),
                       {"help"});
    }
    names.push_back(name);
  }
  return names;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
