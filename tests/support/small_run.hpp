// A small run's records with every section of the schema, for tests of the report.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "headroom/report/report.hpp"

/// A line of telemetry: the heads that lived until `step`, whose entropy falls from 0.9 to 0.5.
inline void add_telemetry(headroom::Record& run, int step) {
  using headroom::Record;
  Record names = Record::array(), sizes = Record::array(), shares = Record::array();
  for (const Record& head : run["heads"]) {
    if (head["removed_at"].is_number() && head["removed_at"] < step) continue;
    names.push_back(head["kind"].get<std::string>() + " " + head["layer"].dump() + "." +
                    head["head"].dump());
    sizes.push_back(std::exp(-step / 100.0) + static_cast<double>(names.size()));
    shares.push_back(0.92 - 0.002 * step);
  }
  for (Record& size : sizes) size = std::round(1e2 * size.get<double>()) / 1e2;
  for (Record& share : shares) share = std::round(1e3 * share.get<double>()) / 1e3;
  const Record blocks = {{"query", sizes}, {"key", sizes}, {"value", sizes}, {"output", sizes}};
  Record signed_sizes = sizes;
  signed_sizes[0] = -sizes[0].get<double>();
  run["telemetry"].push_back({{"step", step},
                              {"model", "fused"},
                              {"heads", names},
                              {"gradient_norm", blocks},
                              {"gate_gradient", signed_sizes},
                              {"entropy", shares},
                              {"confidence", shares},
                              {"update_ratio", blocks}});
}

/// Two models, 12 heads of which 6 are removed, one example with maps of every kind.
inline headroom::Record small_run() {
  using headroom::Record;
  Record run = {{"title", "Dates </script> & \"quotes\""},
                {"task", "dates"},
                {"seed", 7},
                {"command", "headroom demo --seed 7"},
                {"models", {"separate", "fused"}},
                {"separate_vs_fused",
                 {{"forward", 3.6e-7},
                  {"parameter_gradient", 1.1e-6},
                  {"input_gradient", 8e-7},
                  {"tolerance", 2e-6}}},
                {"parted_at", {{"step", 60}, {"threshold", 1e-3}}},
                {"importance_name", "sensitivity"},
                {"config", {{"width", 64}, {"optimizer", {{"rate", 2e-3}}}}},
                {"environment", {{"threads", 2}}}};
  run["measures"] = Record::array(
      {{{"key", "exact_match"}, {"name", "exact match"}, {"unit", "%"}, {"goal", 0.9}}});
  for (int step = 0; step <= 200; step += 10) {
    const double rounding = 1e-7 * std::pow(10.0, step / 15.0);
    for (const char* model : {"separate", "fused"}) {
      run["metrics"].push_back({{"step", step},
                                {"model", model},
                                {"loss", 3 * std::exp(-step / 40.0) + 0.01},
                                {"exact_match", std::min(1.0, step / 100.0)}});
    }
    run["differences"].push_back({{"step", step},
                                  {"forward", rounding},
                                  {"parameter", std::min(rounding, 0.1)},
                                  {"key_bias", 1e-3}});
  }
  int removed = 0;
  for (const char* kind : {"encoder", "decoder", "cross"}) {
    for (int head = 0; head < 4; ++head) {
      const bool goes = std::string(kind) != "cross" && head < 3;
      const double importance = goes ? 0.01 * (head + 1) : 0.2 + 0.1 * head;
      run["heads"].push_back(
          {{"kind", kind},
           {"layer", head / 2},
           {"head", head % 2},
           {"importance", {{"separate", importance}, {"fused", importance * 1.02}}},
           {"removed_at", goes ? Record(105 + 10 * removed++) : Record(nullptr)}});
    }
  }
  for (int step = 10; step <= 200; step += 10) add_telemetry(run, step);
  run["schedule"] = Record::array({{{"step", 100}, {"alive", 12}}, {{"step", 155}, {"alive", 6}}});
  run["before_after"] = Record::array({{{"label", "before"},
                                        {"exact_match", {{"separate", 0.996}, {"fused", 0.994}}},
                                        {"step_ms", 38.0},
                                        {"attention_ms", 14.2},
                                        {"parameters", 242560},
                                        {"memory_bytes", 41e6}},
                                       {{"label", "after"},
                                        {"exact_match", {{"separate", 0.991}, {"fused", 0.989}}},
                                        {"step_ms", 30.4},
                                        {"attention_ms", 7.6},
                                        {"parameters", 209536},
                                        {"memory_bytes", 34e6}}});
  Record example = {{"source", {"3", " ", "<"}}, {"target", {"0", "3"}}};
  example["maps"] = Record::array(
      {{{"kind", "encoder"},
        {"layer", 0},
        {"head", 1},
        {"rows", {{0.8, 0.1, 0.1}, {0.2, 0.6, 0.2}, {0.0, 0.0, 1.0}}}},
       {{"kind", "cross"},
        {"layer", 0},
        {"head", 0},
        {"rows", {{0.9, 0.05, 0.05}, {0.8, 0.1, 0.1}}}},
       {{"kind", "decoder"}, {"layer", 1}, {"head", 1}, {"rows", {{1.0, 0.0}, {0.3, 0.7}}}}});
  run["examples"] = Record::array({example});
  return run;
}
