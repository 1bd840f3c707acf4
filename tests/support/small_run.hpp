// A small run's record with every section, for tests of the report.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "headroom_lab/report/report_record.hpp"

/// A line of telemetry: the heads that were alive until `step`, whose entropy falls from 0.9 to
/// 0.5.
inline void add_telemetry(headroom::ReportRecord& run, int step) {
  using namespace headroom;
  std::vector<double> sizes, shares;
  TelemetryLine line{.step = step, .model = "fused"};
  for (const HeadRecord& head : run.heads) {
    if (head.removed_at && *head.removed_at < step) continue;
    line.heads.push_back(head.id);
    const double size = std::exp(-step / 100.0) + double(line.heads.size());
    sizes.push_back(std::round(1e2 * size) / 1e2);
    shares.push_back(std::round(1e3 * (0.92 - 0.002 * step)) / 1e3);
  }
  line.gradient_norm = line.update_ratio = {sizes, sizes, sizes, sizes};
  line.gate_gradient = sizes;
  line.gate_gradient[0] = -sizes[0];
  line.entropy = line.confidence = shares;
  run.telemetry.push_back(line);
}

/// Two models, 12 heads of which 6 are removed, one example with maps of every kind.
inline headroom::ReportRecord small_run() {
  using namespace headroom;
  using Rows = std::vector<std::vector<double>>;
  ReportRecord run{
      {.title = "Dates </script> & \"quotes\"",
       .task = "dates",
       .seed = 7,
       .command = "headroom demo --seed 7",
       .models = {"separate", "fused"},
       .measures = {{.key = "exact_match", .name = "exact match", .unit = "%", .goal = 0.9}},
       .importance_name = "sensitivity",
       .config = {{"width", 64}, {"optimizer", {{"rate", 2e-3}}}},
       .environment = {{"threads", 2}}}};
  run.separate_vs_fused = StartDifference{3.6e-7, 1.1e-6, 8e-7, 2e-6};
  run.parted_at = Divergence{60, 1e-3};
  for (int step = 0; step <= 200; step += 10) {
    const double rounding = 1e-7 * std::pow(10.0, step / 15.0);
    for (const char* model : {"separate", "fused"}) {
      run.metrics.push_back({.step = step,
                             .model = model,
                             .numbers = {{"loss", 3 * std::exp(-step / 40.0) + 0.01},
                                         {"exact_match", std::min(1.0, step / 100.0)}}});
    }
    run.differences.push_back({step, rounding, std::min(rounding, 0.1), 1e-3});
  }
  int removed = 0;
  for (const AttentionKind kind :
       {AttentionKind::encoder_self, AttentionKind::decoder_self, AttentionKind::cross}) {
    for (int head = 0; head < 4; ++head) {
      const bool goes = kind != AttentionKind::cross && head < 3;
      const double importance = goes ? 0.01 * (head + 1) : 0.2 + 0.1 * head;
      run.heads.push_back(
          {.id = {kind, head / 2, head % 2},
           .importance = {{{"separate", importance}, {"fused", importance * 1.02}}}});
      if (goes) run.heads.back().removed_at = 105 + 10 * removed++;
    }
  }
  for (int step = 10; step <= 200; step += 10) add_telemetry(run, step);
  run.schedule = {{100, 12}, {155, 6}};
  run.before_after = {{.label = "before",
                       .exact_match = {{{"separate", 0.996}, {"fused", 0.994}}},
                       .step_ms = 38.0,
                       .attention_ms = 14.2,
                       .parameters = 242560,
                       .memory_bytes = 41e6},
                      {.label = "after",
                       .exact_match = {{{"separate", 0.991}, {"fused", 0.989}}},
                       .step_ms = 30.4,
                       .attention_ms = 7.6,
                       .parameters = 209536,
                       .memory_bytes = 34e6}};
  run.examples = {
      {.source = {"3", " ", "<"},
       .target = {"0", "3"},
       .maps = {
           {{AttentionKind::encoder_self, 0, 1}, Rows{{0.8, 0.1, 0.1}, {0.2, 0.6, 0.2}, {0, 0, 1}}},
           {{AttentionKind::cross, 0, 0}, Rows{{0.9, 0.05, 0.05}, {0.8, 0.1, 0.1}}},
           {{AttentionKind::decoder_self, 1, 1}, Rows{{1, 0}, {0.3, 0.7}}}}}};
  return run;
}
