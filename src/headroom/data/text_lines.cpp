// Reading text files.
#include "headroom/data/text_lines.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headroom/base/error.hpp"
#include "headroom/base/utf8.hpp"
#include "headroom/io/atomic_file.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

// Converts \r\n and \r to \n in place.
void unify_line_endings(std::string& text) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    text[kept++] = text[i] == '\r' ? '\n' : text[i];
  }
  text.resize(kept);
}

Index line_of(std::string_view text, std::size_t position) {
  const std::string_view before = text.substr(0, position);
  return 1 + std::count(before.begin(), before.end(), '\n');
}

}  // namespace

std::string read_raw_text(const std::filesystem::path& path) {
  std::string text = read_file(path);
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  unify_line_endings(text);
  if (text.find_first_not_of(" \t\n") == std::string::npos) {
    throw DataError(fmt::format("{}: the file has no text", path.string()));
  }
  if (const std::size_t at = text.find('\0'); at != std::string::npos) {
    throw DataError(
        fmt::format("{}:{}: NUL byte; this is not a text file", path.string(), line_of(text, at)));
  }
  return text;
}

std::string read_text(const std::filesystem::path& path) {
  std::string text = read_raw_text(path);
  if (const auto at = find_malformed_utf8(text)) {
    const std::size_t line_begin = text.rfind('\n', *at) + 1;  // npos + 1 = 0: the first line
    throw DataError(fmt::format("{}:{}: byte {} of the line is not valid UTF-8", path.string(),
                                line_of(text, *at), *at - line_begin + 1));
  }
  return text;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

Index SkippedLines::total() const {
  Index sum = 0;
  for (const auto& [reason, count] : count_by_reason) sum += count;
  return sum;
}

std::string SkippedLines::text() const {
  if (count_by_reason.empty()) return "";
  std::string words = fmt::format("{} line{} skipped:", total(), total() == 1 ? "" : "s");
  for (const auto& [reason, count] : count_by_reason) {
    words += fmt::format("{} {} {}", words.ends_with(':') ? "" : ",", count, reason);
  }
  return words;
}

void LineAudit::bad(Index line, const std::string& reason, const std::string& detail) {
  if (skipped_.count_by_reason.empty()) {
    first_line_ = line;
    first_detail_ = detail;
  }
  ++skipped_.count_by_reason[reason];
}

SkippedLines LineAudit::finish(Index lines) const {
  const Index bad = skipped_.total();
  if (bad > 0 && !skip_) {
    throw DataError(fmt::format("{}:{}: {}; {} bad line{} of {}; correct or skip {}",
                                path_.string(), first_line_, first_detail_, bad,
                                bad == 1 ? "" : "s", lines, bad == 1 ? "it" : "them"),
                    {"skip_bad_lines"});
  }
  return skipped_;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
