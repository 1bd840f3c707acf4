// Reads the predictions and questions of a chapter.
#include "course/learn_ask.hpp"

#include <fmt/format.h>

#include <set>

#include "headroom/base/error.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/fields.hpp"
#include "headroom/io/json.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& file, const std::string& text) {
  throw DataError(fmt::format("{}: {}", file.string(), text));
}

bool is_prediction_name(const std::string& name) {
  const auto digit = [&](std::size_t i) { return name[i] >= '0' && name[i] <= '9'; };
  return name.size() == 4 && digit(0) && digit(1) && name[2] == '/' && name[3] >= 'a' &&
         name[3] <= 'z';
}

/// Refuses a question that cannot be asked.
void check_question(const fs::path& file, const ChapterQuestion& question, std::size_t index) {
  constexpr std::size_t most = 4;  // one key each, and as many as one keeps in mind
  const std::string place = fmt::format("questions[{}]", index);
  const std::size_t count = question.options.size();
  if (question.ask.empty()) fail(file, place + ".ask is empty");
  if (count < 2 || count > most) {
    fail(file, fmt::format("{}.options has {} entries, not 2 to {}", place, count, most));
  }
  if (question.because.size() != count) {
    fail(file, fmt::format("{}.because has {} entries for {} options: one sentence each", place,
                           question.because.size(), count));
  }
  if (question.right < 0 || question.right >= Index(count)) {
    fail(file, fmt::format("{}.right is {}, but the options are counted from 0 to {}", place,
                           question.right, count - 1));
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (question.options[i].empty()) fail(file, fmt::format("{}.options[{}] is empty", place, i));
    if (question.because[i].empty()) fail(file, fmt::format("{}.because[{}] is empty", place, i));
  }
  const std::set<std::string> different(question.options.begin(), question.options.end());
  if (different.size() != count) fail(file, place + ".options has one text twice");
}

}  // namespace

ChapterAsk read_ask(const fs::path& chapter) {
  const fs::path file = chapter / "ask.json";
  if (!fs::exists(file)) return {};
  Record record;
  try {
    record = parse_json(read_file(file), file.string());
  } catch (const FileError& error) {  // a text that is no JSON is the author's mistake, too
    throw DataError(error.what());
  }
  auto ask = struct_of<ChapterAsk>(record, file.string());
  for (const auto& [name, prediction] : ask.predictions) {
    if (!is_prediction_name(name)) {
      fail(file, fmt::format("predictions: \"{}\" is no name such as \"07/a\"", name));
    }
    if (prediction.ask.empty()) fail(file, fmt::format("predictions.{}.ask is empty", name));
  }
  for (std::size_t i = 0; i < ask.questions.size(); ++i) check_question(file, ask.questions[i], i);
  return ask;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
