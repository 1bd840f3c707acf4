// The report: one self-contained page from a run's records. It knows records, not models.
#pragma once

#include <filesystem>
#include <string>

#include "headroom/base/record.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// Writes the page of a run: curves, layouts apart, heads over time, before and after, telemetry of
/// every head, attention maps, importance, configuration. It needs no network; Chart.js is read
/// from this machine (see find_chart_js) and put into it. A section whose records are missing is
/// left out, so the same function serves a comparison of two models and the training of one.
///
/// `run` is an object. Everything but the title may be left out:
/// ```
/// { "title": "Written dates -> ISO dates",
///   "task": "dates", "seed": 1, "command": "headroom demo --seed 1",
///   "models": ["separate", "fused"],         // order and colours; default: as metrics name them
///
///   // One line per measurement; any line may leave out any number. "model" may be left out when
///   // there is one. Loss keys: loss (training), validation_loss. All else: "measures".
///   "metrics": [{"step": 20, "model": "separate", "phase": "learning",
///                "loss": 1.9, "validation_loss": 2.0, "exact_match": 0.1, "tok_s": 60000}],
///   // How every head fared, of one model: lines of HeadTelemetry. Each list holds a number (or
///   // null) for every head that lived, in the order of "heads".
///   "telemetry": [{"step": 20, "model": "fused", "heads": ["encoder 0.0", "cross 0.2"],
///                  "gradient_norm": {"query": [...], "key": [...], "value": [...],
///                                    "output": [...]},
///                  "gate_gradient": [...], "entropy": [...], "confidence": [...],
///                  "update_ratio": {"query": [...], ...}}],
///   // What the second chart draws. Default: those of train/measures.hpp that occur.
///   "measures": [{"key": "exact_match", "name": "exact match", "unit": "%", "better": "higher",
///                 "goal": 0.99}],            // unit "%": numbers are fractions; goal optional
///
///   // max |difference| / max |value| of the worst tensor at the start, key biases apart
///   "separate_vs_fused": {"forward": 3.6e-7, "parameter_gradient": 2.1e-6,
///                         "input_gradient": 1e-6, "tolerance": 2e-6},
///   "differences": [{"step": 20, "forward": 1e-6, "parameter": 1e-6, "key_bias": 1e-3}],
///   "parted_at": {"step": 212, "threshold": 1e-3},      // step null: they never did
///
///   // kind: "encoder", "decoder", "cross"; layer and head count from 0, head is the original one.
///   // cost (optional): how much removing this head alone raises the loss; "cost_name" tells it in
///   // words.
///   "heads": [{"kind": "cross", "layer": 0, "head": 2, "removed_at": 640,   // null: alive
///              "importance": {"separate": 0.11, "fused": 0.12}, "cost": 0.02}],
///   "importance_name": "sensitivity, E |dL/dgate|", "cost_name": "the rise of the loss",
///   "schedule": [{"step": 480, "alive": 24}, {"step": 640, "alive": 12}],
///
///   // Each number may also be an object of numbers by model; times that are not are taken as the
///   // fused model's where there is one.
///   "before_after": [{"label": "before", "exact_match": {"separate": 0.996, "fused": 0.995},
///                     "step_ms": 38.1, "attention_ms": 14.2, "parameters": 242560,
///                     "memory_bytes": 41000000}],
///
///   // A map's rows are queries, its columns keys: encoder source x source, cross target x source,
///   // decoder target x decoder_input. Row i belongs to the writing of target[i]. A removed head
///   // may have a map from before its removal.
///   "examples": [{"source": ["3", "r", "d"], "target": ["2", "0"], "decoder_input": ["^", "2"],
///                 "maps": [{"kind": "cross", "layer": 0, "head": 2, "rows": [[0.5, 0.5, 0.0]]}]}],
///
///   "config": {...}, "environment": {"processor": "...", "threads": 2, "blas": "..."} }
/// ```
/// Throws FileError when Chart.js is not on this machine (with the remedy) or the page cannot be
/// written, DataError when a record is of the wrong kind ("report: heads[3].layer: ...").
void write_report(const Record& run, const std::filesystem::path& file);

/// The page as text, with the given Chart.js in it.
std::string report_page(const Record& run, const std::string& chart_js);

/// What the run shows, in sentences computed from its records with thresholds that are stated:
/// {"summary": "...", "loss": {"title": "...", "look": "..."}, "measures": [...], "differences":
/// ..., "heads": ..., "before_after": ..., "telemetry": ..., "maps": ..., "importance": ...}.
/// Sections without records are absent; a title says "No clear pattern" when the numbers support no
/// finding.
Record findings(const Record& run);

/// The records of a run's folder: records.json when it exists, else put together from config.json,
/// metrics.jsonl and summary.json. Throws FileError when there is none of them, DataError
/// (`file:line:`) for malformed ones.
Record read_run(const std::filesystem::path& folder);

/// Where Chart.js 3 was found: the file named by HEADROOM_CHART_JS, else Debian's libjs-chart.js in
/// its usual places. Empty when there is none.
std::filesystem::path find_chart_js();

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
