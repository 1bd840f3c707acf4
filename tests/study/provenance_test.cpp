// Where the runs of a study come from, and when a difference may be one between processors.
#include "headroom_lab/study/provenance.hpp"

#include "headroom/io/fields.hpp"
#include "headroom_lab/study/results.hpp"
#include "headroom_lab/study/work.hpp"
#include "support/catch.hpp"
#include "support/small_study.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;
using Catch::Matchers::Contains;

namespace {

/// Two seeds of arm a and control random, whose runs were all trained on "P".
StudyResults two_seeds() {
  StudyResults r;
  r.provenance.processors = {"P", "Q"};
  for (const Index seed : {1, 2}) {
    for (const std::string arm : {"a", "random"}) {
      const std::string key = arm + std::to_string(seed);
      r.cells.push_back({.key = key, .trunk = {}, .seed = seed});
      r.roles.push_back({0, arm, key});
      r.provenance.runs["cell-" + key].processor = "P";
    }
  }
  r.contrasts = {{0, "a", "random", "accuracy", true}, {0, "random", "none", "accuracy"}};
  return r;
}

}  // namespace

TEST_CASE("arms are confounded with processors where runs of a seed differ in theirs") {
  StudyResults r = two_seeds();
  CHECK(processors_warning(r) == "");
  r.provenance.runs["cell-a2"].processor = "Q";
  CHECK(processors_warning(r) ==
        "Arms are confounded with processors: in 1 of 1 comparisons, runs of the same seed were "
        "trained on different models (P; Q)");
  // Both arms of a seed on the other model: the difference is one between arms alone.
  r.provenance.runs["cell-random2"].processor = "Q";
  CHECK(processors_warning(r) == "");
  // Without a family all comparisons count, and a run without a record says nothing.
  r.provenance.runs["cell-random2"].processor = "P";
  r.contrasts[0].in_family = false;
  CHECK_THAT(processors_warning(r), Contains("in 1 of 2 comparisons"));
  r.provenance.runs.erase("cell-random2");
  CHECK(processors_warning(r) == "");
}

TEST_CASE("the provenance of a study collects the records of its runs") {
  const TemporaryFolder folder;
  const StudyDeclaration declaration = declared(small_declaration());
  const StudyPlan plan = plan_of(declaration);
  CHECK(provenance_of(declaration, plan, folder.path()).runs.empty());
  folder.file("declaration.json", "{}\n");
  const auto done = [&](std::size_t trunk, const std::string& machine, const std::string& day,
                        double seconds) {
    const std::string key = plan.trunks.at(trunk).key;
    folder.file("trunks/" + key + "/summary.json", "{}");
    if (machine.empty()) return;
    StudyWork work = work_done_now(seconds);
    work.machine = machine;
    work.finished = "2026-11-" + day + "T10:00:00Z";
    work.study = "./headroom study FILE";
    work.resumed = trunk == 1;
    folder.file("work/trunk-" + key + ".json", json_of(work).dump());
  };
  REQUIRE(plan.trunks.size() == 2);
  done(0, "", "", 0);
  CHECK(provenance_of(declaration, plan, folder.path()).unrecorded == 1);
  done(0, "north", "26", 2.5);
  done(1, "east", "25", 1.25);
  const StudyProvenance found = provenance_of(declaration, plan, folder.path());
  CHECK(found.machines == std::vector<std::string>{"east", "north"});
  CHECK(found.commands == std::vector<std::string>{"./headroom study FILE"});
  CHECK(found.from == "2026-11-25T10:00:00Z");
  CHECK(found.to == "2026-11-26T10:00:00Z");
  CHECK(found.seconds == 3.75);
  CHECK(found.resumed == 1);
  CHECK(found.unrecorded == 0);
  CHECK(found.processors.size() == 1);
  CHECK(found.threads == std::vector<Index>{1});
  // FNV-1a of "{}\n", 64 bits, computed by a loop in Python.
  CHECK(found.declaration == "fnv1a64:c735ad1983dc7ddd");
  REQUIRE(found.runs.size() == 2);
  CHECK(found.runs.at("trunk-" + plan.trunks[1].key).seconds == 1.25);
}
