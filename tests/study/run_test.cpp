// The jobs of a study that a program other than headroom pretends to do.
#include "headroom_lab/study/run.hpp"

#include "headroom/io/atomic_file.hpp"
#include "headroom/io/files.hpp"
#include "headroom_lab/study/pieces.hpp"
#include "headroom_lab/study/work.hpp"
#include "support/catch.hpp"
#include "support/small_study.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;
namespace fs = std::filesystem;

TEST_CASE("a study ends when its programs have ended, and has the record of each") {
  const TemporaryFolder folder;
  // The first program goes on for a second after it has written its result, the others do not.
  folder.file("program",
              "#!/bin/sh\n"
              "echo '{}' > \"$3/summary.json\"\n"
              "mkdir \"$3/../first\" 2>/dev/null && sleep 1\n"
              "exit 0\n");
  fs::permissions(folder / "program", fs::perms::owner_all);

  StudyDeclaration declaration = declared(small_declaration());
  declaration.processes = 2;
  StudyPlan plan = plan_of(declaration);
  plan.cells.resize(2);
  const fs::path study = folder / "study";
  for (const StudyPiece& piece : pieces_of(declaration, plan, study)) {
    const fs::path result = study / piece.result;
    make_folder(result.parent_path());
    if (!piece.key.starts_with("cell-")) write_file(result, "{}\n");
  }

  const StopSignals stop;
  CHECK(run_study(declaration, plan,
                  {.folder = study, .program = folder / "program", .resume = true}, stop));
  for (const StudyCell& cell : plan.cells) {
    CHECK(read_work(study / "work" / ("cell-" + cell.key + ".json")).has_value());
  }
}
