// Records of a run that nobody wrote: refused, or made into a page.
#include "headroom/report/report.hpp"

#include "fuzz/other_record.hpp"
#include "report/small_run.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const headroom::Record sound = small_run();
  FuzzedDataProvider bytes(data, size);
  const headroom::Record run = other_record(sound, bytes);
  reads([&] { headroom::report_page(run, "chart();"); });
  return 0;
}
