// The record of how a job of a study was done: where, when, by which program.
#pragma once

#include <ctime>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "headroom/base/listed.hpp"
#include "headroom/base/real.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// The file `work/JOB.json`. Results of a study do not depend on it.
struct StudyWork {
  double seconds = 0;      // from the start of the program that finished the job to its end
  bool resumed = false;    // that program continued what another one had begun
  std::string finished{};  // UTC: "2026-11-26T16:55:03Z"
  std::string machine{};   // its name in the network
  std::string processor{}, blas{};  // processor_description(), blas_description()
  Index threads = 1;
  std::string version{};  // "0.9.0 (double)"
  std::string command{};  // of that program, as in a shell
  std::string study{};    // the command that started it: "./headroom study FILE"

  using T = StudyWork;
  using Fields = Listed<&T::seconds, &T::resumed, &T::finished, &T::machine, &T::processor,
                        &T::blas, &T::threads, &T::version, &T::command, if_any<&T::study>>;
};

/// The record of a job that ends now, on this machine and by this version, with one thread.
StudyWork work_done_now(double seconds);

/// A time in seconds since 1970 as UTC, and back: "2026-11-26T16:55:03Z". Returns nothing for a
/// text of another form.
std::string utc_text(std::time_t time);
std::optional<std::time_t> utc_time(const std::string& text);

/// Words as a shell reads them: those with other characters than letters, digits and
/// `_-+=./:,@%` are in single quotes.
std::string shell_text(const std::vector<std::string>& words);

/// Writes the file completely or not at all. Throws FileError.
void write_work(const std::filesystem::path& file, const StudyWork& work);

/// Returns nothing without the file: the job is not done, or an earlier version did it, or the
/// program was killed just before it wrote the file. Throws FileError for a file that cannot be
/// read, DataError for one of another form.
std::optional<StudyWork> read_work(const std::filesystem::path& file);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
