// metrics.jsonl.
#include "headroom_runs/runs/metrics_log.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <exception>
#include <span>

#include "headroom/base/error.hpp"
#include "headroom/base/rng.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/files.hpp"
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

/// The lines of measurements up to step `done`. Throws FileError for a malformed line before the
/// last of them.
std::string lines_until(const std::filesystem::path& path, Index done) {
  std::string kept;
  RunRecord run;  // what the report will read when the run has ended
  std::exception_ptr malformed;
  each_line(path, [&](const std::string& line, Index number) {
    const std::string origin = fmt::format("{}:{}", path.string(), number);
    try {
      const Record record = parse_json(line, origin);
      if (json_integer(record, "step", origin) > done) return;
      add_log_line(record, origin, run);
    } catch (const DataError& error) {
      if (!malformed) malformed = std::make_exception_ptr(FileError(error.what()));
      return;
    } catch (const FileError&) {
      if (!malformed) malformed = std::current_exception();
      return;
    }
    if (malformed) std::rethrow_exception(malformed);
    kept += line + '\n';
  });
  return kept;
}

[[noreturn]] void refuse(const std::filesystem::path& path) {
  throw FileError(fmt::format("{}: cannot write: {}", path.string(), reason(errno)));
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

void add_log(const std::filesystem::path& path, RunRecord& run) {
  each_line(path, [&](const std::string& line, Index number) {
    if (line.empty()) return;
    const std::string origin = fmt::format("{}:{}", path.string(), number);
    try {
      add_log_line(parse_json(line, origin), origin, run);
    } catch (const FileError& error) {
      throw DataError(error.what());
    }
  });
}

MetricsLog::MetricsLog(const std::filesystem::path& path, Index done) : path_(path) {
  const bool goes_on = done > 0 && std::filesystem::exists(path);
  write_file(path, goes_on ? lines_until(path, done) : "");
  mark_ = log_mark(path);
  file_ = open_file(path, O_WRONLY | O_APPEND);
  if (file_ < 0) refuse(path);
}

MetricsLog::~MetricsLog() {
  if (file_ >= 0) close_file(file_);
}

void MetricsLog::write(const Record& record) {
  const std::string line = record.dump(), ended = line + '\n';
  if (!write_all(file_, std::as_bytes(std::span(ended)))) refuse(path_);
  mark_.add(line);
}

void MetricsLog::sync() const {
  if (!sync_file(file_)) refuse(path_);
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
