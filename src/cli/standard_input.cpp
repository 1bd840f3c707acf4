// Data from standard input.
#include "cli/train/standard_input.hpp"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <iostream>
#include <iterator>

#include "cli/frame/streams.hpp"
#include "headroom/base/error.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/checksums.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace fs = std::filesystem;

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
  file_ =
      fs::path(folder) / (text.starts_with('{') ? "standard_input.jsonl" : "standard_input.tsv");
  write_file(file_, text);
}

StandardInput::~StandardInput() {
  std::error_code ignored;
  fs::remove_all(file_.parent_path(), ignored);
}

fs::path StandardInput::keep_in(const fs::path& folder) const {
  const std::string text = read_file(file_);
  const std::string name = "data-" + checksum(text) + file_.extension().string();
  const fs::path kept = fs::absolute(folder / name);  // never replaces other data
  write_file(kept, text);
  return kept;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
