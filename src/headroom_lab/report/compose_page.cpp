// One self-contained HTML file from a template, styles, scripts and a record.
#include "report/compose_page.hpp"

#include <algorithm>

#include "headroom/base/record_json.hpp"
#include "headroom/base/text.hpp"
#include "report/page.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

/// JSON that is safe inside a script element: it cannot open or close a tag.
std::string json_for_page(const Record& record) {
  std::string text = record.dump(-1, ' ', false, Record::error_handler_t::replace);
  replace_all(text, "<", "\\u003c");
  replace_all(text, ">", "\\u003e");
  return text;
}

/// Replaces every `{{name}}` of the template once; inserted text is not searched again.
std::string fill(std::string_view form,
                 std::initializer_list<std::pair<std::string_view, std::string_view>> values) {
  std::string page;
  while (true) {
    const std::size_t open = form.find("{{");
    if (open == std::string_view::npos) return page.append(form);
    page.append(form.substr(0, open));
    form.remove_prefix(open + 2);
    const std::size_t close = form.find("}}");
    const std::string_view name = form.substr(0, close);
    const auto value = std::find_if(values.begin(), values.end(),
                                    [name](const auto& v) { return v.first == name; });
    if (value != values.end()) page.append(value->second);
    form.remove_prefix(close + 2);
  }
}

}  // namespace

std::string compose_page(const std::string& title, const std::string& summary,
                         const Record& contents, const std::string& chart_js,
                         std::string_view script, std::string_view more_css) {
  std::string chart = chart_js;
  replace_all(chart, "</script", "<\\/script");
  const std::string safe_title = escaped_markup(title), safe_summary = escaped_markup(summary);
  const std::string css = std::string(page::page_css).append(more_css);
  const std::string json = json_for_page(contents);
  return fill(page::template_html, {{"title", safe_title},
                                    {"summary", safe_summary},
                                    {"page_css", css},
                                    {"run", json},
                                    {"chart_js", chart},
                                    {"charts_js", page::charts_js},
                                    {"maps_js", page::maps_js},
                                    {"page_js", script},
                                    {"start_js", page::start_js}});
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
