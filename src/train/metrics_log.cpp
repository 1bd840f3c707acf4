// metrics.jsonl.
#include "headroom/train/metrics_log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "headroom/base/error.hpp"
#include "headroom/base/rng.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/json.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// Calls visit(line, number from 1) for the complete lines; a last line that was torn goes.
template <class Visit>
void each_line(const std::filesystem::path& path, Visit visit) {
  const std::string text = read_file(path);
  Index number = 0;
  for (std::size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    visit(text.substr(begin, end - begin), ++number);
  }
}

/// The lines of measurements up to step `done`.
std::string lines_until(const std::filesystem::path& path, Index done) {
  std::string kept;
  each_line(path, [&](const std::string& line, Index number) {
    const std::string origin = fmt::format("{}:{}", path.string(), number);
    if (json_integer(parse_json(line, origin), "step", origin) <= done) kept += line + '\n';
  });
  return kept;
}

}  // namespace

void LogMark::add(std::string line) {
  const std::size_t time = line.find("\"ms\":");
  if (time != std::string::npos) line.erase(time, line.find_first_of(",}", time) - time);
  ++lines;
  checksum = fmt::format("{:016x}", hash_name(checksum + line));
}

LogMark log_mark(const std::filesystem::path& path, Index most) {
  LogMark mark;
  if (!std::filesystem::exists(path)) return mark;
  each_line(path, [&](const std::string& line, Index number) {
    if (number <= most) mark.add(line);
  });
  return mark;
}

MetricsLog::MetricsLog(const std::filesystem::path& path, Index done) : path_(path) {
  const bool goes_on = done > 0 && std::filesystem::exists(path);
  write_file(path, goes_on ? lines_until(path, done) : "");
  out_.open(path, std::ios::app);
  if (!out_) throw FileError(fmt::format("{}: cannot be written", path.string()));
  mark_ = log_mark(path);
}

void MetricsLog::write(const Record& record) {
  const std::string line = record.dump();
  out_ << line << '\n' << std::flush;
  if (!out_) {
    throw FileError(fmt::format("{}: cannot be written; is the disk full?", path_.string()));
  }
  mark_.add(line);
}

void MetricsLog::sync() const {
  const int file = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  const bool synced = file >= 0 && fsync(file) == 0;
  const int error = errno;
  if (file >= 0) close(file);
  if (!synced) {
    throw FileError(fmt::format("{}: cannot be written: {}", path_.string(), std::strerror(error)));
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
