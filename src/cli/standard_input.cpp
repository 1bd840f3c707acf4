// Data from standard input.
#include "cli/standard_input.hpp"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <iostream>
#include <iterator>

#include "cli/frame/streams.hpp"
#include "headroom/io/atomic_file.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace fs = std::filesystem;

namespace {

/// Whether the first value of a text is an object of JSON.
bool begins_with_object(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // byte order mark
  const std::size_t brace = text.find_first_not_of(" \r\n");
  if (brace == text.npos || text[brace] != '{') return false;
  const std::size_t next = text.find_first_not_of(' ', brace + 1);
  return next != text.npos && (text[next] == '"' || text[next] == '}');
}

/// The ending of a file with this text.
const char* ending_of(std::string_view text, StandardInput::Content content) {
  if (begins_with_object(text)) return ".jsonl";
  if (content == StandardInput::Content::lines) return ".txt";
  const std::string_view line = text.substr(0, text.find('\n'));
  return line.find('\t') == line.npos && line.find(',') != line.npos ? ".csv" : ".tsv";
}

}  // namespace

StandardInput::StandardInput(Content content) {
  if (isatty(STDIN_FILENO) != 0) {
    print_error("reading the data from standard input; Ctrl-D ends them\n");
  }
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  if (text.empty()) throw DataError("standard input is empty (see --data)");
  std::string folder = (fs::temp_directory_path() / "headroom-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) {
    throw FileError(fmt::format("{}: cannot make a temporary folder", folder));
  }
  file_ = fs::path(folder) / fmt::format("data{}", ending_of(text, content));
  write_file(file_, text);
}

StandardInput::~StandardInput() {
  std::error_code ignored;
  fs::remove_all(file_.parent_path(), ignored);
}

std::string StandardInput::renamed(std::string message) const {
  const char* name = "standard input";
  for (std::size_t at = 0; (at = message.find(file_.string(), at)) != message.npos;) {
    message.replace(at, file_.string().size(), name);
    name = option;
  }
  return message;
}

fs::path StandardInput::keep_in(const RunFolder& folder) const {
  return folder.keep_data(read_file(file_), file_.extension().string());
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
