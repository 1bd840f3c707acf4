// Standard streams that are closed, full or not read, and files beyond the limit of their size.
#include <unistd.h>

#include "cli/runs.hpp"

using Catch::Matchers::Contains;

namespace {

/// A small run with the shell's redirections.
Finished redirected(std::vector<std::string> arguments, const std::string& redirections,
                    const TemporaryFolder& folder) {
  std::string call = HEADROOM_PROGRAM;
  for (const std::string& argument : arguments) call += " " + argument;
  return run_process({"sh", "-c", call + redirections}, {}, folder.path());
}

}  // namespace

TEST_CASE("terminal text never gets into a run's files, whichever standard streams are closed") {
  for (const char* closed : {" <&-", " >&-", " 2>&-", " <&- >&- 2>&-"}) {
    INFO(closed);
    const TemporaryFolder folder;
    REQUIRE(redirected(small_run("run"), closed, folder).code == 0);
    CHECK(measurements(folder / "run/metrics.jsonl").size() >= 6);  // each line is JSON
    CHECK(nlohmann::json::parse(content(folder / "run/config.json")).contains("training"));
    CHECK(redirected({"train", "--out", "run", "--resume"}, closed, folder).code == 0);
  }
}

TEST_CASE("an error that cannot be printed keeps its exit code") {
  const TemporaryFolder folder;
  CHECK(redirected({"doctor", "--nonsense"}, " 2>/dev/full", folder).code == 2);
  CHECK(redirected({"doctor", "--nonsense"}, " 2>&-", folder).code == 2);
}

TEST_CASE("a run whose progress nobody can see ends well") {
  const TemporaryFolder folder;
  CHECK(redirected(small_run("run"), " 2>/dev/full", folder).code == 0);
  CHECK(std::filesystem::exists(folder / "run/summary.json"));
}

TEST_CASE("output that nobody reads is one sentence, and the run is complete") {
  const TemporaryFolder folder;
  std::string call = HEADROOM_PROGRAM;
  for (const std::string& argument : small_run("run")) call += " " + argument;
  // The reader has ended before the program begins.
  run_process({"sh", "-c", "(sleep 0.5; " + call + " 2>err; echo $? >code) | true; sleep 0.1"}, {},
              folder.path());
  while (content(folder / "code").empty()) usleep(10000);
  CHECK(content(folder / "code") == "5\n");
  CHECK_THAT(content(folder / "err"),
             Contains("error: standard output could not be written (the program that reads it"));
  CHECK(std::filesystem::exists(folder / "run/summary.json"));
}

TEST_CASE("a file beyond the limit of sizes is one sentence") {
  const TemporaryFolder folder;
  const Finished finished = run_process(
      {"sh", "-c",
       "ulimit -f 8; exec " HEADROOM_PROGRAM " train --task reverse --steps 2 --out run"},
      {}, folder.path());
  CHECK(finished.code == 5);
  CHECK_THAT(finished.err, Contains(".safetensors: cannot write: File too large"));
  CHECK(std::distance(std::filesystem::directory_iterator(folder / "run"), {}) == 2);
}
