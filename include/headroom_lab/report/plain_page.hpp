// A page of tables.
#pragma once

#include <string>
#include <vector>

#include "headroom_lab/blocks/table.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// One self-contained HTML file with a section for each table, in the style of the other pages and
/// without scripts. A table without rows shows its caption alone. Throws ShapeError for a row of
/// another length than the titles.
std::string plain_page(const std::string& title, const std::string& summary,
                       const std::vector<Table>& tables);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
