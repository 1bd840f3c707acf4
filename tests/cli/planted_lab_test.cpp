// A claim that does not hold: the number on stderr, exit code 3, and a page that says so.
#include <nlohmann/json.hpp>

#include "headroom_lab/report/report.hpp"
#include "support/catch.hpp"
#include "support/process.hpp"
#include "support/temporary_folder.hpp"

using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

Finished planted(std::vector<std::string> arguments, const TemporaryFolder& folder) {
  arguments.insert(arguments.begin(), {HEADROOM_PLANTED, "lab"});
  return run_process(arguments, {}, folder.path(), 600);
}

}  // namespace

TEST_CASE("lab ends with code 3 and the number when a claim does not hold") {
  if (headroom::find_chart_js().empty()) {
    WARN("skipped: no Chart.js (apt-get install libjs-chart.js)");
    return;
  }
  const TemporaryFolder folder;
  const Finished finished = planted({"planted", "--out", "run"}, folder);
  CHECK(finished.code == 3);
  CHECK_THAT(finished.err, StartsWith("error: lab planted: ") && Contains("one as two") &&
                               Contains(": 1 in ") && Contains("must be == 2"));
  CHECK_THAT(finished.out, Contains("does not support an answer") && !Contains("One is two."));
  const auto record = nlohmann::json::parse(folder.content("run/records.json"));
  CHECK(record["claims"][0].dump().find("\"holds\":true") != std::string::npos);
  CHECK(record["claims"][1].dump().find("\"holds\":false") != std::string::npos);
  CHECK_THAT(folder.content("run/report.html"), Contains("does not support an answer"));
}

TEST_CASE("lab prints the record of a broken claim all the same, and ends with code 3") {
  const TemporaryFolder folder;
  const Finished finished = planted({"planted", "--json"}, folder);
  CHECK(finished.code == 3);
  CHECK(nlohmann::json::parse(finished.out)["name"] == "planted");
}

TEST_CASE("lab ends with code 0 when the claims hold, in the same program") {
  const TemporaryFolder folder;
  CHECK(planted({"d2l", "--json"}, folder).code == 0);
}
