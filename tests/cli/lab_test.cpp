// `headroom lab` as a user runs it: the list, one experiment, all of them, both precisions.
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "headroom/base/real.hpp"
#include "headroom/base/text.hpp"
#include "support/browser.hpp"
#include "support/catch.hpp"
#include "support/process.hpp"
#include "support/sanitized.hpp"
#include "support/temporary_folder.hpp"

using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

const std::string own = headroom::is_double ? "double" : "float";

Finished lab(std::vector<std::string> arguments, const std::string& folder = "") {
  arguments.insert(arguments.begin(), {HEADROOM_PROGRAM, "lab"});
  return run_process(arguments, {}, folder, 600);
}

bool has_sibling() {
  const std::filesystem::path program = HEADROOM_PROGRAM;
  return std::filesystem::exists(program.parent_path() /
                                 (headroom::is_double ? "headroom" : "headroom-f64"));
}

}  // namespace

TEST_CASE("lab list names every experiment") {
  const Finished listed = lab({"list"});
  CHECK(listed.code == 0);
  const json all = json::parse(lab({"list", "--json"}).out);
  CHECK(all.size() == 22);
  for (const json& experiment : all) {
    CHECK_THAT(listed.out, Contains(experiment["name"].get<std::string>()));
    CHECK_THAT(listed.out,
               Contains(headroom::capital(experiment["group"].get<std::string>()) + ":\n"));
  }
  CHECK(lab({}).out == listed.out);
}

TEST_CASE("lab ask lists the experiments that fit a question") {
  const Finished found = lab({"ask", "are", "heads", "shared"});
  CHECK(found.code == 0);
  CHECK_THAT(found.out, Contains("Do the heads share one small matrix?") &&
                            Contains("lab answer shared-head") && !Contains("dropout-streams"));
  CHECK(lab({"ask", "are heads shared"}).out == found.out);
  const json first = json::parse(lab({"ask", "valid_lens", "--json"}).out)[0];
  CHECK(first["name"] == "d2l");
  CHECK(first["pytorch"] == true);
  CHECK(json::parse(lab({"ask", "--json"}).out) == json::parse(lab({"list", "--json"}).out));
}

TEST_CASE("the intervals of an experiment can be computed again from its draws") {
  const TemporaryFolder folder;
  const Finished done = lab({"dropout-streams", "--precision", own, "--json"});
  INFO(done.err);
  REQUIRE(done.code == 0);
  const auto check = [&](const std::string& record) {
    folder.file("record.json", record);
    return run_process({"python3", HEADROOM_SOURCE "/examples/read_study.py", "--check",
                        (folder / "record.json").string()});
  };
  const Finished again = check(done.out);
  INFO(again.err);
  CHECK(again.code == 0);
  CHECK(again.out == "computed again, equal to 1e-6: 9 intervals\n");
  std::string wrong = done.out;  // the first draw of the first interval
  wrong.insert(wrong.find("\"draws\":[") + 9, "7,");
  CHECK_THAT(check(wrong).err, Contains("stored"));
}

TEST_CASE("lab answer writes a page with the program in PyTorch") {
  const TemporaryFolder folder;
  const Finished told =
      lab({"answer", "d2l", "--precision", own, "--out", "answers"}, folder.path());
  INFO(told.err);
  REQUIRE(told.code == 0);
  CHECK_THAT(told.out,
             Contains("0.333 0.333 0.333 0.000 0.000 0.000") && Contains("answers/d2l.html"));
  const std::string written = folder.content("answers/d2l.html");
  CHECK_THAT(written, Contains("torch.nn.MultiheadAttention(10, 5"));
  std::filesystem::remove(folder / "answers/d2l.html");  // report writes it again
  CHECK(run_process({HEADROOM_PROGRAM, "report", "--model", "answers"}, {}, folder.path()).code ==
        0);
  CHECK(folder.content("answers/d2l.html") == written);
}

TEST_CASE("the answers beside PyTorch fit on one screen", "[long]") {
  if (sanitized || !can_open_pages()) return;
  const TemporaryFolder folder;
  REQUIRE(lab({"answer", "--precision", own, "--out", "answers"}, folder.path()).code == 0);
  std::size_t pages = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "answers")) {
    if (entry.path().extension() != ".html") continue;
    ++pages;
    INFO(entry.path().string());
    const auto opened = check_page(entry.path(), folder / "browser", {pages % 2 == 1});
    check_first_screen(opened.front());  // of a phone
    check_first_screen(opened.back());   // of a desktop
  }
  CHECK(pages == 5);
}

