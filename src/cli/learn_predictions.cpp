// Reads the names of predictions from the experiments and chapters.
#include "cli/learn_predictions.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <regex>

#include "headroom/base/error.hpp"
#include "headroom/io/atomic_file.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

/// Calls visit(match) for every match in a text.
template <class Visit>
void visit_matches(const std::string& text, const char* pattern, const Visit& visit) {
  const std::regex expression(pattern);
  for (std::sregex_iterator match(text.begin(), text.end(), expression), end; match != end;
       ++match) {
    visit(*match);
  }
}

/// The end of a number at the beginning of a text; the beginning if there is none.
const char* end_of_number(const char* text) {
  char* end = nullptr;
  return std::isfinite(std::strtod(text, &end)) ? end : text;
}

bool is_number(const std::string& text) {
  const char* end = end_of_number(text.c_str());
  if (end == text.c_str()) return false;
  if (*end == '/') {
    const char* second = end + 1;
    end = end_of_number(second);
    return end != second && *end == '\0' && std::strtod(second, nullptr) != 0;
  }
  while (*end == ' ') ++end;
  return *end == '\0' || std::string(end) == "%";
}

}  // namespace

std::map<std::string, std::set<std::string>> known_predictions(const Course& course) {
  std::map<std::string, std::set<std::string>> known;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(course.source / "examples/course")) {
    if (entry.path().extension() != ".cpp") continue;
    visit_matches(read_file(entry.path()), "\"([0-9][0-9]/[a-z])\"",
                  [&](const std::smatch& match) { known[match[1]]; });
  }
  std::string last;
  for (const Exercise& exercise : course.exercises) {
    if (exercise.chapter == last) continue;
    last = exercise.chapter;
    visit_matches(read_file(course.chapter(exercise) / "README.md"),
                  "learn predict ([0-9][0-9]/[a-z]) [^`]*`, or `([^`]+)`",
                  [&](const std::smatch& match) { known[match[1]].insert(match[2]); });
  }
  return known;
}

std::string checked_prediction(const Course& course, const std::string& name,
                               const std::string& value) {
  const std::string id = name.size() == 3 && name[1] == '/' ? "0" + name : name;
  const auto known = known_predictions(course);
  const auto found = known.find(id);
  if (found == known.end()) {
    std::string names;
    const std::string chapter = id.substr(0, id.find('/') + 1);
    for (const bool of_chapter : {true, false}) {  // all, if the chapter has none
      if (!names.empty()) break;
      for (const auto& [other, words] : known) {
        if (of_chapter && (chapter.empty() || !other.starts_with(chapter))) continue;
        names += (names.empty() ? "" : ", ") + other;
      }
    }
    throw UsageError(fmt::format("there is no prediction \"{}\"; there are {}", name, names));
  }
  if (!is_number(value) && !found->second.contains(value)) {
    std::string words;
    for (const std::string& word : found->second) words += fmt::format(" or \"{}\"", word);
    throw UsageError(fmt::format(
        "the prediction {} must be a number, such as 0.5, 1e-8, 35% or 1/3{}, not \"{}\"", id,
        words, value));
  }
  return id;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
