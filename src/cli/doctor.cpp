// `headroom doctor`: what this machine offers, and what is missing.
#include <fmt/format.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <thread>

#include "cli/command.hpp"
#include "cli/options.hpp"
#include "headroom/autograd/tape.hpp"
#include "headroom/base/parallel.hpp"
#include "headroom/base/record.hpp"
#include "headroom/ops/blas.hpp"
#include "headroom/ops/matmul.hpp"
#include "headroom/report/report.hpp"
#include "headroom/report/terminal.hpp"

namespace headroom::inline HEADROOM_PRECISION {

namespace {

/// The value after the first "key :" of a file such as /proc/cpuinfo; empty when there is none.
std::string first_value(const char* file, const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || !line.starts_with(key)) continue;
    const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? std::string() : line.substr(begin);
  }
  return {};
}

std::string processor() {
  const std::string model = first_value("/proc/cpuinfo", "model name");
  const std::string flags = " " + first_value("/proc/cpuinfo", "flags") + " ";
  std::string vectors;
  for (const char* name : {"avx2", "fma", "avx512f", "amx_tile"}) {
    if (flags.find(std::string(" ") + name + " ") != std::string::npos) {
      vectors += std::string(vectors.empty() ? "" : " ") + name;
    }
  }
  return (model.empty() ? "unknown" : model) + (vectors.empty() ? "" : " (" + vectors + ")");
}

std::string memory() {
  const std::string kilobytes = first_value("/proc/meminfo", "MemTotal");
  return kilobytes.empty() ? "unknown" : bytes_text(std::stod(kilobytes) * 1024);
}

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
  Record facts;
  facts["headroom"] = HEADROOM_VERSION;
  facts["precision"] = is_double ? "double" : "float";
  facts["processor"] = processor();
  facts["cores"] = std::thread::hardware_concurrency();
  facts["threads"] = num_threads();
  facts["memory"] = memory();
  facts["blas"] = blas_description();
  facts["compiler"] = __VERSION__;
  facts["built with"] = HEADROOM_BUILT_WITH;
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
