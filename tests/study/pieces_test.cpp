// The pieces of a study: what each needs, how far it is, and what that says about the end.
#include "headroom_lab/study/pieces.hpp"

#include <algorithm>
#include <set>

#include "headroom/base/error.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/fields.hpp"
#include "headroom/io/file_lock.hpp"
#include "headroom/io/files.hpp"
#include "headroom_lab/study/work.hpp"
#include "support/catch.hpp"
#include "support/small_study.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

/// A small study in a folder, whose files the test writes.
struct Study {
  TemporaryFolder folder;
  StudyDeclaration declaration = declared(small_declaration());
  StudyPlan plan = plan_of(declaration);

  std::vector<StudyPiece> pieces() const { return pieces_of(declaration, plan, folder.path()); }
  fs::path path(const std::string& part, const std::string& name) const {
    make_folder(folder / part);
    return folder.path() / part / name;
  }
  void finish(const StudyPiece& piece, double seconds, const char* finished, bool resumed = false,
              const char* machine = "node1") const {
    const fs::path result = folder / piece.result;
    make_folder(result.parent_path());
    write_file(result, "{}\n");
    StudyWork work;
    work.seconds = seconds;
    work.finished = finished;
    work.machine = machine;
    work.resumed = resumed;
    write_work(path("work", piece.key + ".json"), work);
  }
};

const StudyPiece& piece_of(const std::vector<StudyPiece>& pieces, const std::string& key) {
  const auto found = std::find_if(pieces.begin(), pieces.end(),
                                  [&](const StudyPiece& piece) { return piece.key == key; });
  REQUIRE(found != pieces.end());
  return *found;
}

const StudyPiece& titled(const std::vector<StudyPiece>& pieces, const std::string& title) {
  const auto found = std::find_if(pieces.begin(), pieces.end(),
                                  [&](const StudyPiece& piece) { return piece.title == title; });
  INFO(title);
  REQUIRE(found != pieces.end());
  return *found;
}

}  // namespace

TEST_CASE("every piece of a study has a key, comes after what it needs, and has a stage") {
  const Study study;
  const std::vector<StudyPiece> pieces = study.pieces();
  CHECK(pieces.size() == 2 * study.plan.trunks.size() + study.plan.cells.size());
  CHECK_FALSE(fs::exists(study.folder / "claims"));
  std::set<std::string> before;
  for (const StudyPiece& piece : pieces) {
    Index stage = 0;
    for (const std::string& need : piece.needs) {
      CHECK(before.count(need) == 1);
      stage = std::max(stage, piece_of(pieces, need).stage + 1);
    }
    CHECK(piece.stage == stage);
    CHECK(piece.state == PieceState::waiting);
    CHECK_FALSE(piece.minutes);
    CHECK(before.insert(piece.key).second);
  }
  const StudyPiece& trunk = titled(pieces, "seed 1: trunk");
  CHECK(trunk.stage == 0);
  CHECK(trunk.result == "trunks/" + trunk.key.substr(6) + "/summary.json");
  const StudyPiece& scores = titled(pieces, "seed 1: importance");
  CHECK(scores.needs == std::vector<std::string>{trunk.key});
  CHECK(scores.result == "trunks/" + trunk.key.substr(6) + "/importance.json");
  const StudyPiece& reference = titled(pieces, "seed 1, prune 4: sensitivity");
  CHECK(reference.stage == 1);
  const StudyPiece& copy = titled(pieces, "seed 1, prune 4: same_mask_reinitialised");
  CHECK(copy.stage == 2);
  CHECK(copy.needs == std::vector<std::string>{trunk.key, reference.key});
}

TEST_CASE("the costliest heads need the scores of the trunk") {
  Record record = small_declaration();
  record["controls"] = {"random", "costliest_first"};
  const StudyDeclaration declaration = declared(record);
  const std::vector<StudyPiece> pieces = pieces_of(declaration, plan_of(declaration), "nowhere");
  const StudyPiece& costliest = titled(pieces, "seed 2, prune 8: costliest_first");
  CHECK(costliest.stage == 2);
  REQUIRE(costliest.needs.size() == 2);
  CHECK(costliest.needs[1] == titled(pieces, "seed 2: importance").key);
}

TEST_CASE("a piece is done, claimed, left by a process that ended, or failed") {
  const Study study;
  const std::vector<StudyPiece> before = study.pieces();
  const std::string done = before[0].key, claimed = before[1].key, failed = before[2].key,
                    stale = before[3].key;
  study.finish(before[0], 90, "2026-01-01T00:10:00Z");
  const auto lock = FileLock::if_free(study.path("claims", claimed));
  REQUIRE(lock);
  write_file(study.path("failures", failed), "out of memory\n");
  write_file(study.path("claims", stale), "12 node3\n");
  const std::vector<StudyPiece> pieces = study.pieces();
  CHECK(piece_of(pieces, done).state == PieceState::done);
  CHECK(piece_of(pieces, done).minutes == 1.5);
  CHECK(piece_of(pieces, claimed).state == PieceState::running);
  CHECK(piece_of(pieces, claimed).by == FileLock::holder(study.path("claims", claimed)));
  CHECK(piece_of(pieces, claimed).running_minutes.value() < 1);
  CHECK(piece_of(pieces, failed).state == PieceState::failed);
  CHECK(piece_of(pieces, failed).error == "out of memory");
  CHECK(piece_of(pieces, stale).state == PieceState::waiting);
  CHECK(piece_of(pieces, stale).stale == "process 12 on node3");
  CHECK(fs::exists(study.path("claims", stale)));  // reading it changes nothing

  const std::string text = pieces_text(pieces);
  CHECK_THAT(text, Contains(done + "       0  done        1.50  seed 1: trunk\n"));
  CHECK_THAT(text, Contains("running") && Contains("(process 12 on node3 ended without it)") &&
                       Contains("; needs " + done));
}

