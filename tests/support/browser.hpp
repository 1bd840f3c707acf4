// Opens a page in a headless browser and collects its state.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

/// A page after its scripts have run, and the browser's messages about it.
struct OpenedPage {
  int code = -1;           // the browser's exit code
  std::string dom;         // the document, with everything the scripts added, without the scripts
  std::string complaints;  // errors and messages of the page's scripts, requests that failed
  nlohmann::json probe;    // the result of support/page_probe.js; null if it did not answer
  /// The value of a data attribute of <html>, or "missing". support/page_probe.js and the page
  /// itself set them.
  std::string attribute(const std::string& name) const;
};

/// Opens a page in Chromium without a window; its path may end in a #fragment. `scratch` is a
/// folder for the browser's own files.
OpenedPage open_page(const std::filesystem::path& page, const std::filesystem::path& scratch,
                     int width, bool dark);

/// The same at several widths, side by side in one window; complaints are those of all of them.
std::vector<OpenedPage> open_page(const std::filesystem::path& page,
                                  const std::filesystem::path& scratch,
                                  const std::vector<int>& widths, bool dark);

/// Checks the requirements of every page, at the widths of a phone, a tablet and a desktop (390,
/// 768 and 1200 pixels), in the given themes: no errors, no requests, everything painted, nothing
/// wider than the window or clipped, enough contrast, a text alternative and a table for every
/// picture, keyboard access to everything. Returns the pages for further checks, theme by theme,
/// the narrowest first.
std::vector<OpenedPage> check_page(const std::filesystem::path& page,
                                   const std::filesystem::path& scratch,
                                   const std::vector<bool>& dark_themes = {false, true});

/// Checks that the first screen of an experiment's page, 800 pixels high, shows answer and figure.
void check_first_screen(const OpenedPage& page);

/// Returns false, with a message in the test's output, if Chromium or Chart.js is not installed.
bool can_open_pages();
