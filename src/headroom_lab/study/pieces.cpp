// The pieces of a study, from its plan and its folder.
#include "headroom_lab/study/pieces.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "headroom/base/names.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/file_lock.hpp"
#include "study/job_times.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

/// The minutes since a file was written.
double minutes_since(const fs::path& file) {
  std::error_code error;
  const fs::file_time_type written = fs::last_write_time(file, error);
  if (error) return 0;  // it was removed in this moment
  const std::chrono::duration<double, std::ratio<60>> since =
      fs::file_time_type::clock::now() - written;
  return std::max(0.0, since.count());
}

/// Reads from claims and failures how far a piece is that is not done.
void read_state(StudyPiece& piece, const StudyFolder& folder) {
  const fs::path claim = folder.claim(piece.key), failure = folder.failure(piece.key);
  if (FileLock::held(claim)) {
    piece.state = PieceState::running;
    piece.by = FileLock::holder(claim);
    piece.running_minutes = minutes_since(claim);
    return;
  }
  if (fs::exists(claim)) piece.stale = FileLock::holder(claim);
  if (!fs::exists(failure)) return;
  piece.state = PieceState::failed;
  piece.error = read_file(failure);
  while (!piece.error.empty() && piece.error.back() == '\n') piece.error.pop_back();
}

}  // namespace

std::vector<StudyPiece> pieces_of(const StudyDeclaration& declaration, const StudyPlan& plan,
                                  const fs::path& path) {
  const StudyFolder folder{path};
  if (fs::exists(folder.declaration())) require_same(declaration, folder);
  const std::vector<StudyJob> jobs = jobs_of(declaration, plan);
  std::vector<bool> done;
  for (const StudyJob& job : jobs) done.push_back(fs::exists(result_of(job, plan, folder)));
  JobTimes times(jobs.size());
  times.read(jobs, done, folder);
  std::vector<StudyPiece> pieces;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    StudyPiece piece{.key = jobs[i].name, .title = title_of(jobs[i], plan)};
    for (const std::size_t need : jobs[i].needs) {
      piece.needs.push_back(jobs[need].name);
      piece.stage = std::max(piece.stage, pieces[need].stage + 1);
    }
    piece.result = result_of(jobs[i], plan, StudyFolder{}).string();
    const std::optional<double> seconds = done[i] ? times.took(i) : times.estimate(jobs[i]);
    if (seconds) piece.minutes = *seconds / 60;
    if (done[i]) {
      piece.state = PieceState::done;
    } else {
      read_state(piece, folder);
    }
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

void set_minutes(std::vector<StudyPiece>& pieces, const StudyEstimate& estimate) {
  for (StudyPiece& piece : pieces) {
    const auto seconds = estimate.seconds.find(piece.key);
    if (seconds != estimate.seconds.end()) piece.minutes = seconds->second / 60;
  }
}

std::string pieces_text(const std::vector<StudyPiece>& pieces) {
  std::string text =
      fmt::format("{:<23}  {}  {:<7}  {:>7}  {}\n", "key", "stage", "state", "minutes", "title");
  for (const StudyPiece& piece : pieces) {
    text +=
        fmt::format("{:<23}  {:>5}  {:<7}  {:>7}  {}", piece.key, piece.stage, name_of(piece.state),
                    piece.minutes ? fmt::format("{:.2f}", *piece.minutes) : "-", piece.title);
    if (!piece.by.empty()) text += fmt::format(" ({})", piece.by);
    if (!piece.stale.empty()) text += fmt::format(" ({} ended without it)", piece.stale);
    if (!piece.needs.empty()) text += fmt::format("; needs {}", fmt::join(piece.needs, ", "));
    text += '\n';
  }
  return text;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
