// metrics.jsonl.
#include "headroom/train/metrics_log.hpp"

#include <fmt/format.h>

#include "headroom/base/error.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/json.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// The complete lines of measurements up to step `done`; a last line that was torn goes.
std::string lines_until(const std::filesystem::path& path, Index done) {
  const std::string text = read_file(path);
  std::string kept;
  Index number = 0;
  for (std::size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    const std::string line = text.substr(begin, end - begin);
    const std::string origin = fmt::format("{}:{}", path.string(), ++number);
    if (json_integer(parse_json(line, origin), "step", origin) <= done) kept += line + '\n';
  }
  return kept;
}

}  // namespace

MetricsLog::MetricsLog(const std::filesystem::path& path, Index done) : path_(path) {
  const bool goes_on = done > 0 && std::filesystem::exists(path);
  write_file(path, goes_on ? lines_until(path, done) : "");
  out_.open(path, std::ios::app);
  if (!out_) throw FileError(fmt::format("{}: cannot be written", path.string()));
}

void MetricsLog::write(const Record& record) {
  out_ << record.dump() << '\n' << std::flush;
  if (!out_) {
    throw FileError(fmt::format("{}: cannot be written; is the disk full?", path_.string()));
  }
}

Record MetricsLog::line(const StepReport& report) {
  Record line = {{"step", report.step},
                 {"loss", report.loss},
                 {"gradient_norm", report.gradient_norm},
                 {"rate", report.rate},
                 {"tokens", report.tokens},
                 {"ms", report.seconds * 1000},
                 {"heads_alive", report.heads_alive}};
  line.update(report.metrics);
  return line;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
