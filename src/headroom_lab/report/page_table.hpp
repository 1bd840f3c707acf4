// A table in the record of a page. Private.
#pragma once

#include "headroom/base/record_json.hpp"
#include "headroom_lab/blocks/table.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The table in JSON, with its sentences formatted. The page's script formats numbers and
/// intervals.
Record for_page(const Table& table);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
