// Data from standard input.
#include "cli/standard_input.hpp"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <iostream>
#include <iterator>

#include "cli/frame/streams.hpp"
#include "headroom/base/error.hpp"
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
const char* ending_of(std::string_view text) {
  if (begins_with_object(text)) return ".jsonl";
  const std::string_view line = text.substr(0, text.find('\n'));
  return line.find('\t') == line.npos && line.find(',') != line.npos ? ".csv" : ".tsv";
}

/// A message with "standard input" where it names the file first, then "-", as commands do.
std::string with_other_name(std::string message, const std::string& file) {
  const char* name = "standard input";
  for (std::size_t at = 0; (at = message.find(file, at)) != message.npos;) {
    message.replace(at, file.size(), name);
    name = StandardInput::option;
  }
  return message;
}

}  // namespace

StandardInput::StandardInput() {
  if (isatty(STDIN_FILENO) != 0) {
    print_error("reading the data from standard input; Ctrl-D ends them\n");
  }
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  if (text.empty()) throw DataError("standard input is empty (see --data)");
  std::string folder = (fs::temp_directory_path() / "headroom-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) {
    throw FileError(fmt::format("{}: cannot make a temporary folder", folder));
  }
  file_ = fs::path(folder) / fmt::format("data{}", ending_of(text));
  write_file(file_, text);
}

StandardInput::~StandardInput() {
  std::error_code ignored;
  fs::remove_all(file_.parent_path(), ignored);
}

Task StandardInput::task(const std::function<Task()>& make) const {
  try {
    return make();
  } catch (const DataError& error) {
    throw DataError(with_other_name(error.what(), file_.string()), error.settings());
  } catch (const FileError& error) {
    throw FileError(with_other_name(error.what(), file_.string()), error.settings());
  }
}

fs::path StandardInput::keep_in(const RunFolder& folder) const {
  return folder.keep_data(read_file(file_), file_.extension().string());
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
