// Folders of runs whose files nobody wrote: refused, or read, and made into a page.
#include "fuzz/other_record.hpp"
#include "headroom_lab/report/report.hpp"
#include "support/small_run.hpp"

using namespace headroom;

namespace {

/// The lines of metrics.jsonl for a run.
std::vector<Record> lines_of(const ReportRecord& run) {
  std::vector<Record> lines;
  for (const MetricsLine& line : run.metrics) lines.push_back(json_of(line));
  for (const TelemetryLine& line : run.telemetry) {
    lines.push_back(json_of(line));
    lines.back()["record"] = "heads";
  }
  return lines;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const TemporaryFolder folder;
  static const std::vector<Record> lines = lines_of(small_run());
  static const Record sound_config = {{"task", {{"name", "dates"}, {"seed", 7}}},
                                      {"training", {{"steps", 200}}}};
  static const Record sound_summary = {
      {"steps", 200}, {"separate_vs_fused", json_of(*small_run().separate_vs_fused)}};
  FuzzedDataProvider bytes(data, size);
  Record config = sound_config, summary = sound_summary;
  std::vector<Record> log = lines;
  const std::string torn = bytes.ConsumeRandomLengthString(20);
  const bool changed = bytes.remaining_bytes() > 0 || !torn.empty();
  while (bytes.remaining_bytes() > 0) {
    switch (bytes.ConsumeIntegralInRange(0, 3)) {
      case 0: change_some_member(config, bytes); break;
      case 1: change_some_member(summary, bytes); break;
      default:
        change_some_member(log[bytes.ConsumeIntegralInRange<std::size_t>(0, log.size() - 1)],
                           bytes);
    }
  }
  std::string text;
  for (const Record& line : log) text += line.dump() + '\n';
  folder.file("config.json", config.dump());
  folder.file("summary.json", summary.dump());
  folder.file("metrics.jsonl", text + torn);
  const bool written = reads([&] { report_page(read_run(folder.path()), "chart();"); });
  must(written || changed);
  return 0;
}
