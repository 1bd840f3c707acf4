// Looks for texts that a pack lacks.
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "course/learn_ask.hpp"
#include "course/learn_pack.hpp"
#include "headroom/base/error.hpp"
#include "headroom/io/atomic_file.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

using Lines = std::vector<std::string>;

constexpr std::size_t questions_per_chapter = 2;

/// Adds a line for a chapter's ask.json. `needed` questions must be there.
void check_ask(const fs::path& chapter, const std::string& where, std::size_t needed,
               Lines& missing) {
  try {
    const std::size_t count = read_ask(chapter).questions.size();
    if (count == needed) return;
    missing.push_back(fmt::format("{}/ask.json: {} questions, not {}", where, count, needed));
  } catch (const DataError& error) {
    missing.push_back(error.what());
  }
}

/// The lines of the comment that begins a file.
std::size_t comment_lines(const fs::path& file) {
  if (!fs::exists(file)) return 0;
  std::istringstream lines(read_file(file));
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line) && line.starts_with("//");) ++count;
  return count;
}

/// The texts of an exercise of a pack.
void check_exercise(const Exercise& exercise, const std::string& where, Lines& missing) {
  const MasterFile& master = exercise.master;
  const std::string file = fmt::format("{}/{}.cpp", where, exercise.file);
  const auto need = [&](bool there, const std::string& text) {
    if (!there) missing.push_back(text);
  };
  need(!master.title.empty(), file + ": //! title: is missing");
  need(master.minutes > 0, file + ": //! minutes: is missing");
  need(master.difficulty >= 1 && master.difficulty <= 3, file + ": //! difficulty: must be 1 to 3");
  need(!master.hints.empty(), file + ": //! hint: is missing");
  need(master.answers.size() > 2, file + ": no wrong answer; add //! mistake NAME: SENTENCE");
  for (const CourseAnswer& answer : master.answers) {
    need(answer.name == "solution" || !answer.promised.empty(),
         fmt::format("{}: the wrong answer {} has no sentence", file, answer.name));
  }
  need(comment_lines(exercise.folder / (exercise.file + ".hpp")) >= 3,
       fmt::format("{}/{}.hpp: no comment at its beginning that says what to write", where,
                   exercise.file));
  const fs::path readme = exercise.folder / "README.md";
  need(fs::exists(readme) && read_file(readme).find(exercise.id) != std::string::npos,
       fmt::format("{}/README.md: does not lead to {}", where, exercise.id));
}

/// The texts of an exercise of a translation.
void check_translated(const Course& course, const Exercise& exercise, const std::string& where,
                      Lines& missing) {
  const auto all = read_texts(exercise.texts);
  const auto own = all.find(exercise.file);
  const std::string place = fmt::format("{}/texts.json: {}", where, exercise.file);
  if (own == all.end()) return missing.push_back(place + " is missing");
  // The master file of the course has its own hints here, so that they can be counted.
  const MasterFile original = read_master(course.chapter(exercise) / (exercise.file + ".cpp"));
  const ExerciseTexts& texts = own->second;
  if (texts.title.empty()) missing.push_back(place + ".title is empty");
  if (texts.after.empty() && !original.after.empty())
    missing.push_back(place + ".after is missing");
  if (texts.hints.size() != original.hints.size()) {
    missing.push_back(fmt::format("{}.hints has {} entries, not {}", place, texts.hints.size(),
                                  original.hints.size()));
  }
  for (const CourseAnswer& answer : original.answers) {
    if (!answer.is_mistake) continue;
    const auto sentence = texts.sentences.find(answer.name);
    if (sentence == texts.sentences.end() || sentence->second.empty()) {
      missing.push_back(fmt::format("{}.sentences.{} is missing", place, answer.name));
    }
  }
  for (const auto& [name, sentence] : texts.sentences) {
    if (std::none_of(original.answers.begin(), original.answers.end(),
                     [&](const CourseAnswer& answer) { return answer.name == name; })) {
      missing.push_back(
          fmt::format("{}.sentences.{}: the exercise has no such mistake", place, name));
    }
  }
}

}  // namespace

std::vector<std::string> missing_texts(const Course& course, const Pack& pack) {
  Lines missing;
  std::string last;
  if (pack.facts.title.empty()) missing.push_back("pack.json: title is empty");
  if (pack.facts.language.empty()) missing.push_back("pack.json: language is empty");
  for (const Exercise& exercise : course.exercises) {
    const fs::path& folder = pack.translation() ? exercise.texts : exercise.folder;
    if (folder.parent_path() != pack.folder) continue;
    const std::string where = folder.filename().string();
    if (exercise.chapter != last) {
      last = exercise.chapter;
      if (!pack.translation()) {
        check_ask(folder, where, questions_per_chapter, missing);
      } else {
        if (!fs::exists(folder / "README.md")) missing.push_back(where + "/README.md is missing");
        check_ask(folder, where, read_ask(course.chapter(exercise)).questions.size(), missing);
      }
    }
    if (pack.translation()) {
      check_translated(course, exercise, where, missing);
    } else {
      check_exercise(exercise, where, missing);
    }
  }
  return missing;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
