// One self-contained HTML file from a template, styles, scripts and a record. Private.
#pragma once

#include <string>
#include <string_view>

#include "headroom/base/record.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Composes the page: its scripts read `contents`, and `script` draws the sections, with
/// styles of its own in `more_css`. Text in the
/// record cannot end the page's scripts or open a tag.
std::string compose_page(const std::string& title, const std::string& summary,
                         const Record& contents, const std::string& chart_js,
                         std::string_view script, std::string_view more_css = "");

/// The text of Chart.js on this machine. Throws FileError with the remedy when there is none.
std::string chart_js();

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
