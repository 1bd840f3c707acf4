// Finds lines in the learner's file.
#include "course/learn_place.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <sstream>

#include "course/learn_symbols.hpp"
#include "headroom/base/error.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/child_program.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

/// The number at the beginning of a text, 0 without one.
Index leading_number(std::string_view text) {
  Index number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// The line of the first open call that is in the source itself: a checked index is in a header.
Index line_of_calls(const std::vector<std::string>& calls, const fs::path& source,
                    const fs::path& library) {
  std::vector<std::string> words{"addr2line", "-i", "-e", library.string()};
  for (const std::string& call : calls) words.push_back("0x" + call);
  std::istringstream lines(run_child(words).out);
  for (std::string line;
       std::getline(lines, line);) {  // "/home/a/1_scale.cpp:12 (discriminator 2)"
    const std::size_t colon = line.rfind(':');
    if (colon == std::string::npos || fs::path(line.substr(0, colon)) != source) continue;
    const Index number = leading_number(std::string_view(line).substr(colon + 1));
    if (number > 0) return number;
  }
  return 0;
}

/// Whether a line begins the definition of a function: it is not indented, as calls are.
bool begins_function(const std::string& line) {
  const bool word = !line.empty() && std::isalpha(static_cast<unsigned char>(line[0])) != 0;
  return word && line.find('(') != std::string::npos && !line.starts_with("using ") &&
         !line.starts_with("namespace ") && !line.ends_with(';');
}

}  // namespace

Index first_gap(const std::string& code) {
  std::istringstream lines(code);
  Index function = 0, number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::size_t comment = line.find("//");
    if (line.substr(0, comment).find("todo(") != std::string::npos) return number;
    if (function == 0 && begins_function(line)) function = number;
  }
  return std::max<Index>(function, 1);
}

Index line_of(const Course& course, const Exercise& exercise, const CoursePrecision& precision,
              const Verdict& verdict, const fs::path& source, const fs::path& folder) {
  if (verdict.kind == Verdict::Kind::does_not_compile && verdict.message.starts_with("line ")) {
    return std::max<Index>(1, leading_number(std::string_view(verdict.message).substr(5)));
  }
  if (!verdict.calls.empty()) {
    const Index line =
        line_of_calls(verdict.calls, source, folder / fmt::format("lib{}.so", exercise.target()));
    if (line > 0) return line;
  }
  if (!fs::exists(source)) return 1;
  const std::string code = read_file(source);
  if (verdict.kind != Verdict::Kind::does_not_compile) {
    std::size_t first = std::string::npos;
    for (const std::string& function : required_functions(course, exercise, precision)) {
      first = std::min(first, parameters_in(code, function));
    }
    if (first != std::string::npos) {
      return 1 + std::count(code.begin(), code.begin() + std::ptrdiff_t(first), '\n');
    }
  }
  return first_gap(code);
}

std::string short_path(const fs::path& path) {
  const std::string relative = fs::proximate(path).string();
  return relative.size() < path.string().size() ? relative : path.string();
}

std::string place_text(const fs::path& file, Index line) {
  return fmt::format("{}:{}", short_path(file), line);
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
