// The tables of a study's sections, in files and in a terminal.
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "headroom/base/error.hpp"
#include "headroom/base/record_json.hpp"
#include "headroom/base/text.hpp"
#include "headroom_lab/report/study.hpp"
#include "support/catch.hpp"
#include "support/small_study_results.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;
using namespace small_study;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

TEST_CASE("the tables of a study's sections, as comma-separated values") {
  const auto csv = [](const StudyResults& results, std::size_t section, std::size_t table = 0) {
    return csv_text(study_sections(results).at(section).tables.at(table));
  };
  const StudyResults results = small_results();
  CHECK(csv(results, 0) ==
        ",a,a low,a high,b,b low,b high,c,c low,c high\r\n"
        "a,1,,,0.25,0.1,0.4,0.75,0.7,0.8\r\n"
        "b,0.25,0.1,0.4,1,,,0.5,0.4,0.6\r\n"
        "c,0.75,0.7,0.8,0.5,0.4,0.6,1,,\r\n");
  CHECK_THAT(csv(results, 1), StartsWith("condition,arm,runs,heads,encoder,decoder,cross\r\n"
                                         "prune 4,sensitivity,3,8,4,4,0\r\n"));
  CHECK_THAT(csv(results, 2),
             StartsWith("condition,arm,measure,heads,parameters,multiply-adds,seeds,mean,mean "
                        "low,mean high\r\n") &&
                 Contains("prune 4,random,exact match (%),8,800,4000,3,70,62.5,77.5\r\n"));
  CHECK(csv(results, 3) ==
        ",1,1 low,1 high,2,2 low,2 high\r\n"
        "a,0.1,0,0.2,0.3,0.2,0.4\r\n"
        "b,1.25,1,1.5,1.25,1.1,1.4\r\n"
        "c,0.2,0.1,0.3,,,\r\n");
  StudyResults games = results;
  games.regret.push_back({"all", "a", 3, {0.5, 0.4, 0.6}});
  CHECK(csv(games, 3) == ",3,3 low,3 high\r\na,0.5,0.4,0.6\r\n");
  CHECK(csv(games, 3, 1) == csv(results, 3));
  // One group: the conditions differ only in the number of removed heads.
  CHECK(csv(results, 4) == "arm,heads\r\nsensitivity,8\r\nmagnitude,unknown\r\n");
  CHECK(csv(results, 5) ==
        "heads left,parameters,share (%),multiply-adds,their share (%),runs\r\n"
        "12,1000,100,5000,100,1\r\n10,900,90,4500,90,1\r\n8,800,80,4000,80,1\r\n");
  CHECK(csv(results, 6) ==
        "arm,against,condition,measure,difference,difference low,difference high,seeds,p,p after "
        "Holm\r\n"
        "sensitivity,random,prune 4,exact match (%),25.1,20,30.2,3,0.0171,0.0342\r\n"
        "magnitude,random,prune 4,exact match (%),-10,-25,5,3,0.2041,0.2042\r\n");
  CHECK_THAT(csv(results, 6, 1), Contains("sensitivity,none,prune 2,exact match (%),-0.05,"));
  CHECK_THAT(csv(results, 7), Contains("pace,slow,fast,exact match (%),3,1,5,0.0321,2\r\n") &&
                                  Contains("pace,slower,fast,exact match (%),2,-1,5,0.4321,2\r\n"));
  CHECK_THAT(csv(results, 8), StartsWith("condition,arm,seed 1,seed 2,seed 3\r\n") &&
                                  Contains("prune 4,none,96,96.3,96.6\r\n"));
  CHECK_THAT(csv(results, 9), Contains("sensitivity,prune 4,8,95.1,94.2,96,-1.2,"));

  StudyResults tested = results;
  tested.declaration["measures"] = {"exact_match", "test.exact_match"};
  tested.means.push_back(mean(0, "sensitivity", 8, {0.9, 0.8, 0.95}));
  tested.means.back().measure = "test.exact_match";
  CHECK(csv(tested, 9) ==
        "arm,condition,heads,exact match (%),exact match (%) low,exact match (%) high,difference "
        "from all heads,difference from all heads low,difference from all heads high,exact match "
        "on the test set (%),exact match on the test set (%) low,exact match on the test set (%) "
        "high,difference on the test set\r\n"
        "sensitivity,prune 4,8,95.1,94.2,96,-1.2,-1.9,-0.5,90,80,95,\r\n"
        "sensitivity,prune 2,10,96.25,96.1,96.4,-0.05,-1.1,1,,,,\r\n");
  StudyResults other = results;  // no interval: unknown; enough seeds, and none acceptable: a dash
  other.contrasts[3].interval = std::nullopt;
  other.declaration["acceptable_loss"] = 0.001;
  CHECK_THAT(csv(other, 4), Contains("sensitivity,unknown\r\n"));
  other.contrasts[3].interval = Interval{-0.0005, -0.011, 0.01};
  CHECK_THAT(csv(other, 4), Contains("sensitivity,–\r\n"));
  CHECK(study_sections(other).at(9).tables.empty());
  other.means[0].mean = {0.95, 0.95, 0.95};  // the same in all seeds
  CHECK_THAT(csv(other, 2), Contains("prune 4,sensitivity,exact match (%),8,800,4000,3,95,,\r\n"));
  for (StudyMean& m : other.means) m.measure = "validation_loss";
  other.declaration["measures"] = {"validation_loss"};
  CHECK_THAT(csv(other, 2), Contains("validation loss,8,800,4000,3,0.7,0.625,0.775\r\n"));
}

