// Keeps what the learner tried.
#include "course/learn_attempts.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <ctime>
#include <thread>

#include "headroom/base/error.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/fields.hpp"
#include "headroom/io/file_lock.hpp"
#include "headroom/io/json.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

struct AttemptsFile {
  static constexpr Index current_version = 1;
  Index version = current_version;
  std::vector<AttemptEvent> events;

  using T = AttemptsFile;
  using Fields = Listed<&T::version, &T::events>;
};

/// A number that differs if two texts do (FNV-1a).
std::string fingerprint(const std::string& text) {
  std::uint64_t hash = 14695981039346656037U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return fmt::format("{:016x}", hash);
}

std::string now() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

/// The last event of a kind for an exercise; nullptr if there is none.
const AttemptEvent* last_of(const std::vector<AttemptEvent>& events, const std::string& what,
                            const std::string& exercise) {
  for (auto event = events.rbegin(); event != events.rend(); ++event) {
    if (event->what == what && event->exercise == exercise) return &*event;
  }
  return nullptr;
}

/// The first words of a sentence: "dy_is_ignored_another_dy_gives".
std::string first_words(const std::string& sentence) {
  std::string name;
  int words = 0;
  for (const char c : sentence) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isalnum(letter) != 0) {
      name += char(std::tolower(letter));
    } else if (!name.empty() && name.back() != '_') {
      if (++words == 6) break;
      name += '_';
    }
  }
  while (name.ends_with('_')) name.pop_back();
  return name;
}

/// The checks' texts about wrong numbers that no sentence of theirs explains.
constexpr std::pair<const char*, const char*> general[] = {
    {"All of them are 0.", "all_zero"},
    {"The sign is flipped.", "sign_flipped"},
    {"right but for a constant factor", "constant_factor"},
    {"right after exchanging two axes", "axes_exchanged"},
    {"are right, but in the order", "other_order"},
    {"is wrong.", "one_slice"},
    {"has the result of", "one_result_for_all"}};

}  // namespace

fs::path attempts_file(const fs::path& workspace) { return workspace / "attempts.json"; }

std::vector<AttemptEvent> read_attempts(const fs::path& workspace) {
  const fs::path file = attempts_file(workspace);
  if (!fs::exists(file)) return {};
  try {
    const Record record = parse_json(read_file(file), file.string());
    const bool has_version = record.is_object() && record.contains("version");
    const Index version = has_version ? json_integer(record, "version", file.string()) : 0;
    if (version > AttemptsFile::current_version) {
      throw DataError(fmt::format("{}: version {}, but this program knows only {}", file.string(),
                                  version, AttemptsFile::current_version));
    }
    return struct_of<AttemptsFile>(record, file.string()).events;
  } catch (const Error& error) {
    throw DataError(
        fmt::format("{}; give the file another name to begin a new one, or {} learn attempts --off",
                    error.what(), invocation()));
  }
}

