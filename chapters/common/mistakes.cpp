// The wrong results of an exercise's known mistakes, written to files and compared with them.
#include "common/mistakes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "common/checks.hpp"

namespace chapter {

namespace {

using headroom::Array;
using headroom::Index;
using headroom::Real;

Index comparison = 0;  // the number of those that began

std::string value_of(const char* variable) {
  const char* value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

/// The elements of an array that are kept: of a large one some, evenly distributed.
std::vector<Real> kept_elements(const Array& array) {
  constexpr Index most = 2000;
  const Index count = std::min(array.size(), most);
  std::vector<Real> kept;
  for (Index i = 0; i < count; ++i) kept.push_back(array[i * array.size() / count]);
  return kept;
}

/// Whether a line, from `at` on, has these elements.
bool has_elements(const char* at, const std::vector<Real>& elements) {
  for (const Real element : elements) {
    char* end = nullptr;
    const double known = std::strtod(at, &end);  // a stream does not read "nan"
    if (end == at || differ(Real(known), element)) return false;
    at = end;
  }
  return *at == '\0';
}

}  // namespace

void begin_comparison() { ++comparison; }

std::vector<std::string> mistakes_like(const Array& wrong, const Array& also) {
  const std::string begin = fmt::format("{} {}:", comparison, wrong.shape().text());
  std::vector<Real> elements = kept_elements(wrong);
  if (also.defined()) elements.insert(elements.end(), also.span().begin(), also.span().end());
  if (const std::string path = value_of("HEADROOM_OBSERVED"); !path.empty()) {
    std::ofstream(path, std::ios::app)
        << fmt::format("{}{:.17g}\n", begin, fmt::join(elements, " "));
  }
  std::vector<std::string> sentences;
  std::istringstream files(value_of("HEADROOM_MISTAKES"));
  for (std::string path; std::getline(files, path);) {
    std::ifstream file(path);
    std::string sentence;
    std::getline(file, sentence);
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with(begin) && has_elements(line.c_str() + begin.size(), elements) &&
          std::find(sentences.begin(), sentences.end(), sentence) == sentences.end()) {
        sentences.push_back(sentence);
      }
    }
  }
  return sentences;
}

bool differ(Real expected, Real yours) {
  return !(std::abs(double(expected - yours)) <=
           tolerance * std::max(1.0, std::abs(double(expected))));
}

}  // namespace chapter
