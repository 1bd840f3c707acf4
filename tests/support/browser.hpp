// Opening a page in a headless browser, and what it says of itself there.
#pragma once

#include <filesystem>
#include <string>

/// A page as it stands after its scripts have run, and what the browser had to say about it.
struct OpenedPage {
  int code = -1;           // the browser's exit code
  std::string dom;         // the document, with everything the scripts added
  std::string complaints;  // errors and messages of the page's scripts, requests that failed
  /// The value of a data attribute that the page sets on <html> when it has drawn, or "missing".
  std::string attribute(const std::string& name) const;
};

/// Opens a page in Chromium without a window. `profile` is a folder for the browser's own files.
OpenedPage open_page(const std::filesystem::path& page, const std::filesystem::path& profile,
                     int width, bool dark);

/// False, with a word in the test's output, when Chromium or Chart.js is not installed.
bool can_open_pages();
