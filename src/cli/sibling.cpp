// The program of the other precision, as a child process.
#include "cli/sibling.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "headroom/base/error.hpp"
#include "headroom/io/child_program.hpp"
#include "headroom/io/json.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

/// The child's "error: ..." line as the exception of its exit code.
[[noreturn]] void report(int code, std::string text) {
  constexpr std::string_view prefix = "error: ";
  if (text.starts_with(prefix)) text.erase(0, prefix.size());
  while (!text.empty() && text.back() == '\n') text.pop_back();
  switch (code) {
    case 2: throw UsageError(text);
    case 3: throw NumericError(text);
    case 4: throw DataError(text);
    case 5: throw FileError(text);
    default:
      throw Error(
          fmt::format("the {} program failed with exit code {}: {}", other_precision, code, text));
  }
}

}  // namespace

fs::path beside_this(const std::string& name) {
  std::error_code failed;
  const fs::path own = fs::read_symlink("/proc/self/exe", failed);
  const fs::path other = own.parent_path() / name;
  return !failed && access(other.c_str(), X_OK) == 0 ? other : fs::path();
}

fs::path sibling_program() { return beside_this(is_double ? "headroom" : "headroom-f64"); }

Record sibling_record(const std::vector<std::string>& arguments) {
  const fs::path program = sibling_program();
  if (program.empty()) {
    throw UsageError(
        fmt::format("the {} program is missing next to this one (build it, or use --precision {})",
                    other_precision, own_precision));
  }
  std::vector<std::string> words{program.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const ChildResult child = run_child(words);
  if (child.code != 0 && (child.code != 3 || child.out.empty())) report(child.code, child.err);
  return parse_json(child.out, program.filename().string());
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
