// Writes tables as HTML.
#include "headroom_lab/report/plain_page.hpp"

#include <fmt/format.h>

#include "headroom/base/error.hpp"
#include "headroom/base/text.hpp"
#include "report/page.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

std::string html_of(const Table& table) {
  const std::string title = escaped_markup(words(table.title));
  std::string html = fmt::format("<section aria-label=\"{0}\"><h2>{0}</h2>\n", title);
  if (const std::string caption = words(table.caption); !caption.empty()) {
    html += fmt::format("<p class=\"caption\">{}</p>\n", escaped_markup(caption));
  }
  if (table.rows.empty()) return html + "</section>\n";
  html += fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">"
      "<table><thead><tr>",
      title);
  for (const std::string& column : table.columns) {
    html += fmt::format("<th scope=\"col\">{}</th>", escaped_markup(column));
  }
  html += "</tr></thead><tbody>\n";
  for (const std::vector<Value>& row : table.rows) {
    if (row.size() != table.columns.size()) {
      throw ShapeError(fmt::format("\"{}\" has a row of {} cells under {} titles",
                                   words(table.title), row.size(), table.columns.size()));
    }
    html += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string cell = escaped_markup(words(row[i]));
      html += i == 0 ? fmt::format("<th scope=\"row\">{}</th>", cell)
                     : fmt::format("<td data-label=\"{}\">{}</td>",
                                   escaped_markup(table.columns[i]), cell);
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div></section>\n";
}

}  // namespace

std::string plain_page(const std::string& title, const std::string& summary,
                       const std::vector<Table>& tables) {
  std::string sections;
  for (const Table& table : tables) sections += html_of(table);
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src 'unsafe-inline'\">\n"
      "<title>{0}</title>\n<style>\n{1}</style>\n</head>\n<body>\n"
      "<header><p class=\"brand\">headroom</p><h1>{0}</h1><p "
      "class=\"summary\">{2}</p></header>\n<main id=\"main\">\n{3}</main>\n</body>\n</html>\n",
      escaped_markup(title), page::page_css, escaped_markup(summary), sections);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
