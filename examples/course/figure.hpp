// The record of a chapter's figure, chapters/NN_*/figure.json.
#pragma once

#include <cstdlib>
#include <fstream>

#include "headroom/base/record_json.hpp"

namespace figure_detail {

/// Every number with 4 significant digits: more cannot be seen, and would differ between
/// processors.
inline void round_numbers(headroom::Record& record) {
  if (record.is_number_float()) record = headroom::rounded_number(record.get<double>(), 4);
  if (!record.is_structured()) return;
  for (headroom::Record& part : record) round_numbers(part);
}

}  // namespace figure_detail

/// Whether a record is to be written. Without it an experiment skips the work, which would also run
/// on a learner's functions.
inline bool figure_wanted() { return std::getenv("HEADROOM_FIGURE") != nullptr; }

/// Writes the record to the file that HEADROOM_FIGURE names; does nothing without that variable.
inline void write_figure(headroom::Record record) {
  const char* path = std::getenv("HEADROOM_FIGURE");
  if (path == nullptr) return;
  figure_detail::round_numbers(record);
  std::ofstream(path) << record.dump() << '\n';
}