TEST_CASE("an experiment tells its story, writes its page and repeats by its command") {
  const TemporaryFolder folder;
  const Finished told = lab({"d2l", "--precision", own, "--seed", "3"}, folder.path());
  INFO(told.err);
  REQUIRE(told.code == 0);
  CHECK_THAT(told.out, Contains("Question") && Contains("Claims") && Contains("Answer") &&
                           Contains("runs/lab-d2l-1/report.html"));
  const std::string page = "runs/lab-d2l-1/report.html";
  const std::string written = folder.content(page);
  CHECK_THAT(written, Contains("d2l"));
  std::filesystem::remove(folder / page);  // report writes it again
  CHECK(run_process({HEADROOM_PROGRAM, "report", "--model", "runs/lab-d2l-1"}, {}, folder.path())
            .code == 0);
  CHECK(folder.content(page) == written);

  const Finished printed = lab({"d2l", "--precision", own, "--seed", "3", "--json"}, folder.path());
  REQUIRE(printed.code == 0);
  CHECK_FALSE(std::filesystem::exists(folder / "runs/lab-d2l-2"));
  json record = json::parse(printed.out);
  CHECK(record["command"] == "headroom lab d2l --width 10 --heads 5 --seed 3 --precision " + own);
  const Finished again =
      lab({"d2l", "--width", "10", "--heads", "5", "--seed", "3", "--precision", own, "--json"});
  json same = json::parse(again.out);
  for (json* one : {&record, &same}) one->erase("seconds");
  CHECK(record == same);
}

TEST_CASE("both precisions stand on one page") {
  if (!has_sibling()) return;
  const Finished both = lab({"shared-head", "--width", "16", "--heads", "4", "--json"});
  INFO(both.err);
  REQUIRE(both.code == 0);
  const json record = json::parse(both.out);
  CHECK(record["precisions"] == json({"double", "float"}));
  for (const json& claim : record["claims"]) {
    CHECK(claim["double"]["holds"] == true);
    CHECK(claim["float"]["holds"] == true);
  }
  const Finished other =
      lab({"d2l", "--json", "--precision", own == "double" ? "float" : "double"});
  CHECK(json::parse(other.out)["precisions"] == json({own == "double" ? "float" : "double"}));
}

TEST_CASE("lab all runs everything, with a page for each and one that links them", "[long]") {
  if (sanitized) return;  // tests/lab runs every experiment
  const TemporaryFolder folder;
  const Finished finished = lab(
      {"all", "--width", "24", "--heads", "4", "--out", "run", "--precision", own}, folder.path());
  INFO(finished.err);
  REQUIRE(finished.code == 0);
  CHECK_THAT(finished.out, Contains("claims hold") && Contains("run/index.html"));
  const json all = json::parse(lab({"list", "--json"}).out);
  for (const json& experiment : all) {
    const std::string name = experiment["name"];
    CHECK_THAT(finished.out, Contains(name));
    CHECK(std::filesystem::exists(folder / ("run/" + name + ".html")));
  }
  // report writes the same pages again.
  const std::string written = folder.content("run/index.html");
  std::filesystem::remove(folder / "run/index.html");
  std::filesystem::remove(folder / "run/d2l.html");
  const Finished again =
      run_process({HEADROOM_PROGRAM, "report", "--model", "run"}, {}, folder.path());
  INFO(again.err);
  CHECK(again.code == 0);
  CHECK_THAT(again.out, Contains("run/index.html"));
  CHECK(folder.content("run/index.html") == written);
  CHECK(std::filesystem::exists(folder / "run/d2l.html"));
  if (!can_open_pages()) return;
  std::vector<std::string> pages{"index"};
  for (const json& experiment : all) pages.push_back(experiment["name"]);
  for (std::size_t i = 0; i < pages.size(); ++i) {
    const auto opened =
        check_page(folder / ("run/" + pages[i] + ".html"), folder / "browser", {i % 2 == 1});
    if (i == 0) continue;
    INFO(pages[i]);
    check_first_screen(opened.front());  // of a phone
    check_first_screen(opened.back());   // of a desktop
  }
}
