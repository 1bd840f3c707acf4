// MetricsLog: metrics.jsonl, one JSON object per line and measurement.
#pragma once

#include <filesystem>
#include <limits>
#include <string>

#include "headroom/base/listed.hpp"
#include "headroom/train/step_part.hpp"
#include "headroom_runs/runs/run_record.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The lines of a log up to a point of the run: how many, and their checksum without the times
/// ("ms"), which differ between equal runs. Each checksum includes the one before its line.
struct LogMark {
  Index lines = 0;
  std::string checksum{};
  bool operator==(const LogMark&) const = default;
  /// Adds a line to the checksum.
  void add(std::string line);
  using T = LogMark;
  using Fields = Listed<&T::lines, &T::checksum>;
};

/// The mark of the first `most` complete lines of a file; of no lines if there is none.
LogMark log_mark(const std::filesystem::path& path, Index most = std::numeric_limits<Index>::max());

/// Adds the measurements of a log to the record of its run (add_log_line()). Throws DataError
/// naming the line that does not fit, FileError if the file cannot be read.
void add_log(const std::filesystem::path& path, RunRecord& run);

/// Appends lines to a file, each at once. A line with the key "record" has the kind that
/// it names: "heads" is a line of HeadTelemetry. All others are measurements of the whole model,
/// see operator().
class MetricsLog {
 public:
  /// Keeps the lines of an existing file whose "step" is at most `done` and cuts the rest, which a
  /// resumed run writes again: in the end the file equals that of an uninterrupted run, except
  /// for the times. The rest need not be lines: a power cut can leave anything there. 0 starts a
  /// new file. Throws FileError, also for a line that the report could not read (run_record.hpp).
  explicit MetricsLog(const std::filesystem::path& path, Index done = 0);
  ~MetricsLog();
  MetricsLog(const MetricsLog&) = delete;
  MetricsLog& operator=(const MetricsLog&) = delete;

  /// {"step", "loss", "gradient_norm", "rate", "tokens", "ms", "heads_alive"} and the
  /// numbers that parts and observers added. Numbers that are not finite become null.
  void operator()(const StepReport& report) { write(line(report)); }
  /// Any record as a line; it should have a "step".
  void write(const Record& record);
  static Record line(const StepReport& report);
  /// The mark of all lines.
  const LogMark& mark() const { return mark_; }
  /// Waits until all lines have reached the disk. Throws FileError.
  void sync() const;

 private:
  std::filesystem::path path_;
  int file_ = -1;
  LogMark mark_;
};

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
