// The learner's attempts: workspace/attempts.json. It stays on the learner's machine.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "course/learn_judge.hpp"
#include "course/learn_workspace.hpp"
#include "headroom/base/listed.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// One thing that the learner did.
struct AttemptEvent {
  std::string time;  // "2026-05-01T12:30:00Z"
  std::string what;  // "begin", "attempt", "prediction", "question"
  std::string exercise = {};
  // Of an attempt:
  std::string stage = {};      // that did not pass
  std::string diagnosis = {};  // diagnosis_of()
  std::string file = {};       // a number that differs if the learner's file does
  std::optional<bool> passed = {};
  std::optional<Index> hints = {};     // shown so far
  std::optional<double> minutes = {};  // since the exercise began
  // Of a prediction, "07/a" and "1e-8", or of a question, "07/1" and the number of the option:
  std::string name = {}, value = {};
  std::optional<double> measured = {};  // what the experiment showed, if it has
  std::optional<bool> right = {};       // the answer to a question

  using T = AttemptEvent;
  using Fields =
      Listed<&T::time, &T::what, if_any<&T::exercise>, if_any<&T::stage>, if_any<&T::diagnosis>,
             if_any<&T::file>, if_any<&T::passed>, if_any<&T::hints>, if_any<&T::minutes>,
             if_any<&T::name>, if_any<&T::value>, if_any<&T::measured>, if_any<&T::right>>;
};

/// workspace/attempts.json
std::filesystem::path attempts_file(const std::filesystem::path& workspace);

/// The events of a workspace's folder, in their order; none if there is no file. Throws DataError
/// with the remedy for a file that is broken or of a later version.
std::vector<AttemptEvent> read_attempts(const std::filesystem::path& workspace);

/// Adds an event, with the time of now, unless the learner has switched this off.
void note(const Workspace& workspace, AttemptEvent event);

/// Notes that an exercise begins, once.
void note_begin(const Workspace& workspace, const Exercise& exercise);
/// Notes an attempt, unless the file is the one that the exercise began with or that was tried
/// last.
void note_attempt(Workspace& workspace, const Exercise& exercise, const Verdict& verdict);
/// Notes a prediction, and what was measured once an experiment has shown it.
void note_prediction(const Workspace& workspace, const std::string& name, const std::string& value,
                     std::optional<double> measured = {});

/// The diagnosis of a verdict: the name of a mistake or wrong answer of the master file; for the
/// other sentences of the checks their first words, "dy_is_ignored_another_dy_gives"; "to_do",
/// "crash", "does_not_compile", "not_defined"; "none" if they only found wrong numbers, or nothing
/// wrong.
std::string diagnosis_of(const Exercise& exercise, const Verdict& verdict);
/// The sentence of a diagnosis, for people; the name itself if it is not of the master file.
std::string diagnosis_text(const Exercise& exercise, const std::string& diagnosis);

/// Seconds since 1970 of the time of an event; 0 if it is none.
double seconds_of(const std::string& time);

/// Minutes of work on an exercise: pauses of more than ten minutes between two events count as ten.
double active_minutes(const std::vector<AttemptEvent>& events, const std::string& exercise);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
