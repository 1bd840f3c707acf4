// `headroom demo --page`: a small model that reads dates, as a page to send to others.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

struct DemoPageOptions {
  bool wanted = false;
  Index steps = 3000;
  std::string file, name;  // file: "" for report.html in the folder of the run
};

/// `--page [FILE]` and `--name`.
void add_demo_page(CLI::App& app, DemoPageOptions& options);

/// Trains the model in a folder of runs/, or `out`, and writes the page. Throws FileError before it
/// trains if the file is there and `force` is not given. Returns the exit code.
int demo_page(const DemoPageOptions& options, const std::string& out, Index seed, bool force);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
