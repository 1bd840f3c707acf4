// `headroom doctor`: what this machine offers, and what is missing.
#include <fmt/format.h>

#include <chrono>
#include <memory>

#include "cli/command.hpp"
#include "cli/environment.hpp"
#include "cli/options.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/ops/matmul.hpp"
#include "headroom/report/report.hpp"
#include "headroom/report/terminal.hpp"

namespace headroom::inline HEADROOM_PRECISION {

namespace {

/// GFLOP/s of the best of some products of two [n, n] matrices.
double product_speed(Index n) {
  const NoGrad no_grad;
  const Tensor a(Array({n, n}, Real(0.5))), b(Array({n, n}, Real(0.25)));
  double best = 0;
  for (int i = 0; i < 5; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    matmul(a, b);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    best = std::max(best, 2 * static_cast<double>(n * n * n) / seconds.count() / 1e9);
  }
  return best;
}

int examine(bool json) {
  const std::string chart_js = find_chart_js().string();
  Record facts = environment();
  facts["matrix product"] = fmt::format("{:.0f} GFLOP/s (1024 x 1024)", product_speed(1024));
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
  CLI::App* app = program.add_subcommand("doctor", "what this machine offers, and what is missing");
  const auto json = std::make_shared<bool>(false);
  app->add_flag("--json", *json, "one JSON object instead of lines");
  add_threads(*app);
  return {app, [json] { return examine(*json); }};
}

}  // namespace headroom::inline HEADROOM_PRECISION
