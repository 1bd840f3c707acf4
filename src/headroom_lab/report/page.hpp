// The files of report/page/ as strings; embed.cmake generates page.cpp from them at build time.
#pragma once

#include <string_view>

namespace headroom::page {

extern const std::string_view template_html, page_css, charts_js, maps_js, telemetry_js, lives_js,
    page_js, lab_js, study_js, model_js, answers_js, attend_js, evaluation_js, comparison_js,
    dates_js, dates_css, half_js, half_css, start_js;

}  // namespace headroom::page
