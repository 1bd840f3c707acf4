// Who works on a study, how fast, and until when.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "headroom/base/text.hpp"
#include "headroom_lab/study/pieces.hpp"
#include "headroom_lab/study/work.hpp"
#include "study/folder.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// When a piece was begun and finished, in seconds since 1970.
struct Span {
  double begun = 0, finished = 0;
};

constexpr std::size_t newest = 20;  // pieces that a rate is computed from

/// Pieces per hour, over the newest pieces.
std::optional<double> rate_of(std::vector<Span> spans) {
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.finished > b.finished; });
  spans.resize(std::min(spans.size(), newest));
  if (spans.empty()) return std::nullopt;
  double begun = spans.front().begun;
  for (const Span& span : spans) begun = std::min(begun, span.begun);
  const double seconds = spans.front().finished - begun;
  if (seconds <= 0) return std::nullopt;
  return 3600 * double(spans.size()) / seconds;
}

/// The machines that the records of finished pieces name, by name.
std::vector<StudyStatus::Machine> machines_of(const std::vector<StudyPiece>& pieces,
                                              const StudyFolder& folder) {
  std::map<std::string, StudyStatus::Machine> machines;
  std::map<std::string, std::vector<Span>> spans;
  for (const StudyPiece& piece : pieces) {
    if (piece.state != PieceState::done) continue;
    const std::optional<StudyWork> work = read_work(folder.work(piece.key));
    const std::string name = work ? work->machine : "(no record)";
    StudyStatus::Machine& machine = machines[name];
    machine.name = name;
    ++machine.done;
    if (!work) continue;
    machine.last = std::max(machine.last, work->finished);
    const std::optional<std::time_t> finished = utc_time(work->finished);
    if (finished) spans[name].push_back({double(*finished) - work->seconds, double(*finished)});
  }
  std::vector<StudyStatus::Machine> found;
  for (auto& [name, machine] : machines) {
    machine.rate = rate_of(spans[name]);
    found.push_back(std::move(machine));
  }
  return found;
}

/// The minutes of work that are left for one processor.
std::optional<double> minutes_left(const std::vector<StudyPiece>& pieces) {
  double left = 0;
  for (const StudyPiece& piece : pieces) {
    if (piece.state == PieceState::done) continue;
    if (!piece.minutes && !piece.key.starts_with("scores-")) return std::nullopt;
    left += std::max(0.0, piece.minutes.value_or(0) - piece.running_minutes.value_or(0));
  }
  return left;
}

std::string lines_of(const std::vector<StudyPiece>& pieces, const char* title,
                     std::string (*rest)(const StudyPiece&)) {
  if (pieces.empty()) return "";
  std::string text = fmt::format("{}\n", title);
  for (const StudyPiece& piece : pieces) {
    text += fmt::format("  {:<23}  {}: {}\n", piece.key, piece.title, rest(piece));
  }
  return text;
}

}  // namespace

StudyStatus status_of(const std::vector<StudyPiece>& pieces, const std::filesystem::path& folder,
                      std::time_t now) {
  StudyStatus status{.all = Index(pieces.size())};
  for (const StudyPiece& piece : pieces) {
    if (piece.state == PieceState::done) ++status.done;
    if (piece.state == PieceState::running) status.running.push_back(piece);
    if (piece.state == PieceState::failed) status.failed.push_back(piece);
    if (!piece.stale.empty()) status.stale.push_back(piece);
  }
  status.machines = machines_of(pieces, StudyFolder{folder});
  status.minutes_left = minutes_left(pieces);
  if (status.minutes_left && !status.running.empty()) {
    const double seconds = 60 * *status.minutes_left / double(status.running.size());
    status.finish = utc_text(now + static_cast<std::time_t>(seconds));
  }
  return status;
}

std::string status_text(const StudyStatus& status) {
  std::string text =
      fmt::format("{} of {} pieces are done, {} run, {} failed, {} stale claims\n", status.done,
                  status.all, status.running.size(), status.failed.size(), status.stale.size());
  if (!status.machines.empty()) {
    Index width = 7;
    for (const auto& machine : status.machines) {
      width = std::max(width, display_width(machine.name));
    }
    text += fmt::format("{}  {:>5}  {:>8}  last\n", padded("machine", width), "done", "per hour");
    for (const auto& machine : status.machines) {
      text += fmt::format("{}  {:>5}  {:>8}  {}\n", padded(machine.name, width), machine.done,
                          machine.rate ? fmt::format("{:.0f}", *machine.rate) : "-", machine.last);
    }
  }
  text += lines_of(status.running, "running", [](const StudyPiece& piece) {
    return fmt::format("{}, {}", piece.by, clock_text(60 * piece.running_minutes.value_or(0)));
  });
  text += lines_of(status.stale, "stale claims (the next copy continues these)",
                   [](const StudyPiece& piece) { return piece.stale + " has ended"; });
  text += lines_of(status.failed, "failed", [](const StudyPiece& piece) { return piece.error; });
  if (status.done == status.all) return text;
  const std::string left = status.minutes_left ? clock_text(60 * *status.minutes_left) : "unknown";
  text += fmt::format("work left: {} on one processor; {}\n", left,
                      status.running.empty()  ? "nobody works on it"
                      : status.finish.empty() ? "the end is unknown until a trunk is done"
                                              : "expected end: " + status.finish);
  return text;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
