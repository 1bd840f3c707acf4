// The pieces of work of a study, one by one, and how far they are: for programs that distribute
// work (GNU parallel, Slurm, Snakemake, HTCondor), and for people who wait.
#pragma once

#include <ctime>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "headroom/base/listed.hpp"
#include "headroom_lab/study/run.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

/// How far a piece is.
enum class PieceState {
  done,     // its result is there
  running,  // a process has claimed it
  failed,   // its last run ended with an error, and it did not begin again
  waiting   // for its needs, or for a process
};

/// A trunk, the scores of a trunk's heads, or a cell.
struct StudyPiece {
  std::string key;    // "trunk-0123456789abcdef", "scores-...", "cell-..."
  std::string title;  // "seed 2, prune 12: random 3"
  PieceState state = PieceState::waiting;
  Index stage = 0;  // 0 if it needs nothing, otherwise one more than the largest of its needs
  std::vector<std::string> needs = {};  // keys of the pieces that must be done before
  std::string result = {};              // the file that says that it is done, in the study's folder
  /// Of one processor: what it took if it is done, otherwise an estimate. Nothing if it is not
  /// known: no such piece was done, or several programs did one part each.
  std::optional<double> minutes = {};
  std::string by = {};     // who works on it: "process 12 on node3"
  std::string stale = {};  // who has claimed it and has ended without releasing it
  std::optional<double> running_minutes = {};  // since it was claimed
  std::string error = {};                      // of a piece that failed

  using T = StudyPiece;
  using Fields =
      Listed<&T::key, &T::title, &T::state, &T::stage, &T::needs, &T::result, &T::minutes,
             if_any<&T::by>, if_any<&T::stale>, if_any<&T::running_minutes>, if_any<&T::error>>;
};

/// The pieces in an order in which each comes after those that it needs. Reads the study's folder,
/// if there is one, and writes nothing. Minutes of pieces that are not done are the mean time of
/// a step in pieces of the same kind that are. Throws UsageError for a folder of another
/// declaration.
std::vector<StudyPiece> pieces_of(const StudyDeclaration& declaration, const StudyPlan& plan,
                                  const std::filesystem::path& folder);

/// Sets the minutes of the pieces that are not done by measurements.
void set_minutes(std::vector<StudyPiece>& pieces, const StudyEstimate& estimate);

/// A line for each piece: its key, stage, state, minutes ("-" if unknown), title, who works on it,
/// and the keys that it needs. The first line has the titles of the columns.
std::string pieces_text(const std::vector<StudyPiece>& pieces);

/// The state of a study, of all copies that work on it.
struct StudyStatus {
  /// The pieces that one machine has done: how many, when the last one ended, and how fast.
  struct Machine {
    std::string name;            // in the network
    Index done = 0;              // pieces
    std::string last = {};       // when it finished its last piece, UTC
    std::optional<double> rate;  // pieces per hour, over its last 20
    using T = Machine;
    using Fields = Listed<&T::name, &T::done, &T::last, &T::rate>;
  };
  Index done = 0, all = 0;
  std::vector<Machine> machines = {};
  std::vector<StudyPiece> running = {}, stale = {}, failed = {};
  /// Of work on one processor, less what running pieces have behind them. Nothing if unknown.
  std::optional<double> minutes_left = {};
  /// The work that is left, shared by the pieces that run now, UTC. Empty if none runs.
  std::string finish = {};

  using T = StudyStatus;
  using Fields = Listed<&T::done, &T::all, &T::machines, &T::running, &T::stale, &T::failed,
                        &T::minutes_left, &T::finish>;
};

/// `now` is in seconds since 1970.
StudyStatus status_of(const std::vector<StudyPiece>& pieces, const std::filesystem::path& folder,
                      std::time_t now);
std::string status_text(const StudyStatus& status);

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
