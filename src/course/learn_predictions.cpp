// Reads the names of predictions from the experiments and chapters.
#include "course/learn_predictions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "headroom/base/error.hpp"
#include "headroom/io/atomic_file.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

/// The name of a prediction, "07/a", at an index of a text; "" if there is none.
std::string prediction_at(std::string_view text, std::size_t at) {
  const std::string_view name = text.substr(std::min(at, text.size()), 4);
  const auto digit = [&](std::size_t i) { return name[i] >= '0' && name[i] <= '9'; };
  const bool valid = name.size() == 4 && digit(0) && digit(1) && name[2] == '/' && name[3] >= 'a' &&
                     name[3] <= 'z';
  return std::string(valid ? name : "");
}

/// The names of predictions after every occurrence of `before`: visit(name, rest of the text).
template <class Visit>
void visit_predictions(const std::string& text, std::string_view before, const Visit& visit) {
  for (std::size_t at = 0; (at = text.find(before, at)) != std::string::npos;) {
    at += before.size();
    const std::string name = prediction_at(text, at);
    if (!name.empty()) visit(name, std::string_view(text).substr(at + name.size()));
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
    visit_predictions(read_file(entry.path()), "\"",
                      [&](const std::string& name, std::string_view) { known[name]; });
  }
  std::string last;
  for (const Exercise& exercise : course.exercises) {
    if (exercise.chapter == last) continue;
    last = exercise.chapter;
    visit_predictions(read_file(course.chapter(exercise) / "README.md"), "learn predict ",
                      [&](const std::string& name, std::string_view rest) {  // " ...`, or `never`"
                        constexpr std::string_view other = "`, or `";
                        const std::size_t code_end = std::min(rest.find('`'), rest.size());
                        if (rest.substr(code_end, other.size()) != other) return;
                        rest.remove_prefix(code_end + other.size());
                        known[name].emplace(rest.substr(0, rest.find('`')));
                      });
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
