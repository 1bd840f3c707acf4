// Reading numbers out of a run's records: what the parts of the report share. Private.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "headroom/base/record.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The names of everything a run's record may hold are checked: right kinds, rows of one length,
/// no map without tokens. Throws DataError, "report: heads[3].layer: ...".
void check_run(const Record& run);

/// The list under a key; an empty one when it is missing.
const Record& list_of(const Record& record, const char* key);
/// The number under a key; none when it is missing, null or not finite.
std::optional<double> number_in(const Record& record, const char* key);
/// The same for a number that may be given by model; `model` empty: the mean over models.
std::optional<double> number_in(const Record& record, const char* key, const std::string& model);
/// The smallest and the largest when given by model.
std::optional<std::pair<double, double>> range_in(const Record& record, const char* key);

/// The models of a run in their order.
std::vector<std::string> models_of(const Record& run);
/// What to draw beside the loss: the run's "measures" or those it implies.
Record measures_of(const Record& run);

struct Point {
  Index step;
  double value;
};
/// One model's measurements of a key, in the order in which they were recorded.
std::vector<Point> series_of(const Record& run, const std::string& model, const char* key);

/// "cross 0.3": the same text as HeadId's.
std::string head_text(const Record& head);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
