// Writes tables as HTML.
#include "headroom_lab/report/plain_page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headroom/base/error.hpp"
#include "headroom/base/text.hpp"
#include "report/page.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr std::size_t longest_word = 16;  // a column with a longer cell wraps
constexpr std::size_t longest_cell = 60;  // on phones, rows with a longer one are lists

/// The length of the longest cell of each column.
std::vector<std::size_t> lengths_of(const Table& table) {
  std::vector<std::size_t> lengths(table.columns.size());
  for (const std::vector<Value>& row : table.rows) {
    if (row.size() != table.columns.size()) {
      throw ShapeError(fmt::format("\"{}\" has a row of {} cells under {} titles",
                                   words(table.title), row.size(), table.columns.size()));
    }
    for (std::size_t i = 0; i < row.size(); ++i) {
      lengths[i] = std::max(lengths[i], words(row[i]).size());
    }
  }
  return lengths;
}

/// A cell as markup. A long name may break behind two colons or an underscore.
std::string cell_of(const Value& value) {
  std::string html;
  for (const char letter : escaped_markup(words(value))) {
    html += letter;
    if (letter == '_' || html.ends_with("::")) html += "<wbr>";
  }
  return html;
}

std::string html_of(const Table& table) {
  const std::string title = escaped_markup(words(table.title));
  std::string html = fmt::format("<section aria-label=\"{0}\"><h2>{0}</h2>\n", title);
  if (const std::string caption = words(table.caption); !caption.empty()) {
    html += fmt::format("<p class=\"caption\">{}</p>\n", escaped_markup(caption));
  }
  if (table.rows.empty()) return html + "</section>\n";
  const std::vector<std::size_t> lengths = lengths_of(table);
  const bool listed = std::any_of(lengths.begin(), lengths.end(),
                                  [](std::size_t length) { return length > longest_cell; });
  const auto kind = [&](std::size_t i) {
    return lengths[i] > longest_word ? " class=\"words\"" : "";
  };
  html += fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">"
      "<table class=\"plain{}\"><thead><tr>",
      title, listed ? " claims" : "");
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    html += fmt::format("<th scope=\"col\"{}>{}</th>", kind(i), escaped_markup(table.columns[i]));
  }
  html += "</tr></thead><tbody>\n";
  for (const std::vector<Value>& row : table.rows) {
    html += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string cell = cell_of(row[i]);
      html += i == 0 ? fmt::format("<th scope=\"row\"{}>{}</th>", kind(i), cell)
                     : fmt::format("<td{} data-label=\"{}\">{}</td>", kind(i),
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