TEST_CASE("minutes follow from the steps of pieces of the same kind that one program did") {
  const Study study;
  const std::vector<StudyPiece> before = study.pieces();
  study.finish(before[0], 60, "2026-01-01T00:10:00Z");          // a trunk of 20 steps: 3 s each
  study.finish(before[1], 6000, "2026-01-01T02:10:00Z", true);  // a part: says nothing
  std::vector<StudyPiece> pieces = study.pieces();
  CHECK_FALSE(pieces[1].minutes);
  const StudyPiece& cell = titled(pieces, "seed 1, prune 4: sensitivity");
  CHECK(cell.minutes == 0.5);  // 10 steps after the trunk
  CHECK(titled(pieces, "seed 1, prune 4: small_from_start").minutes == 1.5);
  CHECK_FALSE(titled(pieces, "seed 1: importance").minutes);

  study.finish(cell, 120, "2026-01-01T00:12:00Z");
  pieces = study.pieces();
  CHECK(titled(pieces, "seed 1, prune 8: sensitivity").minutes == 2);  // cells count, not trunks

  StudyEstimate estimate;
  estimate.seconds[titled(pieces, "seed 1: importance").key] = 30;
  set_minutes(pieces, estimate);
  CHECK(titled(pieces, "seed 1: importance").minutes == 0.5);
  CHECK(titled(pieces, "seed 1, prune 8: sensitivity").minutes == 2);
}

TEST_CASE("the status of a study says who did how much, and when it ends") {
  const Study study;
  std::vector<StudyPiece> pieces = study.pieces();
  CHECK(status_text(status_of(pieces, study.folder.path(), 0)).find("nobody works on it") !=
        std::string::npos);
  study.finish(pieces[0], 60, "2026-01-01T00:10:00Z");
  study.finish(pieces[1], 60, "2026-01-01T00:12:00Z");
  study.finish(titled(pieces, "seed 1, prune 4: sensitivity"), 60, "2026-01-01T00:05:00Z", false,
               "node2");
  const auto lock = FileLock::if_free(study.path("claims", pieces[2].key));
  REQUIRE(lock);
  write_file(study.path("claims", pieces[3].key), "12 node3\n");
  pieces = study.pieces();
  for (StudyPiece& piece : pieces) {
    if (piece.state != PieceState::done) piece.minutes = piece.key == pieces[2].key ? 3 : 0;
  }
  pieces[2].running_minutes = 1;
  const std::time_t now = utc_time("2026-01-01T00:12:00Z").value();
  const StudyStatus status = status_of(pieces, study.folder.path(), now);
  CHECK(status.done == 3);
  CHECK(status.all == Index(pieces.size()));
  REQUIRE(status.machines.size() == 2);
  CHECK(status.machines[0].name == "node1");
  CHECK(status.machines[0].done == 2);
  CHECK(status.machines[0].last == "2026-01-01T00:12:00Z");
  CHECK(status.machines[0].rate == 40);  // 2 in 3 minutes
  CHECK(status.machines[1].rate == 60);
  REQUIRE(status.running.size() == 1);
  CHECK(status.running[0].key == pieces[2].key);
  REQUIRE(status.stale.size() == 1);
  CHECK(status.stale[0].stale == "process 12 on node3");
  CHECK(status.minutes_left == 2);
  CHECK(status.finish == "2026-01-01T00:14:00Z");
  CHECK_THAT(status_text(status), Contains("1 stale claims") &&
                                      Contains("process 12 on node3 has ended") &&
                                      Contains("expected end: 2026-01-01T00:14:00Z"));
  CHECK(json_of(struct_of<StudyStatus>(json_of(status), "status")) == json_of(status));
}

TEST_CASE("the pieces of a folder with another declaration are refused") {
  const Study study;
  Record other = json_of(study.declaration);
  other["precision"] = is_double ? "double" : "float";
  write_file(study.folder / "declaration.json", other.dump());
  CHECK(study.pieces().size() > 0);
  other["seeds"] = {7};
  write_file(study.folder / "declaration.json", other.dump());
  CHECK_THROWS_WITH(study.pieces(), Contains("another declaration (/seeds"));
}

TEST_CASE("times in UTC are written and read") {
  CHECK(utc_text(0) == "1970-01-01T00:00:00Z");
  CHECK(utc_time("1970-01-02T00:00:01Z") == 86401);
  CHECK_FALSE(utc_time("1970-01-02"));
  CHECK_FALSE(utc_time("1970-01-02T00:00:01Z and more"));
}
