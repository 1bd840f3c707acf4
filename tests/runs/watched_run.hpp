// A small training run with telemetry.
#pragma once

#include "headroom/io/fields.hpp"
#include "headroom_runs/runs/telemetry.hpp"
#include "support/small_training.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

struct WatchedRun : SmallRun {
  WatchedRun(Layout layout, Index telemetry_every)
      : SmallRun(layout), telemetry(model, telemetry_every) {
    trainer.add(telemetry);
  }
  HeadTelemetry telemetry;
};

/// The telemetry of a step; none if it was not measured.
inline std::optional<TelemetryLine> telemetry_of(const StepReport& report) {
  if (report.lines.empty()) return {};
  return struct_of<TelemetryLine>(report.lines.at(0), "telemetry");
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
