// The page as a text and as a file; a run's folder read back.
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "headroom/base/error.hpp"
#include "headroom_lab/report/report.hpp"
#include "support/catch.hpp"
#include "support/small_run.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;

namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) {
    ++found;
  }
  return found;
}

/// The records inside a page.
Record records_of(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"run\">";
  const std::size_t begin = page.find(open) + open.size();
  return Record::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

std::string content(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("nothing in the records can end the page's script or open a tag") {
  ReportRecord run = small_run();
  run.title = "</title><script>alert(1)</script>";
  run.config["note"] = "</script><script>alert(2)</script>";
  run.examples[0].source[2] = "<!--";
  const std::string page = report_page(run, "/* chart </script> */");
  CHECK(count(page, "<script") == 3);  // records, Chart.js, the page's own
  CHECK(count(page, "</script>") == 3);
  CHECK(count(page, "<!--") == 0);
  CHECK_THAT(page, Contains("&lt;/title&gt;&lt;script&gt;alert(1)"));
  CHECK_THAT(page, Contains("/* chart <\\/script> */"));
}

TEST_CASE("the records in the page are the run's, with what was computed of them") {
  ReportRecord run = small_run();
  Record inside = records_of(report_page(run, ""));
  CHECK(inside["findings"] == json_of(findings(run)));
  CHECK(inside["compared"] == Record{{"before", 0}, {"after", 1}});
  inside.erase("findings");
  inside.erase("compared");
  CHECK(report_record(inside, "page") == run);

  run.before_after.push_back(run.before_after[0]);
  for (std::size_t i = 0; i < 3; ++i) {
    run.before_after[i].steps = i == 0 ? 80 : 200;
    run.before_after[i].heads = i == 1 ? 6 : 12;
  }
  CHECK(records_of(report_page(run, ""))["compared"] ==
        Record{{"before", 0}, {"after", 1}, {"as_long", 2}});
}

TEST_CASE("template marks inside records stay as they are") {
  ReportRecord run = small_run();
  run.config["note"] = "{{page_css}} {{run}}";
  CHECK(records_of(report_page(run, ""))["config"]["note"] == "{{page_css}} {{run}}");
}

TEST_CASE("numbers that JSON cannot hold and broken UTF-8 do not break the page") {
  ReportRecord run = small_run();
  run.metrics[3].numbers["loss"] = std::nan("");
  run.config["note"] = "\xff\xfe";
  const Record inside = records_of(report_page(run, ""));
  CHECK(inside["metrics"][3]["loss"].is_null());
}

TEST_CASE("long runs are thinned, evaluations are not") {
  ReportRecord run{{.title = "long"}};
  for (int step = 1; step <= 9990; ++step) {
    MetricsLine line{.step = step, .numbers = {{"loss", 1.0 / step}}};
    if (step % 100 == 0) line.numbers["validation_loss"] = 1.0;
    run.metrics.push_back(line);
  }
  const Record inside = records_of(report_page(run, ""));
  Index evaluations = 0;
  for (const Record& line : inside["metrics"]) evaluations += line.contains("validation_loss");
  CHECK(evaluations == 99);
  CHECK(inside["metrics"].back()["step"] == 9990);  // the last line is kept, evaluated or not
  CHECK(inside["metrics"].size() < 600);
  CHECK(inside["metrics"].size() > 300);
}

TEST_CASE("telemetry of a long run is thinned, with four digits") {
  ReportRecord run = small_run();
  run.telemetry.clear();
  for (int step = 1; step <= 500; ++step) add_telemetry(run, step);
  run.telemetry[0].entropy[0] = 0.123456;
  const Record inside = records_of(report_page(run, ""));
  CHECK(inside["telemetry"].size() == 73);  // of 500, every seventh and the last
  CHECK(inside["telemetry"].back()["step"] == 500);
  CHECK(inside["telemetry"][1]["step"] == 8);
  CHECK(inside["telemetry"][0]["entropy"][0] == 0.1235);
}

TEST_CASE("without Chart.js the remedy is named, and no file is left") {
  const TemporaryFolder folder;
  setenv("HEADROOM_CHART_JS", "/nowhere/chart.min.js", 1);
  CHECK(find_chart_js().empty());
  CHECK_THROWS_AS(write_report(small_run(), folder / "report.html"), FileError);
  CHECK_THROWS_WITH(write_report(small_run(), folder / "report.html"),
                    Contains("apt-get install libjs-chart.js"));
  unsetenv("HEADROOM_CHART_JS");
  CHECK_FALSE(std::filesystem::exists(folder / "report.html"));
}

TEST_CASE("a page is written whole, asks for nothing and forbids the network") {
  const TemporaryFolder folder;
  const auto chart = folder.file("chart.min.js", "/* Chart.js */");
  setenv("HEADROOM_CHART_JS", chart.c_str(), 1);
  write_report(small_run(), folder / "report.html");
  unsetenv("HEADROOM_CHART_JS");
  const std::string page = content(folder / "report.html");
  CHECK_THAT(page, EndsWith("</html>\n"));
  CHECK_THAT(page, Contains("default-src 'none'"));
  CHECK(count(page, " src=") == 0);
  CHECK(count(page, "<link") == 0);
  CHECK(count(page, "{{") == 0);
}

TEST_CASE("a run's folder is read from its records, else from its other files") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(read_run(folder.path()), Contains("no run was written here"));
  folder.file("config.json", R"({"task": {"name": "g2p", "seed": 5}})");
  folder.file("metrics.jsonl",
              "{\"step\": 1, \"loss\": 3.5}\n{\"event\": \"saved\"}\n{\"step\": 2,");
  const ReportRecord run = read_run(folder.path());
  CHECK(run.task == "g2p");
  CHECK(run.seed == 5);
  CHECK(run.title == "Training on g2p");
  CHECK(run.metrics.size() == 1);  // the unfinished last line and the event are no measurements
  CHECK_NOTHROW(report_page(run, ""));

  const TelemetryLine telemetry = small_run().telemetry[0];
  Record line = json_of(telemetry);
  folder.file("metrics.jsonl", "{\"step\": 1, \"loss\": 3.5}\n" + line.dump() + "\n");
  CHECK(read_run(folder.path()).metrics.size() == 1);
  CHECK(read_run(folder.path()).telemetry == std::vector{telemetry});
  line["record"] = "tails";
  folder.file("metrics.jsonl", line.dump() + "\n");
  CHECK_THROWS_WITH(read_run(folder.path()),
                    EndsWith("metrics.jsonl:1: record must be one of heads, lives, not \"tails\""));

  folder.file("metrics.jsonl", "{\"step\": 1, \"loss\": 3.5}\n");
  folder.file("summary.json", R"({"separate_vs_fused": {"forward": 0.5, "tolerance": 1e-6}})");
  CHECK(read_run(folder.path()).separate_vs_fused->forward == 0.5);
  folder.file("summary.json", R"({"separate_vs_fused": {"forward": "x"}})");
  CHECK_THROWS_WITH(
      read_run(folder.path()),
      EndsWith("summary.json: separate_vs_fused: forward must be a number, not \"x\""));

  CHECK(read_records(folder.path()).is_null());
  folder.file("records.json", json_of(small_run()).dump());
  CHECK(read_run(folder.path()) == small_run());
  CHECK(read_records(folder.path()) == json_of(small_run()));
  folder.file("records.json", R"({"title": 3})");
  CHECK_THROWS_WITH(read_run(folder.path()), EndsWith("records.json: title must be a text, not 3"));
}

TEST_CASE("a malformed metrics line is refused with file and line") {
  const TemporaryFolder folder;
  const auto file = folder.file("metrics.jsonl", "{\"step\": 1}\n{\"step\" 2}\n");
  CHECK_THROWS_WITH(read_run(folder.path()), Contains(file.string() + ":2"));
  CHECK_THROWS_AS(read_run(folder.path()), DataError);
}