void note(const Workspace& workspace, AttemptEvent event) {
  if (workspace.state.attempts == "off") return;
  // The runner and a command in another terminal may add events at the same time.
  const fs::path file = attempts_file(workspace.folder());
  const fs::path name = workspace.build() / "attempts.lock";
  std::optional<FileLock> lock;
  for (int tries = 0; !(lock = FileLock::if_free(name)) && tries < 200; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  if (!lock) throw Error(fmt::format("{} is held by {}", name.string(), FileLock::holder(name)));
  AttemptsFile attempts{.events = read_attempts(workspace.folder())};
  if (event.time.empty()) event.time = now();
  attempts.events.push_back(std::move(event));
  std::string text = fmt::format("{{\"version\": {}, \"events\": [", attempts.version);
  const char* comma = "";
  for (const AttemptEvent& each : attempts.events) {  // a line for each
    text += fmt::format("{}\n  {}", std::exchange(comma, ","), json_of(each).dump());
  }
  write_file(file, text + "\n]}\n");
}

void note_begin(const Workspace& workspace, const Exercise& exercise) {
  if (workspace.state.attempts == "off") return;
  if (last_of(read_attempts(workspace.folder()), "begin", exercise.id) != nullptr) return;
  note(workspace, {.time = {}, .what = "begin", .exercise = exercise.id});
}

void note_attempt(Workspace& workspace, const Exercise& exercise, const Verdict& verdict) {
  if (workspace.state.attempts == "off") return;
  const fs::path answer = workspace.answer(exercise);
  if (!fs::exists(answer)) return;
  const std::string code = read_file(answer);
  const bool passed = verdict.kind == Verdict::Kind::passed;
  if (code == exercise.master.skeleton().code) return;
  const auto events = read_attempts(workspace.folder());
  AttemptEvent event{.time = now(),
                     .what = "attempt",
                     .exercise = exercise.id,
                     .stage = verdict.stage,
                     .diagnosis = diagnosis_of(exercise, verdict),
                     .file = fingerprint(code),
                     .passed = passed,
                     .hints = workspace.of(exercise).hints};
  const AttemptEvent* last = last_of(events, "attempt", exercise.id);
  if (last != nullptr && last->file == event.file && last->passed == passed) return;
  if (const AttemptEvent* began = last_of(events, "begin", exercise.id)) {
    event.minutes = std::round(10 * (seconds_of(event.time) - seconds_of(began->time)) / 60) / 10;
  }
  note(workspace, event);
}

void note_prediction(const Workspace& workspace, const std::string& name, const std::string& value,
                     std::optional<double> measured) {
  note(workspace,
       {.time = {}, .what = "prediction", .name = name, .value = value, .measured = measured});
}

std::string diagnosis_of(const Exercise& exercise, const Verdict& verdict) {
  using Kind = Verdict::Kind;
  switch (verdict.kind) {
    case Kind::passed: return "none";
    case Kind::not_implemented: return "to_do";
    case Kind::does_not_compile: return "does_not_compile";
    case Kind::not_defined: return "not_defined";
    default: break;
  }
  const std::string& message = verdict.message;
  constexpr std::string_view guess = "It looks as if ", either = "either ";
  if (std::size_t at = message.find(guess); at != std::string::npos) {
    at += guess.size();
    if (message.compare(at, either.size(), either) == 0) at += either.size();
    for (const CourseAnswer& answer : exercise.master.answers) {
      if (answer.is_mistake && message.compare(at, answer.promised.size(), answer.promised) == 0) {
        return answer.name;
      }
    }
    return first_words(message.substr(at));
  }
  for (const CourseAnswer& answer : exercise.master.answers) {
    const bool wrong = !answer.is_mistake && !answer.promised.empty() &&
                       answer.promised != MasterFile::not_implemented;
    if (wrong && message.find(answer.promised) != std::string::npos) return answer.name;
  }
  if (verdict.kind == Kind::crashed) return "crash";
  for (const auto& [text, name] : general) {
    if (message.find(text) != std::string::npos) return name;
  }
  // Only a comparison of numbers says no more than that they differ; other messages are sentences.
  if (message.find("elements differ") != std::string::npos) return "none";
  return first_words(message);
}

std::string diagnosis_text(const Exercise& exercise, const std::string& diagnosis) {
  for (const CourseAnswer& answer : exercise.master.answers) {
    if (answer.name == diagnosis && !answer.promised.empty()) return answer.promised;
  }
  std::string text = diagnosis;
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

double seconds_of(const std::string& time) {
  std::tm parts{};
  const char* end = strptime(time.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return end == nullptr ? 0 : double(timegm(&parts));
}

double active_minutes(const std::vector<AttemptEvent>& events, const std::string& exercise) {
  constexpr double longest_pause = 600;  // seconds
  double seconds = 0, last = 0;
  for (const AttemptEvent& event : events) {
    const double time = seconds_of(event.time);
    if (event.exercise == exercise && last > 0) {
      seconds += std::clamp(time - last, 0.0, longest_pause);
    }
    last = event.exercise == exercise ? time : 0;
  }
  return seconds / 60;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
