// Opening a page in a headless browser, and what it says of itself there.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

/// A page as it stands after its scripts have run, and what the browser had to say about it.
struct OpenedPage {
  int code = -1;           // the browser's exit code
  std::string dom;         // the document, with everything the scripts added, without the scripts
  std::string complaints;  // errors and messages of the page's scripts, requests that failed
  nlohmann::json probe;    // what support/page_probe.js found; null when it did not answer
  /// The value of a data attribute of <html>, or "missing": what support/page_probe.js says was
  /// drawn, and what the page itself sets.
  std::string attribute(const std::string& name) const;
};

/// Opens a page in Chromium without a window; its path may end in a #fragment. `scratch` is a
/// folder for the browser's own files.
OpenedPage open_page(const std::filesystem::path& page, const std::filesystem::path& scratch,
                     int width, bool dark);

/// The same at several widths, beside each other in one window; complaints are of all together.
std::vector<OpenedPage> open_page(const std::filesystem::path& page,
                                  const std::filesystem::path& scratch,
                                  const std::vector<int>& widths, bool dark);

/// Checks what every page must keep, on a phone, a tablet and a desk (390, 768 and 1200 pixels), in
/// the given themes: no complaint, no request, everything painted, nothing wider than the window or
/// cut off, no text too faint to read, words for every picture and a table behind it, everything
/// in reach of a keyboard.
/// Returns the pages for checks of their own, theme by theme, the narrowest first.
std::vector<OpenedPage> check_page(const std::filesystem::path& page,
                                   const std::filesystem::path& scratch,
                                   const std::vector<bool>& dark_themes = {false, true});

/// False, with a word in the test's output, when Chromium or Chart.js is not installed.
bool can_open_pages();
