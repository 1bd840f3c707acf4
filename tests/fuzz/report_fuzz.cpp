// Records of a run that nobody wrote: refused, or made into a page.
#include "headroom_lab/report/report.hpp"

#include "fuzz/other_record.hpp"
#include "support/small_run.hpp"

using namespace headroom;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Record sound = json_of(small_run());
  FuzzedDataProvider bytes(data, size);
  const Record run = other_record(sound, bytes);
  const bool written = reads([&] { report_page(report_record(run, "records.json"), "chart();"); });
  must(written || run != sound);
  return 0;
}
