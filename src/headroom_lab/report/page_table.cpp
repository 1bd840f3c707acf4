// A table in the record of a page.
#include "report/page_table.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

Record for_page(const Table& table) {
  Record page = json_of(table);
  page["title"] = words(table.title);
  page["caption"] = words(table.caption);
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    for (std::size_t c = 0; c < table.rows[row].size(); ++c) {
      const Value& cell = table.rows[row][c];
      if (cell.get<Text>() != nullptr) page["rows"][row][c] = words(cell);
    }
  }
  return page;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
