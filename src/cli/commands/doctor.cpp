// `headroom doctor`: shows the processor, libraries and speed of this machine.
#include <fmt/format.h>

#include <memory>

#include "cli/environment.hpp"
#include "cli/frame/command.hpp"
#include "cli/options.hpp"
#include "cli/timing/machine_speed.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/base/terminal.hpp"
#include "headroom/base/text.hpp"
#include "headroom_lab/report/report.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

int examine(bool json) {
  const std::string chart_js = find_chart_js().string();
  Record facts = environment();
  facts["matrix product"] = fmt::format("{:.0f} GFLOP/s (1024 x 1024)", product_speed(1024));
  facts["memory speed"] = fmt::format("{:.1f} GB/s", memory_speed());
  facts["Chart.js"] =
      chart_js.empty() ? "missing: reports need it (apt-get install libjs-chart.js)" : chart_js;
  if (json) {
    fmt::print("{}\n", facts.dump());
    return 0;
  }
  const TerminalStyle style = TerminalStyle::of(stdout);
  for (const auto& [name, value] : facts.items()) {
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    const bool bad = text.starts_with("missing");
    fmt::print("{}  {}\n", emphasised(padded(name, 14), Emphasis::faint, style),
               bad ? emphasised(text, Emphasis::bad, style) : text);
  }
  return 0;
}

}  // namespace

Command add_doctor(CLI::App& program) {
  CLI::App* app =
      program.add_subcommand("doctor", "Shows the processor, libraries and speed of this machine");
  const auto json = std::make_shared<bool>(false);
  app->add_flag("--json", *json, "print one JSON object instead of lines");
  add_threads(*app);
  app->footer(fmt::format("Example: {} doctor --json", invocation()));
  return {app, [json] { return examine(*json); }};
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