TEST_CASE("the files of a study's tables, which leave other files alone") {
  const TemporaryFolder folder;
  folder.file("03-old.csv", "from an earlier time");
  folder.file("notes.csv", "of the reader");
  write_study_tables(small_results(), folder.path());
  CHECK_FALSE(std::filesystem::exists(folder / "03-old.csv"));
  CHECK(std::filesystem::exists(folder / "notes.csv"));
  CHECK(std::filesystem::exists(folder / "07-comparisons-of-the-family.csv"));
  CHECK(std::filesystem::exists(folder / "09-values-of-exact-match-by-seed.csv"));
  CHECK_THROWS_AS(write_study_tables(small_results(), folder / "notes.csv"), FileError);
}

TEST_CASE("the runs of a study and the scores of its heads, one by one") {
  const TemporaryFolder folder;
  StudyResults results = small_results();
  results.provenance.runs["cell-a"] = {1.5, false, "2026-11-26T10:00:00Z", "north", "P"};
  results.provenance.latency.milliseconds = {{"a", 2.25}};
  write_study_tables(results, folder.path());
  const auto content = [&](const char* file) {
    std::ostringstream text;
    text << std::ifstream(folder / file, std::ios::binary).rdbuf();
    return text.str();
  };
  CHECK(content("cells.csv") ==
        "run,conditions,arms,trunk,seed,fold,draw,heads,cross,decoder,encoder,parameters,"
        "multiply_adds,forward_ms,exact_match,setting.metric,setting.prune,setting.task,seconds,"
        "finished,"
        "machine,processor\r\n"
        "a,prune 4,sensitivity,,1,0,0,8,0,4,4,800,4000,2.25,0.96,sensitivity,4,reverse,1.5,"
        "2026-11-26T10:00:00Z,north,P\r\n"
        "b,prune 4,none,,2,0,0,12,4,4,4,1000,5000,,,,,reverse,,,,\r\n"
        "c,prune 2,magnitude,,2,0,0,10,2,4,4,900,4500,,,,,reverse,,,,\r\n");
  CHECK(content("head-scores.csv") ==
        "trunk,seed,fold,metric,low scores are important,kind,layer,head,score\r\n"
        "t,1,0,a,yes,cross,0,0,0.5\r\nt,1,0,a,yes,cross,0,1,0.25\r\n");
}

TEST_CASE("measured times are columns of the tables, and a size of the page's chart") {
  StudyResults results = small_results();
  results.roles.push_back({0, "sensitivity", "c"});
  results.provenance.latency = {.examples = 64, .processor = "P"};
  results.provenance.latency.milliseconds = {{"a", 2.25}, {"b", 3.5}, {"c", 2.75}};
  const std::vector<StudySection> sections = study_sections(results);
  CHECK_THAT(csv_text(sections[2].tables[0]),
             Contains("multiply-adds,forward pass (ms),seeds") &&
                 Contains("sensitivity,exact match (%),8,800,4000,2.5,3,") &&
                 Contains("none,exact match (%),12,1000,5000,3.5,3,") &&
                 Contains("random,exact match (%),8,800,4000,,3,"));
  CHECK(csv_text(sections[5].tables[0]) ==
        "heads left,parameters,share (%),multiply-adds,their share (%),runs,forward pass (ms)\r\n"
        "12,1000,100,5000,100,1,3.5\r\n10,900,90,4500,90,1,2.75\r\n8,800,80,4000,80,1,2.25\r\n");
  CHECK_THAT(sections[5].finding.caption,
             Contains("64 examples with 1 thread:") && Contains("(P)"));
  CHECK_THAT(study_page(results, ""), Contains("\"latency\":2.5"));
}

TEST_CASE("a study's sections in a terminal") {
  const std::string text =
      study_text(small_results(), {.unicode = true, .colour = false, .live = false, .columns = 80});
  CHECK_THAT(text,
             Contains("5. Threshold selection\n    8 heads are enough: sensitivity (prune 4)"));
  CHECK_THAT(text, Contains("    Comparisons of the family\n") && Contains("25.1 [20, 30.2]"));
  CHECK_THAT(text,
             Contains("Rank correlations of metrics: tables/01-rank-correlations-of-metrics.csv"));
  CHECK_THAT(text, Contains("Means over seeds: tables/03-means-over-seeds.csv"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    CHECK(display_width(line) <= 80);
  }
}
